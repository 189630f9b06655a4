"""The host's side of the control channel."""

import asyncio
import contextlib
import dataclasses
import json
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.host.control import SLOT_BYTES
from user_handoff.desktop.host.entrance import Entrance
from user_handoff.desktop.host.gate import Gate
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.spec import HostRecord

logger = logging.getLogger(__name__)

Params = dict[str, Any]


class Steering:
    """Answers status, hold, recover, looked, release, set_slot, close_browser, and what is asked of doors."""

    def __init__(
        self,
        record: HostRecord,
        ends: float,
        router: Router,
        gate: Gate,
        entrance: Entrance,
        close: Callable[[], Awaitable[None]],
    ) -> None:
        """Take the parts.

        Args:
            record: Who this host is.
            ends: When the browser is closed, by the monotonic clock.
            router: Counts the effects in flight.
            gate: Keeps the hold.
            entrance: Lets agents in.
            close: Closes the browser.
        """
        self._record = record
        self._ends = ends
        self._router = router
        self._gate = gate
        self._close = close
        self._entrance = entrance
        self._connections: set[ServerConnection] = set()
        self._slot: dict[str, object] = {}
        gate.on_look = self._ask_runner
        self._tasks: set[asyncio.Task[None]] = set()
        self._methods: dict[str, Callable[[Params], Awaitable[object]]] = {
            "status": self._status,
            "hold": self._hold,
            "recover": self._recover,
            "looked": self._looked,
            "release": self._release,
            "open_door": entrance.open,
            "close_door": entrance.close,
            "keep_door": entrance.keep,
            "doors": entrance.list,
            "set_slot": self._set_slot,
            "close_browser": self._close_browser,
        }

    async def serve(self, connection: ServerConnection) -> None:
        """Answer one client until it goes. What it has begun goes on without it."""
        self._connections.add(connection)
        try:
            with contextlib.suppress(ConnectionClosed):
                async for text in connection:
                    self._spawn(self._answer(connection, text))
        finally:
            self._connections.discard(connection)

    def _ask_runner(self, hold_id: str) -> bool:
        """Ask whoever steers this host to free the browser; False where nobody does."""
        message = json.dumps({"event": "look", "hold_id": hold_id})
        for connection in self._connections:
            self._spawn(_send(connection, message))
        return bool(self._connections)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, connection: ServerConnection, text: str | bytes) -> None:
        try:
            message = json.loads(text)
            id, method, params = message["id"], self._methods[message["method"]], message["params"]
        except (ValueError, KeyError, TypeError):
            await connection.close(1008)
            return
        reply: dict[str, object] = {"id": id}
        try:
            reply["result"] = await method(params)
        except HandoffError as error:
            reply["error"] = error.to_dict()
        except (ValueError, KeyError, TypeError) as error:
            reply["error"] = _invalid(f"The parameters are wrong ({type(error).__name__}).").to_dict()
        await _send(connection, json.dumps(reply))

    async def _status(self, params: Params) -> object:
        return {
            "browser_id": self._record.browser_id,
            "host": dataclasses.asdict(self._record.host),
            "browser": dataclasses.asdict(self._record.browser),
            "hold_id": self._gate.hold_id,
            "slot": self._slot,
            "in_flight": len(self._router.effects.ids),
            "refused": self._gate.refused,
            "code_ran": self._entrance.taint.pages,
            "lifetime_seconds_left": max(0.0, self._ends - time.monotonic()),
        }

    async def _hold(self, params: Params) -> None:
        preempt = bool(params.get("preempt"))
        await self._gate.hold(str(params["hold_id"]), float(params["drain_seconds"]), preempt=preempt)

    async def _recover(self, params: Params) -> None:
        await self._gate.recover(str(params["hold_id"]), {str(page) for page in params["pages"]})

    async def _looked(self, params: Params) -> None:
        self._entrance.looks.seen_by_all(str(params["page"]))

    async def _release(self, params: Params) -> None:
        await self._gate.release(str(params["hold_id"]))

    async def _set_slot(self, params: Params) -> None:
        slot = params["slot"]
        if not isinstance(slot, dict) or len(json.dumps(slot)) > SLOT_BYTES:
            raise _invalid("The slot is not an object of at most 64 KB.")
        self._slot = slot

    async def _close_browser(self, params: Params) -> None:
        await self._close()


async def _send(connection: ServerConnection, message: str) -> None:
    with contextlib.suppress(ConnectionClosed):
        await connection.send(message)


def _invalid(what: str) -> HandoffError:
    return make_error(
        ErrorCode.INVALID_REQUEST, what, holds="Nothing was changed.", do_next="Send what the method takes."
    )
