"""The same server and desktop as the workflows' tests."""

from tests.workflows.conftest import client, handoffs, server

__all__ = ["client", "handoffs", "server"]
