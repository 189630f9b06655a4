"""The socket on which gateways hand over the connections of pages."""

import asyncio
import socket
import stat
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.handles import handles
from tests.waiting import until
from user_handoff.contract.view import TAKEN
from user_handoff.desktop.view import pages as pages_module
from user_handoff.desktop.view.pages import Pages

KEY = "a-key"


@dataclass
class Desk:
    """A desktop that takes pages, and gateways that hand them over."""

    pages: Pages
    path: Path

    def knock(self) -> socket.socket:
        gateway = socket.socket(socket.AF_UNIX)
        gateway.setblocking(False)
        gateway.connect(str(self.path))
        return gateway

    async def offer(self, key: str, *sockets: Any) -> bytes:
        """Hand over; returns what is answered."""
        with self.knock() as gateway:
            socket.send_fds(gateway, [key.encode()], [each.fileno() for each in sockets])
            async with asyncio.timeout(5):
                return await asyncio.get_running_loop().sock_recv(gateway, 16)

    async def waiting(self, key: str = KEY) -> "asyncio.Task[socket.socket | None]":
        """The desktop waits for this key."""
        task = asyncio.create_task(self.pages.wait_for(key))
        await until(lambda: key in self.pages._expected)
        return task


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setattr(pages_module, "_AGAIN_SECONDS", 0.01)
    pages = Pages()
    await pages.open(tmp_path / "view")
    yield Desk(pages, tmp_path / "page")
    await pages.close()


async def test_a_connection_is_taken_under_its_key(desk: Desk) -> None:
    coming = await desk.waiting()
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            assert await desk.offer(KEY, ours) == TAKEN
        page = await coming
        assert page is not None and not page.get_inheritable()
        with page:
            page.send(b"picture")
        assert theirs.recv(16) == b"picture"


async def test_the_socket_is_for_this_user_alone(desk: Desk) -> None:
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("what", ["key", "nothing", "file", "datagrams"])
async def test_what_is_not_the_page_that_is_waited_for_is_refused_and_not_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(pages_module, "_SECONDS", 0.5)
    before = handles()
    coming = await desk.waiting()
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryFile() as file, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        offered: dict[str, list[Any]] = {"key": [ours], "nothing": [], "file": [file], "datagrams": [datagrams]}
        assert await desk.offer("another" if what == "key" else KEY, *offered[what]) == b""
        assert await coming is None
    assert handles() == before


async def test_a_key_is_good_for_one_connection(desk: Desk) -> None:
    """Both come before the desktop has gone on with the first one."""
    coming = await desk.waiting()
    before = handles()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        answers = await asyncio.gather(desk.offer(KEY, ours), desk.offer(KEY, ours))
        page = await coming
        assert sorted(answers) == [b"", TAKEN] and page is not None
        page.close()
    assert await desk.offer(KEY) == b""
    assert handles() == before


async def test_nobody_waits_for_a_key_for_which_another_waits(desk: Desk) -> None:
    coming = await desk.waiting()
    assert await desk.pages.wait_for(KEY) is None
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert await desk.offer(KEY, ours) == TAKEN
        page = await coming
        assert page is not None
        page.close()


async def test_a_page_whose_gateway_does_not_wait_for_the_answer_is_not_taken(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has cut the page, and may have died."""
    monkeypatch.setattr(pages_module, "_SECONDS", 0.5)
    before = handles()
    coming = await desk.waiting()
    ours, theirs = socket.socketpair()
    with theirs:
        with ours, desk.knock() as gateway:
            socket.send_fds(gateway, [KEY.encode()], [ours.fileno()])
        assert await coming is None
        assert theirs.recv(1) == b""
    assert handles() == before


async def test_who_says_nothing_is_not_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages_module, "_SECONDS", 0.05)
    with desk.knock() as gateway:
        async with asyncio.timeout(5):
            assert await asyncio.get_running_loop().sock_recv(gateway, 16) == b""


async def test_a_moment_without_a_free_handle_is_not_the_end_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    accept, failed = loop.sock_accept, asyncio.Event()

    async def failing_once(listener: socket.socket) -> Any:
        if not failed.is_set():
            failed.set()
            raise OSError(24, "Too many open files")
        return await accept(listener)

    monkeypatch.setattr(loop, "sock_accept", failing_once)
    monkeypatch.setattr(pages_module, "_AGAIN_SECONDS", 0.01)
    pages = Pages()
    await pages.open(tmp_path / "view")
    await failed.wait()
    assert await Desk(pages, tmp_path / "page").offer("unknown") == b""
    await pages.close()


async def test_at_the_end_nobody_waits_any_more(tmp_path: Path) -> None:
    before = handles()
    pages = Pages()
    await pages.open(tmp_path / "view")
    coming = await Desk(pages, tmp_path / "page").waiting()
    await pages.close()
    async with asyncio.timeout(1):
        assert await coming is None
    assert handles() == before
