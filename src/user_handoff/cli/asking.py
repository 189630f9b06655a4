"""One question of a command to Temporal, from start to end."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from user_handoff.cli import options
from user_handoff.cli.temporal import connect, running_up
from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.gateway.settings import DEFAULT_PORT, public_url

T = TypeVar("T")


def ask(state: Path | None, call: Callable[[HandoffClient], Awaitable[T]]) -> T:
    """Connect to the Temporal of a state folder, ask, and end.

    Args:
        state: The state folder that was given; None: the default one.
        call: What is asked.

    Raises:
        HandoffError: It could not be connected, or what was asked was refused.
    """

    async def body() -> T:
        return await call(HandoffClient(await connect(options.state_folder(state))))

    return asyncio.run(body())


def gateway_url(state: Path | None, given: str | None) -> str:
    """What links to the person's page begin with: as given, else where `handoff up` runs its gateway.

    Raises:
        Refused: ``invalid_request``: what was given makes no link.
    """
    up = running_up(options.state_folder(state)) or {}
    try:
        return public_url(given or str(up.get("gateway_url") or f"http://127.0.0.1:{DEFAULT_PORT}"))
    except ValueError as error:
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"That is no address of a gateway: it {error}.",
            holds="Nothing was done.",
            do_next="Correct --public-url, or the variable HANDOFF_PUBLIC_URL.",
        ) from None
