"""The tools of an agent, one implementation for every door."""
