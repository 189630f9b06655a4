"""Thin activities: one function per thing a workflow asks of the world."""
