"""The pointer, by pyautogui, which binds a display when it is imported: so it is imported late, and once."""

import importlib
import sys
import types
import warnings
from typing import Any

from user_handoff.contract.computer import Button
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.display.binding import bind
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.display.display import Display

_BETWEEN_CLICKS = 0.02
"""Seconds: programs take two clicks of one millisecond for one."""


class Pointer:
    """The pointer of a display. Not for several threads at once."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._loaded: Any = None

    def move(self, x: int, y: int) -> None:
        """Move it to a place on the screen.

        Raises:
            Refused: `invalid_request`: the place is not on the screen. `action_failed`: a person has put the pointer of
                a real desktop into a corner, which stops native input.
        """
        self._act("moveTo", x, y)

    def click(self, x: int, y: int, button: Button, count: int = 1) -> None:
        """Move it there and click so many times; raises as `move` does."""
        self._act("click", x, y, clicks=count, interval=_BETWEEN_CLICKS if count > 1 else 0, button=button)

    def press(self, x: int, y: int, button: Button) -> None:
        """Move it there, and press a button and keep it down: `release` it. Raises as `move` does."""
        self._act("mouseDown", x, y, button=button)

    def release(self, button: Button) -> None:
        """Let a button go, wherever the pointer is: nothing may keep it down."""
        gui = self._gui()
        guarded, gui.FAILSAFE = gui.FAILSAFE, False
        try:
            gui.mouseUp(button=button)
        finally:
            gui.FAILSAFE = guarded

    def scroll(self, x: int, y: int, down: int, right: int) -> None:
        """Move it there and turn the wheel, by notches; raises as `move` does."""
        self._act("moveTo", x, y)
        if down:
            self._do("vscroll", -down)
        if right:
            self._do("hscroll", right)

    def require(self, x: int, y: int) -> None:
        """Refuse a place that is not on the screen, as `move` does."""
        width, height = self._gui().size()
        if not (0 <= x < width and 0 <= y < height):
            raise make_error(
                ErrorCode.INVALID_REQUEST,
                f"({x}, {y}) is not on the screen of {width} x {height}.",
                holds="The pointer was not moved.",
                do_next="Look at the desktop again and use a place in it.",
            )

    def place(self) -> tuple[int, int]:
        """Where it is."""
        x, y = self._gui().position()
        return int(x), int(y)

    def _act(self, name: str, x: int, y: int, **options: Any) -> None:
        self.require(x, y)
        self._do(name, x, y, **options)

    def _do(self, name: str, *values: int, **options: Any) -> None:
        gui = self._gui()
        try:
            getattr(gui, name)(*values, **options)
        except gui.FailSafeException as error:
            raise make_error(
                ErrorCode.ACTION_FAILED,
                "The pointer rests in a corner of the screen: a person's sign to stop.",
                holds="Nothing was done.",
                do_next="Have the person move it away.",
            ) from error

    def _gui(self) -> Any:
        if self._loaded is None:
            self._loaded = _load(self._display)
        return self._loaded


def _load(display: Display) -> Any:
    bind(display)
    with connection(display.name, display.xauthority):
        pass  # a display that cannot be opened is a typed error here, and any error in pyautogui's import
    if "mouseinfo" not in sys.modules:
        # pyautogui imports it for a window that we never open; without tkinter it ends the whole process
        sys.modules["mouseinfo"] = types.ModuleType("mouseinfo")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import leaves pipes open
        gui: Any = importlib.import_module("pyautogui")
    gui.PAUSE = 0
    gui.FAILSAFE = not display.virtual
    return gui
