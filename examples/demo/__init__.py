"""The demo: an agent meets a login wall, a person takes over, the agent finishes its task."""
