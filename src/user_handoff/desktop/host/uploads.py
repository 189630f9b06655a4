"""The files that agents give to pages: what is given is the file that was looked at, whatever takes its place later."""

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.state import private_folder


class Uploads:
    """One folder that agents may name files of, and another one, out of their reach, from which pages get them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._given = folder.with_name("given")

    def give(self, files: object) -> list[str]:
        """Where a page finds these files.

        Raises:
            HandoffError: `invalid_request`: they are no files. `forbidden`: they are not of the folder.
        """
        if not isinstance(files, list) or not all(isinstance(each, str) for each in files):
            raise make_error(ErrorCode.INVALID_REQUEST, "the files are not a list of paths")
        return [self._one(Path(each)) for each in files]

    def _one(self, path: Path) -> str:
        try:
            with _opened(path) as (handle, real):
                if not real.is_relative_to(self._folder.resolve()):
                    raise self._forbidden()
                return self._keep(handle, path.name)
        except (OSError, ValueError):
            raise make_error(ErrorCode.INVALID_REQUEST, "one of the files cannot be read, or is none") from None

    def _keep(self, handle: int, name: str) -> str:
        kept = private_folder(self._given / secrets.token_hex(8))
        to = os.open(kept, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.link(f"/proc/self/fd/{handle}", name, dst_dir_fd=to)  # with a folder, it is the open file that is linked
        except OSError:
            with open(handle, "rb", closefd=False) as source, (kept / name).open("xb") as target:
                shutil.copyfileobj(source, target)
        finally:
            os.close(to)
        return str(kept / name)

    def _forbidden(self) -> Exception:
        return make_error(ErrorCode.FORBIDDEN, f"a page is given files of one folder alone: {self._folder}")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[int, Path]]:
    """A file, and where it really is."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("no file")
        yield handle, Path(f"/proc/self/fd/{handle}").readlink()
    finally:
        os.close(handle)
