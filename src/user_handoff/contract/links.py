"""The token of a person's link: 192 random bits and the handoff's own id. Only its SHA-256 is kept."""

import base64
import hashlib
import secrets
from typing import Final

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import Association

RANDOM_BYTES: Final = 24


def new_link(handoff_id: str, secret: bytes | None = None) -> tuple[str, str]:
    """Mint the token of a link.

    Args:
        handoff_id: The handoff whose page it opens.
        secret: `RANDOM_BYTES` that nobody can guess, where the same link is to be made again; None: new ones.

    Returns:
        The token, to be shown once and kept nowhere, and its SHA-256 in hex.

    Raises:
        ValueError: That is not the id of a handoff.
    """
    Association.parse(handoff_id)
    secret = secret or secrets.token_bytes(RANDOM_BYTES)
    token = base64.urlsafe_b64encode(secret + handoff_id.encode()).decode().rstrip("=")
    return token, token_hash(token)


def token_hash(token: str) -> str:
    """The SHA-256 of a token, in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def no_link_any_more(handoff_id: str, state: HandoffState) -> HandoffError:
    """The refusal of a link to a handoff that waits for nobody any more."""
    if state is HandoffState.EXPIRED:
        what, holds = "The time of this handoff is up.", "No link was made. Its browser stays paused."
        do_next = f"`handoff finish {handoff_id}` takes it back for its agent, `handoff close {handoff_id}` closes it."
    else:
        what, holds = f"This handoff has ended ({state}).", "No link was made."
        do_next = f"`handoff show {handoff_id}` tells how. The agent asks again if it still needs the step."
    return make_error(ErrorCode.NOT_HELD, what, holds=holds, do_next=do_next, handoff_id=handoff_id, state=str(state))


def link_url(base_url: str, token: str) -> str:
    """The address of the person's page: the secret itself, so it belongs in no log."""
    return f"{base_url.rstrip('/')}/j/{token}"
