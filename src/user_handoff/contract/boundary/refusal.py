"""The refusal of an effect that would cross a boundary, and how to read the boundary back from it."""

from pydantic import ValidationError

from user_handoff.contract.boundary.rules import Boundary, Category
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error


def refusal(boundary: Boundary, what: str, do_next: str = "") -> HandoffError:
    """The refusal of an effect.

    Args:
        boundary: What it would cross.
        what: What was refused, as a sentence.
        do_next: What to do; empty: hand over.
    """
    return make_error(
        ErrorCode.BOUNDARY_REACHED,
        f"{what} The rule {boundary.rule_id} keeps it for a person ({boundary.category}).",
        holds="Nothing was done; the page is as it was.",
        do_next=do_next or "Begin a handoff with this boundary, and let the person do this step.",
        rule_id=boundary.rule_id,
        category=str(boundary.category),
        boundary=boundary.model_dump(mode="json"),
    )


def boundary_of(error: HandoffError) -> Boundary | None:
    """What a refused effect would have crossed, to hand over with; None where the error is another one."""
    try:
        return Boundary.model_validate(error.details.get("boundary"))
    except ValidationError:
        return None


def limit(rule_id: str, page_id: str, url: str, reason: str) -> Boundary:
    """The boundary of a declared limit."""
    return Boundary(rule_id=rule_id, category=Category.ACCOUNT, page_id=page_id, url=url, reason=reason)
