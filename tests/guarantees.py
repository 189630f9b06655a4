"""Which test shows which guarantee, by the docstrings of the tests. `python -m tests.guarantees` renews the page."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guarantees.md"
NOT_YET = "not yet"
SHOWN = 3

_ROW = re.compile(r"^\| (?P<id>[A-F]\d{1,2}|K\d\d) \| (?P<what>[^|]+) \| (?P<shown>[^|]+) \|$")
_ID = re.compile(r"\b(?:[A-F]\d{1,2}|K\d\d)\b")
_STRONGEST_FIRST = ("e2e", "desktop", "gateway", "worker", "workflows", "cli")


def shown_by() -> dict[str, list[str]]:
    """For each row or case the tests that name it, those on the most real parts first."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(Path(ROOT / "tests").rglob("test_*.py"), key=_strength):
        for name, said in _said(file):
            for row in dict.fromkeys(_ID.findall(said)):
                found[row].append(f"{file.relative_to(ROOT / 'tests')}::{name}")
    return found


def renewed(page: str) -> str:
    """The page with its last column as the tests have it now."""
    found = shown_by()
    return "".join(_renewed_line(line, found) for line in page.splitlines(keepends=True))


def named_on(page: str) -> dict[str, list[str]]:
    """For each row of the page the tests that it names."""
    rows = (_ROW.match(line) for line in page.splitlines())
    return {row["id"]: re.findall(r"`([^`]+)`", row["shown"]) for row in rows if row}


def _renewed_line(line: str, found: dict[str, list[str]]) -> str:
    row = _ROW.match(line.rstrip("\n"))
    if row is None:
        return line
    tests = found.get(row["id"], [])
    shown = ", ".join(f"`{test}`" for test in tests[:SHOWN])
    return f"| {row['id']} | {row['what']} | {shown or NOT_YET} |\n"


def _strength(file: Path) -> tuple[int, Path]:
    part = file.relative_to(ROOT / "tests").parts[0]
    return (_STRONGEST_FIRST.index(part) if part in _STRONGEST_FIRST else len(_STRONGEST_FIRST), file)


def _said(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            yield node.name, ast.get_docstring(node) or ""


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
