"""Saved states: what sites know of a login, kept in private files for a later browser."""
