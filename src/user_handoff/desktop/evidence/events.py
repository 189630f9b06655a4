"""What may be kept of each event: an allow-list of facts, each of a shape in which no sentence would pass."""

import math
import re
from collections.abc import Mapping
from typing import Final

from user_handoff.desktop.evidence.noting import Fact

MOST_FACTS: Final = 12

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,199}")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,47}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+/-]{0,63}")
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.+/-]+")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_LARGEST: Final = 1e12

ID, WORD, NAME, NUMBER, FLAG, SHA256 = "id", "word", "name", "number", "flag", "sha256"
"""The shapes: an id, a word of ours such as a code, a tool's or program's name, a number, yes or no, a digest."""

_TEXTS: Final = {ID: _ID, WORD: _WORD, NAME: _NAME, SHA256: _SHA256}

_HOLD: Final = {"owner": ID, "session_id": ID, "reason": WORD, "cause": WORD, "kind": WORD, "seconds": NUMBER}
_PROGRAM: Final = {"via": WORD, "who": NAME, "note": NUMBER}
_EFFECT: Final = {
    "effect_id": ID,
    "action": NAME,
    "code": WORD,
    "outcome": WORD,
    "seconds": NUMBER,
    "permit_id": NUMBER,
    "door_id": ID,
    "exit": NUMBER,
    **_PROGRAM,
}
_LEASE: Final = {"viewer_id": ID, "why": WORD, "seconds": NUMBER, "code": WORD}
_TAKEOVER: Final = {
    "by": ID,
    "role": WORD,
    "cause": WORD,
    "reason": WORD,
    "code": WORD,
    "seconds": NUMBER,
    "pages": NUMBER,
    "pages_changed": NUMBER,
    "preempt": FLAG,
    "takeover_id": ID,
    "session_id": ID,
    "owner": ID,
}
_LOCK: Final = {"owner": ID, "by": ID, "why": WORD, "seconds": NUMBER, "lock_id": ID, "code": WORD}

REMOVED: Final = "evidence_removed"
"""Old records were deleted in their time. It says up to which, and their last hash: the chain goes on from there."""

_HOLDS: Final = ("beginning", "held", "expired", "returning", "recovering", "recovered", "closed", "revoked", "found")
_ENDS: Final = ("admitted", "refused", "completed", "failed")
_TAKEOVERS: Final = ("start", "return", "timeout", "cancelled", "recovered", "refused", "closed", "revoked", "expired")

EVENTS: Final[Mapping[str, Mapping[str, str]]] = {
    **{f"hold_{phase}": _HOLD for phase in _HOLDS},
    "hold_refused": {**_HOLD, "code": WORD},
    "hold_undone": _HOLD,
    **{f"effect_{what}": _EFFECT for what in _ENDS},
    **{f"lease_{what}": _LEASE for what in ("taken", "lost", "ended", "refused")},
    **{f"takeover_{what}": _TAKEOVER for what in _TAKEOVERS},
    **dict.fromkeys(("lock_ui", "lock_ui_overridden", "lock_ui_ended", "lock_ui_refused"), _LOCK),
    "effects_refused": {"code": WORD, "count": NUMBER, **_PROGRAM},
    "door_opened": {"door_id": ID, "tcp": FLAG, "seconds": NUMBER, "grant_id": ID},
    "door_closed": {"door_id": ID, "why": WORD, "grant_id": ID},
    "door_used": {"door_id": ID, "why": WORD, "admitted": NUMBER, "refused": NUMBER, **_PROGRAM},
    "picture_before": {"picture": SHA256, "age": NUMBER},
    "picture_after": {"picture": SHA256, "age": NUMBER},
    "picture_missed": {"why": WORD, "which": WORD},
    "runner_start": {"version": ID, "virtual": FLAG, "pictures": FLAG},
    "runner_stop": {"kept": FLAG},
    REMOVED: {"records": NUMBER, "last": NUMBER, "last_hash": SHA256},
}
"""Which facts each event may have, and of which shape. Of any other event nothing is kept but that it was."""


OUTSIDE: Final = frozenset((*(f"effect_{what}" for what in _ENDS), "effects_refused", "door_used"))
"""What other programs than the runner may note."""


def word_or_none(text: str) -> str | None:
    """An event's name as it may be kept."""
    return text if _WORD.fullmatch(text) else None


def name_of(text: str) -> str | None:
    """What somebody calls a program, as it may be kept; None where nothing is left of it."""
    return _NOT_IN_NAMES.sub("-", text)[:40].strip("-.+/") or None


def id_or_none(text: str | None) -> str | None:
    """An id as it may be kept; None where it is no id."""
    return text if text is not None and _ID.fullmatch(text) else None


def allowed(event: str, facts: Mapping[str, Fact]) -> tuple[dict[str, Fact], int]:
    """The facts of an event that may be kept.

    Args:
        event: Which.
        facts: What was said of it.

    Returns:
        Those that are on the list and of their shape, and how many were dropped.
    """
    shapes = EVENTS.get(event, {})
    kept: dict[str, Fact] = {}
    dropped = 0
    for key, value in facts.items():
        if value is None:
            continue
        fit = _fit(shapes[key], value) if key in shapes and len(kept) < MOST_FACTS else None
        if fit is None:
            dropped += 1
        else:
            kept[key] = fit
    return kept, dropped


def _fit(shape: str, value: Fact) -> Fact:
    """The value where it is of the shape, else None."""
    if shape == FLAG:
        return value if isinstance(value, bool) else None
    if shape == NUMBER:
        return plain_number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return str(value) if isinstance(value, str) and _TEXTS[shape].fullmatch(value) else None


def plain_number(value: float) -> int | float | None:
    """A number that is written the same in every language: whole, or of three decimals; None where it is too large."""
    if not math.isfinite(value) or abs(value) >= _LARGEST:
        return None
    rounded = round(float(value), 3)
    return int(rounded) if rounded.is_integer() else rounded
