"""Windows as the X server itself knows them. Any may vanish between two requests, which is no error."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.display.connection import connect
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.surfaces.match import NativeWindow

_DEPTH = 4
"""A window manager wraps a window in at most this many of its own."""

_MANAGED = (1, 3)
"""WM_STATE: normal, iconic."""


_ROLES = ("browser", "pop-up", "app")
"""WM_WINDOW_ROLE of Chromium's own windows: a dialog has another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class X11Window(NativeWindow):
    """A top-level window of X11; its rectangle is without what a window manager adds.

    Attributes:
        classes: Its WM_CLASS: instance and class.
    """

    classes: tuple[str, ...]


class X11Windows:
    """One connection, made when first used. All methods raise `SetupError` `no_display` where the server is gone."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self._lock = threading.RLock()
        self._connection: Any = None

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(Exception):  # the server may be gone
                    self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def connected(self) -> Iterator[Any]:
        """The connection, for this thread alone."""
        with self._lock:
            if self._connection is None:
                self._connection = connect(self.display.name, self.display.xauthority)
            from Xlib import error

            try:
                yield self._connection
            except (error.ConnectionClosedError, OSError) as problem:
                self.close()
                raise SetupError(
                    ErrorCode.NO_DISPLAY,
                    f"The X display {self.display.name} is gone.",
                    holds="Nothing on it can be seen or done.",
                    do_next="Start the runner again; it starts a display of its own with --virtual.",
                ) from problem

    def why_not(self) -> str:
        """Why the server cannot say whose a window is; empty where it can."""
        with self.connected() as x:
            if "X-Resource" not in x.list_extensions():
                return "the X server lacks the extension X-Resource"
            version = x.res_query_version()
            if (version.server_major, version.server_minor) < (1, 2):
                return "the X server's X-Resource is older than 1.2"
            if self.pid_of(x.display.info.resource_id_base) != os.getpid():
                return "the X server is on another machine, or in another process namespace"
            return ""

    def pid_of(self, window_id: int) -> int | None:
        """The process whose window it is, as the server knows it from its socket; no client can change that."""
        from Xlib.ext import res

        with self.connected() as x:
            asked = [{"client": window_id, "mask": res.LocalClientPIDMask}]
            answer = _there(lambda: x.res_query_client_ids(asked))
            found = [int(entry.value[0]) for entry in answer.ids if entry.value] if answer else []
            return found[0] if found else None

    def of_process(self, pid: int) -> list[X11Window]:
        """The top-level windows of a process, wherever they are, with any window manager or none."""
        with self.connected() as x:
            owners: dict[int, int | None] = {}
            own = ~int(x.display.info.resource_id_mask)

            def is_its(window_id: int) -> bool:
                client = window_id & own
                if client not in owners:
                    owners[client] = self.pid_of(window_id)
                return owners[client] == pid

            found = _outermost(x, is_its)
            read = [self._read(window, pid) for window in found]
            return [window for window in read if window is not None]

    def focused(self) -> int | None:
        """The window that has the keyboard, or the outermost of the same program around it."""
        from Xlib import X

        with self.connected() as x:
            focus = x.get_input_focus().focus
            if focus in (X.NONE, X.PointerRoot):
                return None
            own = ~int(x.display.info.resource_id_mask)
            while True:
                tree = _there(focus.query_tree)
                if tree is None or not tree.parent or (tree.parent.id & own) != (focus.id & own):
                    return None if tree is None else int(focus.id)
                focus = tree.parent

    def text(self, window: Any, name: str) -> str:
        """A property that is a text; empty where it is not there."""
        value = self._property(window, name)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""

    def numbers(self, window: Any, name: str) -> list[int]:
        """A property that is a list of numbers; empty where it is not there."""
        value = self._property(window, name)
        return [] if value is None or isinstance(value, bytes | str) else [int(number) for number in value]

    def _property(self, window: Any, name: str) -> Any:
        with self.connected() as x:
            atom = x.get_atom(name)
            found = _there(lambda: window.get_full_property(atom, 0))
            return found.value if found else None

    def _read(self, window: Any, pid: int) -> X11Window | None:
        from Xlib import X

        with self.connected() as x:
            attributes = _there(window.get_attributes)
            geometry = _there(window.get_geometry)
            place = _there(lambda: x.screen().root.translate_coords(window, 0, 0))
            if attributes is None or geometry is None or place is None or attributes.win_class == X.InputOnly:
                return None
            managed = self.numbers(window, "WM_STATE")[:1]
            owner = self.numbers(window, "WM_TRANSIENT_FOR")[:1]
            normal = x.get_atom("_NET_WM_WINDOW_TYPE_NORMAL") in self.numbers(window, "_NET_WM_WINDOW_TYPE")
            popup = bool(attributes.override_redirect)
            return X11Window(
                window_id=int(window.id),
                pid=pid,
                rectangle=(int(place.x), int(place.y), int(geometry.width), int(geometry.height)),
                main=normal and not popup and not owner and self.text(window, "WM_WINDOW_ROLE") in _ROLES,
                owner=owner[0] if owner else None,
                popup=popup,
                shown=attributes.map_state == X.IsViewable or (bool(managed) and managed[0] in _MANAGED),
                scale=None,  # the desktop chooses one for all screens, and tells it to toolkits alone
                classes=tuple(self.text(window, "WM_CLASS").split("\0")[:2]),
            )


def _there(ask: Callable[[], Any]) -> Any:
    """What was asked for; None where the window has vanished."""
    from Xlib import error

    try:
        return ask()
    except error.XError:
        return None


def _outermost(x: Any, is_its: Callable[[int], bool]) -> list[Any]:
    """The outermost windows that are the process's, level by level: each level is asked for in one go."""
    from Xlib.protocol import request

    found, level = [], [x.screen().root]
    for _ in range(_DEPTH):
        asked = [request.QueryTree(display=x.display, defer=True, window=window) for window in level]
        trees = [_there(partial(_answer, each)) for each in asked]
        children = [child for tree in trees if tree for child in tree.children]
        its = [is_its(child.id) for child in children]
        found += [child for child, mine in zip(children, its, strict=True) if mine]
        level = [child for child, mine in zip(children, its, strict=True) if not mine]
    return found


def _answer(asked: Any) -> Any:
    asked.reply()
    return asked
