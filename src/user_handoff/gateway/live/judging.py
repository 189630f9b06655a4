"""What a page may at this moment: asked all the while, and before it gets control."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

from websockets.exceptions import ConnectionClosed

from user_handoff.contract.errors import ErrorCode, HandoffError, OutcomeUnknown
from user_handoff.contract.view import read_word
from user_handoff.gateway.live.wire import DesktopConnection

_UNSURE: Final = (ErrorCode.TEMPORAL_UNREACHABLE, ErrorCode.RUNNER_UNAVAILABLE)
"""Nobody could tell whether they may still look: nothing is renewed, and control ends by itself."""

Check = Callable[[], Awaitable[object]]


class Ended(Exception):
    """They may not look any more."""


class Judge:
    """Says to a desktop what its viewer may.

    The page cannot renew its control itself: it gives signs of life, and the gateway renews while the handoff's
    workflow says that the browser is held and the page is theirs.

    Attributes:
        why: Why the view is over; empty as long as nothing here ended it.
    """

    def __init__(
        self,
        desktop: DesktopConnection,
        check: Check,
        check_seconds: float,
        *,
        unsure: Callable[[str], Awaitable[None]],
        cut: Callable[[str], None],
    ) -> None:
        """Prepare.

        Args:
            desktop: The desktop's view.
            check: Raises `HandoffError` where they may not look any more.
            check_seconds: How often that is asked.
            unsure: Tells the page that nobody can say whether it still may.
            cut: Ends it at the desktop, at once; called with why.
        """
        self._desktop = desktop
        self._cut = cut
        self._check = check
        self._check_seconds = check_seconds
        self._unsure = unsure
        self._alive = asyncio.Event()
        self._asking: asyncio.Task[None] | None = None
        self.why = ""

    @property
    def asking(self) -> "tuple[asyncio.Task[None], ...]":
        """Whatever of its own is still on its way."""
        return () if self._asking is None else (self._asking,)

    async def on_text(self, text: str) -> bool:
        """Do what a page may ask for; False for anything else."""
        said = read_word(text)
        kind = said.get("t")
        if kind == "beat":
            self._alive.set()
        elif kind in ("ping", "text", "override"):
            await self._desktop.send(text)
        elif kind == "control" and said.get("want") is True:
            if self._asking is None or self._asking.done():
                self._asking = asyncio.create_task(self._ask_for_control(text))
        elif kind == "control":
            if self._asking is not None:
                self._asking.cancel()  # they want it no more: it does not come to them afterwards
                self._asking = None
            await self._desktop.send(text)
        else:
            self.why = self.why or "violation"
            return False
        return True

    async def go_on_checking(self) -> None:
        """Ask again all the while; the page's sign of life alone makes a renewal of it.

        Raises:
            Ended: They may not look any more.
        """
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._check_seconds):
                    await self._alive.wait()
            alive = self._alive.is_set()
            self._alive.clear()
            if await self._may() and alive:
                await self._desktop.send('{"t": "renew"}')
            await asyncio.sleep(min(1.0, self._check_seconds / 5))

    async def _ask_for_control(self, text: str) -> None:
        """Control is given by the desktop, and only to who may look at this moment."""
        with contextlib.suppress(Ended, ConnectionClosed):
            if await self._may():
                await self._desktop.send(text)

    async def _may(self) -> bool:
        """Whether they may still look; ends it where they may not."""
        try:
            await self._check()
        except HandoffError as error:
            if error.code not in _UNSURE and not isinstance(error, OutcomeUnknown):
                self.why = str(error.code)
                self._cut(self.why)
                raise Ended from error
            await self._unsure('{"t": "unsure"}')
            return False
        return True
