"""What differs between the beginning of a handoff and its end: names and addresses, and no value of anything."""

from user_handoff.contract.base import Model

MOST = 20
"""Names of one kind that are told."""


class Changes(Model):
    """What a person's turn has changed in the browser, redacted. It proves nothing."""

    pages_opened: tuple[str, ...] = ()
    """Addresses at which there is a page now and was none before, without query and fragment."""
    pages_left: tuple[str, ...] = ()
    """Addresses at which there was a page."""
    titles: tuple[str, ...] = ()
    """A digest of each title that is new, made with a salt that stays on the desktop: how many, and not which."""
    cookies_added: tuple[str, ...] = ()
    """``name domain`` of cookies that there were not before."""
    cookies_removed: tuple[str, ...] = ()
    storage_added: tuple[str, ...] = ()
    """``origin key`` of the new keys of local and session storage."""
    whole: bool = True
    """False where a page did not say what it stores, or more has changed than is told here."""
