"""Gestures in progress: what a client has pressed and not yet let go."""

from typing import Any

Params = dict[str, Any]

_OUTSIDE = {"x": -1, "y": -1}
"""Letting go of a button here clicks nothing that was under it."""

_KEY_FIELDS = ("key", "code", "windowsVirtualKeyCode", "nativeVirtualKeyCode", "location", "isKeypad")


class Gestures:
    """The pressed buttons, keys and touches of one session."""

    def __init__(self) -> None:
        self._buttons: dict[str, None] = {}
        self._keys: dict[str, Params] = {}
        self._touching = False
        self._dragging = False

    def __bool__(self) -> bool:
        return bool(self._buttons or self._keys or self._touching or self._dragging)

    def note(self, method: str, params: Params) -> None:
        """Note an input command that goes to the browser."""
        kind = params.get("type")
        if method == "Input.dispatchMouseEvent":
            self._note_mouse(kind, str(params.get("button", "none")))
        elif method == "Input.dispatchKeyEvent":
            self._note_key(kind, params)
        elif method == "Input.dispatchTouchEvent":
            self._touching = kind in ("touchStart", "touchMove") and bool(params.get("touchPoints"))
        elif method == "Input.dispatchDragEvent":
            self._dragging = kind in ("dragEnter", "dragOver")

    def ends(self, method: str, params: Params) -> bool:
        """True for a command that only lets go of what is pressed."""
        kind = params.get("type")
        if method == "Input.dispatchMouseEvent":
            return kind == "mouseReleased" and str(params.get("button", "none")) in self._buttons
        if method == "Input.dispatchKeyEvent":
            return kind == "keyUp" and _key(params) in self._keys
        return method == "Input.dispatchTouchEvent" and kind in ("touchEnd", "touchCancel") and self._touching

    def finish(self) -> list[tuple[str, Params]]:
        """The commands that let go of everything, without a click; nothing is pressed afterwards."""
        commands: list[tuple[str, Params]] = []
        if self._dragging:
            commands.append(("Input.cancelDragging", {}))
        for button in self._buttons:
            released = {"type": "mouseReleased", "button": button, "clickCount": 0, **_OUTSIDE}
            commands.append(("Input.dispatchMouseEvent", released))
        if self._touching:
            commands.append(("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []}))
        for pressed in self._keys.values():
            kept = {name: pressed[name] for name in _KEY_FIELDS if name in pressed}
            commands.append(("Input.dispatchKeyEvent", {"type": "keyUp", **kept}))
        self.__init__()  # type: ignore[misc]
        return commands

    def _note_mouse(self, kind: object, button: str) -> None:
        if kind == "mousePressed":
            self._buttons[button] = None
        elif kind == "mouseReleased":
            self._buttons.pop(button, None)

    def _note_key(self, kind: object, params: Params) -> None:
        if kind in ("keyDown", "rawKeyDown"):
            self._keys[_key(params)] = params
        elif kind == "keyUp":
            self._keys.pop(_key(params), None)


def _key(params: Params) -> str:
    return str(params.get("code") or params.get("key") or params.get("windowsVirtualKeyCode"))
