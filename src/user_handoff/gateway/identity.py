"""Who has signed in at this gateway, as a signed cookie of their browser says. The gateway itself keeps nothing."""

import time
from typing import Any, Final

from starlette.requests import HTTPConnection

SESSION_SECONDS: Final = 8 * 3_600
"""How long a sign-in lasts."""

_WHO: Final = "who"


class Identity:
    """Reads and writes the signed session.

    Args:
        asks: True: people's pages are behind OpenID Connect.
    """

    def __init__(self, asks: bool = False) -> None:
        self.asks = asks

    def email(self, request: HTTPConnection) -> str:
        """The address that the OpenID Connect provider vouches for; empty: nobody has signed in that way."""
        return str(_read(request).get("email", "")) if self.asks else ""

    def key_id(self, request: HTTPConnection) -> str:
        """The key that an operator has signed in with; empty: none. Whether it still holds is to be asked."""
        return str(_read(request).get("key_id", ""))

    def sign_in(self, request: HTTPConnection, *, email: str = "", key_id: str = "") -> None:
        """Remember who it is, in the browser's own cookie. What another left there is forgotten."""
        request.session.clear()
        request.session[_WHO] = {"email": email, "key_id": key_id, "until": time.time() + SESSION_SECONDS}

    def sign_out(self, request: HTTPConnection) -> None:
        """Forget who it was."""
        request.session.clear()


def _read(request: HTTPConnection) -> dict[str, Any]:
    if "session" not in request.scope:
        return {}
    who = request.session.get(_WHO)
    return who if isinstance(who, dict) and who.get("until", 0) > time.time() else {}
