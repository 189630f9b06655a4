"""Surfaces of the systems that list all windows with their processes: Windows and macOS."""

from typing import Literal, Protocol

import psutil

from user_handoff.contract.handoff import Surface
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.surfaces import match
from user_handoff.desktop.surfaces.base import WindowBounds


class WindowSource(Protocol):
    """What a system says of its windows; nothing in it depends on a title."""

    @property
    def backend(self) -> Literal["win32", "quartz"]:
        """The system's name in a `Surface`."""

    def why_not(self) -> str:
        """Why its windows cannot be listed; empty where they can."""

    def windows(self) -> list[match.NativeWindow]:
        """The top-level windows of all processes of this session, each with its process."""

    def focused(self) -> int | None:
        """The window that has the keyboard; None where none has."""

    def raise_window(self, window_id: int, pid: int) -> None:
        """Bring it to the front; no error where it is gone."""


class SourceSurfaces:
    """Finds windows by process and bounds in what a source lists (see `SurfaceFinder`).

    The window must be where the browser says: that a process has one window alone proves nothing here, since
    bubbles and menus are windows of the same kind.
    """

    def __init__(self, source: WindowSource) -> None:
        self._source = source
        self.backend: str = source.backend

    def capability(self) -> tuple[bool, str]:
        """Whether the system lists its windows, and if not, why."""
        why = self._source.why_not()
        return not why, why

    def resolve(self, process: ProcessIdentity, bounds: WindowBounds, window_class: str) -> Surface:
        """The one window of this process at these bounds; `window_class` is known on X11 alone.

        Raises:
            Refused: `surface_not_found` or `surface_ambiguous`.
        """
        window = match.pick(self._source.windows(), process.pid, bounds, alone=False)
        return match.surface(self.backend, window, process)

    def exists(self, surface: Surface) -> bool:
        """True while exactly this window of exactly this process is there."""
        if not ProcessIdentity(surface.pid, surface.process_started).alive():
            return False
        wanted = (surface.window_id, surface.pid)
        return any((window.window_id, window.pid) == wanted for window in self._source.windows())

    def family(self, surface: Surface) -> tuple[int, ...]:
        """Its dialogs and popups; a helper process of the browser may show them (a file chooser on Windows)."""
        if not ProcessIdentity(surface.pid, surface.process_started).alive():
            return ()
        return match.family(self._source.windows(), surface.window_id, [surface.pid, *_children(surface.pid)])

    def focused(self) -> int | None:
        """The window that has the keyboard; None where none has."""
        return self._source.focused()

    def raise_window(self, surface: Surface) -> None:
        """Bring it to the front and give it the keyboard, as far as the system lets a program do that."""
        if self.exists(surface):
            self._source.raise_window(surface.window_id, surface.pid)

    def close(self) -> None:
        """Nothing is kept open."""


def _children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
