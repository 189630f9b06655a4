"""What finding a native window means, on whatever system."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import Surface
from user_handoff.desktop.identity import ProcessIdentity


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """Where the browser says its window is: CDP's `Browser.getWindowForTarget`.

    These are Chromium's own pixels: those of the screen divided by its scale, each edge rounded outwards.

    Attributes:
        left: Of the window.
        top: Of the window.
        width: Of the window.
        height: Of the window.
    """

    left: int
    top: int
    width: int
    height: int

    @classmethod
    def of_cdp(cls, bounds: Mapping[str, Any]) -> "WindowBounds":
        """Read the `bounds` of CDP's answer; what a window lacks counts as 0."""
        left, top, width, height = (int(bounds.get(name, 0)) for name in ("left", "top", "width", "height"))
        return cls(left, top, width, height)


class SurfaceFinder(Protocol):
    """Finds the windows of exactly one process; titles, which pages choose, are never looked at."""

    backend: str
    """``x11``, ``win32``, ``quartz``, or ``none``."""

    def capability(self) -> tuple[bool, str]:
        """Whether exact windows can be found here, and if not, why."""

    def resolve(self, process: ProcessIdentity, bounds: WindowBounds, window_class: str) -> Surface:
        """The one window of this process, of this class, at these bounds.

        Args:
            process: The browser's own process.
            bounds: What the browser says of the window.
            window_class: The token given to the browser at its launch; empty: any.

        Raises:
            Refused: `surface_not_found` or `surface_ambiguous`; `handoff_unsupported` where there is no finder.
        """

    def exists(self, surface: Surface) -> bool:
        """True while exactly this window of exactly this process is there."""

    def family(self, surface: Surface) -> tuple[int, ...]:
        """The windows that belong to it: its dialogs (a file chooser), and its process's open popups (a select)."""

    def focused(self) -> int | None:
        """The window that has the keyboard; None where none has."""

    def raise_window(self, surface: Surface) -> None:
        """Bring it to the front and give it the keyboard. This takes the focus from whoever types: ask first."""

    def close(self) -> None:
        """End the connection to the display."""


def not_found(why: str) -> HandoffError:
    """The refusal where no window is the one."""
    return make_error(
        ErrorCode.SURFACE_NOT_FOUND,
        f"The browser's window was not found: {why}.",
        holds="Nothing is held.",
        do_next="See that the browser shows a window on this desktop, then begin again.",
    )


def ambiguous(count: int) -> HandoffError:
    """The refusal where several windows could be the one."""
    return make_error(
        ErrorCode.SURFACE_AMBIGUOUS,
        f"{count} windows of this browser are of one size at one place, so none is certain.",
        holds="Nothing is held.",
        do_next="Move or close one of them, then begin again.",
        windows=count,
    )


class NoSurfaces:
    """Where exact windows cannot be found: says so, and refuses."""

    backend = "none"

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def capability(self) -> tuple[bool, str]:
        """False, and why."""
        return False, self.reason

    def resolve(self, process: ProcessIdentity, bounds: WindowBounds, window_class: str) -> Surface:
        """Refuse.

        Raises:
            Refused: `handoff_unsupported`.
        """
        raise make_error(
            ErrorCode.HANDOFF_UNSUPPORTED,
            f"This desktop cannot find a browser's exact window: {self.reason}.",
            holds="Nothing is held.",
            do_next="Use a runner on X11, or one with a virtual display (--virtual).",
        )

    def exists(self, surface: Surface) -> bool:
        """False: nothing can be known."""
        return False

    def family(self, surface: Surface) -> tuple[int, ...]:
        """None."""
        return ()

    def focused(self) -> int | None:
        """None."""
        return None

    def raise_window(self, surface: Surface) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""
