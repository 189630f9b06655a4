"""Searches what is left behind for secrets, in the forms in which text is commonly stored."""

import base64
import json
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROFILE_FILES = ("Login Data", "Login Data For Account", "Web Data", "Preferences", "History")
"""The parts of Chromium's own profile that are searched: its cookie store and caches are the browser's business."""

_MARKS_OF_A_PROFILE = ("Local State", "Default/Preferences")


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret that was found.

    Attributes:
        kind: What it was, such as ``password``: never the secret itself.
        where: The file or process.
    """

    kind: str
    where: str


def forms(secret: str) -> frozenset[bytes]:
    """The encodings in which a secret is looked for: raw, quoted, escaped, UTF-16 and base64 at every alignment."""
    raw = secret.encode()
    found = {
        raw,
        secret.encode("utf-16-le"),
        urllib.parse.quote(secret, safe="").encode(),
        urllib.parse.quote_plus(secret).encode(),
        json.dumps(secret)[1:-1].encode(),
        raw.hex().encode(),
    }
    for shift in range(3):
        # Characters that a neighbour of the secret takes part in say nothing: drop them.
        text = base64.b64encode(b"\0" * shift + raw)
        end = len(text) if (shift + len(raw)) % 3 == 0 else len(text) - 4
        found.add(text[(0, 2, 3)[shift] : end])
    return frozenset(found)


def search_files(secrets: Mapping[str, Sequence[str]], roots: Iterable[Path]) -> list[Leak]:
    """Search every file below some folders, and each browser profile as `PROFILE_FILES` says.

    Args:
        secrets: Values by kind.
        roots: Files and folders.
    """
    wanted = {kind: [form for value in values for form in forms(value)] for kind, values in secrets.items()}
    found = []
    for path in _files(roots):
        content = path.read_bytes()
        found += [Leak(kind, str(path)) for kind, needles in wanted.items() if any(n in content for n in needles)]
    return found


def search_text(secrets: Mapping[str, Sequence[str]], name: str, text: str) -> list[Leak]:
    """Search a text, such as a snapshot, a command line or what was printed."""
    content = text.encode()
    return [
        Leak(kind, name)
        for kind, values in secrets.items()
        if any(form in content for value in values for form in forms(value))
    ]


def _files(roots: Iterable[Path]) -> Iterator[Path]:
    for root in roots:
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.is_file() and not path.is_symlink() and _is_searched(path, root):
                yield path


def _is_searched(path: Path, root: Path) -> bool:
    for folder in path.parents:
        if any((folder / mark).exists() for mark in _MARKS_OF_A_PROFILE):
            return path.name.removesuffix("-journal").removesuffix("-wal") in PROFILE_FILES
        if folder == root:
            return True
    return True
