"""The curtain: one plain window right behind those of one process, before all others."""

import contextlib
from dataclasses import dataclass
from typing import Any

from user_handoff.desktop.display.connection import connect
from user_handoff.desktop.display.display import Display

CLASS = "handoff-curtain"

_STACKING = "_NET_CLIENT_LIST_STACKING"
_PAGER = 2
_ADD, _REMOVE = 1, 0
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Found:
    """What a look has found; without one, nothing is as it should be.

    Attributes:
        clear: The curtain hangs right behind what is shown, and nothing is before that.
        focused: The keyboard is with a window that is shown.
        focus: The window that has the keyboard.
    """

    clear: bool = False
    focused: bool = False
    focus: int = 0


class Curtain:
    """Hides what is not shown. For one thread.

    The windows that are shown, and the curtain behind them, are in the window manager's upper layer: whatever else is
    opened or brought to the front stays below it, at any moment. What is opened by the process that is shown is hidden
    until it was put there too.
    """

    def __init__(self, display: Display, pid: int) -> None:
        """Connect, and begin to watch.

        Args:
            display: The display.
            pid: The process whose windows are shown.

        Raises:
            SetupError: `no_display`.
        """
        from Xlib import X

        self._clear = self._focused = False
        self._focus = 0
        self._pid = pid
        self._x = connect(display.name, display.xauthority)
        self._root = self._x.screen().root
        self._owners: dict[int, int | None] = {}
        self._changed = True
        self._hinted = False
        """True where everything seems as it was, and the next look had better see to it."""
        self._order: list[int] = []
        self._met: set[int] | None = None
        self._newest: int | None = None
        self._root.change_attributes(event_mask=X.SubstructureNotifyMask | X.PropertyChangeMask)
        named = self._numbers(self._root, "_NET_SUPPORTING_WM_CHECK")
        self._manager = self._owner(named[0]) if named else None
        self._window = self._make()

    def fileno(self) -> int:
        """The connection: readable when something has changed."""
        return int(self._x.fileno())

    def close(self) -> None:
        """Take the curtain away, and let the windows be what they were."""
        with contextlib.suppress(Exception):  # the server may be gone
            for window in self._clients():
                if self._owner(window.id) == self._pid:
                    self._set_state(window, _REMOVE, "_NET_WM_STATE_ABOVE")
            self._x.sync()
        with contextlib.suppress(Exception):
            self._x.close()

    def draw(self) -> None:
        """Hang it, and bring what is shown before it."""
        self._window.map()
        self._meet_all()
        self._changed = True
        self.take_in()
        self.raise_shown()

    def raise_shown(self) -> None:
        """Ask the window manager to bring the uppermost window of the process to the front, with the keyboard.

        One that was just opened, which begins below all that is shown, is the uppermost.
        """
        from Xlib import X

        ours = [window for window in self._clients() if self._owner(window.id) == self._pid]
        if ours:
            front = next((window for window in ours if window.id == self._newest), ours[-1])
            self._ask(front, "_NET_ACTIVE_WINDOW", [_PAGER, X.CurrentTime, 0, 0, 0])
            self._x.sync()

    def look(self) -> Found:
        """See what holds at this moment, whatever has been told so far."""
        self._look_for_focus()  # behind its answer there is nothing that has happened before
        self._changed = self._changed or self._hinted
        self.take_in()
        return Found(self._clear, self._focused, self._focus)

    def take_in(self) -> None:
        """Take in what has changed, and put everything where it belongs."""
        for _ in range(_ROUNDS):
            told = self._read_events()
            if told and not self._changed:
                self._changed = self._numbers(self._root, _STACKING) != self._order
            if not self._changed:
                return
            self._changed = self._hinted = False
            self._arrange()  # what it changes comes back as an event, often at once
            self._look_for_focus()

    def _read_events(self) -> bool:
        """Read what the server has told; True where some of it may, or may not, be about the order of the windows."""
        from Xlib import X

        told = False
        while self._x.pending_events():
            event = self._x.next_event()
            self._on_event(event)
            if event.type == X.PropertyNotify:
                told = self._hinted = True  # window managers write the same order again at every click
            else:
                self._changed = True
        return told

    def _make(self) -> Any:
        from Xlib import X, Xatom, Xutil

        screen = self._x.screen()
        width, height = screen.width_in_pixels, screen.height_in_pixels
        window = self._root.create_window(
            0, 0, width, height, 0, X.CopyFromParent, background_pixel=screen.black_pixel, event_mask=X.ButtonPressMask
        )
        window.set_wm_class(CLASS, CLASS)
        window.set_wm_hints(flags=Xutil.InputHint, input=0)  # it never takes the keyboard
        window.set_wm_normal_hints(flags=Xutil.USPosition | Xutil.USSize, x=0, y=0, width=width, height=height)
        bare = self._x.intern_atom("_MOTIF_WM_HINTS")
        window.change_property(bare, bare, 32, [2, 0, 0, 0, 0])
        states = [self._x.intern_atom(f"_NET_WM_STATE_{name}") for name in ("ABOVE", "SKIP_TASKBAR", "SKIP_PAGER")]
        window.change_property(self._x.intern_atom("_NET_WM_STATE"), Xatom.ATOM, 32, states)
        return window

    def _on_event(self, event: Any) -> None:
        from Xlib import X

        if event.type == X.MapNotify and event.override:
            self._meet(event.window)
        elif event.type == X.ConfigureNotify and event.override and event.above_sibling != X.NONE:
            self._meet(event.window)  # it may have been raised again
        elif event.type == X.DestroyNotify:
            self._owners.clear()  # another program may get the numbers of one that has ended

    def _meet(self, window: Any) -> None:
        """A menu or the like, which no window manager keeps below: another program's goes to the bottom at once."""
        from Xlib import X

        if self._owner(window.id) not in (self._pid, self._manager):
            window.configure(stack_mode=X.Below, onerror=_gone())
            self._x.flush()

    def _meet_all(self) -> None:
        from Xlib import X, error

        for window in self._root.query_tree().children:
            with contextlib.suppress(error.XError):
                attributes = window.get_attributes()
                if attributes.override_redirect and attributes.map_state == X.IsViewable:
                    self._meet(window)

    def _arrange(self) -> None:
        clients = self._clients()
        self._order = [window.id for window in clients]
        ours = [at for at, window in enumerate(clients) if self._owner(window.id) == self._pid]
        curtain = next((at for at, window in enumerate(clients) if window.id == self._window.id), -1)
        for at, window in enumerate(clients):
            if at != curtain:
                self._put(window, shown=at in ours)
        self._note_newest([clients[at].id for at in ours])
        others = [at for at in range(len(clients)) if at not in ours and at != curtain]
        self._clear = bool(ours) and max(others, default=-1) < curtain < ours[0]
        if not self._clear and curtain >= 0 and ours and curtain > ours[0]:
            self._x.sync()
            self.raise_shown()
        self._x.sync()

    def _note_newest(self, ours: list[int]) -> None:
        """Remember a window that has been opened, until it was in front once."""
        came = [] if self._met is None else [each for each in ours if each not in self._met]
        self._newest = came[-1] if came else self._newest
        if self._newest not in ours[:-1]:
            self._newest = None
        self._met = set(ours)

    def _put(self, window: Any, *, shown: bool) -> None:
        """Keep what is shown in the upper layer, and everything else out of it."""
        states = self._numbers(window, "_NET_WM_STATE")
        above = self._x.get_atom("_NET_WM_STATE_ABOVE")
        if shown and above not in states:
            self._set_state(window, _ADD, "_NET_WM_STATE_ABOVE")
        for name in () if shown else ("_NET_WM_STATE_ABOVE", "_NET_WM_STATE_FULLSCREEN"):
            if self._x.get_atom(name) in states:
                self._set_state(window, _REMOVE, name)

    def _set_state(self, window: Any, what: int, name: str) -> None:
        self._ask(window, "_NET_WM_STATE", [what, self._x.get_atom(name), 0, _PAGER, 0])

    def _ask(self, window: Any, what: str, data: list[int]) -> None:
        from Xlib import X
        from Xlib.protocol import event

        ask = event.ClientMessage(window=window, client_type=self._x.get_atom(what), data=(32, data))
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        self._root.send_event(ask, event_mask=mask, onerror=_gone())

    def _clients(self) -> list[Any]:
        """The managed windows, the lowest first."""
        numbers = self._numbers(self._root, _STACKING)
        return [self._x.create_resource_object("window", number) for number in numbers]

    def _numbers(self, window: Any, name: str) -> list[int]:
        from Xlib import error

        try:
            found = window.get_full_property(self._x.get_atom(name), 0)
        except error.XError:
            return []  # it has vanished
        return [int(number) for number in found.value] if found else []

    def _look_for_focus(self) -> None:
        from Xlib import X

        focus = self._x.get_input_focus().focus
        nobody = focus in (X.NONE, X.PointerRoot)
        self._focus = int(focus) if nobody else int(focus.id)
        self._focused = not nobody and self._owner(self._focus) == self._pid

    def _owner(self, window_id: int) -> int | None:
        """The process of a window, as the server knows it."""
        from Xlib import error
        from Xlib.ext import res

        client = window_id & ~int(self._x.display.info.resource_id_mask)
        if client not in self._owners:
            try:
                answer = self._x.res_query_client_ids([{"client": window_id, "mask": res.LocalClientPIDMask}])
            except error.XError:
                return None
            self._owners[client] = next((int(each.value[0]) for each in answer.ids if each.value), None)
        return self._owners[client]


def _gone() -> Any:
    from Xlib import error

    return error.CatchError(error.BadWindow, error.BadMatch)
