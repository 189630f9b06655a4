"""Durable and deterministic: what happens, in which order."""
