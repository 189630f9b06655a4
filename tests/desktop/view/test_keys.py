"""What is typed and what is pasted."""

import pytest

from user_handoff.desktop.view.keys import Pasted, Strokes, character, is_key, parts_of


def told(text: str) -> list[str]:
    found = []
    for part in parts_of(text):
        typed = isinstance(part, Strokes)
        found.append("".join(map(chr, part.keysyms)) if isinstance(part, Strokes) else f"[{part.text}]")
        assert typed or isinstance(part, Pasted)
    return found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("P_a+s@s#{|}", ["P_a+s@s#{|}"]),
        ("äß漢", ["[äß漢]"]),
        ("a.b-c é d", ["a.b-c ", "[é]", " d"]),
        ("äb ö", ["[äb ö]"]),
        ("a\r\nü\tb", ["a", chr(0xFF0D), "[ü]", chr(0xFF09), "b"]),
        ("a\x1b\x7f\x85\ud800b", ["ab"]),
        ("👩🏽‍🚀", ["[👩🏽‍🚀]"]),
        ("", []),
    ],
)
def test_a_text_is_typed_where_the_keyboard_has_it_and_pasted_elsewhere(text: str, parts: list[str]) -> None:
    """K50."""
    assert told(text) == parts


@pytest.mark.parametrize(
    ("keysym", "text"), [(0xE4, "ä"), (0x01006F22, "漢"), (0x0101F600, "😀"), (0x0100D800, None), (0xFE03, None)]
)
def test_a_keysym_that_the_keyboard_lacks_is_its_character(keysym: int, text: str | None) -> None:
    assert character(keysym) == text and not is_key(keysym)


def test_keys_that_would_stay_are_none() -> None:
    """Locks and layout switches would be there for whoever comes next."""
    assert not any(map(is_key, (0xFFE5, 0xFF7F, 0xFFE6, 0xFE03, 0xFF7E, 0xFF14)))
