"""Telling a person by every configured channel: once, and again at the set times while they are waited for."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, TimeoutType
from temporalio.exceptions import TimeoutError as TimedOut

from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import message_id
from user_handoff.contract.names import SERVER_QUEUE, Activities
from user_handoff.contract.notices import ChannelInfo, How, TellPerson, Told
from user_handoff.contract.session import Authorized
from user_handoff.workflows.record import Record

_HEARTBEAT: Final = timedelta(seconds=10)
_ATTEMPT: Final = timedelta(seconds=30)
_ONCE: Final = ("TemporalTimeout:StartToClose", "TemporalTimeout:Heartbeat")
"""How the server is told not to try again what was begun and may have been done."""


class Notices:
    """What a person is told of one handoff.

    Args:
        record: The handoff.
        configured: By which channels, and when again.
        changed: Called when something became of a notice.
    """

    def __init__(self, record: Record, configured: Authorized, changed: Callable[[], None]) -> None:
        self._record = record
        self._configured = configured
        self._changed = changed
        self._busy: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Tell them, and remind them, until nobody is waited for any more."""
        self._round(0)
        for number, at in enumerate(self._times(), 1):
            try:
                await workflow.wait_condition(
                    lambda: not self._waits(),
                    timeout=max(at - workflow.now(), timedelta(milliseconds=1)),
                    timeout_summary="until the person is reminded",
                )
                return
            except TimeoutError:
                self._round(number)

    def _times(self) -> list[datetime]:
        begun, deadline = workflow.now(), self._record.deadline
        assert deadline is not None
        times = {begun + timedelta(seconds=s) if s > 0 else deadline + timedelta(seconds=s) for s in self._reminders}
        return sorted(at for at in times if begun < at < deadline)

    @property
    def _reminders(self) -> tuple[float, ...]:
        return self._configured.reminders

    def _waits(self) -> bool:
        return self._record.state is HandoffState.HELD and self._record.reply is None

    def _round(self, number: int) -> None:
        for channel in self._configured.channels:
            busy = self._busy.get(channel.name)
            # What is still being tried says the same.
            if busy is None or busy.done():
                self._busy[channel.name] = asyncio.create_task(self._tell(channel, number))

    async def _tell(self, channel: ChannelInfo, number: int) -> None:
        try:
            how = await self._send(channel, number)
        except ActivityError as failure:
            how = _what_became(failure, channel)
            workflow.logger.warning("Channel %s did not tell the person: %s", channel.name, how)
        self._record.told.append(Told(channel=channel.name, number=number, how=how, at=workflow.now()))
        self._changed()

    async def _send(self, channel: ChannelInfo, number: int) -> How:
        record, deadline = self._record, self._record.deadline
        assert deadline is not None
        how: How = await workflow.execute_activity(
            Activities.TELL_PERSON,
            TellPerson(
                notice_id=message_id(record.handoff_id, channel.name, number),
                channel=channel.name,
                number=number,
                handoff_id=record.handoff_id,
                owner=record.request.owner,
                instructions=record.request.instructions,
                boundary=record.request.boundary,
                expires_at=deadline,
            ),
            task_queue=SERVER_QUEUE,
            result_type=How,
            start_to_close_timeout=_ATTEMPT,
            heartbeat_timeout=_HEARTBEAT,
            schedule_to_close_timeout=max(deadline - workflow.now(), timedelta(seconds=1)),
            retry_policy=RetryPolicy(
                initial_interval=timedelta(seconds=1),
                maximum_interval=timedelta(minutes=1),
                non_retryable_error_types=[] if channel.dedupes else list(_ONCE),
            ),
            summary=f"{'Remind' if number else 'Tell'} a person by {channel.name}",
        )
        return how


def _what_became(failure: ActivityError, channel: ChannelInfo) -> How:
    error = from_failure(failure)
    if error is not None:
        return How.UNKNOWN if error.code is ErrorCode.OUTCOME_UNKNOWN else How.FAILED
    cause = failure.cause
    # Timed out without an earlier failure: an attempt was under way, unless none was ever taken up.
    begun = isinstance(cause, TimedOut) and cause.cause is None and cause.type is not TimeoutType.SCHEDULE_TO_START
    return How.UNKNOWN if begun and not channel.dedupes else How.FAILED
