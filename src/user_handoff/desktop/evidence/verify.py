"""Does the chain hold? Every record by itself, each after the one before it, and the end as the head says.

What a chain alone cannot show: whoever may write to the folder can make all records from some point on anew, head and
all, or delete the whole of it. Against that, keep the head elsewhere (`handoff evidence export` prints it), and verify
with it.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from user_handoff.desktop.evidence.chain import GENESIS, Broken, record_of
from user_handoff.desktop.evidence.events import REMOVED
from user_handoff.desktop.evidence.folder import (
    DAMAGED,
    PICTURES,
    Head,
    Place,
    lines,
    picture_file,
    read_head,
    segments,
)

_NO_PICTURES = "The pictures are not beside the records."


@dataclass
class Verdict:
    """What was found.

    Attributes:
        problem: The first thing that does not fit; None where all does.
        where: The file and the line of it.
        records: How many were read that fit.
        first: The number of the first one.
        head: The last record that fits.
        lost: How many records could not be kept, as the records themselves say.
        remarks: What an auditor should know beside.
    """

    problem: str | None = None
    where: str = ""
    records: int = 0
    first: int | None = None
    head: Head | None = None
    lost: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """True where all fits."""
        return self.problem is None


class _Misfit(Exception):
    pass


class Verifier:
    """Reads a chain from its beginning to its end."""

    def __init__(self, place: Place, known: str | None = None) -> None:
        """Look at a folder, an export or a single segment.

        Args:
            place: Which.
            known: The hash of a record that must be in it, kept from earlier; None: none is known.
        """
        self._place = place
        self._known = known
        self._verdict = Verdict()
        self._wanted: set[str | None] = set()
        self._start: tuple[int, str] | None = None
        self._removed: set[tuple[int, str]] = set()
        self._seen: set[str] = set()
        self._where = ""

    def verify(self) -> Verdict:
        """Say whether it holds.

        Raises:
            OSError: It cannot be read.
        """
        alone = self._place.is_file()
        # the head first: what is written meanwhile only comes after it
        head = None if alone else read_head(self._place)
        self._wanted = {self._known, None if head is None else head.hash}
        try:
            for record in self._read([self._place] if alone else segments(self._place)):
                self._check(record, alone)
            self._where = ""
            self._check_start(alone)
            if not alone:
                self._check_end(head)
            if self._known is not None and self._known not in self._seen:
                raise _Misfit("the record that is known from elsewhere is not in it: it was made anew or cut off")
        except _Misfit as misfit:
            self._verdict.problem, self._verdict.where = str(misfit), self._where
        except DAMAGED:
            self._verdict.problem, self._verdict.where = "what was packed cannot be unpacked", self._where
        return self._verdict

    def _read(self, found: list[Any]) -> Iterator[dict[str, Any]]:
        if not found:
            self._verdict.remarks.append("There are no records.")
        for segment in found:
            for number, (line, whole) in enumerate(lines(segment), 1):
                self._where = f"{segment.name}, line {number}"
                if not whole and segment == found[-1]:
                    self._verdict.remarks.append("A half-written record is at the end; it was acknowledged to nobody.")
                    continue
                try:
                    yield record_of(line)
                except Broken as broken:
                    raise _Misfit(f"{self._expected()} does not fit: {broken}") from None

    def _check(self, record: dict[str, Any], alone: bool) -> None:
        n, last = record["n"], self._verdict.head
        if last is None:
            self._verdict.first = n
            self._start = (n - 1, record["previous"])
        elif n != last.n + 1:
            raise _Misfit(f"{self._expected()} is missing: record {n} is in its place")
        elif record["previous"] != last.hash:
            raise _Misfit(f"record {n} does not follow record {last.n}: one of them was made anew")
        if not alone and "picture" in record:
            self._check_picture(n, str(record["picture"]))
        if record["event"] == REMOVED:
            self._removed.add((record["facts"].get("last", 0), record["facts"].get("last_hash", "")))
        if record["hash"] in self._wanted:
            self._seen.add(record["hash"])
        self._verdict.head = Head(n, record["hash"])
        self._verdict.records += 1
        self._verdict.lost += record.get("lost", 0)

    def _expected(self) -> str:
        last = self._verdict.head
        return "the first record" if last is None else f"record {last.n + 1}"

    def _check_picture(self, n: int, sha256: str) -> None:
        file = picture_file(self._place, sha256)
        if not (self._place / PICTURES).exists():
            if _NO_PICTURES not in self._verdict.remarks:
                self._verdict.remarks.append(_NO_PICTURES)
        elif not file.is_file():
            raise _Misfit(f"the picture of record {n} is missing")
        elif hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
            raise _Misfit(f"the picture of record {n} was changed")

    def _check_start(self, alone: bool) -> None:
        if self._start is None or self._start == (0, GENESIS):
            return
        first = self._start[0] + 1
        if alone:
            self._verdict.remarks.append(f"It begins with record {first}: what comes before is not here.")
        elif self._start in self._removed:
            self._verdict.remarks.append(f"The records before {first} were deleted in their time.")
        else:
            raise _Misfit(f"the records before {first} are missing, and no record says that they were deleted in time")

    def _check_end(self, head: Head | None) -> None:
        last = self._verdict.head
        if head is None:
            if last is not None:
                raise _Misfit("the head is missing: whether records were cut off at the end cannot be told")
            return
        if last is None or last.n < head.n:
            raise _Misfit(f"the records from {1 if last is None else last.n + 1} to {head.n} are cut off at the end")
        if head.hash not in self._seen:
            raise _Misfit(f"record {head.n} is another one than the head says: records were made anew")
