"""Which tools of a server act, which only look, and which show nothing of what a person types."""

import re
import tomllib
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, SetupError

_MAX_BYTES: Final = 1_000_000
SHIPPED: Final = ("playwright-mcp", "chrome-devtools-mcp")
"""The lists that come with this project, by the names of their packages."""


class Kind(StrEnum):
    """What a call is to the gate."""

    EFFECT = "effect"
    """It needs a permit."""
    READ = "read"
    """It shows what is there: refused while a person has control, since nothing of theirs is withheld in it."""
    PAST = "past"
    """It shows what the server has kept: refused for as long as the server runs, once a person had control."""
    SAFE = "safe"
    """It shows nothing that a person types: it always passes."""
    PLAIN = "plain"
    """It is no call of a tool, but a part of the protocol itself."""


class ToolList(Model):
    """What is known of the tools of one server."""

    version: Literal[1]
    server: str = ""
    """The name by which the server says who it is; the list is used for it without being asked for."""
    believe: bool = True
    """Take tools that are not named here, and that the server itself says only read, for reading."""
    read: frozenset[str] = frozenset()
    past: frozenset[str] = frozenset()
    safe: frozenset[str] = frozenset()
    effect: frozenset[str] = frozenset()
    native: frozenset[str] = frozenset()
    """Effects on the whole desktop, whatever browser the relay is for."""


def read_list(name: str) -> ToolList:
    """A list that is shipped, by its name, or else that of a file.

    Raises:
        SetupError: `policy_invalid`: nothing is started with half a list.
    """
    if name in SHIPPED:
        return ToolList.model_validate(tomllib.loads(files("user_handoff.relay").joinpath(f"{name}.toml").read_text()))
    path = Path(name).expanduser()
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise _invalid(name, f"it has more than {_MAX_BYTES} bytes")
        found = ToolList.model_validate(tomllib.loads(content.decode()))
    except OSError as error:
        raise _invalid(name, f"it cannot be read ({error.strerror or type(error).__name__})") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise _invalid(name, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ValueError as error:
        raise _invalid(name, re.sub(r"[^\x20-\x7e]", "?", str(error))) from None
    twice = _named_twice(found)
    if twice:
        raise _invalid(name, f"{twice!r} is named in two ways")
    return found


def _named_twice(tools: ToolList) -> str:
    seen: set[str] = set()
    for group in (tools.read, tools.past, tools.safe, tools.effect | tools.native):
        if seen & group:
            return min(seen & group)
        seen |= group
    return ""


def _invalid(name: str, reason: str) -> SetupError:
    return SetupError(
        ErrorCode.POLICY_INVALID,
        f"The list of tools {name}: {reason}.",
        holds="Nothing was started: no server is relayed by half a list.",
        do_next=f"Mend the file (docs/relay.md has its format), or name a shipped list: {', '.join(SHIPPED)}.",
    )


class Judge:
    """Says what a tool is: by the list where it is named, by the server's own word, else it acts."""

    def __init__(self, tools: ToolList | None = None) -> None:
        """Start.

        Args:
            tools: The list; None: the shipped one of the server, once it has said its name, if there is one.
        """
        self._given = tools is not None
        self._tools = tools or ToolList(version=1)
        self._hints: dict[str, bool] = {}

    def kind(self, tool: str) -> Kind:
        """What a tool is."""
        named = self._tools
        for kind, group in (
            (Kind.EFFECT, named.effect | named.native),
            (Kind.PAST, named.past),
            (Kind.READ, named.read),
            (Kind.SAFE, named.safe),
        ):
            if tool in group:
                return kind
        return Kind.READ if named.believe and self._hints.get(tool) else Kind.EFFECT

    def native(self, tool: str) -> bool:
        """True where the list says that it touches what the whole desktop shares."""
        return tool in self._tools.native

    def looks(self) -> bool:
        """True where a tool is known that shows a page as it is."""
        return bool(self._tools.read) or (self._tools.believe and any(self._hints.values()))

    def meet(self, result: Any) -> None:
        """Look at a server's answer to `initialize`: who it says it is."""
        info = result.get("serverInfo") if isinstance(result, dict) else None
        name = info.get("name") if isinstance(info, dict) else None
        if self._given or not isinstance(name, str):
            return
        for shipped in map(read_list, SHIPPED):
            if shipped.server == name:
                self._tools = shipped

    def learn(self, result: Any) -> None:
        """Look at one page of a server's list of tools."""
        tools = result.get("tools") if isinstance(result, dict) else None
        page: dict[str, bool] = {}
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                notes = tool.get("annotations")
                reads = isinstance(notes, dict) and notes.get("readOnlyHint") is True
                page[tool["name"]] = reads and page.get(tool["name"], True)
        self._hints.update(page)

    def forget(self) -> None:
        """The server's list has changed: every tool acts until it is heard anew."""
        self._hints.clear()
