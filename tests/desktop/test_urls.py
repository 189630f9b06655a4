import pytest

from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.desktop.urls import check_openable, matches, redact_link, redact_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pw@a.example:8443/x/y?token=1#code=2", "https://a.example:8443/x/y"),
        ("http://[::1]:80/a?b", "http://[::1]:80/a"),
        ("about:blank?x", "about:blank"),
        ("data:text/html,secret", "data:"),
        ("javascript:alert('secret')", "javascript:"),
        ("blob:https://a.example/uuid", "blob:"),
        ("http://a.example:99999/x", "invalid:"),
        ("", ""),
        ("https:\\\\u:p@a.example\\x?t=1", "https://a.example/x"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    """B7, K42."""
    assert redact_url(url) == shown


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("/x?tok=1#f", "/x"),
        ("page", "page"),
        ("https://a.example/x?t=1", "https://a.example/x"),
        ("mailto:a@b", "mailto:"),
        ("//user:pw@a.example/x?t=1", "//a.example/x"),
    ],
)
def test_a_link_is_shown_without_what_may_be_secret(link: str, shown: str) -> None:
    assert redact_link(link) == shown


@pytest.mark.parametrize(
    ("glob", "url", "met"),
    [
        ("**/invoices", "https://a.example/invoices?page=2", True),
        ("**/invoices", "https://a.example/en/invoices#x", True),
        ("**/invoices", "https://a.example/invoices/7", False),
        ("https://a.example/*/edit", "https://a.example/7/edit", True),
        ("https://a.example/*/edit", "https://a.example/7/8/edit", False),
        ("https://a.example/**", "https://a.example/", True),
        ("https://a.example/**", "https://b.example/?https://a.example/", False),
        ("https://a.example/v?", "https://a.example/v1", True),
        ("https://a.example/a+b", "https://aXexample/a+b", False),
    ],
)
def test_a_glob_matches_the_whole_redacted_url(glob: str, url: str, met: bool) -> None:
    assert matches(glob, url) is met


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://settings", "javascript:1", "data:text/html,x", "x"])
def test_what_is_not_the_web_cannot_be_opened(url: str) -> None:
    with pytest.raises(Refused) as refused:
        check_openable(url)
    assert refused.value.code is ErrorCode.URL_REFUSED


@pytest.mark.parametrize("url", ["https://a.example", "http://127.0.0.1:1/x", "about:blank"])
def test_the_web_can_be_opened(url: str) -> None:
    check_openable(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://bank.example\\transfer\\1",
        "https:bank.example/transfer/1",
        "https://bank.example:443/transfer/1",
        "https://bank.example/x/../transfer/1",
        "https://bank.example/x/%2E%2e/transfer/1",
        "https://BANK.example./tr%61nsfer/1",
        "https://user@bank.example/transfer/1",
        " https://bank.example/tran\tsfer/1",
        "https://\uff42ank\u3002example/transfer/1",
    ],
)
def test_an_address_matches_however_it_is_written(url: str) -> None:
    """B1: as a browser reads it."""
    assert matches("https://bank.example/transfer/*", url)


@pytest.mark.parametrize(
    ("glob", "url"),
    [
        ("https://m\u00fcll.example/\u00fcber/*", "https://xn--mll-hoa.example/%C3%BCber/1"),
        ("https://a.example/", "https://a.example"),
        ("http://[::1]:8/a", "http://[::1]:8/a"),
    ],
)
def test_a_glob_is_written_as_people_write(glob: str, url: str) -> None:
    assert matches(glob, url)


@pytest.mark.parametrize(
    "url", ["https://evil.example/https://bank.example/transfer/1", "https://bank.example@evil.example/transfer/1"]
)
def test_a_look_alike_of_an_address_does_not_match(url: str) -> None:
    """B4: neither another host that names it."""
    assert not matches("https://bank.example/transfer/*", url)
