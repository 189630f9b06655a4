"""A program with windows, as a process of its own: reads its windows from argv, says their ids, then does as told.

Usage: xclient.py '[{"title": "a", "class": "token", "bounds": [10, 10, 300, 200]}]'
Each line on stdin is a request; each answer is a line of JSON on stdout: ids, then what was typed.
"""

import json
import select
import sys
from typing import Any

from Xlib import X, Xatom, Xutil, display


def make(x: Any, spec: dict[str, Any], earlier: list[Any]) -> Any:
    left, top, width, height = spec["bounds"]
    parent = x.screen().root
    window = parent.create_window(
        left,
        top,
        width,
        height,
        0,
        X.CopyFromParent,
        override_redirect=spec.get("unmanaged", False),
        event_mask=X.KeyPressMask | X.StructureNotifyMask | X.ButtonPressMask,
        background_pixel=x.screen().white_pixel,
    )
    window.set_wm_name(spec.get("title", ""))
    if spec.get("class"):
        window.set_wm_class(spec["class"], spec["class"])
    if spec.get("role", "browser"):
        window.change_property(x.intern_atom("WM_WINDOW_ROLE"), Xatom.STRING, 8, spec.get("role", "browser").encode())
    kind = x.intern_atom(f"_NET_WM_WINDOW_TYPE_{spec.get('type', 'NORMAL')}")
    window.change_property(x.intern_atom("_NET_WM_WINDOW_TYPE"), Xatom.ATOM, 32, [kind])
    bare = [2, 0, 0, 0, 0]  # no decorations, as Chromium asks
    window.change_property(x.intern_atom("_MOTIF_WM_HINTS"), x.intern_atom("_MOTIF_WM_HINTS"), 32, bare)
    if "pid" in spec:
        window.change_property(x.intern_atom("_NET_WM_PID"), Xatom.CARDINAL, 32, [spec["pid"]])
    if "transient_for" in spec:
        window.set_wm_transient_for(earlier[spec["transient_for"]])
    window.set_wm_normal_hints(flags=Xutil.USPosition, x=left, y=top, width=width, height=height)
    window.map()
    return window


def typed(x: Any) -> str:
    """The characters of the key presses that have come so far."""
    text = ""
    x.sync()
    while x.pending_events():
        event = x.next_event()
        if event.type == X.KeyPress:
            symbol = x.keycode_to_keysym(event.detail, 1 if event.state & X.ShiftMask else 0)
            prefix = "^" if event.state & X.ControlMask else ""
            text += prefix + {0xFF0D: "\n", 0xFF09: "\t"}.get(symbol, chr(symbol) if symbol < 0x100 else "")
        elif event.type == X.ButtonPress:
            text += f"[{event.root_x},{event.root_y}]"
    return text


def main() -> None:
    x = display.Display()
    windows: list[Any] = []
    for spec in json.loads(sys.argv[1]):
        windows.append(make(x, spec, windows))
    x.sync()
    print(json.dumps([window.id for window in windows]), flush=True)
    text = ""
    while True:
        if not select.select([sys.stdin, x.fileno()], [], [])[0]:
            continue
        text += typed(x)
        if not select.select([sys.stdin], [], [], 0)[0]:
            continue
        request = json.loads(sys.stdin.readline() or '["exit"]')
        match request:
            case ["destroy", *numbers]:
                for number in numbers:
                    windows[number].destroy()
                    x.flush()
            case ["iconify", int(number)]:
                minimise(x, windows[number])
            case ["focus", int(number)]:
                windows[number].set_input_focus(X.RevertToParent, X.CurrentTime)
            case ["typed"]:
                pass
            case _:
                return
        x.sync()
        print(json.dumps(text), flush=True)


def minimise(x: Any, window: Any) -> None:
    from Xlib.protocol import event

    ask = event.ClientMessage(
        window=window, client_type=x.intern_atom("WM_CHANGE_STATE"), data=(32, [Xutil.IconicState, 0, 0, 0, 0])
    )
    mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
    x.screen().root.send_event(ask, event_mask=mask)


main()
