"""Starting a desktop: its display, its ledger, and the browsers that an earlier runner left standing."""

import asyncio
import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import async_playwright

from user_handoff.contract.errors import ErrorCode, Held, SetupError
from user_handoff.contract.ids import new_id
from user_handoff.desktop.browsers import BrowserLimits, Browsers
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.display import Display, desktop_id, real_display
from user_handoff.desktop.display.virtual import ensure_virtual, stop_virtual, touch_virtual
from user_handoff.desktop.effects import Effects
from user_handoff.desktop.evidence.holds import HoldNotes
from user_handoff.desktop.evidence.pictures import ControlPictures
from user_handoff.desktop.evidence.running import keeping
from user_handoff.desktop.evidence.settings import EvidenceSettings
from user_handoff.desktop.evidence.store import Evidence
from user_handoff.desktop.handoff.holds import Holds
from user_handoff.desktop.host.launch import chromium_path, find_hosts
from user_handoff.desktop.input.computer import Computer
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.parts import DesktopIdentity
from user_handoff.desktop.policy.file import Policy, read_policy
from user_handoff.desktop.policy.guard import Guard
from user_handoff.desktop.reservation.gate import Gate
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.retention import Retention, Sweeper
from user_handoff.desktop.running import Running
from user_handoff.desktop.serving import Serving, write_serving
from user_handoff.desktop.showing import Showing
from user_handoff.desktop.state import exclusive, private_folder, runtime_folder, write_private
from user_handoff.desktop.states.files import StateFiles
from user_handoff.desktop.states.sealing import Sealer
from user_handoff.desktop.states.states import States
from user_handoff.desktop.surfaces.choose import choose_surfaces
from user_handoff.desktop.takeover.takeovers import Takeovers
from user_handoff.desktop.takeover.watching import Watching
from user_handoff.desktop.takeover.witness import KeepPicture, Witness
from user_handoff.desktop.view.settings import ViewSettings
from user_handoff.desktop.view.view import View

log = logging.getLogger(__name__)

_TOUCH_SECONDS = 30.0
_LOOK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class DesktopSettings:
    """How a desktop is started.

    Attributes:
        folder: Its state folder.
        client_id: The machine's name; None: the one kept in the folder, minted at the first start.
        display: A display such as ``:0``; None: the one of the environment.
        virtual: A private virtual display; None: where the environment has no display.
        sandbox: Chromium's own sandbox; root has to switch it off.
        limits: How many browsers and pages.
        launch: The programs that an agent may launch on the desktop, by name or absolute path.
        keep_on_stop: Leave display, browsers and holds standing when this process stops (for an upgrade).
        view: How the live view is reached.
        policy: The policy file; None: the built-in stop list alone.
        retention: How long what has ended is kept.
        pictures_in_hold: Let agents take pictures of the whole desktop while a person has a browser of it: nothing in
            them is masked.
        evidence: How evidence is kept of what happens.
        notices: Tell whoever sits in front of it that they are needed, where its session can.
    """

    folder: Path
    client_id: str | None = None
    display: str | None = None
    virtual: bool | None = None
    sandbox: bool = True
    limits: BrowserLimits = field(default_factory=BrowserLimits)
    launch: tuple[str, ...] = ()
    keep_on_stop: bool = False
    view: ViewSettings = field(default_factory=ViewSettings)
    policy: Path | None = None
    retention: Retention = field(default_factory=Retention.of)
    pictures_in_hold: bool = field(default_factory=lambda: os.environ.get("HANDOFF_PICTURES_IN_HOLD") == "1")
    evidence: EvidenceSettings = field(default_factory=EvidenceSettings.of)
    notices: bool = field(default_factory=lambda: os.environ.get("HANDOFF_DESK_NOTICES") != "0")


@contextlib.asynccontextmanager
async def running_desktop(settings: DesktopSettings) -> AsyncIterator[Desktop]:
    """Start a desktop, or take over the one whose runner is gone, for as long as the block runs.

    Raises:
        SetupError: It cannot be started here; nothing is left running.
    """
    folder = private_folder(settings.folder)
    with exclusive(folder / "runner.lock", _already_running(folder)):
        chromium_path()
        guard = Guard(Policy() if settings.policy is None else read_policy(settings.policy))
        display, virtual = await _display(settings, folder)
        os.environ.update(display.environment())
        try:
            async with _desktop(settings, folder, display, guard) as desktop:
                watching = asyncio.create_task(_watch(folder, display, desktop.lost))
                try:
                    yield desktop
                finally:
                    watching.cancel()
        finally:
            if virtual and not settings.keep_on_stop:
                await stop_virtual(folder)


@contextlib.asynccontextmanager
async def _desktop(settings: DesktopSettings, folder: Path, display: Display, guard: Guard) -> AsyncIterator[Desktop]:
    identity = DesktopIdentity(_client_id(settings, folder), desktop_id(display))
    ledger = _ledger(folder / f"{identity.desktop_id}.ledger.db", folder / "browsers")
    write_serving(folder, Serving(identity.client_id, identity.desktop_id))
    gate = Gate(ledger)
    files = StateFiles(folder / "states", Sealer.of(), settings.retention.states)
    surfaces = choose_surfaces(display)
    running = Running()
    pictures = private_folder(folder / "pictures")
    computer = Computer(display, gate, pictures, settings.launch, pictures_in_hold=settings.pictures_in_hold)
    holds = Holds(ledger, surfaces, running)
    async with contextlib.AsyncExitStack() as stack:
        evidence = await stack.enter_async_context(
            keeping(
                folder,
                identity.desktop_id,
                virtual=display.virtual,
                pictures=settings.evidence.pictures,
                stays=settings.keep_on_stop,
            )
        )
        holds.listen(HoldNotes(evidence).changed)
        leases = Leases(folder / f"{identity.desktop_id}.leases.db")
        for part in (ledger, leases, surfaces, computer):
            stack.callback(part.close)
        runtime = runtime_folder(identity.desktop_id)
        browsers = Browsers(
            folder / "browsers",
            runtime,
            display,
            await stack.enter_async_context(async_playwright()),
            holds,
            sandbox=settings.sandbox,
            limits=settings.limits,
            ledger=ledger.path,
        )
        stack.push_async_callback(holds.aclose)
        stack.push_async_callback(browsers.detach)  # what the next line leaves
        await holds.adopt(await browsers.adopt(), browsers.why_ended)
        if not settings.keep_on_stop:
            stack.push_async_callback(browsers.shutdown)
        sweeper = Sweeper(
            folder,
            settings.retention,
            lambda: [row.browser_id for row in ledger.holders()],
            ledger.prune_effects,
            lambda: evidence.prune(settings.retention.evidence, settings.evidence.most_bytes),
        )
        await stack.enter_async_context(sweeper.sweeping())
        showing = Showing(display, surfaces, holds)
        await _tell_at_the_desk(settings, display, holds, showing, stack)
        takeovers = Takeovers(
            holds,
            leases,
            Watching(folder / "takeovers", leases.path, display),
            automatic=guard.policy.automatic_takeover,
            ttl=settings.view.ttl_seconds,
            witness=Witness(evidence, _keeper(evidence) if settings.evidence.pictures else None),
        )
        stack.push_async_callback(takeovers.aclose)
        view = View(display, holds, leases, browsers.pid_of, settings.view, evidence)
        stack.push_async_callback(view.aclose)
        await view.open(runtime)
        await takeovers.adopt(browsers.get)
        control_pictures = ControlPictures(evidence, holds, wanted=settings.evidence.pictures)
        stack.push_async_callback(control_pictures.aclose)
        yield Desktop(
            identity,
            display,
            browsers,
            holds,
            Effects(ledger, gate, running, private_folder(folder / "downloads"), guard, evidence),
            computer,
            pictures,
            surfaces.capability(),
            view,
            showing,
            States(files, gate, running, folder / "browsers", evidence),
            guard,
            evidence,
            control_pictures,
            takeovers,
        )


def _keeper(evidence: Evidence) -> KeepPicture:
    def keep(picture: bytes, browser_id: str, about: str) -> None:
        evidence.keep_picture(picture, "picture_after", browser_id=browser_id, about=about)

    return keep


async def _tell_at_the_desk(
    settings: DesktopSettings, display: Display, holds: Holds, showing: Showing, stack: contextlib.AsyncExitStack
) -> None:
    """Show a notification for each hold, where somebody can sit in front of this desktop and it can show one."""
    bus = os.environ.get("DBUS_SESSION_BUS_ADDRESS", "")
    if display.virtual or not settings.notices or sys.platform != "linux":
        return
    from user_handoff.desktop.notices import DeskNotices

    notices = DeskNotices(bus, showing.show)
    why = await notices.why_not() if bus else "the session has no message bus"
    if why:
        log.info("nobody is told on this desktop itself: %s", why)
        return
    stack.push_async_callback(notices.aclose)
    holds.listen(notices.changed)


def _ledger(path: Path, browsers: Path) -> Ledger:
    """The desktop's ledger; one that cannot be trusted is put aside where no browser lives that it could speak of."""
    ledger = Ledger(path)
    try:
        ledger.holders()
    except Held as error:
        ledger.close()
        with contextlib.suppress(Held):  # a browser lives: the gate stays closed, and says why at every effect
            return Ledger.repair(path, error.what, live_hosts=[host.host for host in find_hosts(browsers)])[0]
    return ledger


async def _display(settings: DesktopSettings, folder: Path) -> tuple[Display, bool]:
    environment = dict(os.environ)
    if settings.display:
        environment["DISPLAY"] = settings.display
    virtual = settings.virtual
    if virtual is None:
        virtual = not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
    if virtual:
        return await ensure_virtual(folder), True
    return real_display(environment), False


async def _watch(folder: Path, display: Display, lost: asyncio.Event) -> None:
    """Say that the display is needed, and notice when it is gone."""
    touched = -_TOUCH_SECONDS
    while await asyncio.to_thread(display.alive):
        if display.virtual and time.monotonic() - touched >= _TOUCH_SECONDS:
            touch_virtual(folder)
            touched = time.monotonic()
        await asyncio.sleep(_LOOK_SECONDS)
    lost.set()


def _client_id(settings: DesktopSettings, folder: Path) -> str:
    path = folder / "client.json"
    if settings.client_id:
        return settings.client_id
    if not path.exists():
        write_private(path, json.dumps({"client_id": new_id("c")}).encode())
    return str(json.loads(path.read_text())["client_id"])


def _already_running(folder: Path) -> SetupError:
    return SetupError(
        ErrorCode.ALREADY_RUNNING,
        f"A runner already serves the desktop in {folder}.",
        holds="That one goes on.",
        do_next="Stop it first, or give this one another --state folder.",
    )
