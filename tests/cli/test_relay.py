"""`handoff relay` as a program starts it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from tests.cli.conftest import command
from tests.relay.conftest import SERVER, error_of, held
from tests.waiting import until
from user_handoff.cli.main import app
from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.reservation.ledger import Ledger

Environment = dict[str, str]


class Program:
    """A program that starts its server behind a relay."""

    def __init__(self, env: Environment, *behind: str) -> None:
        arguments = command("relay", "--client", "c_1", *behind)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(arguments, env=env, stdin=pipe, stdout=pipe, stderr=pipe)

    def called(self, request_id: Any, tool: str, **arguments: Any) -> Any:
        self.tool(request_id, tool, **arguments)
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def tool(self, request_id: Any, tool: str, **arguments: Any) -> None:
        assert self.process.stdin
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def end(self) -> tuple[int, bytes]:
        _, said = self.process.communicate(timeout=30)
        assert b"Traceback" not in said, said
        return self.process.returncode, said


def test_a_program_works_is_refused_and_goes_on(ledger: Ledger, env: Environment, tmp_path: Path) -> None:
    """E8, K01: by the command line; exit code and standard error of the server pass."""
    script = f'echo "to the log" >&2; exec "{sys.executable}" "{SERVER}" "{tmp_path}"'
    program = Program(env | {"SERVER_CODE": "7"}, "--", "sh", "-c", script)
    assert program.called(1, "act")["result"]
    with held(ledger):
        assert error_of(program.called(2, "act")) == (-32050, "desktop_held")
    assert program.called(3, "act")["result"]
    code, said = program.end()
    assert (code, b"to the log" in said) == (7, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_the_server_ends_with_the_relay_and_leaves_no_permit(
    ledger: Ledger, env: Environment, tmp_path: Path, number: signal.Signals
) -> None:
    """E8, E2: however it ends."""
    program = Program(env, "--", sys.executable, str(SERVER), str(tmp_path))
    assert program.called(1, "act")["result"]
    program.tool(2, "act", until="never")
    await until(lambda: len(ledger.permits()) == 1)
    server = ledger.permits()[0].owner
    assert server.pid != program.process.pid
    program.process.send_signal(number)
    await until(lambda: not server.alive())
    code = (await asyncio.to_thread(program.end))[0]
    assert code == (128 + number if number == signal.SIGTERM else -number)
    ledger.sweep()
    assert ledger.permits() == []


def test_what_cannot_be_relayed_is_told_of(ledger: Ledger, state: Path, tmp_path: Path) -> None:
    """E8: and nothing is started."""
    (tmp_path / "tools.toml").write_text("version = 7")
    for given, code in (
        (("c_2", "--", "true"), "invalid_request"),
        (("c_1", "--browser", "b_9", "--", "true"), "unknown_browser"),
        (("c_1", "--", "nonesuch"), "program_missing"),
        (("c_1", "--tools", str(tmp_path / "tools.toml"), "--", "true"), "policy_invalid"),
        (("c_1", "--url", "ftp://x"), "invalid_request"),
    ):
        done = CliRunner().invoke(app, ["relay", "--state", str(state), "--client", *given])
        assert isinstance(done.exception, HandoffError)
        assert done.exception.code == code
    assert CliRunner().invoke(app, ["relay", "--client", "c_1"]).exit_code == 2


async def test_the_relay_of_an_address_tells_its_own(ledger: Ledger, env: Environment) -> None:
    """E8: on this machine alone, and it ends by a signal."""
    program = Program(env, "--url", "http://127.0.0.1:1/mcp")
    assert program.process.stderr
    said = await asyncio.to_thread(program.process.stderr.readline)
    while not said.startswith(b"handoff relay is ready: http://127.0.0.1:"):
        assert said, "it ended"
        said = await asyncio.to_thread(program.process.stderr.readline)
    assert said.endswith(b"/mcp\n")
    listening = [c.laddr.ip for c in psutil.Process(program.process.pid).net_connections() if c.status == "LISTEN"]
    assert listening == ["127.0.0.1"]
    os.kill(program.process.pid, signal.SIGTERM)
    assert (await asyncio.to_thread(program.end))[0] == 0
