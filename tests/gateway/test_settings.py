"""Settings of the gateway."""

import pytest
from pydantic import ValidationError

from tests.gateway.world import SECRET
from user_handoff.gateway.settings import GatewaySettings

STRANGE = ["https://[::1", "https://h.example:port", "https://stra\u00dfe.example", "https://a..b"]
"""Of these a browser makes something else, or nothing."""


def settings(**fields: object) -> GatewaySettings:
    return GatewaySettings.model_validate(fields)


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({}, "http://127.0.0.1:8700"),
        ({"host": "0.0.0.0", "port": 1}, "http://127.0.0.1:1"),
        ({"host": "::1", "port": 1}, "http://[::1]:1"),
        ({"base_url": "https://h.example/x/"}, "https://h.example/x"),
        ({"base_url": "https://H.Example:443/X"}, "https://h.example/X"),
        ({"base_url": "http://h.example:443"}, "http://h.example:443"),
        ({"base_url": "https://b\u00fcro.example:8443"}, "https://xn--bro-hoa.example:8443"),
    ],
)
def test_links_begin_with_the_address_unless_told_otherwise(fields: dict[str, object], url: str) -> None:
    assert settings(**fields).base_url == url


@pytest.mark.parametrize(
    "url", ["h.example", "ftp://h.example", "https://u:p@h.example", "https://h.example/?q=1", *STRANGE]
)
def test_a_base_url_that_makes_no_link_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        settings(base_url=url)


@pytest.mark.parametrize(
    "secret",
    ["whsec_c2hvcnQ=", SECRET[1:], SECRET + "*", "hunter2hunter2hunter2hunter2"],
    ids=["short", "no prefix", "not base64", "none"],
)
def test_a_weak_secret_is_refused_and_not_repeated(secret: str) -> None:
    """B7: an error names the field, never the value."""
    with pytest.raises(ValidationError) as caught:
        settings(webhook_secrets=(secret,))
    assert secret not in str(caught.value)


def test_a_secret_is_not_shown() -> None:
    assert SECRET not in repr(settings(webhook_secrets=(SECRET,)))


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"port": 0}, "http://127.0.0.1:5"),
        ({"host": "::1", "port": 0}, "http://[::1]:5"),
        ({"port": 0, "base_url": "https://h.example/x"}, "https://h.example/x"),
        ({"port": 5}, "http://127.0.0.1:5"),
    ],
)
def test_links_begin_with_the_port_that_was_free(fields: dict[str, object], url: str) -> None:
    found = settings(**fields).on(5)
    assert (found.base_url, found.port) == (url, 5)
