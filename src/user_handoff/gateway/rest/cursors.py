"""Cursors: where a page of a list ended, opaque to whoever has one, and good for the same question alone."""

import base64
import binascii
import hashlib
import hmac
import json
from typing import Any, Final, Literal

from user_handoff.contract.claims import digest_of
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error

Kind = Literal["sessions", "messages", "handoffs"]

_MARK: Final = 32


class Cursors:
    """The cursors of one caller. Nobody else can make them up, and nothing is kept: the bearer marks them."""

    def __init__(self, bearer: str) -> None:
        """Make it.

        Args:
            bearer: What lets the caller in. With another one, lists are begun again.
        """
        self._bearer = bearer.encode()

    def to(self, kind: Kind, question: Any, place: str) -> str:
        """A cursor.

        Args:
            kind: Of which list.
            question: What was asked for (JSON data): another question makes nothing of it.
            place: Where the page ended.
        """
        text = json.dumps([self._mark(kind, question, place), place], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def place(self, kind: Kind, question: Any, cursor: str) -> str:
        """The place where the page before ended.

        Raises:
            Refused: ``invalid_request``: it is no cursor of this question, or was made for another bearer.
        """
        try:
            found = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
        except (ValueError, binascii.Error, RecursionError):
            found = None
        match found:
            case [str(mark), str(place)] if _same(mark, self._mark(kind, question, place)):
                return place
        raise no_cursor("This is no cursor of this list.")

    def _mark(self, kind: Kind, question: Any, place: str) -> str:
        words = digest_of([kind, question, place])
        return hmac.new(self._bearer, words.encode(), hashlib.sha256).hexdigest()[:_MARK]


def _same(said: str, mark: str) -> bool:
    return hmac.compare_digest(said.encode(), mark.encode())


def no_cursor(what: str) -> HandoffError:
    """The list has to be begun again."""
    return make_error(
        ErrorCode.INVALID_REQUEST,
        what,
        holds="Nothing was changed.",
        do_next="Ask without a cursor, then with `next_cursor` and the same other parameters.",
    )
