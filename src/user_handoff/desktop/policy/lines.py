"""On which line of a TOML text something stands: its parser does not say."""

import re

_TABLE = re.compile(r"^\s*(?P<many>\[)?\[\s*(?P<path>[^\[\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*(?P<path>(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")

Path = tuple[str | int, ...]


def line_of(text: str, path: Path) -> int:
    """The line of a key, or of the nearest thing around it that has one; 1 where nothing has.

    Args:
        text: The TOML text.
        path: Keys, and positions in arrays of tables. Parts that the text does not have are passed over.
    """
    lines = _lines(text)
    found = 1
    here: Path = ()
    for part in path:
        if (*here, part) in lines:
            here = (*here, part)
            found = lines[here]
    return found


def _lines(text: str) -> dict[Path, int]:
    lines: dict[Path, int] = {}
    many: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _TABLE.match(line):
            table = _placed(_parts(header["path"]), many)
            if header["many"]:
                many[table] = many.get(table, -1) + 1
                table = (*table, many[table])
                lines.setdefault(table[:-1], number)
            for length in range(1, len(table) + 1):
                lines.setdefault(table[:length], number)
        elif key := _KEY.match(line):
            path = (*table, *_parts(key["path"]))
            for length in range(len(table) + 1, len(path) + 1):
                lines.setdefault(path[:length], number)
    return lines


def _placed(parts: Path, many: dict[Path, int]) -> Path:
    """A table within the latest one of an array is that one's."""
    path: Path = ()
    for part in parts[:-1]:
        path = (*path, part)
        if path in many:
            path = (*path, many[path])
    return (*path, parts[-1])


def _parts(path: str) -> Path:
    return tuple(part.strip("\"'") for part in _PART.findall(path))
