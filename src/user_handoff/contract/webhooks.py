"""The secrets with which webhooks are signed (Standard Webhooks, https://www.standardwebhooks.com)."""

import base64
import binascii
from typing import Annotated, Final

from pydantic import AfterValidator, SecretStr

_SECRET_BYTES: Final = range(24, 65)


def _checked(secret: SecretStr) -> SecretStr:
    prefix, _, key = secret.get_secret_value().partition("_")
    try:
        length = len(base64.b64decode(key, validate=True))
    except binascii.Error:
        length = 0
    if prefix != "whsec" or length not in _SECRET_BYTES:
        raise ValueError("must be whsec_ and the base64 of 24 to 64 random bytes")
    return secret


WebhookSecret = Annotated[SecretStr, AfterValidator(_checked)]
"""``whsec_`` and the base64 of 24 to 64 random bytes."""
