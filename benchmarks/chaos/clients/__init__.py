"""Frameworks as they are, each driving one headed browser through a door: work, hold, release, kill and back."""
