"""A notification on the person's own desktop when an agent needs them there. A click on it shows the window.

Freedesktop's notification service, where the session has one. Nothing of the page or of the instructions is in the
notification: others may see the screen, and services keep what they showed.
"""

import asyncio
import contextlib
import html
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from jeepney import DBusAddress, MatchRule, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.asyncio import DBusRouter, Proxy, open_dbus_router
from jeepney.wrappers import unwrap_msg

from user_handoff.contract.errors import HandoffError
from user_handoff.contract.showing import ShowWindow, WindowShown
from user_handoff.desktop.handoff.records import HoldRecord, Phase

log = logging.getLogger(__name__)

_NAME: Final = "org.freedesktop.Notifications"
_SERVICE: Final = DBusAddress("/org/freedesktop/Notifications", bus_name=_NAME, interface=_NAME)
_INVOKED: Final = MatchRule(
    type="signal", interface=_NAME, member="ActionInvoked", path="/org/freedesktop/Notifications"
)
_ACTIONS: Final = ["default", "Show me the window", "show", "Show me the window"]
_SECONDS: Final = 10.0
"""How long the service is waited for."""

Show = Callable[[ShowWindow], Awaitable[WindowShown]]


class DeskNotices:
    """Tells of each hold once, and takes the notification away at its end. It never stands in a hold's way.

    Args:
        bus: The address of the session's message bus.
        show: Brings the window of a hold to the front.
    """

    def __init__(self, bus: str, show: Show) -> None:
        self._bus = bus
        self._show = show
        self._told: dict[str, asyncio.Task[None]] = {}

    async def why_not(self) -> str:
        """Why nothing can be shown here; empty where it can."""
        try:
            async with asyncio.timeout(_SECONDS), open_dbus_router(self._bus) as router:
                bus = Proxy(message_bus, router)
                running = (await bus.NameHasOwner(_NAME))[0]
                return "" if running or _NAME in (await bus.ListActivatableNames())[0] else "there is no service for it"
        except Exception as error:
            return f"the session's message bus does not answer ({type(error).__name__})"

    def changed(self, record: HoldRecord) -> None:
        """A hold has begun, or is over. Who takes a browser over knows it."""
        if record.taken is not None:
            return
        told = self._told.get(record.handoff_id)
        if record.phase is Phase.HELD and told is None:
            self._told[record.handoff_id] = asyncio.create_task(self._tell(record))
        elif told is not None and record.phase not in (Phase.BEGINNING, Phase.HELD):
            told.cancel()
            del self._told[record.handoff_id]

    async def aclose(self) -> None:
        """Take all of them away."""
        tasks = list(self._told.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _tell(self, record: HoldRecord) -> None:
        try:
            async with open_dbus_router(self._bus) as router:
                with router.filter(_INVOKED, bufsize=20) as clicks:
                    await _answered(Proxy(message_bus, router).AddMatch(_INVOKED))
                    notice = await self._notify(router, record)
                    try:
                        await self._follow(clicks, notice, record)
                    finally:
                        with contextlib.suppress(Exception):
                            await asyncio.shield(_call(router, "CloseNotification", "u", (notice,)))
        except Exception as error:
            # A foreign error's text may quote anything.
            log.warning("a desktop notification could not be shown: %s", type(error).__name__)

    async def _notify(self, router: DBusRouter, record: HoldRecord) -> int:
        minutes = max(1, int(record.seconds_left // 60))
        body = f"{html.escape(record.owner)} waits for you in its browser, for {minutes} min at most."
        words = ("handoff", 0, "", "An agent needs you", body, _ACTIONS, {"urgency": ("y", 1)}, -1)
        answer: tuple[Any, ...] = await _call(router, "Notify", "susssasa{sv}i", words)
        return int(answer[0])

    async def _follow(self, clicks: "asyncio.Queue[Any]", notice: int, record: HoldRecord) -> None:
        while True:
            if (await clicks.get()).body[0] != notice:
                continue
            with contextlib.suppress(HandoffError):
                await self._show(ShowWindow(handoff_id=record.handoff_id, browser_id=record.browser_id))


async def _call(router: DBusRouter, method: str, signature: str, body: tuple[Any, ...]) -> Any:
    return unwrap_msg(await _answered(router.send_and_get_reply(new_method_call(_SERVICE, method, signature, body))))


async def _answered(asked: Awaitable[Any]) -> Any:
    async with asyncio.timeout(_SECONDS):
        return await asked
