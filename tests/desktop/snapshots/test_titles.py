"""What the title of a native window may say."""

import pytest

from user_handoff.contract.computer import WindowInfo
from user_handoff.contract.urls import without_address
from user_handoff.desktop.snapshots.titles import told


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("127.0.0.1:8000/form?session=abc#at=def - Chromium", "127.0.0.1:8000/form"),
        ("https://a.example/form?name=John Smith - done - Chromium", "https://a.example/form"),
        ("a.example/#token=abc - Chromium", "a.example/"),
        ("[::1]:8000/a b/c?d - Chromium", "[::1]:8000/a b/c"),
        ("view-source:a.example/b?c - Chromium", "view-source:a.example/b"),
        ("view-source:https://a.example/b?c - Chromium", "view-source:https://a.example/b"),
        ("Loading http://a.example:8000/form?session=abc", "Loading http://a.example:8000/form"),
        ("Loading data:text/html,secret", "Loading data:"),
        ("data:text/html,secret - Chromium", "data:"),
        ("blob:https://a.example/0f - Chromium", "blob:"),
    ],
)
def test_of_an_address_neither_query_nor_fragment_is_told(title: str, said: str) -> None:
    """B7: a browser titles its window so until the page has a title of its own."""
    assert without_address(title) == said


@pytest.mark.parametrize("title", ["What is C# for? - Questions", "a.example/form - Chromium", "Data: what is it?", ""])
def test_any_other_title_stays(title: str) -> None:
    assert without_address(title) == title


async def test_the_title_of_any_program_is_told_so() -> None:
    """B7: a person's own browser is no browser of ours."""
    window = WindowInfo(window_id=1, pid=2, title="a.example/b?c - Web", x=0, y=0, width=1, height=1, focused=False)
    assert [each.title for each in await told([window], [])] == ["a.example/b"]
