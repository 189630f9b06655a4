"""Putting a codec into a data converter that may have one already."""

import dataclasses
from collections.abc import Sequence

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
)

from user_handoff.codec.encryption import EncryptionCodec


class ComposedCodec(PayloadCodec):
    """Two codecs as one. `inner` is nearer to the values: it encodes first, and decodes last.

    A user's own codec is the inner one. It may compress, which is of no use behind an encryption, and what leaves the
    process is always what the outer one made.
    """

    def __init__(self, inner: PayloadCodec, outer: PayloadCodec) -> None:
        self.inner = inner
        self.outer = outer

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encode by `inner`, then by `outer`."""
        return await self.outer.encode(await self.inner.encode(payloads))

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decode by `outer`, then by `inner`."""
        return await self.inner.decode(await self.outer.decode(payloads))


def with_codec(converter: DataConverter, codec: PayloadCodec | None) -> DataConverter:
    """A data converter whose payloads, and messages and stack traces of errors, go through a codec as well.

    A payload converter, codec and failure converter of the user's own stay. Their codec encodes first, this one last.
    Only the default failure converter is replaced, by temporalio's own that moves messages and stack traces into an
    encoded payload; an own failure converter decides that for itself.

    Args:
        converter: What there is.
        codec: None changes nothing, and so does a codec that is in there already.
    """
    if codec is None or _has(converter.payload_codec, codec):
        return converter
    own = converter.payload_codec
    default_failures = converter.failure_converter_class is DefaultFailureConverter
    return dataclasses.replace(
        converter,
        payload_codec=codec if own is None else ComposedCodec(own, codec),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes
        if default_failures
        else converter.failure_converter_class,
    )


def _has(present: PayloadCodec | None, codec: PayloadCodec) -> bool:
    if isinstance(present, ComposedCodec):
        return _has(present.inner, codec) or _has(present.outer, codec)
    if isinstance(present, EncryptionCodec) and isinstance(codec, EncryptionCodec):
        # Made from the same keys they are one: a client's configuration may be gone through twice.
        return present.keys == codec.keys
    return present is codec
