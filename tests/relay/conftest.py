"""A relay between a test and a server, before the ledger of a desktop that nobody has to start."""

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from user_handoff.desktop.desk import Desk
from user_handoff.desktop.host.spec import HostRecord
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.serving import Serving, write_serving
from user_handoff.relay.stdio import StdioRelay
from user_handoff.relay.tools import Judge, ToolList

SERVER = Path(__file__).with_name("server.py")
HANDOFF = "handoff/b_1/s_1/m_1"
ME = ProcessIdentity.current()
SECONDS = 60
BUSY = -32050
LISTED = ToolList(version=1, read=frozenset({"look"}), safe=frozenset({"safe"}), past=frozenset({"past"}))


def make_desk(state: Path, client: str = "c_1", desktop: str = "d_1") -> Ledger:
    """What a runner leaves for others in a state folder, with one browser."""
    folder = state / "desktop"
    browser = folder / "browsers" / "b_1"
    browser.mkdir(parents=True, exist_ok=True)
    HostRecord("b_1", ME, ME, folder / "socket", 0.0).write(browser)
    serving = Serving(client, desktop)
    ledger = Ledger(serving.ledger(folder))
    ledger.holders()
    write_serving(folder, serving)
    return ledger


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def ledger(state: Path) -> Iterator[Ledger]:
    ledger = make_desk(state)
    yield ledger
    ledger.close()


@contextlib.contextmanager
def held(ledger: Ledger, browser_id: str = "b_1") -> Iterator[None]:
    """A person has control for as long as the block runs."""
    ledger.publish("h_1", browser_id, "handoff", ME, HANDOFF)
    try:
        yield
    finally:
        ledger.withdraw("h_1")


class Wire:
    """A client of a relay."""

    def __init__(
        self,
        state: Path,
        folder: Path,
        browser_id: str | None = None,
        tools: ToolList | None = None,
        *,
        cut_off: bool = False,
    ) -> None:
        self.folder = folder
        theirs_in, self._to = os.pipe()
        self.reading, theirs_out = os.pipe()
        command = [sys.executable, "-S", "-E", str(SERVER), str(folder)]
        ends = (theirs_in, theirs_out)
        self.relay = StdioRelay(Desk(state, "c_1"), Judge(tools), browser_id, command, ends, cut_off=cut_off)
        self.code: int | None = None
        self.said: queue.Queue[Any] = queue.Queue()
        self._ends = [theirs_in, theirs_out]
        self._running = threading.Thread(target=self._run, daemon=True)
        self._running.start()
        self._listening = threading.Thread(target=self._listen, daemon=True)

    def listen(self) -> None:
        if self._listening.ident is None:
            self._listening.start()

    def _run(self) -> None:
        self.code = self.relay.run()
        os.close(self._ends[1])

    def _listen(self) -> None:
        with open(self.reading, "rb", closefd=False) as file:
            for line in file:
                self.said.put(json.loads(line))
        self.said.put(None)

    def raw(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._to, data) :]

    def send(self, method: str, request_id: Any = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        self.raw(json.dumps(message | ({} if request_id is None else {"id": request_id})).encode() + b"\n")

    def tool(self, request_id: Any, tool: str, **arguments: Any) -> None:
        self.send("tools/call", request_id, name=tool, arguments=arguments)

    def next(self, seconds: float = SECONDS) -> Any:
        self.listen()
        return self.said.get(timeout=seconds)

    def called(self, request_id: Any, tool: str, **arguments: Any) -> Any:
        self.tool(request_id, tool, **arguments)
        return self.next()

    def journal(self, name: str = "journal") -> list[str]:
        path = self.folder / name
        return path.read_text().split() if path.exists() else []

    def end(self) -> int | None:
        """Say that nothing more comes, and wait for the end."""
        to, self._to = self._to, -1  # once: its number may be another file's by then
        with contextlib.suppress(OSError):
            os.close(to)
        self._running.join(SECONDS)
        return self.code

    def read_no_more(self) -> None:
        """Close the end at which the relay is read."""
        reading, self.reading = self.reading, -1
        os.close(reading)

    def close(self) -> None:
        self.relay._signal(9)
        self.end()
        # whoever still reads a number that is closed here would read what another test gets under it
        self.relay._listening.join(SECONDS)
        if self._listening.ident is not None:
            self._listening.join(SECONDS)
        for end in (self.reading, self._ends[0]):
            if end >= 0:
                os.close(end)


@pytest.fixture
def wire(state: Path, ledger: Ledger, tmp_path: Path) -> Iterator[Wire]:
    with contextlib.closing(Wire(state, tmp_path)) as wire:
        yield wire


def error_of(message: Any) -> tuple[int, str]:
    """The numbers of a refusal."""
    return message["error"]["code"], message["error"]["data"]["code"]
