"""What programs outside a workflow use."""

from user_handoff.client.client import HandoffClient
from user_handoff.client.connection import DEFAULT_ADDRESS, connect_temporal
from user_handoff.client.desktop import DesktopClient

__all__ = ["DEFAULT_ADDRESS", "DesktopClient", "HandoffClient", "connect_temporal"]
