"""What may be said in a log: no query, no token, no link, whoever wrote the line."""

import logging
import re
import sys
from typing import Final, TextIO

from user_handoff.contract.urls import redact_url

WITHHELD: Final = "[withheld]"

_URL: Final = re.compile(r"\b(?:https?|wss?)://[^\s\"'<>`\\|{}]+", re.IGNORECASE)
_LAST: Final = re.compile(r"[.,;:!?)\]]+$")
_SECRETS: Final = (
    re.compile(r"\b(?:hk|hg|hw)_[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{20,}"),
    re.compile(r"\bwhsec_[A-Za-z0-9+/=_-]{8,}"),
    re.compile(r"(?<=/j/)[A-Za-z0-9_.-]{16,}|(?<=/agent/)[A-Za-z0-9_.-]{16,}"),
    re.compile(r"(?<=\bBearer )[^\s\"',;]{8,}", re.IGNORECASE),
    re.compile(r"(?<=cookie: )[^\r\n]+", re.IGNORECASE),
)


def redact_text(text: str) -> str:
    """A text in which URLs have neither query nor fragment nor password, and what looks like a token is withheld."""
    text = _URL.sub(_bare, text)
    for pattern in _SECRETS:
        text = pattern.sub(WITHHELD, text)
    return text


def _bare(match: re.Match[str]) -> str:
    # what ends a sentence is no part of the address that it ends with
    end = _LAST.search(match[0])
    url = match[0][: end.start()] if end else match[0]
    return redact_url(url) + (end[0] if end else "")


class RedactingFormatter(logging.Formatter):
    """Redacts the whole line, with the traceback that may follow it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line as it may be written."""
        return redact_text(super().format(record))


def log_to(stream: TextIO | None = None, *, names: bool = True) -> None:
    """Have this process log to a stream, and nothing of it unredacted.

    Args:
        stream: Where to; None: standard error.
        names: Say which part of the program it is that logs.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(RedactingFormatter(f"%(asctime)s %(levelname)s {'%(name)s: ' if names else ''}%(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
