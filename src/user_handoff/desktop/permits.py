"""The gate for any automation: a block of code that runs under a permit of the desktop.

Cheap to import: what it needs is imported when the first permit is asked for.
"""

import re
import secrets
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from user_handoff.contract.errors import ErrorCode, HandoffError

if TYPE_CHECKING:
    from user_handoff.desktop.desk import Desk, DeskPermit
    from user_handoff.desktop.evidence.effects import EffectNotes

_ACTION: Final = "block"
_LOOK_SECONDS: Final = 0.05
_WAITED_FOR: Final = (ErrorCode.DESKTOP_HELD, ErrorCode.BROWSER_HELD)


class AskedPermit:
    """A permit for a block, by `with` or `async with`. Each block asks anew."""

    def __init__(self, *, browser: str | None, name: str, wait: float, state: Path | None, client: str | None) -> None:
        self._browser = browser
        self._name = name
        self._wait = wait
        self._state = state
        self._client = client
        self._desk: Desk | None = None
        self._permit: DeskPermit | None = None
        self._noted: EffectNotes | None = None

    def recheck(self) -> None:
        """See to it that nobody has taken control since: right before each effect, and after each wait.

        Raises:
            Held: Somebody has. Do nothing more, and leave the block: a person waits for that.
        """
        if self._permit is None:
            raise RuntimeError("a permit is checked in its block")
        self._permit.recheck()

    def __enter__(self) -> Self:
        until = time.monotonic() + self._wait
        while not self._asked(until):
            time.sleep(_LOOK_SECONDS)
        return self

    async def __aenter__(self) -> Self:
        import asyncio

        until = time.monotonic() + self._wait
        while not self._asked(until):  # noqa: ASYNC110  (another process ends the wait)
            await asyncio.sleep(_LOOK_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        permit, desk, self._permit, self._desk = self._permit, self._desk, None, None
        if permit is not None:
            permit.release()
            if self._noted is not None:
                code = None if kind is None else str(error.code) if isinstance(error, HandoffError) else kind.__name__
                self._noted.over(permit.row.effect_id, _ACTION, self._browser, code=code)
        if desk is not None:
            desk.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _asked(self, until: float) -> bool:
        """True once it is given; false where a person has control and it is still waited for."""
        from user_handoff.desktop.desk import Desk
        from user_handoff.desktop.evidence.effects import EffectNotes
        from user_handoff.desktop.evidence.events import name_of

        if self._permit is not None:
            raise RuntimeError("this permit is in use already: ask for another")
        desk, effect_id = Desk(self._state, self._client), effect_name(self._name)
        noted = EffectNotes(desk, via="permit", who=name_of(self._name))
        try:
            permit = desk.acquire("page" if self._browser else "native", self._browser, effect_id)
        except HandoffError as error:
            waits = error.code in _WAITED_FOR and time.monotonic() < until
            if not waits:
                noted.failed(effect_id, _ACTION, self._browser, error)
            desk.close()
            if waits:
                return False
            raise
        except BaseException:
            desk.close()
            raise
        noted.admitted(effect_id, _ACTION, self._browser, permit.row.permit_id)
        self._desk, self._permit, self._noted = desk, permit, noted
        return True


def permit(
    *,
    browser: str | None = None,
    name: str = "program",
    wait: float = 0,
    state: Path | None = None,
    client: str | None = None,
) -> AskedPermit:
    """Ask for a permit of this machine's desktop, for as long as a block runs.

    While it stands, no person is given control: a handoff that begins waits for its end, five seconds by default. So
    keep the block short, and call `recheck()` on it right before each effect.

    Args:
        browser: The id of the one browser that the block touches. None: pointer, keyboard, clipboard or focus, which
            the whole desktop shares.
        name: Who acts, as `handoff status` shows it; no secret.
        wait: Seconds to wait for the end of a person's control.
        state: The state folder; None: the one that the `handoff` command uses.
        client: The machine that the desktop has to be of; None: whichever it is.

    Raises:
        Held: On entering: `desktop_held`, `browser_held` or `reservation_closed`: the block is not run.
        Refused: On entering: `runner_unavailable`, `unknown_browser` or `invalid_request`.
    """
    return AskedPermit(browser=browser, name=name, wait=wait, state=state, client=client)


def effect_name(name: str) -> str:
    """An effect's id that tells who acts."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name)[:40].strip('-') or 'program'}-{secrets.token_hex(6)}"
