"""The encryption codec: what it hides, what it refuses, and what it leaves to others."""

import base64
import dataclasses
import secrets
from collections.abc import Sequence
from typing import cast

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import ClientConfig
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverter,
    DefaultFailureConverterWithEncodedAttributes,
    DefaultPayloadConverter,
    PayloadCodec,
)

from user_handoff.codec import EncryptionCodec, KeyRing, codec_from_environment, with_codec
from user_handoff.codec.converter import ComposedCodec
from user_handoff.contract.errors import ErrorCode, HandoffError, SetupError
from user_handoff.plugin import HandoffPlugin, with_our_models

PLAIN = Payload(metadata={"encoding": b"json/plain", "note": b"canary"}, data=b'"canary"')


def ring(*ids: str) -> KeyRing:
    return KeyRing.parse(",".join(KeyRing.generate(key_id).text for key_id in ids))


def joined(*rings: KeyRing) -> KeyRing:
    return KeyRing.parse(",".join(each.text for each in rings))


class Reversing(PayloadCodec):
    """A user's own codec, whose order can be seen."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload(metadata={"encoding": b"binary/reversed"}, data=p.SerializeToString()[::-1]) for p in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload.FromString(p.data[::-1]) for p in payloads]


class OwnFailures(DefaultFailureConverter):
    """A user's own."""


async def refusal(codec: EncryptionCodec, payload: Payload) -> HandoffError:
    with pytest.raises(HandoffError) as caught:
        await codec.decode([payload])
    return caught.value


async def test_what_is_encrypted_shows_its_key_and_nothing_else_and_comes_back() -> None:
    """E10."""
    codec = EncryptionCodec(ring("k1"))
    (sealed,) = await codec.encode([PLAIN])
    assert b"canary" not in sealed.SerializeToString()
    assert sealed.metadata["encryption-key-id"] == b"k1"
    assert await codec.decode([sealed]) == [PLAIN]


async def test_the_same_value_never_looks_the_same_twice() -> None:
    codec = EncryptionCodec(ring("k1"))
    first, second = await codec.encode([PLAIN, PLAIN])
    assert first.data != second.data


async def test_after_a_rotation_old_payloads_are_read_and_new_ones_are_under_the_new_key() -> None:
    """E10: the first key encrypts, all decrypt."""
    old, new = ring("old"), ring("new")
    (sealed,) = await EncryptionCodec(old).encode([PLAIN])
    rotated = EncryptionCodec(joined(new, old))
    assert await rotated.decode([sealed]) == [PLAIN]
    (again,) = await rotated.encode([PLAIN])
    assert again.metadata["encryption-key-id"] == b"new"


async def test_a_key_that_is_not_there_is_named_by_its_id() -> None:
    (sealed,) = await EncryptionCodec(ring("k1")).encode([PLAIN])
    error = await refusal(EncryptionCodec(ring("k2")), sealed)
    assert error.code is ErrorCode.CODEC_KEY_UNKNOWN and error.details == {"key_id": "k1"}


async def test_another_key_under_the_same_id_reads_nothing() -> None:
    (sealed,) = await EncryptionCodec(ring("k1")).encode([PLAIN])
    assert (await refusal(EncryptionCodec(ring("k1")), sealed)).code is ErrorCode.PAYLOAD_UNREADABLE


async def test_a_payload_that_names_another_key_of_the_same_bytes_is_refused() -> None:
    """The key's id is authenticated with the text."""
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    codec = EncryptionCodec(KeyRing.parse(f"a:{key},b:{key}"))
    (sealed,) = await codec.encode([PLAIN])
    sealed.metadata["encryption-key-id"] = b"b"
    assert (await refusal(codec, sealed)).code is ErrorCode.PAYLOAD_UNREADABLE


@pytest.mark.parametrize("data", [b"", b"short", None])
async def test_a_payload_that_was_changed_is_refused(data: bytes | None) -> None:
    codec = EncryptionCodec(ring("k1"))
    (sealed,) = await codec.encode([PLAIN])
    sealed.data = bytes([sealed.data[0] ^ 1]) + sealed.data[1:] if data is None else data
    assert (await refusal(codec, sealed)).code is ErrorCode.PAYLOAD_UNREADABLE


async def test_what_is_not_encrypted_is_passed_through() -> None:
    """Histories from before the codec was switched on can be read; another's encrypted payload is left to it."""
    foreign = Payload(metadata={"encoding": b"binary/encrypted"}, data=b"somebody else's")
    assert await EncryptionCodec(ring("k1")).decode([PLAIN, foreign]) == [PLAIN, foreign]


async def test_a_payload_that_is_too_large_is_refused_in_both_directions() -> None:
    keys = ring("k1")
    large = Payload(data=b"x" * 2_000)
    (sealed,) = await EncryptionCodec(keys).encode([large])
    bounded = EncryptionCodec(keys, max_bytes=1_000)
    assert (await refusal(bounded, sealed)).code is ErrorCode.PAYLOAD_TOO_LARGE
    with pytest.raises(HandoffError) as caught:
        await bounded.encode([large])
    assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE


KEY = base64.b64encode(b"k" * 32).decode()


@pytest.mark.parametrize(
    "text",
    [KEY, f":{KEY}", f"a b:{KEY}", "k1:", "k1:c2hvcnQ=", f"k1:{KEY}*", f"k1:{KEY},k1:{KEY}", ",", f"k1:{KEY};k2:{KEY}"],
)
def test_keys_that_cannot_be_used_are_refused_and_never_quoted(text: str) -> None:
    """B7."""
    with pytest.raises(SetupError) as caught:
        codec_from_environment({"HANDOFF_CODEC_KEYS": text})
    assert caught.value.code is ErrorCode.CODEC_KEYS_INVALID
    assert KEY not in str(caught.value) and "c2hvcnQ" not in str(caught.value)


def test_a_codec_shows_the_ids_of_its_keys_and_no_key() -> None:
    """B7."""
    codec = codec_from_environment({"HANDOFF_CODEC_KEYS": f"k1:{KEY}"})
    assert repr(codec) == "EncryptionCodec(KeyRing(ids=('k1',)))"


def test_without_keys_there_is_no_codec() -> None:
    assert codec_from_environment({}) is None and codec_from_environment({"HANDOFF_CODEC_KEYS": " "}) is None


async def test_a_users_own_codec_encodes_first_and_decodes_last() -> None:
    """E10: their compression stays useful, and what leaves is encrypted."""
    codec = EncryptionCodec(ring("k1"))
    both = with_codec(dataclasses.replace(DataConverter.default, payload_codec=Reversing()), codec).payload_codec
    assert isinstance(both, ComposedCodec)
    (sealed,) = await both.encode([PLAIN])
    assert sealed.metadata["encoding"] == b"binary/encrypted"
    (opened,) = await codec.decode([sealed])
    assert opened.metadata["encoding"] == b"binary/reversed"
    assert await both.decode([sealed]) == [PLAIN]


def test_a_users_own_converters_stay() -> None:
    """E10."""

    class Own(DefaultPayloadConverter):
        """A user's own."""

    own = DataConverter(payload_converter_class=Own, failure_converter_class=OwnFailures)
    taught = with_codec(with_our_models(own), EncryptionCodec(ring("k1")))
    assert taught.payload_converter_class is Own and taught.failure_converter_class is OwnFailures


def configured(plugin: HandoffPlugin, **fields: DataConverter) -> DataConverter:
    return plugin.configure_client(cast(ClientConfig, fields))["data_converter"]


def test_a_configuration_that_is_gone_through_twice_encrypts_once() -> None:
    keys = ring("k1")
    plugin = HandoffPlugin(codec=EncryptionCodec(keys))
    converter = configured(plugin)
    assert isinstance(converter.payload_codec, EncryptionCodec)
    assert converter.failure_converter_class is DefaultFailureConverterWithEncodedAttributes
    assert configured(plugin, data_converter=converter) is converter
    assert with_codec(converter, EncryptionCodec(keys)) is converter


def test_a_plugin_without_a_codec_changes_no_codec() -> None:
    converter = configured(HandoffPlugin())
    assert converter.payload_codec is None and converter.failure_converter_class is DefaultFailureConverter
