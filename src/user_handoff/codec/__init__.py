"""Encrypts what is sent to Temporal, so that its server and its operators see ids and states alone."""

from user_handoff.codec.converter import ComposedCodec, with_codec
from user_handoff.codec.encryption import EncryptionCodec, codec_from_environment
from user_handoff.codec.keys import KEYS_VARIABLE, KeyRing

__all__ = ["KEYS_VARIABLE", "ComposedCodec", "EncryptionCodec", "KeyRing", "codec_from_environment", "with_codec"]
