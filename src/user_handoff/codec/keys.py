"""The keys of the encryption codec, and how the environment names them."""

import base64
import binascii
import re
import secrets
from dataclasses import dataclass, field
from typing import Final

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import ID_PATTERN

KEYS_VARIABLE: Final = "HANDOFF_CODEC_KEYS"
"""Names the variable that holds the keys: ``id:base64key,id2:base64key``. The first encrypts, all decrypt."""

KEY_BYTES: Final = 32
"""AES-256."""

MAX_KEYS: Final = 32
"""More than a rotation ever needs; each is tried by its id alone."""


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Keys by their ids. It shows its ids alone, wherever it is printed.

    Attributes:
        ids: The first is the one that encrypts.
    """

    ids: tuple[str, ...]
    _keys: tuple[bytes, ...] = field(repr=False)

    @classmethod
    def parse(cls, text: str, variable: str = KEYS_VARIABLE) -> "KeyRing":
        """Read keys as an environment variable holds them.

        Args:
            text: ``id:base64key`` once or more, separated by commas; an id is 1 to 64 letters, digits, ``-`` and ``_``.
            variable: The name of the variable, for who has to correct it.

        Raises:
            SetupError: ``codec_keys_invalid``; it says which entry is wrong and never quotes one.
        """
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        if not 0 < len(entries) <= MAX_KEYS:
            raise _invalid(variable, f"it holds {len(entries)} keys, not 1 to {MAX_KEYS}")
        parsed = [_entry(variable, place, entry) for place, entry in enumerate(entries, 1)]
        ids = tuple(key_id for key_id, _ in parsed)
        if len(set(ids)) < len(ids):
            raise _invalid(variable, "two of its keys have the same id")
        return cls(ids, tuple(key for _, key in parsed))

    @classmethod
    def generate(cls, key_id: str) -> "KeyRing":
        """One new random key; `text` is what to keep."""
        return cls.parse(f"{key_id}:{base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()}")

    @property
    def text(self) -> str:
        """What `KEYS_VARIABLE` must hold for these keys: a secret."""
        return ",".join(f"{i}:{base64.b64encode(key).decode()}" for i, key in zip(self.ids, self._keys, strict=True))

    def get(self, key_id: str) -> bytes | None:
        """The key of an id, or None."""
        return dict(zip(self.ids, self._keys, strict=True)).get(key_id)


def _entry(variable: str, place: int, entry: str) -> tuple[str, bytes]:
    key_id, _, encoded = entry.partition(":")
    if not re.fullmatch(ID_PATTERN, key_id):
        raise _invalid(variable, f"entry {place} does not begin with an id and a colon")
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise _invalid(variable, f"entry {place} does not end with the base64 of {KEY_BYTES} bytes")
    return key_id, key


def _invalid(variable: str, why: str) -> HandoffError:
    return make_error(
        ErrorCode.CODEC_KEYS_INVALID,
        f"{variable} cannot be used: {why}.",
        holds="Nothing was started, and nothing was sent in plain text.",
        do_next="Set it to id:key with a key made by `openssl rand -base64 32`; several are separated by commas.",
    )
