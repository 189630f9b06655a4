"""The `handoff` command."""
