"""What a URL says of the place that it names."""

import pytest

from user_handoff.contract.urls import place_of


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://robin:secret@portal.example:8443/login?code=1#top", ("portal.example:8443", "/login")),
        ("http://[", ("", "")),
        ("https://a\u2100b.example", ("", "")),
        ("https://portal.example:port", ("", "")),
        ("", ("", "")),
        ("\x00", ("", "")),
    ],
)
def test_a_place_is_a_host_and_a_path_or_nothing(url: str, place: tuple[str, str]) -> None:
    """B7: an agent may call its place anything."""
    assert place_of(url) == place
