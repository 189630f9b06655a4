"""`./run bench`: what the host, a permit, a handoff, a read by REST, the relay, a snapshot and the live view cost."""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from typing import Any, Final

from benchmarks import (
    bench_boundaries,
    bench_done,
    bench_evidence,
    bench_handoff,
    bench_host,
    bench_permit,
    bench_reads,
    bench_relay,
    bench_snapshots,
    bench_view,
)

MEASUREMENTS: Final[dict[str, Any]] = {
    "host": bench_host,
    "permit": bench_permit,
    "evidence": bench_evidence,
    "handoff": bench_handoff,
    "done": bench_done,
    "reads": bench_reads,
    "relay": bench_relay,
    "view": bench_view,
    "boundaries": bench_boundaries,
    "snapshots": bench_snapshots,
}


def main() -> int:
    """Measure what was asked for; 0 where every figure is within its limit."""
    parser = argparse.ArgumentParser(prog="./run bench", description="Measurements on the real parts.")
    parser.add_argument("--only", choices=MEASUREMENTS, help="one measurement alone")
    parser.add_argument("--count", type=int, help="how often each thing is done; each measurement has its own default")
    parser.add_argument("--json", action="store_true", help="end with one JSON object on a line of its own")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell started this in the background
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))  # end in order, and leave nothing
    figures: dict[str, dict[str, float]] = {}
    over: list[str] = []
    for name in [options.only] if options.only else MEASUREMENTS:
        found, limits = _measure(name, options.count)
        figures[name] = found
        over += [f"{name}: {key} is {found[key]}, above {limit}" for key, limit in limits.items() if found[key] > limit]
        if not options.json:
            print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in found.items()))
    for line in over:
        print(line, file=sys.stderr)
    if options.json:
        print(json.dumps(figures | {"over": over}), flush=True)
    return 1 if over else 0


def _measure(name: str, count: int | None) -> tuple[dict[str, float], Mapping[str, float]]:
    module = MEASUREMENTS[name]
    found = module.measure(count or module.COUNT)
    return (asyncio.run(found) if asyncio.iscoroutine(found) else found), getattr(module, "LIMITS", {})


if __name__ == "__main__":
    sys.exit(main())
