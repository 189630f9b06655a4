"""Ways by which a call could keep its permit for ever, or go on without one."""

import json
import subprocess
import sys
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.relay.conftest import SERVER, Wire, error_of
from tests.relay.test_http import World, call, plain, world
from tests.waiting import until
from user_handoff.desktop.reservation.ledger import Ledger

__all__ = ["plain", "world"]

_RELAY = """
import sys
from pathlib import Path
from user_handoff.desktop.desk import Desk
from user_handoff.relay.stdio import StdioRelay
from user_handoff.relay.tools import Judge
sys.exit(StdioRelay(Desk(Path(sys.argv[1]), "c_1"), Judge(), None, sys.argv[2:]).run())
"""


def _of(folder: Path) -> list[psutil.Process]:
    """The servers of a folder that live."""
    return [
        each
        for each in psutil.process_iter(["cmdline"])
        if str(SERVER) in (each.info["cmdline"] or []) and str(folder) in each.info["cmdline"]
    ]


async def test_what_a_server_has_started_ends_too_when_its_relay_is_killed(
    state: Path, ledger: Ledger, tmp_path: Path
) -> None:
    """E8: `npx` is not the server, but what has started it; left alone, it would act on while a person works."""
    server = ["sh", "-c", f"{sys.executable} -S -E {SERVER} {tmp_path}; true"]
    relay = subprocess.Popen(  # noqa: ASYNC220  (what it is told waits for nothing)
        [sys.executable, "-c", _RELAY, str(state), *server], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert relay.stdin is not None
    message = call(1, "act")
    message["params"]["arguments"] = {"until": "never"}
    relay.stdin.write(json.dumps(message).encode() + b"\n")
    relay.stdin.flush()
    await until(lambda: (tmp_path / "journal").exists())
    assert _of(tmp_path)
    relay.kill()
    relay.wait()
    relay.stdin.close()
    await until(lambda: not _of(tmp_path))


def test_an_answer_that_is_not_json_ends_its_call(wire: Wire, ledger: Ledger) -> None:
    """E8: many a server writes NaN; its call has ended all the same, and its client waits."""
    wire.tool(1, "nan")
    assert error_of(wire.next()) == (-32603, "failed")
    assert ledger.permits() == []


@pytest.mark.parametrize("request_id", [2**53, -(2**53), 10**40])
def test_an_id_that_some_servers_would_change_is_refused(wire: Wire, ledger: Ledger, request_id: int) -> None:
    """E8: its answer would have another one, and its permit would stand for ever."""
    assert error_of(wire.called(request_id, "act")) == (-32600, "invalid_request")
    assert wire.journal() == [] and ledger.permits() == []


async def test_headers_of_any_bytes_leave_no_permit(plain: httpx2.AsyncClient, world: World, ledger: Ledger) -> None:
    """E8: one such request would have kept every person waiting until the relay's end."""
    odd = {b"x-a": b"\xe9", b"mcp-name": b"look", b"mcp-method": b"tools/call"}
    answer = await plain.post("/plain", json=call(1, "l\u00f6schen"), headers=odd)
    assert answer.json()["result"] == {}
    assert "mcp-name" not in world.headers[-1], "it would have said another tool than the message does"
    assert (world.headers[-1]["x-a"], world.headers[-1]["mcp-method"]) == ("\xe9", "tools/call")
    assert ledger.permits() == []


async def test_a_request_that_cannot_be_sent_leaves_no_permit(
    plain: httpx2.AsyncClient, world: World, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E8: whatever goes wrong between the permit and the server."""

    async def broken(*arguments: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("user_handoff.relay.upstream.Upstream.send", broken)
    assert (await plain.post("/plain", json=call(1, "act"))).status_code == 500
    assert ledger.permits() == []
