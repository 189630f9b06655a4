"""A copy of the evidence, to be kept and verified elsewhere: records, pictures, the head, and the timeline."""

import contextlib
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.evidence.chain import Broken, record_of
from user_handoff.desktop.evidence.folder import DAMAGED, HEAD, PICTURES, Place, lines, segments
from user_handoff.desktop.evidence.lanes import Record
from user_handoff.desktop.evidence.page import timeline
from user_handoff.desktop.evidence.verify import Verdict, Verifier
from user_handoff.desktop.state import private_folder, write_private

TIMELINE: Final = "timeline.html"


def read_records(place: Place) -> Iterator[Record]:
    """Every record that can be read, in order; whether the chain holds is another question."""
    for segment in [place] if place.is_file() else segments(place):
        with contextlib.suppress(*DAMAGED):
            for line, _ in lines(segment):
                with contextlib.suppress(Broken):
                    yield record_of(line)


def export(folder: Path, to: Path, *, pictures: bool) -> Verdict:
    """Copy the evidence of a desktop.

    Args:
        folder: The evidence.
        to: A new folder, or a new file that ends in ``.zip``; private either way.
        pictures: Copy pictures too, and show them in the timeline.

    Returns:
        Whether the copy verifies.

    Raises:
        Refused: `invalid_request`: something is there already.
        SetupError: `state_unwritable`.
    """
    if to.exists() or to.is_symlink():
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"{to} is there already.",
            holds="Nothing was written.",
            do_next="Name another file or folder.",
        )
    if to.suffix != ".zip":
        return _copy(folder, private_folder(to), pictures)
    with TemporaryDirectory(dir=to.parent, prefix=".evidence-") as beside:
        verdict = _copy(folder, Path(beside) / to.stem, pictures)
        packed = Path(beside) / "packed"
        packed.touch(mode=0o600)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted((Path(beside) / to.stem).rglob("*")):
                archive.write(file, file.relative_to(Path(beside) / to.stem))
        packed.replace(to)
    return verdict


def _copy(folder: Path, to: Path, pictures: bool) -> Verdict:
    private_folder(to)
    # the head first: what is written meanwhile only comes after it
    if (folder / HEAD).exists():
        write_private(to / HEAD, (folder / HEAD).read_bytes())
    for segment in segments(folder):
        write_private(to / segment.name, segment.read_bytes())
    if pictures and (folder / PICTURES).is_dir():
        for picture in (folder / PICTURES).glob("*.png"):
            shutil.copyfile(picture, private_folder(to / PICTURES) / picture.name)
            (to / PICTURES / picture.name).chmod(0o600)
    verdict = Verifier(to).verify()
    page = timeline(read_records(to), verdict, to if pictures else None)
    write_private(to / TIMELINE, page.encode())
    return verdict
