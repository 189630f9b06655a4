"""Starting programs with windows on a display, and waiting for what they show."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from user_handoff.desktop.display.display import Display
from user_handoff.desktop.identity import ProcessIdentity

TOKEN = "uh-b-1"


def window(title: str = "a", at: tuple[int, int, int, int] = (50, 60, 300, 200), **more: Any) -> dict[str, Any]:
    """A window as a browser's would be, unless said otherwise."""
    return {"title": title, "bounds": list(at), "class": TOKEN, **more}


class Program:
    """A program with windows."""

    def __init__(self, display: Display, *windows: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("xclient.py")), json.dumps(windows)],
            env={**os.environ, **display.environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.windows: list[int] = self._answer()
        self.identity = ProcessIdentity.of(self.process.pid)

    def tell(self, *request: Any) -> Any:
        self.start(*request)
        return self._answer()

    def start(self, *request: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def typed(self) -> str:
        return str(self.tell("typed"))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()

    def _answer(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())


@contextmanager
def program(display: Display, *windows: dict[str, Any]) -> Iterator[Program]:
    """A program with these windows, for as long as the block runs."""
    started = Program(display, *windows)
    try:
        yield started
    finally:
        started.end()
