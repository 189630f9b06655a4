"""Text of others in what Temporal's web UI renders as markdown."""

import pytest

from user_handoff.contract.base import Model
from user_handoff.contract.markdown import code, literal, quoted


class Word(Model):
    word: int


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Sign in, please.", "Sign in, please."),
        ("[here](http://evil.example)", r"\[here\](http\://evil.example)"),
        ("<img src=x>", r"\<img src=x\>"),
        ("# To answer", r"\# To answer"),
        ("1. give the code", r"1\. give the code"),
        ("===", "&#61;=="),
        ("www.evil.example mailto:a@b.example", r"www\.evil.example mailto\:a@b.example"),
        ("one\n\n## two\x1b[31m", "one ## two\N{REPLACEMENT CHARACTER}\\[31m"),
    ],
)
def test_text_of_others_is_shown_as_it_is(text: str, shown: str) -> None:
    assert literal(text) == shown


def test_a_quote_stays_one_whatever_its_lines_begin_with() -> None:
    assert quoted("Sign in\n\n- then stop\n```") == ["> Sign in", "> ", r"> \- then stop", r"> \`\`\`"]


@pytest.mark.parametrize(
    ("text", "shown"), [("a", "`a`"), ("a`b``c", "```a`b``c```"), ("`a\nb", "`` `a b ``"), ("", "")]
)
def test_a_code_span_ends_where_its_text_does(text: str, shown: str) -> None:
    assert code(text) == shown


def test_what_was_typed_into_a_wrong_field_is_repeated_in_no_error() -> None:
    """B7."""
    with pytest.raises(ValueError) as refused:
        Word.model_validate({"word": "hunter2"})
    assert "hunter2" not in str(refused.value)
