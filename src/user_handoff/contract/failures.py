"""Errors as Temporal failures: the code is the failure's type, the rest its details."""

from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError

from user_handoff.contract.errors import ErrorCode, HandoffError, from_dict

_CODES = frozenset(str(code) for code in ErrorCode)


def to_failure(error: HandoffError, *more: object) -> ApplicationError:
    """The failure that carries an error, and more details behind it; never retried, since a refusal stays one."""
    return ApplicationError(str(error), error.to_dict(), *more, type=str(error.code), non_retryable=True)


def from_failure(error: BaseException | None) -> HandoffError | None:
    """The error that a failure, or what it was caused by, carries; None where it is not one of ours."""
    while error is not None:
        if isinstance(error, HandoffError):
            return error
        if isinstance(error, ApplicationError) and error.details and error.type in _CODES:
            return from_dict(dict(error.details[0]))
        if not isinstance(error, ActivityError | ChildWorkflowError | ApplicationError):
            cause = getattr(error, "cause", None) or error.__cause__
        else:
            cause = error.cause
        error = cause
    return None
