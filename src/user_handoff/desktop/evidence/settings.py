"""How evidence is kept, by the operator's word."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from user_handoff.contract.errors import ErrorCode, make_error

PICTURES_VARIABLE: Final = "HANDOFF_EVIDENCE_PICTURES"
SIZE_VARIABLE: Final = "HANDOFF_EVIDENCE_SIZE"

_SIZE: Final = re.compile(r"(\d{1,6})(KB|MB|GB)")
_UNITS: Final = {"KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
_ALL: Final = "unlimited"


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How evidence is kept.

    Attributes:
        pictures: Keep a picture before and after each change of control. Off unless it is asked for: what is typed is
            masked in it, and what else a page shows a person is not.
        most_bytes: How much is kept before the oldest goes; None: all, until its time is over.
    """

    pictures: bool = False
    most_bytes: int | None = 256_000_000

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> "EvidenceSettings":
        """By the environment.

        Raises:
            Refused: `invalid_request`: a variable says nothing that is known.
        """
        pictures = environ.get(PICTURES_VARIABLE, "").strip() or "0"
        if pictures not in ("0", "1"):
            raise _wrong(f"{PICTURES_VARIABLE} is neither 0 nor 1.", "Give 1 to keep pictures, or 0.")
        return cls(pictures == "1", _bytes(environ.get(SIZE_VARIABLE, "").strip()))


def _bytes(text: str) -> int | None:
    if not text:
        return EvidenceSettings().most_bytes
    if text == _ALL:
        return None
    match = _SIZE.fullmatch(text.upper())
    if match is None:
        raise _wrong(
            f"{SIZE_VARIABLE} is no size such as 256MB, and not {_ALL}.", "Give a whole number and KB, MB or GB."
        )
    return int(match[1]) * _UNITS[match[2]]


def _wrong(what: str, do_next: str) -> Exception:
    return make_error(ErrorCode.INVALID_REQUEST, what, holds="Nothing was started.", do_next=do_next)
