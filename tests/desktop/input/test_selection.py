"""When a paste is over: by what a program has asked of the clipboard."""

import pytest

from user_handoff.desktop.input.selection import Requests

PRESSED = 100.0


@pytest.mark.parametrize(
    ("text", "last", "taken"),
    [
        pytest.param(100.02, 100.02, 100.13, id="quick"),
        pytest.param(100.02, 100.2, 100.31, id="quick, and looked at the kinds of it later"),
        pytest.param(100.2, 100.2, 100.81, id="slow: it may come again as late"),
    ],
)
def test_a_paste_is_over_once_the_program_was_quiet_for_as_long_as_it_takes(
    text: float, last: float, taken: float
) -> None:
    asked = Requests(text=text, any=last)
    assert not asked.is_taken(PRESSED, taken - 0.02)
    assert asked.is_taken(PRESSED, taken)


def test_what_was_asked_before_the_keys_were_pressed_is_not_the_paste() -> None:
    assert not Requests(text=99.9, any=100.1).is_taken(PRESSED, 200.0)
