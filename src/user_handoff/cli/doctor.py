"""`handoff doctor`: look at everything that could stop `handoff up`, and say how to mend it."""

import asyncio
import dataclasses
import subprocess
import tempfile
from pathlib import Path

from user_handoff.cli import checks
from user_handoff.cli.checks import Finding, look
from user_handoff.cli.ports import LOOPBACK
from user_handoff.cli.state_files import DESKTOP
from user_handoff.cli.temporal import configured, missing_search_attributes, running_up
from user_handoff.client import connect_temporal
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.host.launch import chromium_path, find_hosts
from user_handoff.desktop.host.profile import find_user, profile_in_use

CHROMIUM_SECONDS = 30


@dataclasses.dataclass(frozen=True, slots=True)
class DoctorSettings:
    """What `handoff up` would be started with.

    Attributes:
        state: The state folder.
        virtual: A private virtual display; None: where the environment has no display.
        display: The X display to use; None: the one of the environment.
        sandbox: Chromium's own sandbox.
        ports: For each option that chooses a port: what the port is for, and its number.
    """

    state: Path
    virtual: bool | None
    display: str | None
    sandbox: bool
    ports: dict[str, tuple[str, int]]


async def examine(settings: DoctorSettings) -> list[Finding]:
    """All findings, in the order in which `handoff up` needs things."""
    state = settings.state
    found = [
        look("Python", checks.python),
        look("Xlib", checks.xlib),
        look("State folder", lambda: checks.state_folder(state)),
    ]
    if found[-1].ok:
        found += [look("Disk", lambda: checks.disk(state)), look("Profiles", lambda: _profiles(state))]
    found += [
        look("Display", lambda: checks.desktop(settings.virtual, settings.display)),
        await asyncio.to_thread(look, "Chromium", lambda: _chromium(settings.sandbox)),
        look("Driver", checks.driver),
        look("Temporal", checks.engine),
    ]
    return [*found, *await _cluster(), *_ports(settings)]


async def _cluster() -> list[Finding]:
    """The configured server; nothing where the embedded one would be used."""
    try:
        config = configured()
        if config is None:
            return []
        client = await connect_temporal(config=config)
        missing = await missing_search_attributes(client)
    except SetupError as error:
        return [Finding("Namespace", False, error.what, error.do_next, error.code)]
    found = f"{client.namespace}, with our search attributes"
    if missing:
        found = f"{client.namespace}; `handoff server` will add the search attributes {', '.join(missing)}"
    return [Finding("Namespace", True, found)]


def _ports(settings: DoctorSettings) -> list[Finding]:
    up = running_up(settings.state)
    if up is not None:
        return [Finding("Ports", True, f"`handoff up` runs already on this state folder, as process {up['pid']}")]
    embedded = "--port", "--ui-port"
    wanted = {k: v for k, v in settings.ports.items() if k not in embedded or _embedded()}
    return [
        look(f"Port for {what}", lambda n=number, w=what, o=option: checks.port(n, w, o))  # type: ignore[misc]
        for option, (what, number) in wanted.items()
    ]


def _embedded() -> bool:
    try:
        return configured() is None
    except SetupError:
        return False


def _profiles(state: Path) -> str:
    """Profiles that some other browser has open."""
    folder = state / DESKTOP / "browsers"
    hosted = {record.browser_id for record in find_hosts(folder)}
    for profile in sorted(folder.glob("*/profile")):
        locked = (profile / "SingletonLock").is_symlink()  # it points to no file
        user = find_user(profile) if locked and profile.parent.name not in hosted else None
        if user is not None:
            raise profile_in_use(profile, f"process {user} has it open, and no browser host of ours started it")
    return f"{len(hosted)} in use by browsers that stand, none by others"


def _chromium(sandbox: bool) -> str:
    """Start the browser once, without a window, in a profile that is thrown away."""
    path = checks.chromium(sandbox)
    with tempfile.TemporaryDirectory(prefix="handoff-doctor-", ignore_cleanup_errors=True) as profile:
        command = [str(chromium_path()), "--headless", f"--user-data-dir={profile}", "--dump-dom", "about:blank"]
        command += [] if sandbox else ["--no-sandbox"]
        try:
            version = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=CHROMIUM_SECONDS)
            done = subprocess.run(command, capture_output=True, text=True, timeout=CHROMIUM_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _does_not_start(path, type(error).__name__) from error
    if done.returncode != 0 or "<html>" not in done.stdout:
        raise _does_not_start(path, f"exit code {done.returncode}")
    return f"{version.stdout.strip()} ({path}) starts"


def _does_not_start(path: str, why: str) -> SetupError:
    return SetupError(
        ErrorCode.CHROMIUM_FAILED,
        f"{path} does not start ({why}).",
        holds="Nothing was started.",
        do_next=f"Start `{path} --headless --dump-dom about:blank` by hand and read what it says.",
    )


def ports(port: int, ui_port: int, gateway_port: int) -> dict[str, tuple[str, int]]:
    """The ports of `handoff up` by the option that chooses each."""
    return {
        "--port": ("Temporal", port),
        "--ui-port": ("Temporal's web UI", ui_port),
        "--gateway-port": (f"the gateway on {LOOPBACK}", gateway_port),
    }
