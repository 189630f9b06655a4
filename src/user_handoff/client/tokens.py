"""Keys and tokens: what they name, a dot, and 256 random bits. Only their hashes are kept."""

import contextlib
import hashlib
import re
import secrets
from collections.abc import Iterator
from typing import Final, Literal

from pydantic import ValidationError

from user_handoff.contract.errors import ErrorCode, make_error

Kind = Literal["hk", "hg"]
"""A principal's key, or the token of a grant."""

_SECRET_BYTES: Final = 32
_TOKEN: Final = re.compile(r"(hk|hg)_([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})")


def new_token(kind: Kind, name: str) -> str:
    """Mint one: show it once, and keep it nowhere."""
    return f"{kind}_{name}.{secrets.token_urlsafe(_SECRET_BYTES)}"


def named_by(kind: Kind, token: str) -> str | None:
    """What a token names: the id of a key, or of a session; None where it is no such token."""
    match = _TOKEN.fullmatch(token)
    return match[2] if match is not None and match[1] == kind else None


def token_hash(token: str) -> str:
    """The SHA-256, in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


@contextlib.contextmanager
def made_of_sense() -> Iterator[None]:
    """Refuse what does not fit a model, and name its fields alone.

    Raises:
        Refused: ``invalid_request``.
    """
    try:
        yield
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(map(str, each["loc"])) for each in error.errors()}))
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"That is not possible for {fields}.",
            holds="Nothing was made.",
            do_next="Give what the reference allows.",
        ) from None
