"""The desktop itself: browsers, surfaces, the reservation, input and snapshots. Knows no Temporal."""

from user_handoff.desktop.permits import permit

__all__ = ["permit"]
