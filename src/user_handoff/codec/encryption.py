"""AES-256-GCM over Temporal payloads."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from user_handoff.codec.keys import KEYS_VARIABLE, KeyRing
from user_handoff.codec.sealing import OVERHEAD_BYTES, Unsealable, seal, unseal
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error

ENCODING: Final = b"binary/encrypted"
"""What Temporal's own samples and tools call an encrypted payload."""

CIPHER: Final = b"user-handoff/aes-256-gcm/1"
"""Names this format, so that another codec's encrypted payloads are left to it."""

MAX_BYTES: Final = 4 * 1024 * 1024
"""The default bound of one payload: what one message to a Temporal server may hold at all."""


class EncryptionCodec(PayloadCodec):
    """Encrypts every payload, its metadata included, under the first key; decrypts under any of the keys.

    The key's id travels in plain text beside each payload, bound to it. What is not encrypted by this codec is passed
    through when it is decoded, so that histories from before it was switched on can still be read.

    To rotate: put the new key *behind* the old one on every process, then in front, then drop the old one once no
    workflow that it encrypted is kept. One key is good for about four thousand million payloads.
    """

    def __init__(self, keys: KeyRing, *, max_bytes: int = MAX_BYTES) -> None:
        """Use these keys.

        Args:
            keys: The first encrypts.
            max_bytes: How large one payload may be, before it is encrypted.
        """
        self.keys = keys
        self._max_bytes = max_bytes

    def __repr__(self) -> str:
        return f"EncryptionCodec({self.keys!r})"

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encrypt.

        Raises:
            Refused: ``payload_too_large``.
        """
        return [self._encrypt(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt what this codec encrypted, and pass the rest through.

        Raises:
            Refused: ``codec_key_unknown``, ``payload_unreadable`` or ``payload_too_large``.
        """
        return [self._decrypt(payload) if is_encrypted(payload) else payload for payload in payloads]

    def _encrypt(self, payload: Payload) -> Payload:
        plain = payload.SerializeToString()
        self._check_size(len(plain))
        key_id = self.keys.ids[0]
        sealed = seal(self._key(key_id), plain, _bound(key_id))
        metadata = {"encoding": ENCODING, "encryption-cipher": CIPHER, "encryption-key-id": key_id.encode()}
        return Payload(metadata=metadata, data=sealed)

    def _decrypt(self, payload: Payload) -> Payload:
        self._check_size(len(payload.data) - OVERHEAD_BYTES)
        key_id = payload.metadata.get("encryption-key-id", b"").decode(errors="replace")
        key = self._key(key_id)
        try:
            return Payload.FromString(unseal(key, payload.data, _bound(key_id)))
        except (Unsealable, DecodeError):
            raise _unreadable(key_id) from None

    def _key(self, key_id: str) -> bytes:
        key = self.keys.get(key_id)
        if key is None:
            raise _unknown(key_id)
        return key

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise make_error(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"A payload of {size} bytes is more than the {self._max_bytes} that are encrypted at once.",
                holds="It was not sent.",
                do_next="Keep large results outside of workflows, and pass a reference.",
            )


def is_encrypted(payload: Payload) -> bool:
    """True for what an `EncryptionCodec` made."""
    return payload.metadata.get("encoding") == ENCODING and payload.metadata.get("encryption-cipher") == CIPHER


def codec_from_environment(environ: Mapping[str, str] = os.environ) -> EncryptionCodec | None:
    """The codec with the keys of ``HANDOFF_CODEC_KEYS``; None where that is not set.

    Raises:
        SetupError: ``codec_keys_invalid``.
    """
    text = environ.get(KEYS_VARIABLE, "")
    return EncryptionCodec(KeyRing.parse(text)) if text.strip() else None


def _bound(key_id: str) -> bytes:
    """What is authenticated beside the text: the format and the key's id, so that neither can be exchanged."""
    return CIPHER + b"\0" + key_id.encode()


def _unknown(key_id: str) -> HandoffError:
    return make_error(
        ErrorCode.CODEC_KEY_UNKNOWN,
        "A payload was encrypted under a key that this process does not have.",
        holds="It was not read.",
        do_next=f"Add that key to {KEYS_VARIABLE}, behind the one that encrypts.",
        key_id=key_id[:64],
    )


def _unreadable(key_id: str) -> HandoffError:
    return make_error(
        ErrorCode.PAYLOAD_UNREADABLE,
        "A payload does not open with the key that it names: it was changed, or that id has another key here.",
        holds="It was not read.",
        do_next=f"Compare the key of this id in {KEYS_VARIABLE} with that of the process that wrote it.",
        key_id=key_id[:64],
    )
