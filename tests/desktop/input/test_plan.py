"""What of a text is typed, and what is pasted."""

import pytest

from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.desktop.input.keymap import Stroke
from user_handoff.desktop.input.plan import Keys, Paste, plan

KEYS = {character: Stroke(number, shift=False) for number, character in enumerate("abcdefgh .\n\t")}


def told(text: str, chunk: int = 10) -> list[int | str]:
    """The plan: how many characters are typed, or the text that is pasted."""
    return [part.count if isinstance(part, Keys) else part.text for part in plan(text, KEYS.get, chunk)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("abc", [3]),
        ("a" * 25, [10, 10, 5]),
        ("漢", ["漢"]),
        ("ab漢c字d", [2, "漢c字", 1]),
        ("a漢\n字b", [1, "漢", 1, "字", 1]),
        ("漢\t\n字", ["漢", 2, "字"]),
        ("abc\nde", [6]),
    ],
)
def test_what_is_on_no_key_is_pasted_and_the_rest_is_typed(text: str, parts: list[int | str]) -> None:
    """K50: line breaks and tabs are always keys."""
    assert told(text) == parts


def test_every_character_is_in_the_plan_once() -> None:
    text = "ab漢c字\nd😀e\t.fg é"
    assert sum(part.count for part in plan(text, KEYS.get, 2)) == len(text)


def test_a_line_break_without_a_key_is_pasted() -> None:
    assert [part for part in plan("a\n", {"a": KEYS["a"]}.get, 5) if isinstance(part, Paste)] == [Paste("\n")]


@pytest.mark.parametrize("text", ["\x00", "a\x1bb", "\x7f", "\ud800", "\x85"])
def test_what_is_no_text_is_refused(text: str) -> None:
    with pytest.raises(Refused) as error:
        plan(text, KEYS.get, 5)
    assert error.value.code is ErrorCode.INVALID_REQUEST
