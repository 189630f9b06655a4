"""What a request was, when only its name comes again: a digest that tells the same from another."""

import hashlib
import json
from typing import Any

from user_handoff.contract.access import Sha256
from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error

_NOT_OF_IT = {"effect_id", "generation", "timeout_seconds", "navigation_timeout_seconds"}
"""What is no part of an effect: its name, the look that lets it happen, and how long to wait for it."""


class Claim(Model):
    """A caller's own name for a request is taken."""

    sha256: Sha256
    """The digest of the one request that it names."""


def digest_of(request: Any) -> str:
    """The SHA-256 of a request in one canonical form, in hex.

    Args:
        request: JSON data.
    """
    canonical = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def digest_of_effect(effect: Model) -> str:
    """The SHA-256 of what an effect, or the opening of a browser, asks for, in hex."""
    return digest_of([type(effect).__name__, effect.model_dump(mode="json", exclude=_NOT_OF_IT)])


def id_reused(what: str, do_next: str = "Ask for another thing under another id.", **details: str) -> HandoffError:
    """An id was used before, for another request: neither is done now."""
    return make_error(ErrorCode.ID_REUSED, what, holds="What was done under it stands.", do_next=do_next, **details)


def browser_id_reused(browser_id: str) -> HandoffError:
    """A browser was asked for under this id before, with other arguments: none is opened, and none is returned."""
    return id_reused(
        "A browser was opened under this id with other arguments.",
        "Open another one under another id, or this one with the arguments of the first time.",
        browser_id=browser_id[:64],
    )
