"""Every refusal is typed: what happened, what holds now, what to do next.

    HandoffError
    ├── Refused            nothing was done; the code says why
    │   ├── Held           a person has the browser or the desktop
    │   ├── Stale          the id is from before; look again
    │   └── Gone           the page, browser or desktop no longer exists
    ├── OutcomeUnknown     an effect was started and its end was not seen
    ├── NotCompleted       a handoff ended, and not with a verified outcome
    │   └── HandoffExpired nobody finished the step in time
    └── SetupError         this machine or configuration cannot do it

The same code travels as the ``type`` of a Temporal failure, in HTTP problem details and in JSON-RPC ``data.code``.
"""

from enum import StrEnum
from typing import Any


class ErrorCode(StrEnum):
    """Stable codes. Messages may change; these do not."""

    # held
    BROWSER_HELD = "browser_held"
    DESKTOP_HELD = "desktop_held"
    SNAPSHOT_REQUIRED = "snapshot_required"
    RESERVATION_CLOSED = "reservation_closed"
    # stale
    STALE_ELEMENT = "stale_element"
    STALE_GENERATION = "stale_generation"
    FENCE_MISMATCH = "fence_mismatch"
    STATE_STALE = "state_stale"
    # gone
    UNKNOWN_BROWSER = "unknown_browser"
    BROWSER_GONE = "browser_gone"
    PAGE_GONE = "page_gone"
    UNKNOWN_STATE = "unknown_state"
    UNKNOWN_HANDOFF = "unknown_handoff"
    UNKNOWN_TAKEOVER = "unknown_takeover"
    # begin refused
    HANDOFF_UNSUPPORTED = "handoff_unsupported"
    NOT_HANDOVERABLE = "not_handoverable"
    SURFACE_NOT_FOUND = "surface_not_found"
    SURFACE_AMBIGUOUS = "surface_ambiguous"
    HANDOFF_ACTIVE = "handoff_active"
    TAKEOVER_ACTIVE = "takeover_active"
    ASSOCIATION_USED = "association_used"
    ASSOCIATION_CAPACITY = "association_capacity"
    DRAIN_TIMEOUT = "drain_timeout"
    LIFETIME_EXHAUSTED = "lifetime_exhausted"
    # session authority
    SESSION_NOT_FOUND = "session_not_found"
    SESSION_CLOSED = "session_closed"
    NOT_OWNER = "not_owner"
    MESSAGE_NOT_OPEN = "message_not_open"
    MISSING_SCOPE = "missing_scope"
    SECRET_QUESTION = "secret_question"  # noqa: S105 - a code
    # replies
    ALREADY_DECIDED = "already_decided"
    NOT_HELD = "not_held"
    # effects
    BOUNDARY_REACHED = "boundary_reached"
    BROWSER_LIMIT = "browser_limit"
    PAGE_LIMIT = "page_limit"
    URL_REFUSED = "url_refused"
    NAVIGATION_FAILED = "navigation_failed"
    ACTION_FAILED = "action_failed"
    ACTION_TIMEOUT = "action_timeout"
    LAUNCH_REFUSED = "launch_refused"
    CLIPBOARD_WITHHELD = "clipboard_withheld"
    OBSERVATION_DISCARDED = "observation_discarded"
    OUTCOME_UNKNOWN = "outcome_unknown"
    RUNNER_UNAVAILABLE = "runner_unavailable"
    STATE_UNREADABLE = "state_unreadable"
    # a person's view and control
    VIEW_UNAVAILABLE = "view_unavailable"
    LEASE_TAKEN = "lease_taken"
    LEASE_LOST = "lease_lost"
    # ends of a handoff
    NOT_VERIFIED = "not_verified"
    DECLINED = "declined"
    FAILED = "failed"
    EXPIRED = "expired"
    CLOSED = "closed"
    REVOKED = "revoked"
    RUNNER_LOST = "runner_lost"
    # set-up
    NO_DISPLAY = "no_display"
    WAYLAND_UNSUPPORTED = "wayland_unsupported"
    CHROMIUM_MISSING = "chromium_missing"
    CHROMIUM_FAILED = "chromium_failed"
    PROGRAM_MISSING = "program_missing"
    PROFILE_IN_USE = "profile_in_use"
    STATE_UNWRITABLE = "state_unwritable"
    ALREADY_RUNNING = "already_running"
    PORT_TAKEN = "port_taken"
    TEMPORAL_UNREACHABLE = "temporal_unreachable"
    NAMESPACE_MISSING = "namespace_missing"
    SEARCH_ATTRIBUTES_MISSING = "search_attributes_missing"
    START_FAILED = "start_failed"
    CODEC_KEYS_INVALID = "codec_keys_invalid"
    POLICY_INVALID = "policy_invalid"
    # encryption
    CODEC_KEY_UNKNOWN = "codec_key_unknown"
    PAYLOAD_UNREADABLE = "payload_unreadable"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    # doors
    INVALID_REQUEST = "invalid_request"
    ID_REUSED = "id_reused"
    RATE_LIMITED = "rate_limited"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    LINK_UNKNOWN = "link_unknown"
    LINK_EXPIRED = "link_expired"
    LINK_TAKEN = "link_taken"
    GRANT_UNKNOWN = "grant_unknown"
    GRANT_EXPIRED = "grant_expired"
    GRANT_REVOKED = "grant_revoked"
    AUTH_CONTEXT_CHANGED = "auth_context_changed"
    STALE_VERSION = "stale_version"
    # a person's requests
    UNKNOWN_REQUEST = "unknown_request"
    REQUEST_LIMIT = "request_limit"


class HandoffError(Exception):
    """The root of what this project raises.

    Attributes:
        code: The stable code.
        what: What happened, one sentence without secrets.
        holds: What is true now, one sentence.
        do_next: What the caller can do, one sentence.
        details: Ids that help (JSON scalars): never contents, never secrets.
    """

    def __init__(self, code: ErrorCode, what: str, *, holds: str = "", do_next: str = "", **details: Any) -> None:
        self.code = code
        self.what = what
        self.holds = holds
        self.do_next = do_next
        self.details = details
        super().__init__(" ".join(part for part in (what, holds, do_next) if part))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.code, self.what, self.holds, self.do_next, self.details)

    def to_dict(self) -> dict[str, Any]:
        """The wire form; `from_dict` reads it back into the same class."""
        return {
            "code": str(self.code),
            "what": self.what,
            "holds": self.holds,
            "do_next": self.do_next,
            "details": self.details,
        }


class Refused(HandoffError):
    """Nothing was done."""


class Held(Refused):
    """A person has the browser or the desktop, or the agent has yet to look again."""


class Stale(Refused):
    """The id or fence is from before; it names nothing now."""


class Gone(Refused):
    """What was named no longer exists."""


class OutcomeUnknown(HandoffError):
    """An effect was started and its end was not seen: observe before you act again."""


class NotCompleted(HandoffError):
    """A handoff ended, and not with a verified outcome."""


class HandoffExpired(NotCompleted):
    """Nobody finished the step in time; the browser stays paused at the boundary."""


class SetupError(HandoffError):
    """This machine or configuration cannot do it; `do_next` says how to mend that."""


_BY_CODE: dict[ErrorCode, type[HandoffError]] = {
    **dict.fromkeys(
        (
            ErrorCode.BROWSER_HELD,
            ErrorCode.DESKTOP_HELD,
            ErrorCode.SNAPSHOT_REQUIRED,
            ErrorCode.RESERVATION_CLOSED,
            ErrorCode.LEASE_TAKEN,
        ),
        Held,
    ),
    **dict.fromkeys(
        (
            ErrorCode.STALE_ELEMENT,
            ErrorCode.STALE_GENERATION,
            ErrorCode.FENCE_MISMATCH,
            ErrorCode.STATE_STALE,
            ErrorCode.STALE_VERSION,
            ErrorCode.LEASE_LOST,
        ),
        Stale,
    ),
    **dict.fromkeys(
        (
            ErrorCode.UNKNOWN_BROWSER,
            ErrorCode.BROWSER_GONE,
            ErrorCode.PAGE_GONE,
            ErrorCode.UNKNOWN_STATE,
            ErrorCode.UNKNOWN_HANDOFF,
            ErrorCode.UNKNOWN_TAKEOVER,
            ErrorCode.UNKNOWN_REQUEST,
        ),
        Gone,
    ),
    ErrorCode.OUTCOME_UNKNOWN: OutcomeUnknown,
    **dict.fromkeys(
        (
            ErrorCode.NOT_VERIFIED,
            ErrorCode.DECLINED,
            ErrorCode.FAILED,
            ErrorCode.CLOSED,
            ErrorCode.REVOKED,
            ErrorCode.RUNNER_LOST,
        ),
        NotCompleted,
    ),
    ErrorCode.EXPIRED: HandoffExpired,
    **dict.fromkeys(
        (
            ErrorCode.NO_DISPLAY,
            ErrorCode.WAYLAND_UNSUPPORTED,
            ErrorCode.CHROMIUM_MISSING,
            ErrorCode.CHROMIUM_FAILED,
            ErrorCode.PROGRAM_MISSING,
            ErrorCode.PROFILE_IN_USE,
            ErrorCode.STATE_UNWRITABLE,
            ErrorCode.ALREADY_RUNNING,
            ErrorCode.PORT_TAKEN,
            ErrorCode.TEMPORAL_UNREACHABLE,
            ErrorCode.NAMESPACE_MISSING,
            ErrorCode.SEARCH_ATTRIBUTES_MISSING,
            ErrorCode.START_FAILED,
            ErrorCode.CODEC_KEYS_INVALID,
            ErrorCode.POLICY_INVALID,
        ),
        SetupError,
    ),
}


def error_class(code: ErrorCode) -> type[HandoffError]:
    """The class that a code belongs to; `Refused` where the code says nothing else."""
    return _BY_CODE.get(code, Refused)


def make_error(code: ErrorCode, what: str, *, holds: str = "", do_next: str = "", **details: Any) -> HandoffError:
    """Make the error of the class that the code belongs to."""
    return error_class(code)(code, what, holds=holds, do_next=do_next, **details)


def from_dict(data: dict[str, Any]) -> HandoffError:
    """Read an error back from its wire form.

    Raises:
        ValueError: The code is unknown.
    """
    return make_error(
        ErrorCode(data["code"]),
        str(data.get("what", "")),
        holds=str(data.get("holds", "")),
        do_next=str(data.get("do_next", "")),
        **dict(data.get("details") or {}),
    )


def _rebuild(
    cls: type[HandoffError], code: ErrorCode, what: str, holds: str, do_next: str, details: dict[str, Any]
) -> HandoffError:
    return cls(code, what, holds=holds, do_next=do_next, **details)
