"""The takeovers of a desktop in memory, behind the same activities."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract import takeover as t
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import to_failure
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities, desktop_queue


@dataclass
class FakeTakeovers:
    """One desktop. The test moves its takeovers on; `refuse` refuses the next begin."""

    client_id: str = field(default_factory=lambda: new_id("c"))
    desktop_id: str = field(default_factory=lambda: new_id("d"))
    refuse: ErrorCode | None = None
    now: dict[str, t.TakeoverNow] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def queue(self) -> str:
        return desktop_queue(self.client_id, self.desktop_id)

    async def move(self, takeover_id: str, state: t.TakeoverState, how: t.TakeoverEnd | None = None) -> t.TakeoverNow:
        async with self.changed:
            seconds = None if how is None else 12.5
            self.now[takeover_id] = t.TakeoverNow(takeover_id=takeover_id, state=state, how=how, seconds=seconds)
            self.changed.notify_all()
        return self.now[takeover_id]

    @activity.defn(name=Activities.BEGIN_TAKEOVER)
    async def begin(self, request: t.BeginTakeover) -> t.TakeoverBegun:
        self.calls.append(Activities.BEGIN_TAKEOVER)
        if self.refuse is not None:
            raise to_failure(make_error(self.refuse, "It is refused.", holds="Nothing.", do_next="Nothing."))
        await self.move(request.takeover_id, t.TakeoverState.HELD)
        return t.TakeoverBegun(
            takeover_id=request.takeover_id,
            lease_id=new_id("l"),
            client_id=self.client_id,
            desktop_id=self.desktop_id,
            expires_at=datetime.now(UTC) + timedelta(seconds=request.seconds),
            expires_in_seconds=request.seconds,
            ttl_seconds=30,
        )

    @activity.defn(name=Activities.GUARD_TAKEOVER)
    async def guard(self, request: t.GuardTakeover) -> t.TakeoverNow:
        self.calls.append(Activities.GUARD_TAKEOVER)
        while (now := self.now[request.takeover_id]).state == request.known:
            activity.heartbeat()
            await asyncio.sleep(0.02)
        return now

    @activity.defn(name=Activities.RETURN_TAKEOVER)
    async def give_back(self, request: t.ReturnTakeover) -> t.TakeoverNow:
        self.calls.append(f"{Activities.RETURN_TAKEOVER} {request.how}")
        return await self.move(request.takeover_id, t.TakeoverState.RECOVERING, t.TakeoverEnd(request.how))

    def request(self, **more: Any) -> t.TakeoverRequest:
        fields = {"browser_id": new_id("b"), "client_id": self.client_id, "desktop_id": self.desktop_id}
        return t.TakeoverRequest.model_validate({**fields, "queue": self.queue, "by": "ada", **more})

    @contextlib.asynccontextmanager
    async def serving(self, client: Client) -> AsyncIterator["FakeTakeovers"]:
        """Poll this desktop's queue."""
        async with Worker(client, task_queue=self.queue, activities=[self.begin, self.guard, self.give_back]):
            yield self

    async def play(self, client: Client, end: str) -> WorkflowHandle[Any, Any]:
        """One takeover from its start to its end."""
        takeovers, request = TakeoverClient(client), self.request(why="the wrong account")
        if end == "refuse":
            self.refuse = ErrorCode.HANDOFF_ACTIVE
        with contextlib.suppress(HandoffError):
            await takeovers.take_over(request)
            if end == "give_back":
                await takeovers.give_back(request.takeover_id, "done")
            else:
                await self.move(request.takeover_id, t.TakeoverState.RECOVERING, t.TakeoverEnd.TIMEOUT)
            await self.move(request.takeover_id, t.TakeoverState.ENDED, self.now[request.takeover_id].how)
        handle = client.get_workflow_handle(request.takeover_id)
        await handle.result()
        return handle
