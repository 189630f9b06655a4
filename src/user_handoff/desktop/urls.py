"""URLs as they may be shown, matched and opened: never with query, fragment or credentials."""

from urllib.parse import urlsplit

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.urls import OPENABLE, matches, redact_link, redact_url

__all__ = ["check_openable", "matches", "redact_link", "redact_url"]


def check_openable(url: str) -> None:
    """Refuse what an agent must not open: files, browser pages and inline content.

    Raises:
        Refused: `url_refused`.
    """
    if url == "about:blank" or urlsplit(url).scheme in OPENABLE:
        return
    raise make_error(
        ErrorCode.URL_REFUSED,
        f"A URL of the scheme {urlsplit(url).scheme or 'none'!r} cannot be opened.",
        holds="The page is where it was.",
        do_next="Use an http or https URL, or about:blank.",
    )
