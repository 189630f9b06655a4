"""AES-256-GCM as it is used here: a fresh nonce in front, and what is bound to it authenticated."""

import secrets
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16

OVERHEAD_BYTES: Final = _NONCE_BYTES + _TAG_BYTES
"""By how much a sealed text is longer than the plain one."""


class Unsealable(Exception):
    """It does not open with this key: it was changed, or was sealed under another one."""


def seal(key: bytes, plain: bytes, bound: bytes) -> bytes:
    """Encrypt.

    Args:
        key: 32 bytes.
        plain: What is kept.
        bound: What is authenticated with it, and must be the same to open it.
    """
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, bound)


def unseal(key: bytes, sealed: bytes, bound: bytes) -> bytes:
    """Decrypt what `seal` made.

    Raises:
        Unsealable: It was changed, or the key or what is bound is another.
    """
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):
        raise Unsealable from None
