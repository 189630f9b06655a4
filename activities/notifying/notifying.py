"""The activities that tell a person, and that deliver news to programs. Links and addresses stay in here."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx2
from temporalio import activity
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from user_handoff.activities.beating import beating
from user_handoff.activities.notifying.channels import Say, keep_quiet, say_on_terminal, send
from user_handoff.activities.notifying.post import post_signed
from user_handoff.activities.notifying.settings import Channel, Endpoint, NotifySettings
from user_handoff.activities.notifying.texts import news_body
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import to_failure
from user_handoff.contract.handoff import MAX_HOLD_SECONDS, HandoffState, LinkGrant, Summary
from user_handoff.contract.ids import gone_endpoint_id
from user_handoff.contract.links import link_url, new_link
from user_handoff.contract.names import SERVER_QUEUE, Activities, Workflows
from user_handoff.contract.news import Deliver, Delivered
from user_handoff.contract.notices import How, TellPerson

SCHEDULE: Final = (5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 36_000.0)
"""Seconds between the attempts to deliver one piece of news: eight of them, within 28 hours."""


logger = logging.getLogger(__name__)


class Notifying:
    """What a server tells people and programs with.

    Args:
        settings: Whom, and how.
        base_url: What people's links begin with; called when a link is made.
        say: Writes a line on the console.
        schedule: Seconds between the attempts to deliver one piece of news.
    """

    def __init__(
        self,
        settings: NotifySettings,
        base_url: Callable[[], str],
        *,
        say: Say = say_on_terminal,
        schedule: Sequence[float] = SCHEDULE,
    ) -> None:
        self.settings = settings
        self.base_url = base_url
        self.say = say
        self.schedule = tuple(schedule)
        if settings.channels or settings.endpoints:
            keep_quiet()


class NotifyingActivities:
    """The activities of the server queue that tell somebody something.

    Args:
        client: For asking handoffs whether anybody is still waited for.
        notifying: Whom to tell, and how.
    """

    def __init__(self, client: Client, notifying: Notifying) -> None:
        self._client = client
        self._with = notifying

    def all(self) -> Sequence[Callable[..., Any]]:
        """Everything that a worker of the server queue registers."""
        return [self.tell_person, self.deliver]

    @activity.defn(name=Activities.TELL_PERSON)
    async def tell_person(self, ask: TellPerson) -> How:
        """Tell a person, unless nobody waits for one any more. The link is made here, and only its hash leaves."""
        channel = self._with.settings.channel(ask.channel)
        if channel is None:
            raise to_failure(_failed(ask, "the channel is no longer configured"))
        handoff = self._client.get_workflow_handle(ask.handoff_id)
        link = await self._link(handoff, ask) if channel.link else ""
        # The last look before it goes out.
        if link is None or not await _waits(handoff):
            return How.OVER
        async with beating():
            await self._send(channel, ask, link)
        return How.SENT

    @activity.defn(name=Activities.DELIVER)
    async def deliver(self, told: Deliver) -> Delivered:
        """Deliver one piece of news. What fails is tried again on the schedule, under the same id."""
        endpoint = self._with.settings.endpoint(told.endpoint)
        if endpoint is None or await self._is_gone(endpoint):
            return Delivered(taken=False)
        try:
            async with beating():
                answer = await post_signed(endpoint.url, endpoint.secrets, told.news.news_id, news_body(told))
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError) as error:
            raise self._again(f"It was not reached ({type(error).__name__}).") from None
        if answer.gone:
            await self._say_gone(endpoint)
        elif not answer.taken:
            raise self._again(f"It answered {answer.status}.", answer.retry_after)
        return Delivered(taken=answer.taken)

    async def _send(self, channel: Channel, ask: TellPerson, link: str) -> None:
        try:
            await send(channel, ask, link, self._with.say)
        except (Exception, asyncio.CancelledError) as error:
            # The text of a foreign error may name an address.
            why = type(error).__name__
            logger.warning("a notice by channel %s was not confirmed: %s", channel.name, why)
            if channel.info.dedupes:
                raise ApplicationError(f"It was not taken ({why}).", type="not_taken") from None
            raise to_failure(_unknown(ask, why)) from None

    async def _link(self, handoff: WorkflowHandle[Any, Any], ask: TellPerson) -> str | None:
        """A new link, known to the handoff before anybody has it; empty: it takes no more; None: it is over."""
        token, sha256 = new_link(ask.handoff_id)
        left = (ask.expires_at - datetime.now(UTC)).total_seconds()
        if left <= 0:
            return None
        grant = LinkGrant(sha256=sha256, expires_in_seconds=min(left, MAX_HOLD_SECONDS))
        try:
            await handoff.execute_update(Workflows.ADD_LINK, grant, id=f"link.{sha256}")
        except WorkflowUpdateFailedError:
            return ""
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise
        return link_url(self._with.base_url(), token)

    async def _is_gone(self, endpoint: Endpoint) -> bool:
        try:
            described = await self._client.get_workflow_handle(gone_endpoint_id(endpoint.key)).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise
        return described.close_time is None

    async def _say_gone(self, endpoint: Endpoint) -> None:
        logger.warning("endpoint %s wants no more webhooks (410); it is switched off", endpoint.name)
        await self._client.start_workflow(
            Workflows.GONE_ENDPOINT,
            endpoint.name,
            id=gone_endpoint_id(endpoint.key),
            task_queue=SERVER_QUEUE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )

    def _again(self, why: str, retry_after: float = 0.0) -> ApplicationError:
        done, schedule = activity.info().attempt, self._with.schedule
        if done > len(schedule):
            return ApplicationError(f"{why} It is given up.", type="not_delivered", non_retryable=True)
        # A little off the schedule, so that many that failed at once do not come back at once.
        delay = schedule[done - 1] * secrets.SystemRandom().uniform(0.9, 1.1)
        return ApplicationError(why, type="not_delivered", next_retry_delay=timedelta(seconds=max(delay, retry_after)))


async def _waits(handoff: WorkflowHandle[Any, Any]) -> bool:
    """True while a person is waited for."""
    try:
        summary: Summary = await handoff.query(Workflows.SUMMARY, result_type=Summary)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    in_time = summary.expires_at is not None and summary.expires_at > datetime.now(UTC)
    return summary.state is HandoffState.HELD and summary.answer is None and in_time


def _unknown(ask: TellPerson, why: str) -> HandoffError:
    return make_error(
        ErrorCode.OUTCOME_UNKNOWN,
        f"Channel {ask.channel} did not confirm that the person was told ({why}).",
        holds="They may have been told; it is not sent again.",
        do_next="Tell them another way, or wait for the next reminder.",
        channel=ask.channel,
    )


def _failed(ask: TellPerson, why: str) -> HandoffError:
    return make_error(
        ErrorCode.FAILED,
        f"Channel {ask.channel} told nobody: {why}.",
        holds="The handoff goes on.",
        do_next="See to the server's notification settings.",
        channel=ask.channel,
    )
