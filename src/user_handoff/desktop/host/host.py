"""One browser and its host, from start to end."""

import asyncio
import contextlib
import logging
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable
from functools import partial

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.host.agent_server import AgentServer
from user_handoff.desktop.host.agents import AgentRules
from user_handoff.desktop.host.chromium import Chromium, start_chromium
from user_handoff.desktop.host.control import CDP_PATH, CONTROL_PATH
from user_handoff.desktop.host.display import check_display
from user_handoff.desktop.host.doors import Doors
from user_handoff.desktop.host.downloads import Downloads
from user_handoff.desktop.host.entrance import Entrance
from user_handoff.desktop.host.gate import Gate
from user_handoff.desktop.host.looks import Looks
from user_handoff.desktop.host.pipe import BrowserPipe
from user_handoff.desktop.host.profile import clear_stale_lock, prepare_profile, profile_in_use
from user_handoff.desktop.host.raising import Raising
from user_handoff.desktop.host.router import BrowserEnded, CdpError, Router
from user_handoff.desktop.host.screen import AgentScreen
from user_handoff.desktop.host.server import CdpServer, listen
from user_handoff.desktop.host.spec import RECORD_NAME, HostEnd, HostRecord, HostSpec
from user_handoff.desktop.host.steering import Steering
from user_handoff.desktop.host.taint import Taint
from user_handoff.desktop.host.targets import Targets
from user_handoff.desktop.host.use import DoorUse, notes_beside
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import exclusive, private_folder

logger = logging.getLogger(__name__)

_CLOSE_SECONDS = 10.0
"""How long Chromium may take to write its cookies and go."""


async def run_host(spec: HostSpec, ready: Callable[[HostRecord], None]) -> None:
    """Start the browser, and serve it until it is gone.

    Args:
        spec: What to start.
        ready: Called once the browser can be driven.

    Raises:
        SetupError: It could not be started; nothing is left running.
    """
    ends = time.monotonic() + spec.lifetime_seconds
    check_display(spec)
    for folder in (spec.folder, spec.downloads, spec.artifacts, spec.socket.parent):
        private_folder(folder)
    with exclusive(spec.folder / "profile.lock", profile_in_use(spec.profile, "another browser host has it")):
        prepare_profile(spec.profile)
        clear_stale_lock(spec.profile)
        try:
            async with _browser(spec) as browser:
                await browser.serve(ends, ready)
        finally:
            if not spec.persistent:
                shutil.rmtree(spec.profile, ignore_errors=True)


class _Browser:
    """The parts of one running browser."""

    def __init__(self, spec: HostSpec, chromium: Chromium) -> None:
        self._spec = spec
        self._chromium = chromium
        self._pipe = BrowserPipe(chromium.writing, chromium.reading)
        self._router = Router(self._pipe)
        self._targets = Targets(self._router)
        self._screen = AgentScreen(self._router, self._targets)
        self._router.screen = self._screen
        self._looks = Looks(self._router, self._targets)
        self._targets.went.append(self._looks.seen_by_all)
        self._taint = Taint(self._router, self._targets)
        self._use = DoorUse(notes_beside(spec.ledger), spec.browser_id)
        rules = AgentRules(self._screen, self._looks, self._taint, Raising(spec.ledger), spec.uploads)
        self._gate = Gate(self._router, self._screen, rules, self._use)
        self._downloads = Downloads(self._router, spec.downloads, spec.artifacts, lambda: self._screen.private)
        self._closing: asyncio.Task[None] | None = None
        self._end: HostEnd | None = None

    async def open(self) -> None:
        """Wait until the browser answers and its window has its size."""
        await self._router.call("Browser.getVersion")
        await self._downloads.start()
        targets = await self._router.call("Target.getTargets")
        page = next(info["targetId"] for info in targets["targetInfos"] if info["type"] == "page")
        window = await self._router.call("Browser.getWindowForTarget", {"targetId": page})
        # not --window-size, which would size the page's own popups too
        bounds = {"width": self._spec.width, "height": self._spec.height}
        await self._router.call("Browser.setWindowBounds", {"windowId": window["windowId"], "bounds": bounds})
        self._chromium.forget_errors()

    async def pump(self) -> None:
        """Move messages until the pipe closes; a browser that then does not go is ended."""
        writing = asyncio.create_task(self._pipe.write())
        try:
            await self._pipe.read(dropping_what_fails(self._router.receive))
        except Exception as error:
            logger.error("the browser's pipe cannot be read: %s", type(error).__name__)
        finally:
            writing.cancel()
            self._router.end()
            self._pipe.close()
        await self.close()

    async def serve(self, ends: float, ready: Callable[[HostRecord], None]) -> None:
        """Serve clients until the browser is gone, or `ends` comes by the monotonic clock."""
        identity = self._chromium.identity
        record = HostRecord(self._spec.browser_id, ProcessIdentity.current(), identity, self._spec.socket, time.time())
        cdp = CdpServer(self._pipe, self._router, self._gate, self._downloads)
        doors = Doors(self._router, self._use)
        agents = AgentServer(self._spec.doors, self._spec.browser_id, doors, self._gate, self._router, cdp.serve_agent)
        entrance = Entrance(doors, agents, self._targets, self._looks, self._taint, self._spec.uploads)
        steering = Steering(record, ends, self._router, self._gate, entrance, partial(self.close, HostEnd.CLOSED))
        handlers = {CDP_PATH: cdp.serve, CONTROL_PATH: steering.serve}
        async with agents.running(), listen(self._spec.socket, handlers):
            record.write(self._spec.folder)
            try:
                logger.info("ready: browser process %d", identity.pid)
                ready(record)
                await self._until_gone(ends)
            finally:
                doors.close_all("browser_ended")
                await asyncio.to_thread(self._use.close)
                self._how().write(self._spec.folder)
                (self._spec.folder / RECORD_NAME).unlink(missing_ok=True)

    async def close(self, why: HostEnd | None = None) -> None:
        """Close the browser; whoever asks waits for the same end, and the first reason stands."""
        if not self._chromium.ended.is_set():
            self._end = self._end or why
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    def _how(self) -> HostEnd:
        """Why the browser is gone: asked for, or else by how it exited."""
        if self._end is not None:
            return self._end
        if self._chromium.status != 0:
            return HostEnd.CRASHED
        try:
            check_display(self._spec)
        except SetupError:
            return HostEnd.CRASHED  # it exits in order also where its display was taken away
        return HostEnd.WINDOW_CLOSED

    async def _close(self) -> None:
        self._router.call("Browser.close")
        try:
            await asyncio.wait_for(self._chromium.ended.wait(), _CLOSE_SECONDS)
        except TimeoutError:
            logger.warning("the browser does not close: killed")
            self._chromium.kill()
            await self._chromium.ended.wait()

    async def _until_gone(self, ends: float) -> None:
        loop = asyncio.get_running_loop()
        end: asyncio.Future[HostEnd] = loop.create_future()

        def because(why: HostEnd) -> None:
            if not end.done():
                end.set_result(why)

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, because, HostEnd.SHUTDOWN)
        lifetime = loop.call_later(max(0.0, ends - time.monotonic()), because, HostEnd.LIFETIME)
        gone = asyncio.create_task(self._chromium.ended.wait())
        await asyncio.wait((end, gone), return_when=asyncio.FIRST_COMPLETED)
        if not self._chromium.ended.is_set():
            await self.close(end.result())
        lifetime.cancel()
        end.cancel()
        if self._closing is not None:
            await self._closing
        logger.info("the browser is gone, status %s", self._chromium.status)


def dropping_what_fails(handle: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Handle messages; one that cannot be handled is shown to nobody, and no reason to take the browser away."""

    def receive(raw: bytes) -> None:
        try:
            handle(raw)
        except Exception as error:
            logger.error("a message of the browser could not be handled, and is dropped: %s", type(error).__name__)

    return receive


@contextlib.asynccontextmanager
async def _browser(spec: HostSpec) -> AsyncIterator[_Browser]:
    chromium = start_chromium(spec)
    browser = _Browser(spec, chromium)
    pumping = asyncio.create_task(browser.pump())
    try:
        try:
            await browser.open()
        except (CdpError, BrowserEnded, StopIteration, KeyError) as error:
            raise await _failed(chromium) from error
        yield browser
    finally:
        chromium.kill()
        await chromium.ended.wait()
        pumping.cancel()


async def _failed(chromium: Chromium) -> SetupError:
    chromium.kill()
    await chromium.ended.wait()
    logger.error("the browser did not start, status %s", chromium.status)
    said = chromium.said
    if "sandbox" in said:
        do_next = "Let the kernel allow user namespaces, run as a normal user, or switch the sandbox off explicitly."
    elif "display" in said.lower():
        do_next = "Check that the display is there and that its cookie file is the right one."
    else:
        do_next = "Start it by hand on the same display to see why."
    return SetupError(
        ErrorCode.CHROMIUM_FAILED,
        f"The browser ended before it could be driven (exit status {chromium.status}).",
        holds="Nothing is left running.",
        do_next=do_next,
    )
