"""Evidence for as long as a desktop runs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib.metadata import version
from pathlib import Path

from user_handoff.desktop.evidence.folder import FOLDER
from user_handoff.desktop.evidence.outside import FILE, OutsideNotes
from user_handoff.desktop.evidence.store import Evidence


@contextlib.asynccontextmanager
async def keeping(
    folder: Path, desktop_id: str, *, virtual: bool, pictures: bool, stays: bool
) -> AsyncIterator[Evidence]:
    """Keep evidence while the block runs; begin and end of it are noted.

    Args:
        folder: The desktop's.
        desktop_id: Its id.
        virtual: Whether its display is a private one.
        pictures: Whether pictures are kept too.
        stays: Whether browsers and holds stay at the end.
    """
    evidence = Evidence(folder / FOLDER, desktop_id, outside=OutsideNotes(folder / FILE, desktop_id))
    evidence.note("runner_start", version=version("user-handoff"), virtual=virtual, pictures=pictures)
    try:
        yield evidence
    finally:
        evidence.note("runner_stop", kept=stays)
        await asyncio.to_thread(evidence.close)
