"""The addresses that `handoff cdp-url` prints, and the times that it reads. `tests/e2e/test_cdp.py` has the rest."""

from datetime import UTC, datetime

import pytest
import typer

from user_handoff.cli.cdp import addresses_of, seconds_of
from user_handoff.contract.doors import DoorOpened

OPENED = DoorOpened(
    door_id="d_1", browser_id="b_1", socket="/run/x/b_1.door", uploads="/x", expires_at=datetime(2026, 1, 2, tzinfo=UTC)
)


def test_a_door_has_an_address_for_each_kind_of_client() -> None:
    """F9."""
    assert addresses_of(OPENED, "T") == {"unix": "ws+unix:///run/x/b_1.door:/agent/T"}
    assert addresses_of(OPENED.model_copy(update={"port": 5}), "T") == {
        "unix": "ws+unix:///run/x/b_1.door:/agent/T",
        "http": "http://127.0.0.1:5/T",
        "websocket": "ws://127.0.0.1:5/T/devtools/browser/b_1",
    }


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("15m", 900), ("1.5h", 5400)])
def test_times_are_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1s", "1d", "1m 2s"])
def test_what_is_no_time_is_wrong_usage(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        seconds_of(text)
