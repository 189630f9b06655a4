"""The person's link: made for whoever shows it once, and opened by whoever comes with it."""

import base64
import binascii
from typing import Final

from user_handoff.client import HandoffClient
from user_handoff.contract.entering import OpenedLink
from user_handoff.contract.errors import ErrorCode, Gone, HandoffError, make_error
from user_handoff.contract.handoff import LINK_SECONDS
from user_handoff.contract.ids import Association
from user_handoff.contract.links import RANDOM_BYTES, link_url, new_link, token_hash

_LONGEST: Final = 400


async def issue_link(
    client: HandoffClient,
    base_url: str,
    handoff_id: str,
    expires_in_seconds: float = LINK_SECONDS,
    secret: bytes | None = None,
) -> str:
    """Make a link to the person's page of a handoff. Show it to that person only: it is the only copy.

    Args:
        client: Records the hash of the link in the handoff.
        base_url: Where the gateway is reached.
        handoff_id: Which handoff.
        expires_in_seconds: For how long it can be entered, once. Whoever has entered stays.
        secret: For `new_link`.

    Raises:
        Gone: ``unknown_handoff``.
        Refused: ``not_held``: it has ended, or its time is up.
    """
    try:
        token, digest = new_link(handoff_id, secret)
    except ValueError as error:
        raise make_error(
            ErrorCode.UNKNOWN_HANDOFF,
            "That is not the id of a handoff.",
            holds="No link was made.",
            do_next="Give an id like handoff/b/s/m: `handoff list` names those that wait.",
        ) from error
    await client.add_link(handoff_id, digest, expires_in_seconds)
    return link_url(base_url, token)


async def look_up(client: HandoffClient, token: str) -> OpenedLink:
    """The handoff that a link opens, and where the link stands. Looking spends nothing: see `Seats`.

    Raises:
        Refused: ``link_unknown``: one answer for every link that opens nothing, whatever is wrong with it.
        SetupError: ``temporal_unreachable``.
    """
    handoff_id = _read(token)
    if handoff_id is None:
        raise _link_unknown()
    try:
        opened = await client.opened_link(handoff_id, token_hash(token))
    except Gone:
        raise _link_unknown() from None
    if opened is None:
        raise _link_unknown()
    return opened


def _read(token: str) -> str | None:
    """The handoff's id in a token; None where it is not one of ours."""
    if len(token) > _LONGEST:
        return None
    try:
        handoff_id = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))[RANDOM_BYTES:].decode("ascii")
        Association.parse(handoff_id)
    except (ValueError, binascii.Error):
        return None
    return handoff_id


def _link_unknown() -> HandoffError:
    return make_error(
        ErrorCode.LINK_UNKNOWN,
        "This link opens nothing.",
        holds="Nothing was changed.",
        do_next="Ask whoever sent it for a new one.",
    )


__all__ = ["issue_link", "link_url", "look_up", "new_link", "token_hash"]
