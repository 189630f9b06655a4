"""One signed request (Standard Webhooks). What the receiver answers beyond its status is not read."""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Final

import httpx2
from pydantic import SecretStr
from standardwebhooks.webhooks import Webhook

POST_SECONDS: Final = 15.0
"""How long a receiver has, from the first packet to its status."""

_CONNECT_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver said.

    Attributes:
        status: The HTTP status.
        retry_after: Seconds that it asks to be left alone for; 0: it asks for nothing.
    """

    status: int
    retry_after: float = 0.0

    @property
    def taken(self) -> bool:
        """True where it took what was sent."""
        return 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """True where it wants nothing more."""
        return self.status == 410


async def post_signed(url: SecretStr, secrets: Sequence[SecretStr], message_id: str, body: str) -> Answer:
    """Send one webhook, now.

    Args:
        url: Where to. Redirects are not followed.
        secrets: Each of them signs, so that one can be replaced by another.
        message_id: The same in every attempt.
        body: The JSON, exactly as it is signed.

    Raises:
        httpx2.HTTPError: It could not be sent, or nothing was answered.
        TimeoutError: Nothing was answered in time.
    """
    now = datetime.now(UTC)
    signatures = (Webhook(secret.get_secret_value()).sign(message_id, now, body) for secret in secrets)
    headers = {
        "content-type": "application/json",
        "user-agent": "user-handoff",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
    timeout = httpx2.Timeout(POST_SECONDS, connect=_CONNECT_SECONDS)
    async with (
        asyncio.timeout(POST_SECONDS),
        httpx2.AsyncClient(timeout=timeout, follow_redirects=False, verify=_trust()) as client,
        client.stream("POST", url.get_secret_value(), content=body.encode(), headers=headers) as response,
    ):
        return Answer(response.status_code, _seconds(response.headers.get("retry-after", "")))


@cache
def _trust() -> ssl.SSLContext:
    """Made once: it takes longer than a request."""
    return httpx2.create_ssl_context()


def _seconds(text: str) -> float:
    return min(float(text), 86_400.0) if text.isascii() and text.isdigit() else 0.0
