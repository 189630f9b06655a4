"""The processes that poll: wiring only."""
