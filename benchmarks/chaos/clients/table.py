"""The table: what each client did while it worked, in a hold, after it, and after it was killed."""

import asyncio
import contextlib
import dataclasses
import hashlib
import json
import os
import re
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.chaos.clients import install
from tests.desktop.policy.pages import Pages
from tests.desktop.support import Agent
from user_handoff.cli.cdp import addresses_of
from user_handoff.contract.doors import OpenDoor
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.start import DesktopSettings, running_desktop

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "cdp.md"

_MARKS = ("<!-- clients -->\n", "<!-- end of clients -->")
_ROOT = Path(__file__).resolve().parents[3]
_HTML = "<button onclick=\"fetch('/clicked', {method: 'POST'})\">Count</button><input id=kept>"
_TRIED = ("click", "locator", "run", "see", "go")
_STEP_SECONDS = 60.0
_HUNG = "no answer"


@dataclass(frozen=True)
class Client:
    """A client, and how it is started."""

    name: str
    command: tuple[str, ...]


@dataclass
class Row:
    """What was seen of one client.

    Attributes:
        client: Its name and version.
        works: It acted before the hold.
        hold: By what it tried in the hold, what it was told, and after how many milliseconds.
        reached: Effects of what it tried in the hold: there must be none.
        goes_on: It acted after the hold on the same connection.
        back: It acted after it was killed and started again.
        kept: The page was the same then, with what was in its field.
        error: Why it was not tried, or did not get so far.
        tried: False where it could not be installed here.
    """

    client: str
    works: bool = False
    hold: dict[str, str] = field(default_factory=dict)
    reached: int = 0
    goes_on: bool = False
    back: bool = False
    kept: bool = False
    error: str = ""
    tried: bool = True

    @property
    def holds(self) -> bool:
        """True where nothing was done in the hold, nothing of ours hung, and it worked before and after."""
        return self.works and self.goes_on and self.back and self.kept and not self.reached


class Process:
    """One client that runs, in a process group of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def step(self, name: str) -> dict[str, Any]:
        """Have it do one thing; what it says of it."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{name}\n".encode())
        try:
            async with asyncio.timeout(_STEP_SECONDS):
                while not (line := await self._process.stdout.readline()).startswith(b'{"ok"'):
                    if not line:
                        return {"ok": False, "said": "it ended", "ms": 0.0}
        except TimeoutError:
            return {"ok": False, "said": _HUNG, "ms": _STEP_SECONDS * 1e3}
        found: dict[str, Any] = json.loads(line)
        return found

    async def kill(self) -> None:
        """Kill it and what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.communicate()


def clients() -> list[Client | Row]:
    """Every client that can be tried here, and why not of the others."""
    python = (sys.executable, "-m")
    found: list[Client | Row] = [
        Client("Playwright (Python)", (*python, "benchmarks.chaos.clients.playwright_python")),
    ]
    folder = install.node_modules()
    mcp = (*python, "benchmarks.chaos.clients.mcp")
    if folder is None:
        found += [Row(name, error="npm or node is missing", tried=False) for name in install.NPM]
    else:
        programs = folder / "node_modules" / ".bin"
        devtools = ("--no-usage-statistics", "--no-performance-crux")
        found += [
            Client("playwright-core (Node)", ("node", str(folder / "playwright.mjs"))),
            Client("puppeteer-core", ("node", str(folder / "puppeteer.mjs"))),
            Client("@playwright/mcp", (*mcp, str(programs / "playwright-mcp"), "--cdp-endpoint", "{websocket}")),
            Client(
                "chrome-devtools-mcp",
                (*mcp, str(programs / "chrome-devtools-mcp"), *devtools, "--wsEndpoint", "{websocket}"),
            ),
        ]
    browser_use = install.browser_use_python()
    if browser_use is None:
        found.append(Row("browser-use", error="it could not be installed", tried=False))
    else:
        found.append(Client("browser-use", (str(browser_use), str(Path(__file__).with_name("browser_use_steps.py")))))
    return found


@contextlib.asynccontextmanager
async def _running(client: Client, addresses: dict[str, str], cwd: Path) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *client.command,
        env=os.environ | {"ADDRESSES": json.dumps(addresses), "PYTHONPATH": str(_ROOT)},
        cwd=cwd,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        limit=1 << 25,
    )
    running = Process(process)
    try:
        yield running
    finally:
        await running.kill()


async def _door(agent: Agent, name: str) -> dict[str, str]:
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    door = OpenDoor(browser_id=agent.browser_id, door_id=new_id("d"), sha256=digest, name=name[:100], tcp=True)
    return addresses_of(await agent.desktop.open_door(door), token)


async def try_one(client: Client, desktop: Desktop, pages: Pages) -> Row:
    """Let one client work, be held, go on, be killed, and come back."""
    row = Row(client.name)
    pages.asked.clear()
    agent = await Agent.open(desktop, pages.put(_HTML))
    try:
        addresses = await _door(agent, client.name)
        page = desktop.browsers.get(agent.browser_id).pages[0].page
        async with _running(client, addresses, desktop.browsers.folder) as running:
            row.works = await _works(running, pages, row)
            receipt = await agent.begin(preempt=True)
            await page.evaluate("document.querySelector('#kept').value = 'kept'")
            before = len(_clicks(pages))
            for name in _TRIED:
                said = await running.step(name)
                row.hold[name] = _told(said)
            row.reached = len(_clicks(pages)) - before + (page.url != receipt.pages[0].url)
            await agent.finish(receipt)
            row.goes_on = await _works(running, pages, row)
        async with _running(client, addresses, desktop.browsers.folder) as running:
            row.back = await _works(running, pages, row)
        row.kept = await page.evaluate("document.querySelector('#kept').value") == "kept"
    finally:
        await agent.close()
    return row


async def _works(running: Process, pages: Pages, row: Row) -> bool:
    before = len(_clicks(pages))
    said = await running.step("work")
    deadline = time.monotonic() + 5
    while len(_clicks(pages)) == before and time.monotonic() < deadline:  # noqa: ASYNC110  (another process clicks)
        await asyncio.sleep(0.01)
    if len(_clicks(pages)) == before:
        row.error = row.error or _first_line(said["said"])
    return len(_clicks(pages)) == before + 1


def _clicks(pages: Pages) -> list[str]:
    return [each for each in pages.asked if "/clicked" in each]


def _told(said: dict[str, Any]) -> str:
    code = re.search(r"browser_held|snapshot_required|outcome_unknown", said["said"])
    lines = [line for line in said["said"].splitlines() if not line.startswith("#")]
    if said["said"] == _HUNG:
        what = _HUNG
    elif said["ok"]:
        what = f"said done{f', with {code[0]}' if code else ''}"
    else:
        what = code[0] if code else _first_line("\n".join(lines))
    return f"{what} ({said['ms']:.0f} ms)"


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason"])[0][:60]


async def _run(only: str | None) -> list[Row]:
    found = []
    with tempfile.TemporaryDirectory(prefix="clients-") as folder:
        settings = DesktopSettings(folder=Path(folder) / "desktop", virtual=True, sandbox=os.geteuid() != 0)
        async with running_desktop(settings) as desktop, Pages().serving() as pages:
            for client in clients():
                if only is None or only in (client.client if isinstance(client, Row) else client.name):
                    found.append(client if isinstance(client, Row) else await try_one(client, desktop, pages))
    return found


def main(*, as_json: bool, only: str | None = None, write: bool = False) -> bool:
    """Try every client; true where nothing was done in a hold and each that was tried went on.

    Args:
        as_json: Print one JSON object a client.
        only: A part of the name of the one to try.
        write: Put the table into docs/cdp.md.
    """
    rows = asyncio.run(_run(only))
    shown = _table(rows)
    print("\n".join(json.dumps(dataclasses.asdict(row)) for row in rows) if as_json else shown, flush=True)
    if write and not only:
        before, _, rest = PAGE.read_text().partition(_MARKS[0])
        PAGE.write_text(before + _MARKS[0] + shown + "\n" + _MARKS[1] + rest.partition(_MARKS[1])[2])
    return all(row.holds for row in rows if row.tried)


def _table(rows: list[Row]) -> str:
    heads = ("client", "works", *_TRIED, "done in the hold", "goes on", "killed and back")
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    for row in rows:
        if not row.works:
            what = "did not work" if row.tried else "not tried"
            lines.append(f"{row.client} | {what}: {row.error} |" + " |" * (len(heads) - 3))
            continue
        told = [row.hold.get(name, "") for name in _TRIED]
        back = "same page" if row.back and row.kept else _yes(row.back)
        cells = (row.client, _yes(row.works), *told, str(row.reached), _yes(row.goes_on), back)
        lines.append(" | ".join(cells))
    return "\n".join(f"| {line} |" for line in lines)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"
