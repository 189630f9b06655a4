"""What lets nothing but typed errors out of an activity."""

import logging
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from user_handoff.activities.beating import beating
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import to_failure

log = logging.getLogger(__name__)

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")


def typed(
    function: Callable[Concatenate[S, P], Awaitable[R]],
) -> Callable[Concatenate[S, P], Awaitable[R]]:
    """Let only typed errors out: a foreign one may quote a page, and its text would land in history."""

    @wraps(function)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            async with beating():
                return await function(self, *args, **kwargs)
        except HandoffError as error:
            raise to_failure(error) from None
        except ApplicationError:
            raise
        except Exception as error:
            log.exception("%s failed", activity.info().activity_type, exc_info=_bare(error))
            raise to_failure(
                make_error(
                    ErrorCode.OUTCOME_UNKNOWN,
                    f"The desktop failed unexpectedly ({type(error).__name__}).",
                    holds="What was asked may have happened.",
                    do_next="Take a snapshot and look; the runner's log has the trace.",
                )
            ) from None

    return call


def _bare(error: Exception) -> Exception:
    return RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
