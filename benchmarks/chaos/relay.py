"""Real servers of tools behind the relay, each attached to a browser of the desktop: work, hold, release."""

import asyncio
import contextlib
import hashlib
import itertools
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from platformdirs import user_cache_path

from tests.desktop.policy.pages import Pages
from tests.desktop.support import Agent
from user_handoff.contract.doors import OpenDoor
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.start import DesktopSettings, running_desktop

CALLS_IN_HOLD: Final = 200
PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "relay.md"

_MARKS = ("<!-- transcripts -->\n", "<!-- end of transcripts -->")
_BUTTON = "<button onclick=\"fetch('/clicked', {method: 'POST'})\">Count</button>"


@dataclass(frozen=True)
class Server:
    """A server from npm.

    Attributes:
        package: Its package, with the version that was tried.
        program: What it is started by.
        options: What attaches it to a browser, before the address.
        look: The tool that shows the page.
        go: The tool that goes to another page, with its arguments.
        click: The tool that clicks, and what it calls an element.
    """

    package: str
    program: str
    options: tuple[str, ...]
    look: str
    go: tuple[str, dict[str, Any]]
    click: tuple[str, str]
    always: dict[str, Any] = field(default_factory=dict)


SERVERS: Final = (
    Server(
        "@playwright/mcp@0.0.83",
        "playwright-mcp",
        ("--cdp-endpoint",),
        "browser_snapshot",
        ("browser_navigate", {}),
        ("browser_click", "target"),
    ),
    Server(
        "chrome-devtools-mcp@1.11.0",
        "chrome-devtools-mcp",
        ("--no-usage-statistics", "--no-performance-crux", "--browserUrl"),
        "take_snapshot",
        ("navigate_page", {"type": "url"}),
        ("click", "uid"),
        {"pageId": 1},
    ),
)


@dataclass
class Seen:
    """What became of one server: lines for people, and whether the gate held."""

    package: str
    lines: list[str] = field(default_factory=list)
    busy: int = 0
    reached_in_hold: int = 0
    clicks: int = 0
    busy_ms_p50: float = 0
    ok: bool = False


def installed() -> Path | None:
    """The folder with all servers, in the user's cache; None where npm is missing."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return None
    packages = [server.package for server in SERVERS]
    folder = user_cache_path("user-handoff") / f"npm-{hashlib.sha256(' '.join(packages).encode()).hexdigest()[:12]}"
    if not (folder / "installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        subprocess.run(
            [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *packages],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (folder / "installed").touch()
    return folder / "node_modules" / ".bin"


class Client:
    """A program that starts its server behind the relay, and tells what it sees."""

    def __init__(self, process: asyncio.subprocess.Process, server: Server, seen: Seen) -> None:
        self._process = process
        self._server = server
        self._seen = seen
        self._numbers = itertools.count(1)

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request, and wait for its answer."""
        assert self._process.stdin and self._process.stdout
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        async with asyncio.timeout(60):
            while True:
                answer = json.loads(await self._process.stdout.readline())
                if answer.get("id") == number and "method" not in answer:
                    return answer

    async def start(self) -> None:
        """Open the connection, and learn the tools."""
        me = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
        info = (await self.ask("initialize", me))["result"]["serverInfo"]
        assert self._process.stdin
        self._process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        tools = (await self.ask("tools/list", {}))["result"]["tools"]
        self._say("initialize, tools/list", f"{info['name']}, {len(tools)} tools")

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool, and say in a line what came of it."""
        answer = await self.ask("tools/call", {"name": tool, "arguments": self._server.always | arguments})
        self._say(tool, _told(answer))
        return answer

    def _say(self, asked: str, came: str) -> None:
        self._seen.lines.append(f"{asked:<24} {came}")


def _told(answer: Any) -> str:
    if "error" in answer:
        data = answer["error"]["data"]
        return f"{answer['error']['code']} {data['code']}, {data['outcome']}"
    result = answer["result"]
    text = "".join(part.get("text", "") for part in result["content"])
    if result.get("isError"):
        return f"failed: {text.splitlines()[0][:80]}"
    return "shows the page" if "Count" in text else "done"


@contextlib.asynccontextmanager
async def _client(server: Server, programs: Path, state: Path, agent: Agent, seen: Seen) -> AsyncIterator[Client]:
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    door = OpenDoor(browser_id=agent.browser_id, door_id=new_id("d"), sha256=digest, name=server.program, tcp=True)
    _, port, _ = await agent.desktop.browsers.get(agent.browser_id).control.open_door(door)
    relay = [sys.executable, "-P", "-m", "user_handoff.cli.main", "relay", "--client", "c_relay"]
    command = [str(programs / server.program), *server.options, f"http://127.0.0.1:{port}/{token}"]
    process = await asyncio.create_subprocess_exec(
        *relay,
        "--browser",
        agent.browser_id,
        "--",
        *command,
        env=os.environ | {"HANDOFF_STATE": str(state)},
        cwd=state,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=1 << 25,
    )
    try:
        yield Client(process, server, seen)
    finally:
        process.terminate()
        await process.communicate()


def _element(answer: Any) -> str:
    """What the server calls the button, in its snapshot."""
    text = "".join(part.get("text", "") for part in answer["result"]["content"])
    found = re.search(r'button "Count".*?\[ref=(\w+)\]', text) or re.search(r'uid=(\S+) button "Count"', text)
    if found is None:
        raise RuntimeError("the snapshot shows no button")
    return found[1]


async def _try(server: Server, programs: Path, state: Path, desktop: Desktop, pages: Pages) -> Seen:
    seen = Seen(server.package)
    url = pages.put(_BUTTON)
    agent = await Agent.open(desktop, "about:blank")
    try:
        async with _client(server, programs, state, agent, seen) as client:
            await client.start()
            await client.call(server.go[0], **server.go[1], url=url)
            click, name = server.click
            element = {name: _element(await client.call(server.look))}
            await client.call(click, **element)
            await _clicked(pages, 1)
            receipt = await agent.begin()
            seen.lines.append("— a person has the browser —")
            await client.call(click, **element)
            await client.call(server.look)
            await _many(client, server, element, seen)
            seen.reached_in_hold = _clicks(pages) - 1
            await agent.finish(receipt)
            await agent.look()
            seen.lines.append("— the person is done —")
            await client.call(click, **element)
            element = {name: _element(await client.call(server.look))}
            await client.call(click, **element)
            await _clicked(pages, 2)
    except (AssertionError, KeyError, RuntimeError, TimeoutError, ValueError) as error:
        seen.lines.append(f"stopped: {type(error).__name__} {error}"[:200])
    finally:
        seen.clicks = _clicks(pages)
        pages.asked.clear()
        await agent.close()
    seen.ok = (seen.busy, seen.reached_in_hold, seen.clicks) == (CALLS_IN_HOLD, 0, 2)
    return seen


async def _many(client: Client, server: Server, element: dict[str, str], seen: Seen) -> None:
    took = []
    for _ in range(CALLS_IN_HOLD):
        began = time.perf_counter()
        params = {"name": server.click[0], "arguments": server.always | element}
        answer = await client.ask("tools/call", params)
        took.append(time.perf_counter() - began)
        seen.busy += answer.get("error", {}).get("code") == -32050
    seen.busy_ms_p50 = round(sorted(took)[len(took) // 2] * 1e3, 2)
    seen.lines.append(f"{server.click[0]:<24} {CALLS_IN_HOLD} times more: {seen.busy} refused")


def _clicks(pages: Pages) -> int:
    return sum("/clicked" in each for each in pages.asked)


async def _clicked(pages: Pages, count: int) -> None:
    async with asyncio.timeout(10):
        while _clicks(pages) < count:  # noqa: ASYNC110  (another process clicks)
            await asyncio.sleep(0.01)


async def _run(programs: Path) -> list[Seen]:
    with tempfile.TemporaryDirectory(prefix="relay-") as folder:
        state = Path(folder)
        settings = DesktopSettings(folder=state / "desktop", client_id="c_relay", virtual=True, sandbox=False)
        async with running_desktop(settings) as desktop, Pages().serving() as pages:
            return [await _try(server, programs, state, desktop, pages) for server in SERVERS]


def main(*, as_json: bool, write: bool = False) -> bool:
    """Try every server; true where the gate held and each went on.

    Args:
        as_json: Print one JSON object a server.
        write: Put the transcripts into docs/relay.md.
    """
    programs = installed()
    if programs is None:
        print("relay: npm and node are not installed; no server was tried.", file=sys.stderr)
        return True
    found = asyncio.run(_run(programs))
    for seen in found:
        print(json.dumps(vars(seen)) if as_json else _shown(seen), flush=True)
    if write and all(seen.ok for seen in found):
        before, _, rest = PAGE.read_text().partition(_MARKS[0])
        after = rest.partition(_MARKS[1])[2]
        PAGE.write_text(before + _MARKS[0] + "\n".join(map(_shown, found)) + _MARKS[1] + after)
    return all(seen.ok for seen in found)


def _shown(seen: Seen) -> str:
    return f"`{seen.package}`:\n```\n" + "\n".join(seen.lines) + "\n```\n"
