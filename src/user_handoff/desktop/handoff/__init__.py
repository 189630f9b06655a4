"""Holds: how a browser is given to a person and taken back, on the desktop that has it."""
