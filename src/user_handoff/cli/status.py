"""`handoff status`: what this machine's desktop holds now, read from its own files; nothing need run for that."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from user_handoff.cli.state_files import DESKTOP
from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.host.launch import find_hosts
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.retention import kept

LEDGERS = "*.ledger.db"
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def read_status(state: Path) -> dict[str, Any]:
    """What stands on the desktop of a state folder.

    Args:
        state: The state folder.

    Returns:
        JSON: `display` (is the private one alive), `browsers`, what is `kept` and how long, and of the
        reservation ledger `epoch`, `holders`,
        `permits` and whether the `gate` is open, held, or closed with a reason.
    """
    folder = state / DESKTOP
    record = read_record(folder)
    ledgers = sorted(folder.glob(LEDGERS), key=lambda path: path.stat().st_mtime)
    return {
        "state": str(state),
        "display": None if record is None else {"pid": record.keeper.pid, "alive": record.keeper.alive()},
        "browsers": [
            {"browser_id": host.browser_id, "pid": host.browser.pid, "host_pid": host.host.pid}
            for host in find_hosts(folder / "browsers")
        ],
        "kept": kept(folder),
        **(_ledger(ledgers[-1]) if ledgers else {"gate": "open", "epoch": 0, "holders": [], "permits": []}),
    }


def _ledger(path: Path) -> dict[str, Any]:
    ledger = Ledger(path)
    try:
        holders, permits = ledger.holders(), ledger.permits()
        return {
            "gate": "held" if holders else "open",
            "epoch": ledger.epoch(),
            "holders": [{**asdict(row), "owner_alive": row.owner.alive()} for row in holders],
            "permits": [
                {
                    "effect_id": row.effect_id,
                    "scope": row.scope,
                    "browser_id": row.browser_id,
                    "pid": row.owner.pid,
                    "owner_alive": row.owner.alive(),
                }
                for row in permits
            ],
        }
    except HandoffError as error:
        return {"gate": "closed", "why": str(error), "epoch": None, "holders": [], "permits": []}
    finally:
        ledger.close()


def lines(status: dict[str, Any]) -> list[str]:
    """The same for a person to read."""
    display = status["display"]
    shown = "the session's own, or none" if display is None else f"private, {'alive' if display['alive'] else 'dead'}"
    out = [f"state    {status['state']}", f"display  {shown}", f"gate     {status['gate']} (epoch {status['epoch']})"]
    if why := status.get("why"):
        out.append(f"         {why}")
    out += [f"browser  {b['browser_id']}, process {b['pid']}" for b in status["browsers"]]
    out += [f"holder   {h['handoff_id']} on {h['browser_id']}" for h in status["holders"]]
    out += [
        f"permit   {p['effect_id']} ({p['scope']}) of process {p['pid']}{'' if p['owner_alive'] else ', dead'}"
        for p in status["permits"]
    ]
    return out + [
        f"kept     {row['count']} {kind}, {_for(row['keep_seconds'], status['kept']['swept_at'])}"
        for kind, row in status["kept"].items()
        if isinstance(row, dict)
    ]


def _for(seconds: float | None, swept_at: float | None) -> str:
    if swept_at is None:
        return "until a runner says for how long"
    if seconds is None:
        return "for ever"
    size, unit = next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])
    return f"each for {seconds / size:g} {unit}"


def as_json(status: dict[str, Any]) -> str:
    """The same for a program."""
    return json.dumps(status, indent=2)
