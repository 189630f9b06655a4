"""Which finder serves a display."""

import os
import sys

from user_handoff.desktop.display.display import Display
from user_handoff.desktop.surfaces.base import NoSurfaces, SurfaceFinder
from user_handoff.desktop.surfaces.quartz import QuartzSource
from user_handoff.desktop.surfaces.source import SourceSurfaces, WindowSource
from user_handoff.desktop.surfaces.win32 import Win32Source
from user_handoff.desktop.surfaces.x11 import X11Surfaces

UNPROVEN_VARIABLE = "HANDOFF_UNPROVEN_SURFACES"
"""The environment variable that switches on the finders which were not shown on a real machine."""

_UNPROVEN: dict[str, tuple[str, type[WindowSource]]] = {
    "win32": ("Windows", Win32Source),
    "darwin": ("macOS", QuartzSource),
}


def choose_surfaces(display: Display) -> SurfaceFinder:
    """The finder of exact windows on this display, or one that says why there is none."""
    if sys.platform not in _UNPROVEN:
        return X11Surfaces(display)
    system, source = _UNPROVEN[sys.platform]
    if os.environ.get(UNPROVEN_VARIABLE) == "1":
        return SourceSurfaces(source())
    return NoSurfaces(
        f"exact windows on {system} were not shown on a real machine yet ({UNPROVEN_VARIABLE}=1 uses them all the same)"
    )
