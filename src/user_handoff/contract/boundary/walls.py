"""Signs of a sign-in wall. Nothing here gets past one: it is told, and handed over."""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from user_handoff.contract.boundary.phrases import whole
from user_handoff.contract.boundary.words.authentication import NAMES_AN_ACCOUNT, SIGNS_IN

_STRONG = (401, 407)
_WEAK = 403
_PATH = re.compile(
    r"(?:^|/)(?:log-?_?[io]n|sign-?_?in|sso|auth(?:enticate|orize)?|sessions?/new|saml2?|idp|anmelden|connexion"
    r"|se-connecter|iniciar-sesion|accedi|entrar|inloggen|aanmelden|logowanie|zaloguj|logga-in|log-ind|kirjaudu"
    r"|prihlaseni|giris)(?:\.[a-z]{2,5})?/?$",
    re.IGNORECASE,
)
_HOST = re.compile(r"^(?:log-?in|sign-?in|auth|sso|accounts?|idp|identity)\.", re.IGNORECASE)
_BUTTON = re.compile(whole(SIGNS_IN), re.IGNORECASE)
_FIELD = re.compile(whole(NAMES_AN_ACCOUNT), re.IGNORECASE)


def signals(url: str, status: int | None, controls: Iterable[tuple[str, str, frozenset[str]]]) -> tuple[str, ...]:
    """Why a page is a sign-in wall, in words that give away nothing of it; empty where it is none.

    One strong sign is enough (the answer's status is 401 or 407), or two weak ones of different kinds: the status 403,
    a URL like those of sign-in pages, a control that only signs in.

    Args:
        url: The page's URL.
        status: Its main document's status; None where it is not known.
        controls: Role, accessible name and tokens of each control that is shown.
    """
    if status in _STRONG:
        return (f"status {status}",)
    found = list(_around(url, status))
    if found:  # of the controls there is one sign at most, which is not enough alone
        found += _among(status, list(controls))
    return tuple(found) if len(found) > 1 else ()


def _around(url: str, status: int | None) -> Iterator[str]:
    if status == _WEAK:
        yield f"status {status}"
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if _PATH.search(parts.path) or _HOST.search(parts.hostname or ""):
        yield "the URL is that of a sign-in page"


def _among(status: int | None, controls: list[tuple[str, str, frozenset[str]]]) -> Iterator[str]:
    if any("autocomplete:username" in tokens or _asks_for_a_name(role, name) for role, name, tokens in controls):
        yield "a field for the name of an account"
        return
    # on every other page a link to the sign-in is nothing special
    roles = ("button", "link") if status == _WEAK else ("button",)
    if any(role in roles and _BUTTON.search(name) for role, name, _ in controls):
        yield "a control that signs in"


def _asks_for_a_name(role: str, name: str) -> bool:
    return role == "textbox" and _FIELD.search(name) is not None
