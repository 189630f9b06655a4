"""A server of tools without anything that costs time: each line of its journal is a call that reached it."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

HINTS = {"look": True, "act": False, "gentle": True}


def say(message: Any) -> None:
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


def call(folder: Path, message: Any) -> None:
    name, arguments = message["params"]["name"], message["params"].get("arguments", {})
    with (folder / "journal").open("a") as journal:
        journal.write(f"{name}\n")
    result: dict[str, Any] = {"content": [{"type": "text", "text": name}]}
    if name == "die":
        sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":')
        sys.stdout.buffer.flush()
        os._exit(arguments.get("code", 5))
    if name == "big":
        result = {"content": [{"type": "text", "text": "x" * arguments["size"]}]}
    if name == "garbage":
        sys.stdout.buffer.write(b"\xff\xfe\x00 not json\n[1\n\n")
    if name == "nan":
        sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":%d,"result":{"x":NaN}}\n' % message["id"])
        sys.stdout.buffer.flush()
        return
    if name == "told":
        say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "typed"}})
        say({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})
        say({"jsonrpc": "2.0", "id": "ask-1", "method": "roots/list"})
    if name == "goes_on":
        result = {"resultType": "task", "taskId": "t1"}
    if "until" in arguments:  # it works until the test says that it is over
        while not (folder / arguments["until"]).exists():
            time.sleep(0.002)
    say({"jsonrpc": "2.0", "id": message["id"], "result": result})


def main() -> None:
    folder = Path(sys.argv[1])
    for line in sys.stdin.buffer:
        message = json.loads(line)
        method = message.get("method")
        with (folder / "seen").open("a") as seen:
            seen.write(f"{method or 'answer'}\n")
        if method == "tools/call":
            call(folder, message)
        elif method == "initialize":
            info = {"name": os.environ.get("SERVER_NAME", "fake"), "version": "1"}
            say({"jsonrpc": "2.0", "id": message["id"], "result": {"serverInfo": info}})
        elif method == "tools/list":
            tools = [{"name": name, "annotations": {"readOnlyHint": reads}} for name, reads in HINTS.items()]
            say({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}})
        elif "id" in message and method:
            say({"jsonrpc": "2.0", "id": message["id"], "result": {}})
    sys.exit(int(os.environ.get("SERVER_CODE", "0")))


if __name__ == "__main__":
    main()
