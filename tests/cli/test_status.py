"""`handoff status`: what stands on this machine's desktop, read from its files."""

import json
from pathlib import Path

from typer.testing import CliRunner

from user_handoff.cli.main import app
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.retention import Retention, Sweeper


def status(state: Path, *more: str) -> str:
    done = CliRunner().invoke(app, ["status", "--state", str(state), *more])
    assert done.exit_code == 0, done.output
    return done.output


def ledger(state: Path) -> Ledger:
    (state / "desktop").mkdir(parents=True, mode=0o700)
    return Ledger(state / "desktop" / "d_1.ledger.db")


def test_a_desktop_that_never_started_holds_nothing(tmp_path: Path) -> None:
    found = json.loads(status(tmp_path, "--json"))
    assert (found["gate"], found["holders"], found["browsers"]) == ("open", [], [])


def test_it_names_the_hold_and_the_effects_in_flight(tmp_path: Path) -> None:
    """A10, E9."""
    desk, me = ledger(tmp_path), ProcessIdentity.current()
    desk.acquire("page", "b_2", "e_1", me)
    desk.publish("handoff/b_1/s/m", "b_1", "handoff", me, "handoff/b_1/s/m")
    desk.close()
    found = json.loads(status(tmp_path, "--json"))
    assert found["gate"] == "held"
    assert [row["handoff_id"] for row in found["holders"]] == ["handoff/b_1/s/m"]
    assert [(row["effect_id"], row["owner_alive"]) for row in found["permits"]] == [("e_1", True)]
    assert "holder   handoff/b_1/s/m on b_1" in status(tmp_path)


def test_a_ledger_that_cannot_be_trusted_is_a_closed_gate(tmp_path: Path) -> None:
    """E2."""
    desk = ledger(tmp_path)
    desk.epoch()
    desk.close()
    desk.path.write_bytes(b"not a database" * 100)
    assert json.loads(status(tmp_path, "--json"))["gate"] == "closed"


def test_it_tells_what_is_kept_and_for_how_long(tmp_path: Path) -> None:
    """B10."""
    folder = tmp_path / "desktop"
    (folder / "pictures").mkdir(parents=True, mode=0o700)
    (folder / "pictures" / "p_1.png").write_bytes(b"x")
    assert "kept     1 pictures, until a runner says for how long" in status(tmp_path)
    Sweeper(folder, Retention(states=None, pictures=5_400), lambda: ()).sweep(())
    told = status(tmp_path)
    assert "kept     1 pictures, each for 1.5 h" in told
    assert "kept     0 browsers, each for 7 d" in told
    assert "kept     0 states, for ever" in told
    assert json.loads(status(tmp_path, "--json"))["kept"]["pictures"] == {"count": 1, "keep_seconds": 5_400}
