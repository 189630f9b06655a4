"""A picture of a display."""

import io

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.display.binding import bind
from user_handoff.desktop.display.display import Display


def grab(display: Display) -> bytes:
    """Take it (PNG); nothing in it is masked.

    Raises:
        SetupError: `no_display`.
    """
    bind(display)
    from PIL import ImageGrab

    try:
        picture = ImageGrab.grab(xdisplay=display.name)
    except OSError as error:
        raise make_error(
            ErrorCode.NO_DISPLAY,
            f"No picture of the X display {display.name} can be taken: {error}.",
            holds="Nothing was done.",
            do_next="See that the display runs.",
        ) from error
    out = io.BytesIO()
    picture.save(out, format="PNG", compress_level=1)
    return out.getvalue()
