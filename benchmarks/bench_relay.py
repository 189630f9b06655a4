"""What the relay costs a call: the same server with and without it, in turn, in one run."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.numbers import Times
from tests.relay.conftest import SERVER, held, make_desk

COUNT = 1_000
LIMITS = {"overhead_ms_p50": 2.0}

_LARGE = 1_000_000


class _Server:
    """A server of tools, and who calls them."""

    def __init__(self, folder: Path, *before: str) -> None:
        folder.mkdir(parents=True)
        command = [*before, sys.executable, "-S", "-E", str(SERVER), str(folder)]
        environment = os.environ | {"HANDOFF_STATE": str(folder.parent)}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._number = 0

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call, and wait for the answer."""
        assert self._process.stdin and self._process.stdout
        self._number += 1
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._number
        return answer

    def end(self) -> None:
        """Say that nothing more comes."""
        self._process.communicate()


def measure(count: int = COUNT) -> dict[str, float]:
    """Milliseconds of a call that acts, one with a large answer, and one that is refused."""
    times = {name: Times() for name in ("direct", "relayed", "direct_1mb", "relayed_1mb", "busy")}
    relay = (sys.executable, "-P", "-m", "user_handoff.cli.main", "relay", "--client", "c_1", "--")
    with tempfile.TemporaryDirectory(prefix="relay-") as folder:
        ledger = make_desk(Path(folder))
        servers = {"direct": _Server(Path(folder, "direct")), "relayed": _Server(Path(folder, "relayed"), *relay)}
        for server in servers.values():
            server.call("act")  # the first one waits for the start
        for number in range(count):
            for name, server in servers.items():
                with times[name].one():
                    assert "result" in server.call("act")
                if number % 20 == 0:
                    with times[f"{name}_1mb"].one():
                        server.call("big", size=_LARGE)
        with held(ledger):
            for _ in range(count):
                with times["busy"].one():
                    assert servers["relayed"].call("act")["error"]["code"] == -32050
        for server in servers.values():
            server.end()
        ledger.close()
    found = {
        f"{name}_ms_p{percent}": each.milliseconds(percent) for name, each in times.items() for percent in (50, 99)
    }
    overhead = {
        f"overhead{size}_ms_p{percent}": round(
            found[f"relayed{size}_ms_p{percent}"] - found[f"direct{size}_ms_p{percent}"], 2
        )
        for size in ("", "_1mb")
        for percent in (50, 99)
    }
    return found | overhead | {"count": count}
