"""`./run chaos`: races on one ledger, the kill matrix, and what nobody should send to REST."""

import argparse
import dataclasses
import json
import logging
import signal
import sys

from benchmarks.chaos import races


def main() -> int:
    """Run what was asked for; 0 where every guarantee held."""
    parser = argparse.ArgumentParser(prog="./run chaos", description="Fault injection on the real parts.")
    parser.add_argument(
        "--only",
        choices=("races", "kills", "api", "relay", "takeovers", "agents", "clients"),
        help="one of them alone",
    )
    parser.add_argument("--count", type=int, help="rounds of the races, or requests; each has its own default")
    parser.add_argument("--cell", help="one cell of the kill matrix, such as runner:held")
    parser.add_argument("--write", action="store_true", help="put what relay or clients showed into docs/")
    parser.add_argument("--client", help="a part of the name of the one client to try")
    parser.add_argument("--json", action="store_true", help="end with one JSON object on a line of its own")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell started this in the background
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))  # end in order, and leave nothing
    held = True
    if options.only in (None, "races"):
        held = _races(options.count or races.ROUNDS, as_json=options.json) and held
    if options.only in (None, "api"):
        held = _api(options.count, as_json=options.json) and held
    if options.only in (None, "kills"):
        from benchmarks.chaos import kills  # needs a desktop; the races do not

        held = kills.main(options.cell, as_json=options.json) and held
    if options.only in (None, "relay"):
        from benchmarks.chaos import relay

        held = relay.main(as_json=options.json, write=options.write) and held
    if options.only in (None, "takeovers"):
        from benchmarks.chaos import takeovers

        held = takeovers.main(options.cell if options.only else None, as_json=options.json) and held
    if options.only in (None, "agents"):
        held = _agents(options.count, as_json=options.json) and held
    if options.only in (None, "clients"):
        from benchmarks.chaos.clients import table

        held = table.main(as_json=options.json, only=options.client, write=options.write) and held
    return 0 if held else 1


def _agents(count: int | None, *, as_json: bool) -> bool:
    from benchmarks.chaos import agents

    seen = agents.run(count or agents.HOLDS)
    if as_json:
        print(json.dumps(dataclasses.asdict(seen)), flush=True)
    else:
        print(
            f"{seen.holds} holds against three agents in tight loops ({seen.idle} found none at work): {seen.effects} "
            f"effects between them, {seen.refused} commands refused, {seen.in_hold} effects in a hold. A hold took "
            f"{seen.hold_p50_ms:g} ms (p50), {seen.hold_p95_ms:g} ms (p95) ({seen.seconds:g} s)."
        )
    return not seen.in_hold and seen.idle * 2 < seen.holds


def _races(count: int, *, as_json: bool) -> bool:
    seen = races.race(count)
    if as_json:
        print(json.dumps(dataclasses.asdict(seen)), flush=True)
    else:
        print(
            f"{seen.rounds} rounds, {seen.contended} of them contended: {seen.effects} effects ran, {seen.refused} "
            f"were refused, {seen.killed} processes were killed with a permit, {seen.drains_failed} drains failed; "
            f"{seen.admitted_under_hold} effects ran under a hold ({seen.seconds:.1f} s)."
        )
    return not seen.admitted_under_hold and not seen.permits_left and seen.rounds >= count


def _api(count: int | None, *, as_json: bool) -> bool:
    from benchmarks.chaos import api  # needs what only tests need; the others do not

    logging.disable(logging.ERROR)  # refusals are what is asked for
    seen = api.run(count or api.REQUESTS)
    logging.disable(logging.NOTSET)
    if as_json:
        print(json.dumps(vars(seen)), flush=True)
    else:
        print(
            f"{seen.requests} requests, {seen.wrong} of them wrong: {dict(sorted(seen.statuses.items()))}; "
            f"{seen.failed} answers that must not be, {seen.effects_of_wrong} effects of what is wrong "
            f"({seen.seconds:.0f} s)."
        )
    for failure in seen.failures:
        print(failure, file=sys.stderr)
    return not seen.failed and not seen.effects_of_wrong


if __name__ == "__main__":
    sys.exit(main())
