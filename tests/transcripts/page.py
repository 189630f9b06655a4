"""The page of transcripts."""

import asyncio
import importlib.metadata
import json
import os
import platform
import subprocess
import textwrap
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporalio.api.workflowservice.v1 import GetSystemInfoRequest

from tests.e2e.stack import Stack
from tests.gateway.mcp.node_client import HERE as NODE
from tests.transcripts import mcp_doors, rest_door, temporal_doors
from tests.transcripts.names import Names
from tests.transcripts.steps import Step
from user_handoff.desktop.host.launch import chromium_path

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "transcripts.md"

_HEAD = """\
# Transcripts: the whole job through each door

What each client asks and what comes back, in the order of asking, from one run on real parts: Temporal,
`handoff server`, `handoff runner` with Chromium on a virtual X display, and the [portal](../examples/portal.py) of the
examples. Each client opens a browser, meets the wall, hands over, is refused while a person has the browser, looks at
each page afterwards, exports the invoices and closes. The person is [a script](../examples/person.py) that types by
native input at the exact window. Written by
```sh
python -m tests.transcripts
```
{versions}

What each step took is from one run beside other load: figures to compare are those of `./run bench`. Names stand for
ids, windows, processes and addresses, the same one for the same thing within a section; `{{…}}` leaves a part out.
"""
_WIDTH = 230
VERIFIED: Final = "`verified`"


@dataclass(frozen=True)
class Door:
    """One way in.

    Attributes:
        name: Its short name.
        title: Its section.
        says: What is to be known of it.
        job: Does the job; or says why it cannot be done here.
    """

    name: str
    title: str
    says: str
    job: Callable[[Stack], Awaitable[list[Step] | str]]


DOORS: Final = (
    Door(
        "agent",
        "An agent's workflow",
        "A workflow of temporalio in a worker of its own, with [the agent's API](guide.md). `browser.handoff` is\n"
        "`begin_handoff` and `outcome` in one call; here they are two, so that an effect can be tried in between.",
        temporal_doors.agent_workflow,
    ),
    Door(
        "program",
        "A program with `DesktopClient`",
        "No workflow of its own: `begin` starts the Handoff workflow. `DesktopClient` is a `HandoffClient` that has a\n"
        "desktop's verbs too.",
        temporal_doors.program,
    ),
    Door(
        "parent",
        "A parent with the handoff as its child workflow",
        "It uses no API of ours but names and models: what an SDK of any language can do.",
        temporal_doors.parent_workflow,
    ),
    Door(
        "nexus",
        "Another namespace, through Nexus",
        "A second worker in a second namespace. [Nexus](access.md#agents-of-another-namespace) has the handoff; the\n"
        "browser is driven by activities of that worker, which use `DesktopClient`.",
        temporal_doors.nexus,
    ),
    Door("mcp-http", "MCP over HTTP", "The SDK for Python at [`/mcp`](mcp.md), with a key.", mcp_doors.http),
    Door("mcp-stdio", "MCP by pipes", "The same SDK at `handoff mcp`, which it starts itself.", mcp_doors.stdio),
    Door(
        "mcp-typescript",
        "MCP with the SDK for TypeScript",
        "[The client of its test](../tests/gateway/mcp/node/client.mjs) at `/mcp`. It also reads what a person sends\n"
        "of their own accord.",
        mcp_doors.typescript,
    ),
    Door(
        "rest",
        "REST",
        "[Plain HTTP](rest.md) with a key, `Idempotency-Key`s, and the stream of events.",
        rest_door.rest,
    ),
)


async def versions(stack: Stack) -> str:
    """What took part, in a line."""
    of = importlib.metadata.version
    server = await stack.client.workflow_service.get_system_info(GetSystemInfoRequest())
    node = json.loads((NODE / "package.json").read_text())["dependencies"]["@modelcontextprotocol/sdk"]
    named = {
        "Python": platform.python_version(),
        "Temporal server": server.server_version,
        "temporalio": of("temporalio"),
        "Playwright": of("playwright"),
        "Chromium": await asyncio.to_thread(_chromium),
        "mcp": of("mcp"),
        "@modelcontextprotocol/sdk": node,
    }
    return textwrap.fill(
        f"With {', '.join(f'{name} {version}' for name, version in named.items())}, on {os.cpu_count()} cores.",
        120,
        break_on_hyphens=False,
    )


def _chromium() -> str:
    done = subprocess.run([chromium_path(), "--version"], capture_output=True, text=True, timeout=30, check=True)
    return done.stdout.split()[1]


def page(said: str, sections: Iterable[tuple[Door, Sequence[Step] | str]], places: dict[str, str]) -> str:
    """All of it.

    Args:
        said: The versions.
        sections: Each door and its steps, or why there are none.
        places: Readable names for addresses.
    """
    return "\n".join([_HEAD.format(versions=said), *(_section(*each, Names(places)) for each in sections)])


def _section(door: Door, steps: Sequence[Step] | str, names: Names) -> str:
    head = f"## {door.title}\n{door.says}\n"
    if isinstance(steps, str):
        return f"{head}\nNot run here: {steps}.\n"
    ordered = sorted(steps, key=lambda step: step.at)
    whole = max(step.at + step.seconds for step in ordered) - ordered[0].at
    assert any(VERIFIED in step.came for step in ordered), f"{door.name} ended otherwise"
    rows = [_row(step, names) for step in ordered]
    table = "\n".join(["| took | who | asks | comes back |", "|--:|---|---|---|", *rows])
    return f"{head}\n{table}\n\nIt ended {VERIFIED}, the whole job after {whole:.1f} s.\n"


def _row(step: Step, names: Names) -> str:
    asks, came = (_cell(names.plain(text)) for text in (step.asks, step.came))
    asks = asks if step.who == "person" else f"`{asks}`"
    return f"| {_took(step.seconds)} | {step.who} | {asks} | {came} |"


def _took(seconds: float) -> str:
    ms = seconds * 1000
    return f"{ms:.0f} ms" if ms < 100 else f"{round(ms, -1):.0f} ms"


def _cell(text: str) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"
