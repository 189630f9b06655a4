"""A notification on the person's own desktop, with a real message bus and a real hold."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jeepney import DBusAddress, MessageType, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.asyncio import DBusConnection, DBusRouter, Proxy, open_dbus_connection

from tests.desktop.support import Agent
from tests.waiting import until
from user_handoff.contract.showing import Shown, ShowWindow, WindowShown
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.notices import DeskNotices
from user_handoff.desktop.start import DesktopSettings, running_desktop

NAME = "org.freedesktop.Notifications"


@dataclass
class Service:
    """What a desktop session has: it notes what it is asked to show, and can be clicked."""

    connection: DBusConnection
    shown: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)

    async def serve(self) -> None:
        while True:
            message = await self.connection.receive()
            if message.header.message_type is not MessageType.method_call:
                continue
            member = message.header.fields[3]
            if member == "Notify":
                number = len(self.shown) + 1
                self.shown[number] = message.body
                await self.connection.send(new_method_return(message, "u", (number,)))
            elif member == "CloseNotification":
                self.closed.append(message.body[0])
                await self.connection.send(new_method_return(message))

    async def click(self, number: int) -> None:
        address = DBusAddress("/org/freedesktop/Notifications", interface=NAME)
        await self.connection.send(new_signal(address, "ActionInvoked", "us", (number, "default")))


@pytest.fixture
async def bus() -> AsyncIterator[str]:
    """A session's message bus."""
    daemon = await asyncio.create_subprocess_exec(
        "dbus-daemon", "--session", "--nofork", "--print-address=1", stdout=asyncio.subprocess.PIPE
    )
    assert daemon.stdout
    yield (await daemon.stdout.readline()).decode().strip()
    daemon.terminate()
    await daemon.wait()


@pytest.fixture
async def service(bus: str) -> AsyncIterator[Service]:
    async with await open_dbus_connection(bus) as connection:
        async with DBusRouter(connection) as router:
            await Proxy(message_bus, router).RequestName(NAME)
        found = Service(connection)
        serving = asyncio.create_task(found.serve())
        yield found
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


@contextlib.asynccontextmanager
async def telling(bus: str, desktop: Desktop, asked: list[ShowWindow]) -> AsyncIterator[DeskNotices]:
    async def show(request: ShowWindow) -> WindowShown:
        asked.append(request)
        return WindowShown(how=Shown.RAISED)

    notices = DeskNotices(bus, show)
    desktop.holds.listen(notices.changed)
    try:
        yield notices
    finally:
        desktop.holds._listeners.remove(notices.changed)
        await notices.aclose()


async def test_a_person_at_the_desk_is_told_once_and_shown_the_window_by_a_click(
    agent: Agent, desktop: Desktop, bus: str, service: Service
) -> None:
    """B9, K81: who asks and how long; never what for; and it is taken away at the end."""
    asked: list[ShowWindow] = []
    async with telling(bus, desktop, asked) as notices:
        assert await notices.why_not() == ""
        receipt = await agent.begin()
        await until(lambda: service.shown)
        words = service.shown[1]
        assert (words[0], words[3]) == ("handoff", "An agent needs you") and "agent:test" in words[4]
        assert asked == [], "nothing is raised by itself"
        await service.click(99)
        await service.click(1)
        await until(lambda: asked)
        assert asked == [ShowWindow(handoff_id=receipt.handoff_id, browser_id=agent.browser_id)]
        assert service.closed == []
        await agent.finish(receipt)
        await until(lambda: service.closed == [1])
        assert len(service.shown) == 1


async def test_a_desktop_without_a_service_says_so_and_hands_over_all_the_same(
    agent: Agent, desktop: Desktop, bus: str
) -> None:
    async with telling(bus, desktop, []) as notices:
        assert await notices.why_not() == "there is no service for it"
        assert (await agent.begin()).handoff_fence


async def test_a_desktop_without_a_bus_says_so_and_hands_over_all_the_same(agent: Agent, desktop: Desktop) -> None:
    async with telling("unix:path=/nowhere", desktop, []) as notices:
        assert "does not answer" in await notices.why_not()
        assert (await agent.begin()).handoff_fence


@pytest.mark.parametrize("switched", ["on", "off"])
async def test_a_runner_on_a_real_display_tells_whoever_sits_there_unless_it_is_switched_off(
    desktop: Desktop,
    bus: str,
    service: Service,
    switched: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B9: on a virtual one nobody does."""
    for name, value in desktop.display.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus)
    if switched == "off":
        monkeypatch.setenv("HANDOFF_DESK_NOTICES", "0")
    settings = DesktopSettings(folder=tmp_path, display=desktop.display.name, virtual=False, sandbox=False)
    async with running_desktop(settings) as real:
        agent = await Agent.open(real)
        receipt = await agent.begin()
        if switched == "on":
            await until(lambda: service.shown)
            await service.click(1)
            await until(lambda: real._showing._surfaces.focused() == receipt.surface.window_id)
    assert len(service.shown) == (switched == "on")
    assert service.closed == list(service.shown)
