"""Each language says everything that English says."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from user_handoff.gateway import texts
from user_handoff.gateway.languages import CATALOGUES, choose

PAGES = Path(texts.__file__).parent / "pages"


def shape(value: Any) -> Any:
    """What a translation has to have in common."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    return len(value) if isinstance(value, tuple) else type(value)


def said(module: ModuleType) -> dict[str, Any]:
    names = [name for name in vars(module) if name.isupper() and not name.startswith("_")]
    return {name: getattr(module, name) for name in names} | {
        name: callable(getattr(module, name)) for name in ("minutes_left", "said", "title_at")
    }


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_language_has_every_sentence(language: str) -> None:
    words = said(CATALOGUES[language])
    assert words.pop("LANGUAGE") == language
    english = {name: value for name, value in said(texts).items() if name != "LANGUAGE"}
    assert {name: shape(value) for name, value in words.items()} == {n: shape(v) for n, v in english.items()}


def test_the_view_says_nothing_that_is_not_in_the_catalogue() -> None:
    script = (PAGES / "view.js").read_text()
    said_by_name = re.findall(r"\bwords\.(\w+)|\bbutton\(\"(\w+)\"|\bshow\(\"(\w+)\"\)", script)
    names = {name for found in said_by_name for name in found if name}
    assert len(names) > 15
    assert names <= set(texts.VIEW_WORDS)


def test_pages_have_no_words_of_their_own() -> None:
    for page in PAGES.glob("*.html"):
        code = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", page.read_text(), flags=re.S)
        text = re.sub(r"[\w-]+=\"[^\"]*\"|<[^>]+>", " ", code)
        assert re.findall(r"[A-Za-z]{2,}", text.replace("UTC", "").replace("handoff", "")) == [], page.name


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de", "de"),
        ("fr, de;q=0.4, en;q=0.6", "en"),
        ("de-CH;q=0.9, en;q=0.8", "de"),
        ("de;q=0", "en"),
        ("DE", "de"),
        ("de;q=x, ;;", "en"),
        ("", "en"),
        ("x" * 10_000, "en"),
    ],
)
def test_the_first_language_that_is_here_is_chosen(accepted: str, language: str) -> None:
    assert choose(accepted) == language
