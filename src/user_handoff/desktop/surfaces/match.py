"""Which of a list of windows is the browser's. Nothing here asks a system: all that is known is in the list."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from user_handoff.contract.handoff import Surface
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.surfaces.base import WindowBounds, ambiguous, not_found

_SCALES = (1.0, 8.0)
"""The least and the greatest scale that a desktop gives to a screen."""

_SLACK = 0.0005
"""What Chromium's single-precision arithmetic on scaled edges may be wrong by; scales are in steps of 1/64, so no edge
that is not a whole number is this near to one."""

_ROUNDED = 2.0
"""By how many of its pixels Chromium's rounding may change a place or a size, where the scale is not 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeWindow:
    """A top-level window, as the system knows it.

    Attributes:
        window_id: The system's own id of it.
        pid: The process whose window it is, by the system's word and not by the process's.
        rectangle: Left, top, width, height on the screen, in the units of the system.
        main: True for a window of a browser itself: no dialog, menu, bubble or helper.
        owner: The window whose dialog it is.
        popup: True for what a program shows for a moment and no window manager touches, such as an open select.
        shown: True where it is on the screen, or minimised, or on another workspace; not withdrawn.
        scale: How many of those units are one of Chromium's pixels; None: not known, and the same for all windows.
        placed: True where its place can be compared; False where only its size can.
    """

    window_id: int
    pid: int
    rectangle: tuple[int, int, int, int]
    main: bool
    owner: int | None = None
    popup: bool = False
    shown: bool = True
    scale: float | None = 1.0
    placed: bool = True


def pick(windows: Iterable[NativeWindow], pid: int, bounds: WindowBounds, *, alone: bool) -> NativeWindow:
    """The one window of this process at these bounds.

    Args:
        windows: All that could be meant, and any others.
        pid: The browser's process.
        bounds: What the browser says of the window.
        alone: True where a process with a single main window has that one, wherever it is just being moved to.

    Raises:
        Refused: `surface_not_found` or `surface_ambiguous`.
    """
    mains = [window for window in windows if window.pid == pid and window.main and window.shown]
    if not mains:
        raise not_found(f"process {pid} shows none on this desktop")
    at = [window for window in mains if agrees(window, bounds)]
    if len(at) > 1:
        raise ambiguous(len(at))
    if at:
        return at[0]
    if alone and len(mains) == 1:
        return mains[0]
    raise not_found(f"process {pid} shows {len(mains)}, and none where the browser says it is")


def agrees(window: NativeWindow, bounds: WindowBounds) -> bool:
    """True where the browser may have said these bounds of this window."""
    if window.scale is None:
        return _one_scale(window.rectangle, bounds)
    slack = 0.0 if window.scale == 1 else _ROUNDED
    told = (bounds.left, bounds.top, bounds.width, bounds.height)
    wrong = [abs(seen / window.scale - said) > slack for seen, said in zip(window.rectangle, told, strict=True)]
    return not any(wrong if window.placed else wrong[2:])


def family(windows: Sequence[NativeWindow], window_id: int, pids: Iterable[int]) -> tuple[int, ...]:
    """The windows that belong to one: its dialogs, theirs in turn, and the open popups of its processes."""
    among = set(pids)
    shown = [window for window in windows if window.pid in among and window.shown]
    found = {window_id}
    while new := {window.window_id for window in shown if _belongs(window, found)} - found:
        found |= new
    return tuple(sorted(found - {window_id}))


def surface(backend: str, window: NativeWindow, process: ProcessIdentity) -> Surface:
    """The surface that a window is, if its process is still the one.

    Raises:
        Refused: `surface_not_found`: the pid is another process's by now.
    """
    if not process.alive():
        raise not_found(f"process {process.pid} is not the browser, or has ended")
    x, y, width, height = window.rectangle
    return Surface.model_validate(
        {
            "backend": backend,
            "window_id": window.window_id,
            "pid": process.pid,
            "process_started": process.started,
            "x": x,
            "y": y,
            "width": width,
            "height": height,
        }
    )


def _belongs(window: NativeWindow, to: set[int]) -> bool:
    return window.owner in to or (window.popup and window.owner is None)


def _one_scale(rectangle: tuple[int, int, int, int], bounds: WindowBounds) -> bool:
    """True where one scale turns the rectangle into the bounds; Chromium rounds each edge outwards."""
    left, top, width, height = rectangle
    low, high = _SCALES
    for edge, told, outwards in (
        (left, bounds.left, 0),
        (top, bounds.top, 0),
        (left + width, bounds.left + bounds.width, -1),
        (top + height, bounds.top + bounds.height, -1),
    ):
        slack = _SLACK if outwards else -_SLACK  # a whole number stays what it is
        above, below = told + outwards + slack, told + outwards + 1 + slack
        # above * scale < edge < below * scale; neither factor can be 0
        low = max(low, edge / below if below > 0 else low, edge / above if above < 0 else low)
        high = min(high, edge / above if above > 0 else high, edge / below if below < 0 else high)
    return low < high
