"""Two machines with one wire between them, as network namespaces; the test itself is a third, next to the office."""

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import Client

from examples.portal import Portal
from tests.e2e.stack import Stack
from tests.waiting import until
from user_handoff.cli.children import end, spawn
from user_handoff.cli.engine import temporal_program
from user_handoff.cli.parts import Command
from user_handoff.cli.temporal import embedded_environment
from user_handoff.client import HandoffClient
from user_handoff.plugin import HandoffPlugin

# 198.18.0.0/15 is for tests of networks (RFC 2544): nobody's own addresses are among them. Runs at one time share none.
_RUN = os.getpid() % 250
DESK, OFFICE = f"198.18.{_RUN}.2", f"198.18.{_RUN}.1"
OFFICE_FOR_US, US = f"198.19.{_RUN}.1", f"198.19.{_RUN}.2"
VIEW = f"{DESK}:8710"
GATEWAY = f"http://{OFFICE_FOR_US}:8700"

_NEW_NETWORK = 0x40000000
_OWN_FOLDERS = (f"/tmp/user-handoff-{os.getuid()}", "/tmp/.X11-unix")
_ENTER = 'for each in {}; do mkdir -p $each && mount -t tmpfs -o mode=0700 tmpfs $each; done && exec "$@"'


def refused() -> str:
    """Why machines cannot be made here; empty where they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces are for root on Linux"
    if shutil.which("ip") is None:
        return "there is no `ip` (Debian's iproute2)"
    with contextlib.closing(_Names(f"t{os.getpid()}")) as names:
        try:
            _ip("netns", "add", names.desk)
        except subprocess.CalledProcessError as error:
            return f"no network namespace: {error.stderr.strip()}"
    return ""


@dataclass(frozen=True)
class _Names:
    """What the machines and the ends of their wires are called."""

    tag: str

    @property
    def desk(self) -> str:
        return f"{self.tag}desk"

    @property
    def office(self) -> str:
        return f"{self.tag}office"

    def close(self) -> None:
        """A namespace's end is the end of its wires."""
        for name in (self.desk, self.office):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@dataclass
class Machines(Stack):
    """An office with Temporal, the workflows and the gateway, and a desk with the runner and a portal.

    Attributes:
        names: What they are called.
        folder: Where each has a state folder of its own.
    """

    names: _Names
    folder: Path

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """Without the wire between them."""
        wire = ("-n", self.names.office, "link", "set", f"{self.names.tag}o")
        _ip(*wire, "down")
        try:
            yield
        finally:
            _ip(*wire, "up")

    async def start_runner(self, settings: dict[str, str]) -> None:
        """Start the desk's runner, with settings of its own."""
        env = _environment(OFFICE) | {"HANDOFF_VIEW_LISTEN": ""} | settings
        options = ["--virtual", "--no-sandbox", "--client-id", "desk"]
        await self.stop_runner()
        self.runner = _Placed(self.names.desk, "runner", options, state=self.state, env=env)
        await self.runner.start()

    async def stop_runner(self) -> None:
        """End it, where it runs."""
        if self.runner is not None:
            await self.runner.stop()


class _Placed(Command):
    """A `handoff` command on one of the machines."""

    def __init__(self, machine: str, name: str, options: list[str], *, state: Path, env: Mapping[str, str]) -> None:
        super().__init__(name, options, state=state, env=env)
        self._command = _on(machine, self._command)


@contextlib.asynccontextmanager
async def running_machines(folder: Path) -> AsyncIterator[Machines]:
    """Make them, start what is on them except the runner, and take all of it away again."""
    names = _Names(f"h{os.getpid()}")
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(names.close)
        _connect(names)
        command = [str(temporal_program()), "server", "start-dev", "--ip", "0.0.0.0", "--headless"]
        command += ["--log-level", "error", "--port", "7233"]
        temporal = await spawn(_on(names.office, command), folder / "temporal.log", dict(os.environ))
        stack.push_async_callback(end, temporal, 15)
        client = await until(_connected, 30)
        options = ["--host", "0.0.0.0", "--port", "8700", "--public-url", GATEWAY]
        env = _environment(OFFICE)
        server = _Placed(names.office, "server", options, state=folder / "office", env=env)
        stack.push_async_callback(server.stop)
        await server.start()
        portal = Portal.start()
        with _inside(names.desk):  # a socket stays where it was made
            running = await stack.enter_async_context(portal)
        nothing: Any = None  # no runner yet, and no server of Temporal's that a test could stop
        handoffs = HandoffClient(client)
        machines = Machines(folder / "desk", nothing, server, nothing, client, handoffs, running, names, folder)
        stack.push_async_callback(machines.stop_runner)
        yield machines


async def _connected() -> Client | None:
    with contextlib.suppress(RuntimeError):
        return await Client.connect(f"{OFFICE_FOR_US}:7233", plugins=[HandoffPlugin()])
    return None


def _environment(temporal: str) -> dict[str, str]:
    """Without `XDG_RUNTIME_DIR`: what is there would be shared."""
    env = embedded_environment(f"{temporal}:7233")
    env.pop("XDG_RUNTIME_DIR", None)
    return env


def _on(machine: str, command: list[str]) -> list[str]:
    """On a machine that has Unix sockets of its own."""
    return ["ip", "netns", "exec", machine, "sh", "-c", _ENTER.format(" ".join(_OWN_FOLDERS)), "sh", *command]


def _connect(names: _Names) -> None:
    tag = names.tag
    for machine in (names.desk, names.office):
        _ip("netns", "add", machine)
        _ip("-n", machine, "link", "set", "lo", "up")
    _wire((names.desk, f"{tag}d", DESK), (names.office, f"{tag}o", OFFICE))
    _wire((names.office, f"{tag}x", OFFICE_FOR_US), ("", f"{tag}y", US))


def _wire(*ends: tuple[str, str, str]) -> None:
    (_, one, _), (_, other, _) = ends
    _ip("link", "add", one, "type", "veth", "peer", "name", other)
    for machine, name, address in ends:
        there = ["-n", machine] if machine else []
        if machine:
            _ip("link", "set", name, "netns", machine)
        _ip(*there, "addr", "add", f"{address}/24", "dev", name)
        _ip(*there, "link", "set", name, "up")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True)


@contextlib.contextmanager
def _inside(machine: str) -> Iterator[None]:
    """This thread on a machine."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open() as own, Path("/run/netns", machine).open() as there:
        if libc.setns(there.fileno(), _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")
        try:
            yield
        finally:
            libc.setns(own.fileno(), _NEW_NETWORK)
