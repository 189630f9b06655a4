"""What every client in Python shares: one step for each line of standard input, one line of JSON for each answer."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

ADDRESSES: dict[str, str] = json.loads(os.environ.get("ADDRESSES", "{}"))

Step = Callable[[], Awaitable[Any]]


async def serve(steps: Mapping[str, Step]) -> None:
    """Do what is asked, until nothing more is."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        began, ok = time.perf_counter(), True
        try:
            said = str(await steps[line.strip()]() or "")
        except Exception as error:
            ok, said = False, str(error) or type(error).__name__
        answer = {"ok": ok, "said": said, "ms": round((time.perf_counter() - began) * 1e3, 1)}
        print(json.dumps(answer), flush=True)
