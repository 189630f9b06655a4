"""The files of evidence: segments of records, the head of the chain, and pictures."""

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile
from zipfile import Path as ZipPath

FOLDER: Final = "evidence"
"""Within a desktop's folder."""

HEAD: Final = "head.json"
PICTURES: Final = "pictures"
LOCK: Final = "writer.lock"

LINE_BYTES: Final = 1 << 20
"""No record is longer."""

Place = Path | ZipPath
"""A folder, or an export that was packed."""

DAMAGED: Final = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What reading an export raises that was packed and then changed, or that is nested too deeply."""

_SEGMENT: Final = re.compile(r"(\d{12})\.jsonl")


@dataclass(frozen=True, slots=True)
class Head:
    """The last record, as it is kept beside the records.

    Attributes:
        n: Its number.
        hash: Its hash.
    """

    n: int
    hash: str

    def encode(self) -> bytes:
        """As it is in the file."""
        return json.dumps({"n": self.n, "hash": self.hash}).encode() + b"\n"


def segment_name(first: int) -> str:
    """The name of the segment whose first record has this number."""
    return f"{first:012d}.jsonl"


def segments(place: Place) -> list[Any]:
    """The segments, oldest first."""
    found = [each for each in place.iterdir() if _SEGMENT.fullmatch(each.name) and each.is_file()]
    return sorted(found, key=lambda each: each.name)


def read_head(place: Place) -> Head | None:
    """The head; None where there is none that can be read."""
    file = place / HEAD
    try:
        if not file.is_file():
            return None
        with file.open("rb") as opened:
            found = json.loads(opened.read(LINE_BYTES))
        return Head(int(found["n"]), str(found["hash"]))
    except (*DAMAGED, OSError, ValueError, KeyError, TypeError, OverflowError):
        return None


def lines(segment: Place) -> Iterator[tuple[bytes, bool]]:
    """Each line of a segment without its end, and whether it has one: the last may be half-written.

    Behind a line that is longer than any record nothing is read, and of it no more than tells that.
    """
    with segment.open("rb") as file:
        while line := file.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES:
                yield line, True
                return
            yield (line[:-1], True) if line.endswith(b"\n") else (line, False)


def picture_file(place: Place, sha256: str) -> Any:
    """Where a picture is."""
    return place / PICTURES / f"{sha256}.png"
