"""X servers alone: no keeper, no window manager."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from user_handoff.desktop.display.cookie import write_cookie
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.display.keeper import server_command


@contextmanager
def bare_server(folder: Path) -> Iterator[tuple[Display, subprocess.Popen[bytes]]]:
    """A server, for as long as the block runs."""
    cookie = folder / "Xauthority"
    write_cookie(cookie)
    reader, writer = os.pipe()
    command = server_command(writer, cookie, folder / "rfb", "800x600")
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, pass_fds=(writer,), stdout=log, stderr=log)
    os.close(writer)
    try:
        with os.fdopen(reader) as pipe:
            number = int(pipe.readline())
        yield Display(f":{number}", cookie, virtual=True, keeper=None), server
    finally:
        server.terminate()
        server.wait()
