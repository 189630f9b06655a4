"""What must be observable for a handoff to count as verified. A person's word proves nothing."""

from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, StringConstraints

from user_handoff.contract.base import Model

Glob = Annotated[str, StringConstraints(min_length=1, max_length=500)]
"""A URL without query and fragment; ``*`` matches within a path segment, ``**`` across segments."""


class Url(Model):
    """Some page of the browser is at a URL."""

    kind: Literal["url"] = "url"
    glob: Glob

    def __init__(self, glob: str | None = None, /, **data: object) -> None:
        super().__init__(**({"glob": glob} if glob is not None else {}), **data)


class Element(Model):
    """Some page shows a visible element of this role and accessible name."""

    kind: Literal["element"] = "element"
    role: str
    name: str
    """Compared exactly, after white space is folded."""


class Probe(Model):
    """A GET request that shares the browser's cookies answers with one of these statuses.

    The request is made by the browser's context, follows no redirect, and its body is never read.
    """

    kind: Literal["probe"] = "probe"
    url: str
    statuses: tuple[int, ...] = (200,)


class Text(Model):
    """Some page shows this text to a person."""

    kind: Literal["text"] = "text"
    text: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    """Searched in what is seen, ignoring case, after white space is folded."""

    def __init__(self, text: str | None = None, /, **data: object) -> None:
        super().__init__(**({"text": text} if text is not None else {}), **data)


class Response(Model):
    """A document or a script's request at this URL was answered with one of these statuses.

    Counted from the beginning of the handoff, or of the look where there is none. Bodies are never read.
    """

    kind: Literal["response"] = "response"
    glob: Glob
    statuses: tuple[int, ...] = (200,)


class Cookie(Model):
    """The browser has a cookie of this name. Its value is neither compared nor told."""

    kind: Literal["cookie"] = "cookie"
    name: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    domain: Annotated[str, StringConstraints(min_length=1, max_length=253)] | None = None
    """Of this host or one below it; None: of any."""


class AllOf(Model):
    """Every one of the conditions is observed at the same look."""

    kind: Literal["all"] = "all"
    conditions: tuple["Condition", ...] = Field(min_length=1, max_length=10)

    def __init__(self, *conditions: "Condition", **data: object) -> None:
        super().__init__(**({"conditions": conditions} if conditions else {}), **data)


class AnyOf(Model):
    """At least one of the conditions is observed."""

    kind: Literal["any"] = "any"
    conditions: tuple["Condition", ...] = Field(min_length=1, max_length=10)

    def __init__(self, *conditions: "Condition", **data: object) -> None:
        super().__init__(**({"conditions": conditions} if conditions else {}), **data)


class Not(Model):
    """The condition is not observed. What cannot be looked at does not count as absent."""

    kind: Literal["not"] = "not"
    condition: "Condition"

    def __init__(self, condition: "Condition | None" = None, /, **data: object) -> None:
        super().__init__(**({"condition": condition} if condition is not None else {}), **data)


AnyCondition: TypeAlias = Url | Element | Text | Response | Probe | Cookie | AllOf | AnyOf | Not
Condition = Annotated[AnyCondition, Field(discriminator="kind")]
for _model in (AllOf, AnyOf, Not):
    _model.model_rebuild()


def leaves(condition: AnyCondition) -> tuple[AnyCondition, ...]:
    """The conditions that are looked at, at whatever depth."""
    match condition:
        case AllOf() | AnyOf():
            return tuple(leaf for each in condition.conditions for leaf in leaves(each))
        case Not():
            return leaves(condition.condition)
        case _:
            return (condition,)


class Completion(StrEnum):
    """What ends a person's turn. They can say that they could not or will not at any time, and that ends it, too."""

    PERSON = "person"
    """Their word."""
    OBSERVED = "observed"
    """The condition, observed while they have the browser; their "done" is noted."""
    EITHER = "either"
    """Whichever comes first."""
    BOTH = "both"
    """Their word and the condition, in any order."""


class Observation(Model):
    """What was seen of a condition: facts without contents."""

    met: bool
    facts: tuple[str, ...] = ()
    """For instance ``url https://portal.example/invoices`` or ``probe 200``: no query, no fragment, no values."""
    seconds: float = 0.0
    """How long the look took, until the condition was met or the time was up."""
