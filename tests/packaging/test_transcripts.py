"""The page of transcripts: each door does the whole job, and nothing secret is on it."""

import re

import pytest

from tests.transcripts.names import Names, leaks
from tests.transcripts.page import DOORS, PAGE, VERIFIED, Door

NOT_RUN = "Not run here: "


def section(door: Door) -> str:
    """What the page says of a door."""
    text = PAGE.read_text().split(f"\n## {door.title}\n")
    assert len(text) == 2, f"`python -m tests.transcripts` writes the section of {door.name}"
    return text[1].split("\n## ")[0].strip()


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_each_door_refuses_an_effect_while_held_and_ends_verified(door: Door) -> None:
    last = section(door).splitlines()[-1]
    if last.startswith(NOT_RUN):
        return
    rows = [line for line in section(door).splitlines() if line.startswith("| ") and " ms |" in line]
    held, verified = (next(i for i, row in enumerate(rows) if word in row) for word in ("`browser_held`", VERIFIED))
    assert held < verified, "it is refused before the end"
    assert re.fullmatch(rf"It ended {VERIFIED}, the whole job after \d+\.\d s\.", last)


def test_the_page_has_no_token_address_or_query() -> None:
    """B7."""
    assert leaks(PAGE.read_text()) == []
    assert len(PAGE.read_text().splitlines()) < 300


@pytest.mark.parametrize(
    "secret",
    ["hk_ab12", "hg_ab12", "Bearer abc", "http://127.0.0.1:80/", "https://a.example/?code=1", "/j/abc", "robin-9"],
)
def test_what_must_not_be_on_a_page_is_found(secret: str) -> None:
    assert leaks(f"| 1 ms | agent | `{secret}` |", planted=["robin-9"])


def test_ids_links_and_addresses_become_names() -> None:
    names = Names({"http://127.0.0.1:1234": "http://portal"})
    text = "handoff/b_0123456789abcdef/s_0123456789abcdef/m_1 http://127.0.0.1:1234/j/s3cret process 42 0x1400003"
    assert names.plain(text) == "handoff/b_1/s_1/m_1 http://portal/j/… process pid_1 w_1"
    assert names.plain("b_0123456789abcdef b_fedcba9876543210") == "b_1 b_2"
