"""A desktop in memory, behind the activities of the real one, and the workflows of handoffs beside it."""

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from user_handoff.activities.desktop import DesktopActivities
from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import Answer, Reply, RevokeReason, Summary
from user_handoff.contract.names import DESKTOPS_QUEUE, SearchAttributes
from user_handoff.plugin import with_our_converter
from user_handoff.testing.effects import Done
from user_handoff.testing.holds import Hold
from user_handoff.testing.memory import MemoryDesktop
from user_handoff.testing.pages import Page, Site
from user_handoff.testing.person import ScriptedPerson
from user_handoff.worker.server import server_worker

log = logging.getLogger(__name__)


class InMemoryDesktop:
    """A desktop for the tests of an agent, to be used with ``async with``.

    It polls the queues of a real desktop, and keeps its rules: an effect is done at most once and never while a person
    has the browser, element ids die, and after a handoff each page wants a fresh snapshot. No window is opened.
    Use one at a time on a namespace: any free desktop answers an agent that asks for one.

    Attributes:
        effects: What was done, in order. What was refused is not in it.
        asked: What a person was asked, in order.
    """

    def __init__(
        self,
        client: Client,
        *,
        pages: Iterable[Page],
        person: ScriptedPerson | Sequence[ScriptedPerson] | None = None,
        server: bool = True,
    ) -> None:
        """Prepare; nothing is started.

        Args:
            client: Connected to a test server, such as that of ``WorkflowEnvironment.start_local``.
            pages: What there is to open and to see.
            person: Who answers; several: one for each handoff, the last one for all that follow;
                None: everybody does what is asked.
            server: Run the workflows of handoffs too. False where ``handoff server`` runs on the same namespace.
        """
        self._client = with_our_converter(client)
        self._site = Site(pages)
        self._people = [person] if isinstance(person, ScriptedPerson) else list(person or [ScriptedPerson()])
        self._server = server
        self._memory: MemoryDesktop | None = None
        self._acting: dict[str, asyncio.Task[None]] = {}
        self._stack = contextlib.AsyncExitStack()
        self.asked: list[Summary] = []
        self.effects: list[Done] = []

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="handoff-")))
            self._memory = MemoryDesktop(self._site, folder, self._next_person, self._guarded, self.effects)
            activities = DesktopActivities(self._memory)
            await _know_search_attributes(self._client)
            if self._server:
                await stack.enter_async_context(server_worker(self._client))
            for queue, functions in (
                (self._memory.identity.queue, activities.on_own_queue()),
                (DESKTOPS_QUEUE, activities.on_shared_queue()),
            ):
                await stack.enter_async_context(Worker(self._client, task_queue=queue, activities=functions))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = list(self._acting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._stack.aclose()

    def done(self, kind: str) -> list[str]:
        """The names of the elements that something was done to, in order.

        Args:
            kind: ``click``, ``fill``, ``press``, ``select`` or ``download``.
        """
        return [each.control.name for each in self.effects if each.kind == kind and each.control is not None]

    def fail_next(self, code: ErrorCode) -> None:
        """Let the next effect that would be done fail instead. May be called several times, for one effect each.

        Args:
            code: How, such as ``action_timeout``: then nothing is done. With ``outcome_unknown`` it is done, and its
                receipt lost.
        """
        self._desktop.fail_next(code)

    def end_browser(self, browser_id: str, reason: RevokeReason = RevokeReason.BROWSER_CRASHED) -> None:
        """Let a browser end by itself, and its hold with it.

        Args:
            browser_id: Which one.
            reason: Why.
        """
        self._desktop.end_browser(browser_id, reason)

    @property
    def _desktop(self) -> MemoryDesktop:
        if self._memory is None:
            raise RuntimeError("use an InMemoryDesktop with `async with`")
        return self._memory

    def _next_person(self) -> ScriptedPerson:
        return self._people.pop(0) if len(self._people) > 1 else self._people[0]

    def _guarded(self, hold: Hold) -> None:
        """A person has the browser now; a guard that is asked for again brings no other person."""
        handoff_id = hold.receipt.handoff_id
        if handoff_id not in self._acting:
            self._acting[handoff_id] = asyncio.create_task(self._act(hold))

    async def _act(self, hold: Hold) -> None:
        handoff_id, person, handoffs = hold.receipt.handoff_id, hold.person, HandoffClient(self._client)
        self.asked.append(await handoffs.summary(handoff_id))
        if person.answer == "never":
            return
        if person.waits_for is not None:
            await person.waits_for.wait()
        await asyncio.sleep(person.after_seconds)
        if not hold.active:
            return
        if person.does:
            hold.browser.pass_walls()
        if person.goes_to is not None:
            hold.browser.go(hold.browser.front, person.goes_to)
        reply = Reply(answer=Answer(person.answer), note=person.note, by="scripted person")
        try:
            await handoffs.reply(handoff_id, reply, reply_id=f"scripted.{handoff_id}")
        except HandoffError as error:
            log.info("%s: the person came too late (%s)", handoff_id, error.code)


async def _know_search_attributes(client: Client) -> None:
    kinds = dict.fromkeys(SearchAttributes.ALL, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
    request = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds)
    try:
        await client.operator_service.add_search_attributes(request)
    except RPCError as error:
        # The time-skipping test server takes any attribute, and knows no such call.
        if error.status not in (RPCStatusCode.ALREADY_EXISTS, RPCStatusCode.UNIMPLEMENTED):
            raise
