"""Delivering the news of one handoff to programs, each at its own pace and in order; and who wants no more."""

import asyncio
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

from user_handoff.contract.names import SERVER_QUEUE, Activities, Workflows
from user_handoff.contract.news import Deliver, Delivered, Delivery, MoreNews, News
from user_handoff.contract.notices import EndpointInfo

_HEARTBEAT: Final = timedelta(seconds=10)
_ATTEMPT: Final = timedelta(seconds=30)

_PATIENCE: Final = timedelta(hours=30)
"""From the time of the news on; what comes after something that was given up gets at least one attempt."""

_NEWS = "The handoff has entered more states."
_ENABLE = "Send webhooks to this endpoint again."


@workflow.defn(name=Workflows.DELIVERY)
class DeliveryWorkflow:
    """The news of one handoff. Attempts that fail are not in this history: the server makes them by itself."""

    @workflow.init
    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery
        self._news: list[News] = []
        self._states = dict.fromkeys((endpoint.name for endpoint in delivery.endpoints), "nothing yet")
        self._add(delivery.news)

    @workflow.run
    async def run(self, delivery: Delivery) -> None:
        """Deliver until every endpoint has had the last of it, or wants no more."""
        await asyncio.gather(*(self._lane(endpoint) for endpoint in delivery.endpoints))

    @workflow.signal(name=Workflows.NEWS, description=_NEWS)
    def news(self, more: MoreNews) -> None:
        """Note it."""
        self._add(more.news)

    def _add(self, news: tuple[News, ...]) -> None:
        self._news += (each for each in news if not self._news or each.number > self._news[-1].number)

    async def _lane(self, endpoint: EndpointInfo) -> None:
        for place in count():
            await workflow.wait_condition(partial(self._has, place))
            news = self._news[place]
            wants_more = await self._deliver(endpoint, news)
            if news.over or not wants_more:
                return

    def _has(self, place: int) -> bool:
        return len(self._news) > place

    async def _deliver(self, endpoint: EndpointInfo, news: News) -> bool:
        try:
            delivered = await self._attempt(endpoint, news)
        except ActivityError:
            workflow.logger.warning("Endpoint %s was not told of %s: given up", endpoint.name, news.what)
            self._show(endpoint, f"{news.what}: given up")
            return True
        self._show(endpoint, news.what if delivered.taken else "it wants no more, or is no longer configured")
        return delivered.taken

    async def _attempt(self, endpoint: EndpointInfo, news: News) -> Delivered:
        left = news.at + _PATIENCE - workflow.now()
        delivered: Delivered = await workflow.execute_activity(
            Activities.DELIVER,
            Deliver(
                endpoint=endpoint.name,
                handoff_id=self._delivery.handoff_id,
                news=news,
                details=self._delivery.details if endpoint.details else None,
            ),
            task_queue=SERVER_QUEUE,
            result_type=Delivered,
            start_to_close_timeout=_ATTEMPT,
            heartbeat_timeout=_HEARTBEAT,
            schedule_to_close_timeout=max(left, timedelta(minutes=1)),
            # The pauses between attempts come with their failures; this one is for a worker that died.
            retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1)),
            summary=f"{news.what} to {endpoint.name}",
        )
        return delivered

    def _show(self, endpoint: EndpointInfo, state: str) -> None:
        self._states[endpoint.name] = state
        lines = (f"- **{name}**: {told}" for name, told in self._states.items())
        workflow.set_current_details("\n".join(["## What programs were told last", *lines]))


@workflow.defn(name=Workflows.GONE_ENDPOINT)
class GoneEndpointWorkflow:
    """As long as it runs, an endpoint that has answered 410 is sent nothing."""

    def __init__(self) -> None:
        self._enabled = False

    @workflow.run
    async def run(self, name: str) -> None:
        """Wait until it is wanted again."""
        workflow.set_current_details(
            f"## Endpoint {name} wants no more webhooks\nIt answered 410 Gone. To send to it again, signal `enable`."
        )
        await workflow.wait_condition(lambda: self._enabled)

    @workflow.signal(name=Workflows.ENABLE, description=_ENABLE)
    def enable(self) -> None:
        """Forget that it was gone."""
        self._enabled = True
