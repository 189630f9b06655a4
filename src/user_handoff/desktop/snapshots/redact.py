"""Withholding what a person typed from the text of a page: the one redactor of what a desktop says of pages."""

import json
import re
from collections.abc import Iterable

from user_handoff.desktop.snapshots.echoes import Echoes
from user_handoff.desktop.urls import redact_link

_EDITABLE = re.compile(
    r"^(?P<indent>\s*)- (?P<head>(?:textbox|searchbox|spinbutton|combobox|slider)"
    r'(?: "(?:[^"\\]|\\.)*")?(?: \[[^\]]*\])*)(?P<colon>:)?(?P<value>.*)$'
)
_FIELDS = ("- textbox", "- searchbox", "- spinbutton", "- combobox", "- slider")
_LINK = re.compile(r"^(?P<head>\s*- /url: )(?P<link>.+)$")
_KEPT_CHILDREN = ("- /placeholder:", "- option", "- listbox", "- group")
_CONTENT = re.compile(
    r'^(?P<head>\s*- /?[a-z-]+)(?P<name>(?: "(?:[^"\\]|\\.)*")?)(?P<states>(?: \[(?:(?:checked|pressed)(?:=mixed)?|'
    r"expanded|active|disabled|selected|value withheld|invalid(?:=(?:grammar|spelling))?|cursor=pointer|level=\d+|"
    r"id=[\w.]+)\])*)(?P<rest>.*)$"
)
_QUOTED_KEY = re.compile(r"^(\s*- )'((?:[^']|'')+)'(:.*)?$", re.MULTILINE)


def plain(value: str) -> str:
    """A scalar of the tree without its YAML quotes."""
    value = value.strip()
    if value.startswith('"') and value.endswith('"') and len(value) > 1:
        try:
            return str(json.loads(value))
        except ValueError:
            return value[1:-1]
    return value


def plain_keys(tree: str) -> str:
    """A tree without the quotes of YAML around a whole key, which it has where a name has a colon or the like."""
    return _QUOTED_KEY.sub(lambda match: match[1] + match[2].replace("''", "'") + (match[3] or ""), tree)


def withhold(text: str) -> tuple[str, set[str]]:
    """Take every editable value out of an accessibility tree.

    Args:
        text: Playwright's snapshot for models.

    Returns:
        The tree, with `[value withheld]` at each field that is filled in, and the values that were taken out.
    """
    out: list[str] = []
    values: set[str] = set()
    inside: int | None = None
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if inside is not None and indent > inside:
            if line.lstrip().startswith(_KEPT_CHILDREN):
                out.append(line)
            else:
                values.add(plain(line.lstrip(" -").removeprefix("text:")))
            continue
        inside = None
        match = _EDITABLE.match(line) if line.startswith(_FIELDS, indent) else None
        if match is None:
            out.append(_without_query(line) if line.startswith("- /url: ", indent) else line)
            continue
        value = plain(match["value"])
        if value:
            values.add(value)
        elif match["colon"]:
            inside = indent
        mark = " [value withheld]" if value else ""
        out.append(f"{match['indent']}- {match['head']}{mark}{':' if inside is not None else ''}")
    return "\n".join(out), {value for value in values if value}


def _without_query(line: str) -> str:
    match = _LINK.match(line)
    return line if match is None else f"{match['head']}{redact_link(plain(match['link']))}"


def scrub(text: str, values: Iterable[str]) -> str:
    """Replace each of the values wherever it still occurs, in any of the forms in which a page repeats it."""
    return Echoes(text, values).withheld(text)


def scrub_tree(text: str, values: Iterable[str]) -> str:
    """The same for an accessibility tree: roles, ids and states stay, whatever words the values are."""
    echoes = Echoes(text, values)
    if not echoes:
        return text
    return "\n".join(_scrubbed(line, echoes) if echoes.may_be_in(line) else line for line in text.split("\n"))


def _scrubbed(line: str, echoes: Echoes) -> str:
    match = _CONTENT.match(line)
    if match is None:
        return echoes.withheld(line)
    return f"{match['head']}{echoes.withheld(match['name'])}{match['states']}{echoes.withheld(match['rest'])}"


def bound(text: str, max_bytes: int) -> tuple[str, bool]:
    """Cut a tree at a line so that it fits.

    Returns:
        The text, and whether lines were cut; the last line then says how many.
    """
    if len(text.encode()) <= max_bytes:
        return text, False
    kept: list[str] = []
    room = max_bytes - 100
    lines = text.split("\n")
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    kept.append(f"- text: ({len(lines) - len(kept)} lines cut: look closer with depth or region)")
    return "\n".join(kept), True
