"""Where an agent must stop: rules, the built-in list, and the report of one that was met."""

from user_handoff.contract.boundary.meeting import Seen, Shown, StopList
from user_handoff.contract.boundary.refusal import boundary_of, refusal
from user_handoff.contract.boundary.rules import (
    CONFIRM,
    READ_ONLY,
    SIGN_IN_WALL,
    AnyRule,
    Boundary,
    Category,
    ControlRule,
    Refused,
    ResponseRule,
    Rule,
    UrlRule,
    WallRule,
    together,
)

__all__ = [
    "CONFIRM",
    "READ_ONLY",
    "SIGN_IN_WALL",
    "AnyRule",
    "Boundary",
    "Category",
    "ControlRule",
    "Refused",
    "ResponseRule",
    "Rule",
    "Seen",
    "Shown",
    "StopList",
    "UrlRule",
    "WallRule",
    "boundary_of",
    "refusal",
    "together",
]
