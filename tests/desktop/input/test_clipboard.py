"""The clipboard as one program among others: owned, read, and watched."""

from collections.abc import Callable, Iterator

import pytest

from user_handoff.contract.computer import MAX_TEXT
from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.input.clipboard import Clipboard

Made = Callable[..., Clipboard]


@pytest.fixture
def make(desktop: Desktop) -> Iterator[Made]:
    """Clipboards of this display, each a program of its own to the others; `guarded` is what it takes for a hold."""
    made: list[Clipboard] = []

    def one(guarded: Callable[[], bool] = lambda: False) -> Clipboard:
        made.append(Clipboard(desktop.display, guarded))
        return made[-1]

    yield one
    for clipboard in made:
        clipboard.close()


@pytest.mark.parametrize("text", ["äß漢😀", "x" * MAX_TEXT, "😀" * MAX_TEXT, "\0 and \n"])
async def test_another_program_reads_exactly_what_was_set(make: Made, text: str) -> None:
    mine, other = make(), make()
    mine.set(text)
    assert other.read()[0] == text


async def test_the_last_one_to_set_it_is_read(make: Made) -> None:
    mine, other = make(), make()
    mine.set("first")
    other.set("second")
    assert mine.read()[0] == "second"
    mine.set("third")
    assert other.read()[0] == "third"


async def test_it_is_empty_once_cleared_whoever_had_filled_it(make: Made) -> None:
    mine, other = make(), make()
    other.set("something")
    mine.clear()
    assert (mine.read(), other.read()) == (("", False), ("", False))


async def test_what_another_program_puts_there_in_a_hold_is_private_until_it_is_replaced(make: Made) -> None:
    held = [False]
    mine, other = make(lambda: held[0]), make()
    other.set("before")
    assert mine.read() == ("before", False)
    held[0] = True
    other.set("a person's")
    assert mine.read() == ("a person's", True)
    held[0] = False
    assert mine.read() == ("a person's", True)
    mine.set("a person's", private=True)
    assert mine.read() == ("a person's", True)
    mine.set("ours")
    assert mine.read() == ("ours", False)


async def test_what_was_there_before_it_watched_is_private(make: Made) -> None:
    make().set("of before")
    assert make().read() == ("of before", True)


async def test_more_than_can_be_told_is_refused(make: Made) -> None:
    mine, other = make(), make()
    other.set("x" * (MAX_TEXT + 1))
    with pytest.raises(Refused) as error:
        mine.read()
    assert error.value.code is ErrorCode.ACTION_FAILED
