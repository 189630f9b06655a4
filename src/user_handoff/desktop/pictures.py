"""Pictures, which stay on the desktop."""

import asyncio
import hashlib
import struct
from pathlib import Path

from user_handoff.contract.browser import Picture
from user_handoff.contract.ids import new_id
from user_handoff.desktop.state import write_private


async def keep_picture(folder: Path, name: str, content: bytes) -> Picture:
    """Write a picture where only this user can read it.

    Args:
        folder: The folder of pictures.
        name: What its file's name begins with.
        content: The picture (PNG).
    """
    path = folder / f"{name}-{new_id('i')}.png"
    await asyncio.to_thread(write_private, path, content)
    width, height = struct.unpack(">II", content[16:24])
    return Picture(path=str(path), sha256=hashlib.sha256(content).hexdigest(), width=width, height=height)
