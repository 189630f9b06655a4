r"""The hash chain: how a record is written, and what its hash covers.

A record is one line of JSON in canonical form (as RFC 8785 writes it): the keys in the order of their code points, no
blanks, ``\b \t \n \f \r \" \\`` and ``\u00xx`` the only escapes, UTF-8. Keys are ASCII; a number is whole or has at
most three decimals, and is less than 10^12: of such every language writes the same. The hash of a record is the SHA-256
of its canonical form without ``hash``, in hexadecimal; ``previous`` is the hash of the record before it, and of the
first one 64 zeros. So no record can be changed, left out or put elsewhere, unless all that follow are made anew.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from user_handoff.desktop.evidence.folder import LINE_BYTES

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_MOST: Final = 10**12
GENESIS: Final = "0" * 64
"""What comes before the first record."""


class Broken(Exception):
    """A line is no record of a chain; says why, without quoting it."""


def canonical(value: Mapping[str, Any]) -> bytes:
    """The one way to write it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def hash_of(record: Mapping[str, Any]) -> str:
    """The hash of a record, whether it has one already or not."""
    return hashlib.sha256(canonical({key: value for key, value in record.items() if key != "hash"})).hexdigest()


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its hash."""
    return {**record, "hash": hash_of(record)}


def line_of(record: Mapping[str, Any]) -> bytes:
    """The line of a sealed record."""
    return canonical(record) + b"\n"


def record_of(line: bytes) -> dict[str, Any]:
    """Read a record back, by itself; whether it follows the one before it is another question.

    Args:
        line: The line, without its end.

    Raises:
        Broken: It is no record, or was changed.
    """
    if len(line) > LINE_BYTES:
        raise Broken("it is longer than any record")
    try:
        record: dict[str, Any] = json.loads(line)
        whole = isinstance(record, dict) and canonical(record) == line
    except (ValueError, RecursionError):
        raise Broken("it is no JSON") from None
    if not whole:
        raise Broken("it is not written as records are")
    if not _complete(record):
        raise Broken("it has not what every record has")
    if record["hash"] != hash_of(record):
        raise Broken("it was changed: its hash is another one")
    return record


def _complete(record: Mapping[str, Any]) -> bool:
    """True where everything that is read of a record is there, and of its type."""
    texts = [record.get(key) for key in ("at", "desktop_id", "event", "previous", "hash")]
    more = [record[key] for key in ("browser_id", "about", "picture") if key in record]
    counts = [record.get("n"), record.get("lost", 0), record.get("dropped", 0)]
    facts = record.get("facts")
    try:
        datetime.fromisoformat(str(record.get("at"))).timestamp()
    except (ValueError, OverflowError):
        return False
    return (
        all(type(text) is str for text in [*texts, *more])
        and all(type(count) is int and abs(count) < _MOST for count in counts)
        and isinstance(facts, dict)
        and all(_is_fact(value) for value in facts.values())
        and _DIGEST.fullmatch(record.get("picture", GENESIS)) is not None
    )


def _is_fact(value: object) -> bool:
    return type(value) in (str, bool) or (type(value) in (int, float) and abs(value) < _MOST)  # type: ignore[arg-type]
