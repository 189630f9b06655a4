"""Which tools act."""

from pathlib import Path
from typing import Any

import pytest

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.relay.tools import SHIPPED, Judge, Kind, ToolList, read_list

NONSENSE: list[Any] = [None, [], {"tools": 7}, {"serverInfo": 7}, {"serverInfo": {"name": []}}]


def listed(**hints: object) -> dict[str, object]:
    return {"tools": [{"name": name, "annotations": {"readOnlyHint": hint}} for name, hint in hints.items()]}


def test_an_unknown_tool_acts_until_its_server_says_that_it_only_reads() -> None:
    """E8."""
    judge = Judge()
    assert judge.kind("look") is Kind.EFFECT
    judge.learn(listed(look=True, act=False, odd="true"))
    assert [judge.kind(tool) for tool in ("look", "act", "odd", "other")] == [Kind.READ, *[Kind.EFFECT] * 3]
    judge.learn({"tools": [{"name": "look"}, "x", {"name": 7}, {"name": "act", "annotations": []}]})
    assert judge.kind("look") is Kind.EFFECT
    judge.learn(listed(look=True))
    judge.forget()
    assert judge.kind("look") is Kind.EFFECT
    for value in NONSENSE:
        judge.learn(value)


def test_a_tool_that_is_listed_twice_acts_unless_both_only_read() -> None:
    """E8."""
    judge = Judge()
    hints = [{"name": "look", "annotations": {"readOnlyHint": hint}} for hint in (False, True)]
    judge.learn({"tools": hints})
    assert judge.kind("look") is Kind.EFFECT


def test_the_list_is_above_the_servers_own_word() -> None:
    """E8."""
    tools = ToolList(version=1, effect=frozenset({"look"}), safe=frozenset({"act"}), native=frozenset({"launch"}))
    judge = Judge(tools)
    judge.learn(listed(look=True, act=False, other=True))
    assert [judge.kind(tool) for tool in ("look", "act", "other")] == [Kind.EFFECT, Kind.SAFE, Kind.READ]
    assert (judge.kind("launch"), judge.native("launch"), judge.native("look")) == (Kind.EFFECT, True, False)
    doubting = Judge(ToolList(version=1, believe=False))
    doubting.learn(listed(look=True))
    assert doubting.kind("look") is Kind.EFFECT
    assert not doubting.looks()


def test_a_known_server_has_its_shipped_list_unless_another_was_given() -> None:
    """E8: recorders say that they only read."""
    judge = Judge()
    judge.learn(listed(browser_start_tracing=True, browser_evaluate=True))
    judge.meet({"serverInfo": {"name": "Playwright"}})
    kinds = [judge.kind(f"browser_{tool}") for tool in ("snapshot", "start_tracing", "evaluate", "network_requests")]
    assert kinds == [Kind.READ, Kind.EFFECT, Kind.EFFECT, Kind.PAST]
    given = Judge(ToolList(version=1))
    given.meet({"serverInfo": {"name": "Playwright"}})
    assert given.kind("browser_snapshot") is Kind.EFFECT
    for value in NONSENSE:
        Judge().meet(value)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_list_can_be_read_and_names_no_tool_twice(name: str) -> None:
    """E8: nothing in it passes while a person has control."""
    found = read_list(name)
    assert found.server
    assert not found.believe
    assert not found.safe
    assert not found.read & found.past


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version = 2", "version"),
        (b"version = 1\nreads = []", "reads"),
        (b"version = 1\nread = ['a']\neffect = ['a']", "'a' is named in two ways"),
        (b"version = ", "Invalid value"),
        (b"\xff", "can't decode"),
        (b"#" * 1_000_001, "more than 1000000 bytes"),
        (None, "cannot be read"),
    ],
)
def test_half_a_list_is_no_list(tmp_path: Path, content: bytes | None, said: str) -> None:
    """E8."""
    path = tmp_path / "tools.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SetupError) as refused:
        read_list(str(path))
    assert refused.value.code is ErrorCode.POLICY_INVALID
    assert said in refused.value.what
