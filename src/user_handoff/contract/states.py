"""Saved states: what of a login is kept on a desktop for a later browser. What is in one never leaves that desktop."""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, PositiveFloat, StringConstraints

from user_handoff.contract.base import Id, Model
from user_handoff.contract.browser import BrowserRequest
from user_handoff.contract.conditions import Condition

VERSION: Final = 1
"""Of the file; one of another version is refused."""

Site = Annotated[str, StringConstraints(pattern=r"^[a-z0-9:]([a-z0-9.:-]{0,251}[a-z0-9])?$")]
"""A host such as ``portal.example``, in lower case, without scheme and port; its subdomains are meant too."""

NameGlob = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class PruneRule(Model):
    """Leave out cookies and items of localStorage that belong to an unfinished sign-in."""

    rule_id: Id
    name: NameGlob
    """Compared with the whole name, ignoring case; ``*`` and ``?`` stand for any characters."""


def _rules(rule_id: str, globs: str) -> tuple[PruneRule, ...]:
    return tuple(PruneRule(rule_id=rule_id, name=glob) for glob in globs.split())


PRE_AUTHENTICATION: Final = (
    *_rules("pending", "pending *[-_.]pending pending[-_.]*"),
    *_rules("pre-auth", "*pre[-_.]auth* *preauth*"),
    *_rules("factor", "*mfa[-_.]pending* *mfa[-_.]challenge* *2fa[-_.]pending* *otp[-_.]pending* *otp[-_.]challenge*"),
    *_rules("flow", "*login[-_.]state* *login[-_.]flow* *login[-_.]challenge* *auth[-_.]flow* *auth[-_.]transaction*"),
    *_rules("oauth", "*oauth[-_.]state* *oauth2[-_.]state* *oidc[-_.]state* *code[-_.]verifier* *pkce*"),
    *_rules("nonce", "nonce *[-_.]nonce nonce[-_.]*"),
)
"""The default rules: markers of a sign-in that has begun and not ended, which would take a browser to its middle."""

SSO_DOMAINS: Final = (
    "accounts.google.com",
    "login.microsoftonline.com",
    "login.live.com",
    "appleid.apple.com",
    "okta.com",
    "auth0.com",
    "onelogin.com",
    "pingone.com",
    "duosecurity.com",
)
"""Kept beside the sites by default: where sites send people to sign in once for many."""

NEVER_KEPT: Final = (
    "passkeys and security keys",
    "client certificates",
    "keys in IndexedDB that no script may read",
    "HTTP authentication",
    "service workers and their caches",
)
"""What no saved state can hold: a login that rests on one of these does not come back."""


class SaveState(BrowserRequest):
    """Keep what a browser's sites know of its login, under a name of the owner's. The same name again replaces it."""

    effect_id: Id
    """Minted by the caller: the same id again returns the same receipt."""
    state_id: Id
    """The name: each owner has names of their own."""
    sites: tuple[Site, ...] = Field(min_length=1, max_length=20)
    sso: tuple[Site, ...] = Field(default=SSO_DOMAINS, max_length=50)
    """Where those sites let people sign in: cookies and storage of these are kept, too."""
    prune: tuple[PruneRule, ...] = Field(default=PRE_AUTHENTICATION, max_length=100)
    probe: Condition
    """What shows that the login stands: looked for now, and again before a browser with this state is given out."""
    probe_seconds: PositiveFloat = Field(default=10, le=60)


class NotKept(Model):
    """Something that the browser has, and the state has not."""

    what: Literal["session_storage", "pre_authentication", "other_sites", "nothing_found"]
    where: str
    """A site, an origin or a rule: never a name or value of what it is about."""
    count: int = Field(default=0, ge=0)


class SavedState(Model):
    """What a saved state holds, in numbers. Its contents stay on the desktop."""

    state_id: Id
    saved_at: datetime
    sites: tuple[Site, ...]
    sso: tuple[Site, ...] = ()
    """Those of which something was kept."""
    cookies: int = Field(ge=0)
    session_cookies: int = Field(ge=0)
    """How many of them the site meant to end with the browser; they come back all the same."""
    local_storage: int = Field(ge=0)
    """Items."""
    indexed_db: int = Field(ge=0)
    """Databases."""
    encrypted: bool
    probe: Condition
    probe_seconds: PositiveFloat
    probe_met: bool
    """Whether the condition held when it was saved. Where it did not, no browser is likely to open with this state."""
    not_kept: tuple[NotKept, ...] = ()
    never_kept: tuple[str, ...] = NEVER_KEPT
