"""How many descriptors this process has open."""

from pathlib import Path


def handles() -> int:
    """All of them, of sockets and files."""
    return len(list(Path("/proc/self/fd").iterdir()))
