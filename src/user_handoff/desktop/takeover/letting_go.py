"""Releasing whatever is pressed on a virtual display, whoever pressed it and is gone."""

import asyncio
import contextlib

from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.view.picture import Picture
from user_handoff.desktop.view.rfb import pointer

_BUTTONS = 0x1F00
_SECONDS = 2.0


def let_go(display: Display) -> bool:
    """Release every key and button that is down.

    Args:
        display: A virtual one: on another the keys are under a person's own fingers.

    Returns:
        True where something was down.

    Raises:
        SetupError: `no_display`: the display is gone, and all that was pressed on it.
    """
    from Xlib import X
    from Xlib.ext import xtest

    with connection(display.name, display.xauthority) as x:
        held = [8 * index + bit for index, byte in enumerate(x.query_keymap()) for bit in range(8) if byte >> bit & 1]
        for code in held:
            xtest.fake_input(x, X.KeyRelease, code)
        found = x.screen().root.query_pointer()
        x.sync()
    pressed = bool(found.mask & _BUTTONS)
    if pressed and display.rfb_socket is not None:
        asyncio.run(_release_buttons(display, found.root_x, found.root_y))
    return bool(held) or pressed


async def _release_buttons(display: Display, x: int, y: int) -> None:
    """By the server's own protocol: it keeps the buttons of a viewer who is gone, and takes no other release of them.

    The viewer is gone with the process that passed on what they did: while that lives, the server hears nobody else.
    """
    assert display.rfb_socket is not None
    with contextlib.suppress(HandoffError, TimeoutError):
        async with asyncio.timeout(_SECONDS):
            picture = await Picture.open(display.rfb_socket)
            try:
                picture.write(pointer(0, x, y).data)
                await picture.settled()
            finally:
                await picture.close()
