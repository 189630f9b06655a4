"""Input of agents goes to a page one at a time: what waits in the page itself could not be taken back for a person."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.wire import Command

Handle = Callable[[AgentClient, Command], None]

_MOST = 1_000
"""Input that may wait for one page."""


@dataclass
class _Lane:
    """The input of one page."""

    running: int = 0
    waiting: deque[tuple[AgentClient, Command, Handle]] = field(default_factory=deque)
    is_next: bool = False


class Turns:
    """Has input wait until the browser has answered what was sent before it to the same page, by whichever agent."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._lanes: dict[str, _Lane] = {}

    def wait(self, client: AgentClient, command: Command, handle: Handle) -> bool:
        """True where a command has to wait: `handle` gets it once it is its turn.

        Raises:
            HandoffError: `rate_limited`: too many wait.
        """
        session = command.session or client.root
        lane = self._lanes.get(self._page(session))
        if lane is None or not command.method.startswith("Input.") or lane.is_next:
            return False
        if not lane.waiting and (lane.running == 0 or _lets_go(client, command)):
            return False  # what was pressed is let go
        if len(lane.waiting) >= _MOST:
            raise make_error(ErrorCode.RATE_LIMITED, f"{_MOST} inputs wait for this page; this one was not started")
        lane.waiting.append((client, command, handle))
        return True

    def begin(self, client: AgentClient, command: Command) -> Callable[[], None]:
        """An input is sent now; call what is returned when it has ended."""
        if not command.method.startswith("Input."):
            return lambda: None
        page = self._page(command.session or client.root)
        self._lanes.setdefault(page, _Lane()).running += 1
        return lambda: self._end(page)

    def _page(self, session: str) -> str:
        return self._router.page_of(session) or session

    def _end(self, page: str) -> None:
        self._lanes[page].running -= 1
        # not at once: whoever tells of an end is in the middle of its own work
        asyncio.get_running_loop().call_soon(self._go_on, page)

    def _go_on(self, page: str) -> None:
        lane = self._lanes.get(page)
        if lane is None:
            return
        while lane.waiting and (lane.running == 0 or _lets_go(*lane.waiting[0][:2])):
            client, command, handle = lane.waiting.popleft()
            lane.is_next = True
            handle(client, command)
            lane.is_next = False
        if not lane.waiting and lane.running == 0:
            del self._lanes[page]


def _lets_go(client: AgentClient, command: Command) -> bool:
    return client.gestures[command.session or client.root].ends(command.method, command.params)
