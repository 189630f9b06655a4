"""Is the display there, and does its cookie let us in? Chromium itself would only say that it ended."""

import os

from Xlib.display import Display
from Xlib.error import ConnectionClosedError, DisplayError, XauthError

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.host.spec import HostSpec


def check_display(spec: HostSpec) -> None:
    """Open the display once. It sets XAUTHORITY for this process.

    Raises:
        SetupError: `no_display`.
    """
    if spec.xauthority is not None:
        os.environ["XAUTHORITY"] = str(spec.xauthority)
    try:
        Display(spec.display).close()
    except (DisplayError, XauthError, ConnectionClosedError, OSError) as error:
        raise SetupError(
            ErrorCode.NO_DISPLAY,
            f"The display {spec.display} cannot be opened ({type(error).__name__}).",
            holds="Nothing was started.",
            do_next="Check that it is there and that its cookie file is the right one, or start a virtual one.",
        ) from error
