"""The whole desktop: looked at, then acted on, one effect for each look."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from user_handoff.contract import computer as c
from user_handoff.contract.browser import EffectOutcome
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.input.generations import Generations, Look, stale
from user_handoff.desktop.input.native import Check, NativeInput
from user_handoff.desktop.input.windows import DisplayWindows
from user_handoff.desktop.pictures import keep_picture
from user_handoff.desktop.reservation.gate import Gate
from user_handoff.desktop.reservation.rows import HolderRow

InputAction = c.Move | c.ClickAt | c.Scroll | c.Drag | c.TypeText | c.PressKeys
"""What pointer and keyboard do."""

BrowserPid = Callable[[str], int | None]
"""The process of a browser, by its id; None where it is not known."""


class Computer:
    """Looks at a display and acts on it."""

    def __init__(
        self,
        display: Display,
        gate: Gate,
        pictures: Path,
        launch: Iterable[str] = (),
        *,
        pictures_in_hold: bool = False,
    ) -> None:
        """Prepare.

        Args:
            display: The display.
            gate: What admits effects.
            pictures: Where pictures are kept.
            launch: The programs that may be launched, by name or absolute path.
            pictures_in_hold: Take pictures also while a person has a browser here.
        """
        self._pictures_in_hold = pictures_in_hold
        self._ledger = gate.ledger
        self._windows = DisplayWindows(display)
        self._native = NativeInput(display, gate, self._windows, launch)
        self._generations = Generations()
        self._pictures = pictures

    def close(self) -> None:
        """Let go of the display."""
        self._native.close()
        self._windows.close()

    async def observe(self, request: c.ObserveComputer, browser_pid: BrowserPid) -> c.DisplayLook:
        """Look: at the windows, and with a picture where one is asked for.

        Args:
            request: What to look at.
            browser_pid: Whose titles are withheld while its browser is held.

        Raises:
            Held: `desktop_held`: a picture, while a person has a browser here.
            Refused: `observation_discarded`: control changed hands during the look.
        """
        epoch, holders = self._ledger.epoch(), self._ledger.holders()
        if request.screenshot and holders and not self._pictures_in_hold:
            raise _no_picture(holders[0])
        held = {browser_pid(row.browser_id) for row in holders}
        # a window or a browser of an unknown process may be the held one
        focused, windows = await asyncio.to_thread(
            self._windows.look, lambda pid: bool(held) and (pid is None or None in held or pid in held)
        )
        content = await self._native.screenshot() if request.screenshot else None
        if self._ledger.epoch() != epoch:
            raise make_error(
                ErrorCode.OBSERVATION_DISCARDED,
                "Control changed hands while the desktop was looked at.",
                holds="What was seen was thrown away.",
                do_next="Look again.",
            )
        generation = self._generations.mint(epoch, focused)
        picture = await keep_picture(self._pictures, "desktop", content) if content is not None else None
        return c.DisplayLook(generation=generation, focused_window=focused, windows=windows, picture=picture)

    async def windows(self) -> tuple[c.WindowInfo, ...]:
        """Where the windows are, without their titles."""
        return (await asyncio.to_thread(self._windows.look, lambda _: True))[1]

    async def do(self, effect: c.ComputerEffect, begins: Check) -> c.ComputerReceipt:
        """Do one effect on what was seen.

        Args:
            effect: The effect.
            begins: Called once, right before the first dispatch.

        Raises:
            HandoffError: Held first, then a stale generation or focus, then what the effect itself needs.
        """
        guard = _Guard(self, effect.generation, begins)
        try:
            text, pid = await self._perform(effect, guard)
        finally:
            if guard.spent:
                self._generations.forget()
        return c.ComputerReceipt(effect_id=effect.effect_id, outcome=EffectOutcome.COMPLETED, text=text, pid=pid)

    def admit(self, generation: str, look: Look | None) -> Look:
        """See that what was seen still stands: the generation at first, then the focus alone.

        Raises:
            Stale: `stale_generation`.
        """
        first = look is None
        look = look or self._generations.check(generation, self._ledger.epoch())
        if self._windows.focused() != look.focused:
            raise stale("Another window has the keyboard now.")
        if first:
            self._generations.spend(generation, self._ledger.epoch())
        return look

    async def _perform(self, effect: c.ComputerEffect, check: Check) -> tuple[str | None, int | None]:
        """Do it; returns what was read, and which process was started."""
        native, effect_id = self._native, effect.effect_id
        match effect.action:
            case c.SetClipboard(text=content):
                await native.set_clipboard(content, effect_id=effect_id, check=check)
            case c.ClearClipboard():
                await native.set_clipboard("", effect_id=effect_id, check=check)
            case c.GetClipboard():
                return await native.get_clipboard(effect_id=effect_id, check=check), None
            case c.Launch(argv=argv):
                return None, await native.launch(argv, effect_id=effect_id, check=check)
            case action:
                await self._input(effect_id, action, check)
        return None, None

    async def _input(self, effect_id: str, action: InputAction, check: Check) -> None:
        native = self._native
        match action:
            case c.Move(x=x, y=y):
                await native.move(x, y, effect_id=effect_id, check=check)
            case c.ClickAt(x=x, y=y, button=button, count=count):
                await native.click(x, y, button, count, effect_id=effect_id, check=check)
            case c.Scroll(x=x, y=y, down=down, right=right):
                await native.scroll(x, y, down, right, effect_id=effect_id, check=check)
            case c.Drag(x=x, y=y, to_x=to_x, to_y=to_y, button=button):
                await native.drag((x, y), (to_x, to_y), button, effect_id=effect_id, check=check)
            case c.TypeText(text=text):
                await native.type(text, effect_id=effect_id, check=check)
            case c.PressKeys(keys=keys):
                await native.press(*keys, effect_id=effect_id, check=check)


class _Guard:
    """Run right before each dispatch of one effect."""

    def __init__(self, computer: Computer, generation: str, begins: Check) -> None:
        self._computer = computer
        self._generation = generation
        self._begins = begins
        self._look: Look | None = None

    @property
    def spent(self) -> bool:
        """True once the generation was taken for this effect."""
        return self._look is not None

    def __call__(self) -> None:
        first = self._look is None
        self._look = self._computer.admit(self._generation, self._look)
        if first:
            self._begins()


def _no_picture(row: HolderRow) -> Exception:
    return make_error(
        ErrorCode.DESKTOP_HELD,
        f"A person has a browser of this desktop ({row.handoff_id}), and nothing would mask it in a picture.",
        holds="No picture was taken.",
        do_next="List the windows without a picture, or wait until the person is done.",
        handoff_id=row.handoff_id,
        browser_id=row.browser_id,
        kind=row.kind,
    )
