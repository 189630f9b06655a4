"""A person who takes a browser over and types, an agent that tries to act, and a clock that looks at both."""

import asyncio
import contextlib
import hashlib
import json
import secrets
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Iterator

import psutil

from benchmarks.chaos.parts import Parts
from tests.desktop.view.raw import RawViewer
from user_handoff.cli.temporal import embedded_environment
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.browser import BrowserInfo, BrowserRequest, OpenBrowser
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.takeover import TakeoverSummary
from user_handoff.contract.view import TICKET_HEADER, AdmitViewer, ViewerAdmitted
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.view.rfb import key

LEASE_SECONDS = 3.0
SUBJECT = "desktop"
_A, _SHIFT = ord("a"), 0xFFE1


class Taking:
    """One takeover of one browser, from outside.

    Attributes:
        refused: How often the gate refused an effect.
        admitted: How often it let one through before the agent had looked.
        lease_ended: When the lease was seen to be over; None while it stands.
    """

    def __init__(self, parts: Parts, browser_id: str) -> None:
        self.parts = parts
        self.browser_id = browser_id
        self.refused = 0
        self.admitted = 0
        self.lease_ended: float | None = None
        self._takeover_id: str | None = None
        self._last_key: float | None = None
        self._lease_end = 0.0
        self._version = 0
        self._cli: Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._probing = True
        desktop = parts.stack.state / "desktop"
        self._desktop_id = str(parts.facts["desktop_id"])
        self._leases = Leases(desktop / f"{self._desktop_id}.leases.db")
        self._ledger = parts.ledger()
        record = read_record(desktop)
        assert record is not None
        self._display = record.display(desktop)

    @property
    def late(self) -> float | None:
        """How long after the end of the lease the last key arrived."""
        return None if self._last_key is None or self.lease_ended is None else self._last_key - self._lease_end

    @property
    def cli_gone(self) -> bool:
        """True where the command has ended."""
        return self._cli is None or self._cli.returncode is not None

    # --- the person ---

    async def start_cli(self) -> None:
        """Take over by the command."""
        arguments = ["takeover", self.browser_id, "--json", "--state", str(self.parts.stack.state)]
        self._cli = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "user_handoff.cli.main", *arguments),
            stdin=PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=embedded_environment(self.parts.stack.engine.address),
        )

    def kill_cli(self) -> None:
        """Kill it."""
        if self._cli is not None and self._cli.returncode is None:
            self._cli.kill()

    async def say_done(self) -> None:
        """Press Enter, where the command still runs."""
        if self._cli is not None and self._cli.returncode is None and self._cli.stdin is not None:
            with contextlib.suppress(OSError):
                self._cli.stdin.write(b"done\n")
                await self._cli.stdin.drain()

    async def type_all_the_while(self) -> None:
        """Look through the view, take control again whenever it is gone, and type without a pause."""
        ticket = secrets.token_urlsafe(24)
        ask = AdmitViewer(
            handoff_id=self._id(),
            browser_id=self.browser_id,
            viewer_id=new_id("v"),
            ticket_sha256=hashlib.sha256(ticket.encode()).hexdigest(),
        )
        admitted = await self.parts.ask(Activities.ADMIT_VIEWER, ask, ViewerAdmitted)
        entered = asyncio.Event()
        self._tasks.append(asyncio.create_task(self._type(admitted.address, ticket, entered)))
        await asyncio.wait_for(entered.wait(), 20)

    async def _type(self, address: str, ticket: str, entered: asyncio.Event) -> None:
        from websockets.asyncio.client import unix_connect
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed, OSError):
            async with unix_connect(
                address.removeprefix("unix:"),
                "ws://desktop/",
                additional_headers={TICKET_HEADER: ticket},
                compression=None,
                max_size=None,
            ) as socket:
                viewer = RawViewer(socket)
                await viewer.greet()
                await viewer.take()
                await viewer.click(600, 700)  # a browser that was just opened may not have the keyboard
                await viewer.hold_down(_SHIFT)
                entered.set()
                while True:
                    if viewer.last("control").get("who") != "you":
                        await viewer.tell(t="control", want=True)
                    await viewer.raw(key(_A, down=True).data)
                    await asyncio.sleep(0.015)
                    await viewer.raw(key(_A, down=False).data)
                    await asyncio.sleep(0.005)

    def pressed(self) -> int:
        """How many keys and buttons are down."""
        with connection(self._display.name, self._display.xauthority) as x:
            keys = sum(byte.bit_count() for byte in x.query_keymap())
            return keys + bool(x.screen().root.query_pointer().mask & 0x1F00)

    # --- waiting ---

    async def until_published(self) -> None:
        """Until the agent is refused, though an effect is still in flight."""
        await self._until(lambda: bool(self._ledger.holders()))

    async def until_held(self) -> None:
        """Until the lease stands."""
        await self._until(lambda: self._version > 0)

    async def until_typed(self) -> None:
        """Until a key has arrived."""
        await self._until(lambda: self._last_key is not None)

    async def until_renewed(self) -> None:
        """Until the next renewal."""
        version = self._version
        await self._until(lambda: self._version > version)

    async def until_lease_over(self) -> None:
        """Until there is no lease any more; at once where there never was one."""
        await self._until(lambda: self._version == 0 or self.lease_ended is not None)

    async def until_phase(self, phase: str) -> None:
        """Until the desktop's own record says so, or has gone beyond it."""
        order = ["beginning", "held", "returning", "recovering", "recovered"]

        def reached() -> bool:
            kept = self._ledger.get_hold(self._id())
            return kept is not None and order.index(json.loads(kept)["phase"]) >= order.index(phase)

        await self._until(reached)

    async def _until(self, check: Callable[[], bool], seconds: float = 40) -> None:
        async with asyncio.timeout(seconds):
            while True:
                with contextlib.suppress(HandoffError):
                    if check():
                        return
                await asyncio.sleep(0.01)

    # --- the others ---

    @contextlib.contextmanager
    def stuck_effect(self) -> Iterator[None]:
        """An effect in flight, of a process that lives: the takeover drains until the block ends."""
        permit = self._ledger.acquire("page", self.browser_id, new_id("e"), ProcessIdentity.current())
        try:
            yield
        finally:
            self._ledger.release(permit)

    def watchdogs(self) -> list[psutil.Process]:
        """The watchdogs of this desktop."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            line = process.info["cmdline"] or []
            if "user_handoff.desktop.takeover" in line and str(self._leases.path.resolve()) in line:
                found.append(process)
        return found

    async def summary(self) -> TakeoverSummary | None:
        """What the takeover says; None where there is none."""
        if self._takeover_id is None:
            found = await TakeoverClient(self.parts.stack.client).takeovers(browser_id=self.browser_id, ended=True)
            return found[0] if found else None
        return await TakeoverClient(self.parts.stack.client, patience_seconds=10).takeover(self._takeover_id)

    def stop_probing(self) -> None:
        """The agent is about to look: what it is let do from now on is right."""
        self._probing = False

    def _id(self) -> str:
        if self._takeover_id is None:
            self._takeover_id = next(row.handoff_id for row in self._ledger.holders() if row.kind == "takeover")
        return self._takeover_id

    async def _look(self) -> None:
        """See the lease, the keys and the gate, a hundred times a second."""
        with connection(self._display.name, self._display.xauthority) as x:
            code = x.keysym_to_keycode(_A)
            begun = False
            while True:
                with contextlib.suppress(HandoffError):
                    self._look_at_lease()
                if x.query_keymap()[code // 8] >> code % 8 & 1:
                    self._last_key = time.monotonic()
                if self._probing:
                    begun = self._probe(begun)
                await asyncio.sleep(0.01)

    def _look_at_lease(self) -> None:
        lease = self._leases.current(SUBJECT)
        if lease is not None and lease.cause == "takeover":
            self._version, self._lease_end = lease.version, lease.ends
            self.lease_ended = None
            self._id()
        elif self._version and self.lease_ended is None:
            self.lease_ended = time.monotonic()
            self._lease_end = min(self._lease_end, self.lease_ended)

    def _probe(self, begun: bool) -> bool:
        """Ask the gate for an effect on the browser: from the takeover to the agent's look there is none."""
        try:
            self._ledger.release(self._ledger.acquire("page", self.browser_id, new_id("e"), ProcessIdentity.current()))
        except HandoffError:
            self.refused += 1
            return True
        self.admitted += begun and self._version > 0
        return begun

    async def start(self) -> None:
        """Look from now on."""
        self._tasks.append(asyncio.create_task(self._look()))

    async def aclose(self) -> None:
        """Leave nothing."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._cli is not None:
            self.kill_cli()
            await self._cli.wait()
        self._leases.close()
        self._ledger.close()


@contextlib.asynccontextmanager
async def taking(parts: Parts) -> AsyncIterator[Taking]:
    """A browser that an agent has, and a person who is about to take it over."""
    browser_id = new_id("b")
    spec = OpenBrowser(
        browser_id=browser_id, session_id="s_chaos", owner="agent:chaos", url=f"{parts.stack.portal.url}/login"
    )
    await parts.ask(Activities.OPEN_BROWSER, spec, BrowserInfo, seconds=60)
    scene = Taking(parts, browser_id)
    await scene.start()
    try:
        yield scene
    finally:
        await scene.aclose()
        with contextlib.suppress(Exception):
            await parts.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=browser_id), type(None))
