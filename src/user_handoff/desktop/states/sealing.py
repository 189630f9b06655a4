"""Encrypting saved states under a key of the environment, or of the system's keyring."""

import importlib
import os
from collections.abc import Mapping
from typing import Any, Final

from user_handoff.codec.keys import KeyRing
from user_handoff.codec.sealing import seal, unseal
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error

KEYS_VARIABLE: Final = "HANDOFF_STATE_KEYS"
"""``id:base64key,id2:base64key``: the first encrypts, all decrypt. Or ``keyring:``, or ``keyring:SERVICE``."""

SERVICE: Final = "user-handoff"
"""Under which the system's keyring is asked, with `KEYS_VARIABLE` in the place of a user."""

_KEYRING: Final = "keyring:"


class Sealer:
    """Encrypts and decrypts with AES-256-GCM."""

    def __init__(self, keys: KeyRing | None) -> None:
        """Use these keys.

        Args:
            keys: The first encrypts; None: what is saved is not encrypted.
        """
        self._keys = keys

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> "Sealer":
        """By `KEYS_VARIABLE`; where it is not set nothing is encrypted.

        Raises:
            SetupError: ``codec_keys_invalid``: what is there cannot be used.
        """
        text = environ.get(KEYS_VARIABLE, "").strip()
        if text.startswith(_KEYRING):
            text = _from_keyring(text.removeprefix(_KEYRING) or SERVICE)
        return cls(KeyRing.parse(text, KEYS_VARIABLE) if text else None)

    @property
    def key_id(self) -> str | None:
        """The id of the key that encrypts; None: nothing is encrypted."""
        return self._keys.ids[0] if self._keys else None

    def seal(self, plain: bytes, bound: bytes) -> bytes:
        """Encrypt under the key of `key_id`.

        Args:
            plain: What is kept.
            bound: What is authenticated with it.
        """
        return seal(self._key(str(self.key_id)), plain, bound)

    def unseal(self, key_id: str, sealed: bytes, bound: bytes) -> bytes:
        """Decrypt.

        Raises:
            Refused: ``codec_key_unknown``.
            Unsealable: It was changed, or the key is another one.
        """
        return unseal(self._key(key_id), sealed, bound)

    def _key(self, key_id: str) -> bytes:
        key = self._keys.get(key_id) if self._keys else None
        if key is None:
            raise make_error(
                ErrorCode.CODEC_KEY_UNKNOWN,
                "The saved state is encrypted under a key that this runner does not have.",
                holds="It was not read; nothing was opened.",
                do_next=f"Add that key to {KEYS_VARIABLE}, behind the one that encrypts.",
                key_id=key_id[:64],
            )
        return key


def _from_keyring(service: str) -> str:
    try:
        keyring: Any = importlib.import_module("keyring")
    except ImportError:
        raise _no_keyring("the package `keyring` is not installed") from None
    try:
        found = keyring.get_password(service, KEYS_VARIABLE)
    except Exception as error:  # each back end has errors of its own, whose texts are not for passing on
        raise _no_keyring(f"the system's keyring does not answer ({type(error).__name__})") from None
    if not found:
        raise _no_keyring("the system's keyring has none")
    return str(found)


def _no_keyring(why: str) -> HandoffError:
    return make_error(
        ErrorCode.CODEC_KEYS_INVALID,
        f"{KEYS_VARIABLE} asks the keyring for the keys of saved states, and {why}.",
        holds="Nothing was started, and nothing was saved in plain text.",
        do_next=f"Put them there (keyring set {SERVICE} {KEYS_VARIABLE}), or set the variable to id:base64key.",
    )
