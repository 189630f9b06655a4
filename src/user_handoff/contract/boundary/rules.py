"""What a stop list is made of."""

from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from user_handoff.contract.base import Id, Model
from user_handoff.contract.boundary.patterns import MATCHED_CHARACTERS, NamePattern, compiled
from user_handoff.contract.conditions import Glob

READ_ONLY: Final = "read-only"
"""The rule id of the declared limit `read_only`."""
CONFIRM: Final = "confirm-before-submit"
"""The rule id of the declared limit `confirm_before_submit`."""
SIGN_IN_WALL: Final = "sign-in-wall"
"""The rule id of a wall that several signals show together."""

Token = Annotated[str, StringConstraints(pattern=r"^[a-z-]{1,30}:[a-z-]{1,40}$")]
"""A fact of an element that no name tells: ``type:password``, ``autocomplete:one-time-code``, ``form:password``."""

Roles = Annotated[str, StringConstraints(pattern=r"^[a-z]+(\|[a-z]+)*$", max_length=200)]


class Category(StrEnum):
    """Why the step is a person's."""

    AUTHENTICATION = "authentication"
    FINANCIAL = "financial_contractual"
    DESTRUCTIVE = "destructive"
    ACCOUNT = "account_authorization"


class UrlRule(Model):
    """Stop on a page at this URL."""

    kind: Literal["url"] = "url"
    rule_id: Id
    category: Category = Category.AUTHENTICATION
    glob: Glob
    frames: bool = False
    """True: also where a frame that is seen in the page is at this URL."""
    refuses: bool | None = None
    """Whether going there, and acting on a page that is there, is refused. None: unless it is a sign-in page, which has
    to be reached to be handed over."""

    @property
    def forbids(self) -> bool:
        """True where effects are refused."""
        return self.category is not Category.AUTHENTICATION if self.refuses is None else self.refuses


class ControlRule(Model):
    """Stop at a control: by its role and name, or by what kind of field it is."""

    kind: Literal["control"] = "control"
    rule_id: Id
    category: Category = Category.AUTHENTICATION
    role: Roles
    """A role, or several with ``|`` between."""
    name: NamePattern = ""
    """A regular expression, searched in the accessible name, ignoring case."""
    fields: tuple[Token, ...] = Field(default=(), max_length=20)
    """Met, too, by an element that has one of these, whatever its name."""
    page: bool = True
    """Whether a page that shows the control is a boundary itself. False: only effects on the control are refused."""
    refuses: bool = True
    """Whether effects on the control are refused."""

    @model_validator(mode="after")
    def _something(self) -> "ControlRule":
        if not (self.name or self.fields):
            raise ValueError("give name, fields or both")
        return self

    @cached_property
    def roles(self) -> frozenset[str]:
        """The roles one by one."""
        return frozenset(self.role.split("|"))

    @property
    def forbids(self) -> bool:
        """True where effects on the control are refused."""
        return self.refuses

    def names(self, role: str, name: str) -> bool:
        """True where a control of this role and accessible name is meant."""
        if not self.name or role not in self.roles:
            return False
        return compiled(self.name).search(" ".join(name.split())[:MATCHED_CHARACTERS]) is not None


class ResponseRule(Model):
    """Stop on a page whose main document was answered with one of these statuses."""

    kind: Literal["response"] = "response"
    rule_id: Id
    category: Category = Category.AUTHENTICATION
    statuses: tuple[Annotated[int, Field(ge=100, le=599)], ...] = Field(min_length=1, max_length=50)
    glob: Glob = "**"
    """At which URLs."""
    refuses: bool = False
    """Whether effects on such a page are refused."""

    @property
    def forbids(self) -> bool:
        """True where effects on the page are refused."""
        return self.refuses


class WallRule(Model):
    """Stop at a sign-in wall: one strong signal, or two weak ones of different kinds (see `walls`)."""

    kind: Literal["wall"] = "wall"
    rule_id: Id = SIGN_IN_WALL
    category: Category = Category.AUTHENTICATION

    @property
    def forbids(self) -> bool:
        """False: what is refused there is said by the rules on its controls."""
        return False


AnyRule: TypeAlias = UrlRule | ControlRule | ResponseRule | WallRule
Rule = Annotated[AnyRule, Field(discriminator="kind")]


class Boundary(Model):
    """A rule that a page meets, on the snapshot that shows it."""

    rule_id: Id
    category: Category
    page_id: str
    url: str
    """Without query and fragment."""
    reason: str
    """For instance ``textbox "Password"`` or ``URL matches **/login``."""


class Refused(Model):
    """An element on which effects are refused, on the snapshot that shows it."""

    element_id: str
    rule_id: Id
    category: Category


def together(*lists: Iterable[AnyRule]) -> tuple[AnyRule, ...]:
    """Several lists as one. Of rules of the same id in different lists those of the first list stand."""
    kept: list[AnyRule] = []
    for rules in lists:
        known = {rule.rule_id for rule in kept}
        kept += [rule for rule in rules if rule.rule_id not in known]
    return tuple(kept)
