"""Fault injection: processes that race for one ledger, and processes that are killed at every step of a handoff."""
