"""The runner's way to steer a host: its status, the hold, the slot, and the end of its browser."""

import asyncio
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from user_handoff.contract.errors import ErrorCode, HandoffError, from_dict, make_error
from user_handoff.desktop.identity import ProcessIdentity

if TYPE_CHECKING:  # a host is a process of its own: it needs no models, which take long to load
    from user_handoff.contract.doors import OpenDoor

CDP_PATH = "/cdp"
CONTROL_PATH = "/control"
SLOT_BYTES = 64 * 1024
"""The largest slot, as JSON."""
_HUNG_SECONDS = 60
"""A host that does not answer a ping for so long counts as gone."""
_EXIT_SECONDS = 5


def cdp_endpoint(socket: Path) -> str:
    """Where Playwright connects: ``connect_over_cdp(endpoint, no_defaults=True, is_local=True)``.

    Pass `artifacts_dir=artifacts_folder(browser_folder)` too, so that `download.save_as` finds the files.
    """
    return f"ws+unix://{socket}:{CDP_PATH}"


@dataclass(frozen=True)
class HostStatus:
    """What a host says of itself.

    Attributes:
        browser_id: The browser's id.
        host: The host process.
        browser: Chromium's main process.
        hold_id: The hold that stands; None where there is none.
        slot: What the last runner left for the next.
        in_flight: Effects that the browser has yet to answer.
        refused: How many commands holds have refused.
        lifetime_seconds_left: Until the host closes the browser.
        code_ran: The pages that show a document in which the code of an agent that came by a door has run.
    """

    browser_id: str
    host: ProcessIdentity
    browser: ProcessIdentity
    hold_id: str | None
    slot: dict[str, object]
    in_flight: int
    refused: int
    lifetime_seconds_left: float
    code_ran: list[str]


class HostControl:
    """A connection to a host's control channel.

    Attributes:
        closed: Set when the host, or the connection to it, is gone.
        on_look: Called with the hold's id when an agent would look at a browser that waits for that.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self.closed = asyncio.Event()
        self.on_look: Callable[[str], None] = lambda hold_id: None
        self._connection = connection
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, socket: Path, timeout_seconds: float = 5) -> "HostControl":
        """Connect to a host.

        Raises:
            Gone: `browser_gone`: nobody listens there.
        """
        try:
            connection = await unix_connect(
                str(socket),
                f"ws://host{CONTROL_PATH}",
                compression=None,
                open_timeout=timeout_seconds,
                ping_timeout=_HUNG_SECONDS,
                close_timeout=1,
            )
        except (OSError, InvalidHandshake, EOFError) as error:
            raise _gone() from error
        return cls(connection)

    async def status(self) -> HostStatus:
        """Ask how the browser is.

        Raises:
            Gone: `browser_gone`.
        """
        data = await self._call("status")
        data["host"] = ProcessIdentity(**data["host"])
        data["browser"] = ProcessIdentity(**data["browser"])
        return HostStatus(**data)

    async def hold(self, hold_id: str, drain_seconds: float, *, preempt: bool = False) -> None:
        """Refuse effects from now on, and wait until those in flight have ended. Idempotent for the same id.

        Args:
            hold_id: Its id.
            drain_seconds: How long to wait.
            preempt: Cut off then what agents that came by a door have begun.

        Raises:
            HandoffError: `handoff_active`: another hold stands. `drain_timeout`: they did not end; nothing is held.
                `browser_gone`.
        """
        await self._call("hold", hold_id=hold_id, drain_seconds=drain_seconds, preempt=preempt)

    async def recover(self, hold_id: str, pages: list[str]) -> None:
        """The person has finished: the hold stands until somebody looks. Idempotent.

        Args:
            hold_id: The hold.
            pages: The targets of the pages that there are: each agent looks at each before it acts on it.

        Raises:
            HandoffError: `fence_mismatch`: this hold does not stand. `browser_gone`.
        """
        await self._call("recover", hold_id=hold_id, pages=pages)

    async def looked(self, page: str) -> None:
        """Say that a page was looked at for the agent, whichever it is.

        Raises:
            HandoffError: `browser_gone`.
        """
        await self._call("looked", page=page)

    async def release(self, hold_id: str) -> None:
        """End the hold; nothing happens where none stands.

        Raises:
            HandoffError: `fence_mismatch`: another hold stands. `browser_gone`.
        """
        await self._call("release", hold_id=hold_id)

    async def set_slot(self, slot: dict[str, object]) -> None:
        """Leave ids and states for the next runner; they live as long as the host.

        Raises:
            HandoffError: `invalid_request`: more than 64 KB. `browser_gone`.
        """
        await self._call("set_slot", slot=slot)

    async def open_door(self, door: "OpenDoor") -> tuple[str, int | None, str]:
        """Let an agent in by its token, for a while.

        Returns:
            The Unix socket, the loopback port if there is one, and the folder of what it may give to pages.

        Raises:
            HandoffError: `invalid_request`: too many doors. `browser_gone`.
        """
        found = await self._call("open_door", **door.model_dump(exclude={"browser_id"}))
        return found["socket"], found["port"], found["uploads"]

    async def close_door(self, door_id: str, why: str = "closed") -> bool:
        """Close a door and cut off who came by it; False where there is none.

        Args:
            door_id: Which.
            why: A word for the evidence.

        Raises:
            HandoffError: `browser_gone`.
        """
        return bool(await self._call("close_door", door_id=door_id, why=why))

    async def keep_door(self, door_id: str) -> bool:
        """Say that the grant of a door stands: without that its host closes it soon. False where there is no such door.

        Raises:
            HandoffError: `browser_gone`.
        """
        return bool(await self._call("keep_door", door_id=door_id))

    async def doors(self) -> list[dict[str, Any]]:
        """The doors that are open: door_id, name, tcp, grant_id, seconds_left and connected of each.

        Raises:
            HandoffError: `browser_gone`.
        """
        return list(await self._call("doors"))

    async def close_browser(self) -> None:
        """Close the browser, and its host with it: gracefully, so that cookies are kept, else by force.

        A browser that is gone already is closed. Afterwards its profile is free.
        """
        host: ProcessIdentity | None = None
        try:
            host = (await self.status()).host
            await self._call("close_browser")
        except HandoffError as error:
            if error.code is not ErrorCode.BROWSER_GONE:
                raise
        await self.closed.wait()
        if host is not None:
            await asyncio.to_thread(_wait_for_end, host)

    async def aclose(self) -> None:
        """End the connection; host, browser and hold stay."""
        await self._connection.close()
        await self._reading

    async def _call(self, method: str, **params: object) -> Any:
        id = next(self._ids)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[id] = answer
        try:
            if self.closed.is_set():
                raise _gone()
            await self._connection.send(json.dumps({"id": id, "method": method, "params": params}))
            return await answer
        except ConnectionClosed as error:
            raise _gone() from error
        finally:
            self._waiting.pop(id, None)

    async def _read(self) -> None:
        try:
            async for text in self._connection:
                self._take(json.loads(text))
        except ConnectionClosed:
            pass
        finally:
            self.closed.set()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(_gone())

    def _take(self, message: dict[str, Any]) -> None:
        if "event" in message:
            self.on_look(message["hold_id"])
            return
        answer = self._waiting.get(message["id"])
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(from_dict(message["error"]))
        else:
            answer.set_result(message["result"])


def _wait_for_end(process: ProcessIdentity) -> None:
    deadline = time.monotonic() + _EXIT_SECONDS
    while process.alive() and time.monotonic() < deadline:  # not psutil's wait, which also waits for a zombie's parent
        time.sleep(0.01)


def _gone() -> HandoffError:
    return make_error(
        ErrorCode.BROWSER_GONE,
        "The browser's host does not answer: the browser is gone.",
        holds="Its hold, if there was one, is over.",
        do_next="Open a new browser.",
    )
