"""What passes between a program and its server: whose answer is whose, and what is no message."""

import contextlib
import itertools
import json
from pathlib import Path

from tests.relay.conftest import BUSY, Wire, error_of, held
from tests.waiting import until
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.relay.messages import FRAME_BYTES
from user_handoff.relay.tools import ToolList


def test_a_call_without_an_id_is_dropped(wire: Wire, ledger: Ledger) -> None:
    """E8: held or not, nobody would see its end."""
    wire.tool(None, "act")
    with held(ledger):
        wire.tool(None, "act")
    wire.raw(b'{"jsonrpc":"2.0","method":"tools/call","params":{}}\n')
    assert wire.called(1, "look")["id"] == 1
    assert wire.journal() == ["look"]


def test_each_element_of_a_batch_is_answered_in_one_array(wire: Wire, ledger: Ledger) -> None:
    """E8."""
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "act"}},
        {"jsonrpc": "2.0", "id": "1", "method": "ping"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "act"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        [],
    ]
    with held(ledger):
        wire.raw(json.dumps(batch).encode() + b"\n")
        answers = wire.next()
    told = {json.dumps(answer["id"]): answer.get("error", {}).get("code") for answer in answers}
    assert told == {"1": None, '"1"': None, "null": -32600}
    assert BUSY in [answer.get("error", {}).get("code") for answer in answers]
    assert len(answers) == 4
    assert wire.journal() == []
    wire.raw(json.dumps(batch).encode() + b"\n")
    answers = wire.next()
    assert [error_of(a)[1] for a in answers if "error" in a] == ["invalid_request", "invalid_request"]
    assert wire.journal() == ["act"]
    wire.raw(b"[]\n")
    assert error_of(wire.next()) == (-32600, "invalid_request")


async def test_ids_are_told_apart(wire: Wire, tmp_path: Path) -> None:
    """E8: 1, "1", null, and one that is in use."""
    wire.tool(1, "act", until="over")
    await until(lambda: wire.journal() == ["act"])
    wire.tool(1, "act")
    assert error_of(wire.next()) == (-32600, "invalid_request")
    wire.tool("1", "act")
    wire.raw(b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"act"}}\n')
    refused = wire.next()
    assert (refused["id"], error_of(refused)) == (None, (-32600, "invalid_request"))
    (tmp_path / "over").touch()
    assert [wire.next()["id"], wire.next()["id"]] == [1, "1"]
    assert wire.journal() == ["act", "act"]


def test_what_the_server_says_of_its_own_accord_passes(wire: Wire, ledger: Ledger) -> None:
    """E8: notifications, and requests with their answers."""
    wire.tool(1, "told")
    methods = [wire.next().get("method") for _ in range(4)]
    assert methods == ["notifications/message", "notifications/resources/list_changed", "roots/list", None]
    wire.raw(b'{"jsonrpc":"2.0","id":"ask-1","result":{"roots":[]}}\n')
    wire.send("notifications/roots/list_changed")
    wire.send("ping", 2)
    assert wire.next()["id"] == 2
    assert wire.journal("seen")[1:] == ["answer", "notifications/roots/list_changed", "ping"]


def test_in_a_hold_the_servers_own_words_are_withheld(state: Path, ledger: Ledger, tmp_path: Path) -> None:
    """K01: a page's may be among them."""
    tools = ToolList(version=1, safe=frozenset({"told"}))
    with contextlib.closing(Wire(state, tmp_path, tools=tools)) as wire, held(ledger):
        wire.tool(1, "told")
        methods = [wire.next().get("method") for _ in range(3)]
        assert methods == ["notifications/resources/list_changed", "roots/list", None]


def test_a_large_frame_passes_both_ways_and_a_larger_one_is_refused(wire: Wire, ledger: Ledger) -> None:
    """E8: 16 MiB."""
    size = FRAME_BYTES - 1_000
    assert len(wire.called(1, "big", size=size, fill="y" * size)["result"]["content"][0]["text"]) == size
    refused = wire.called(2, "big", size=FRAME_BYTES)
    assert (refused["id"], error_of(refused)) == (2, (-32600, "payload_too_large"))
    wire.raw(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"' + b"z" * FRAME_BYTES + b'"}}\n')
    refused = wire.next()
    assert (refused["id"], error_of(refused)) == (3, (-32600, "payload_too_large"))
    assert wire.called(4, "act")["id"] == 4
    assert ledger.permits() == []
    assert wire.journal() == ["big", "big", "act"]


def test_what_is_no_message_is_refused_and_what_follows_passes(wire: Wire) -> None:
    """E8: and nothing of it reaches the server."""
    for line, number in (
        (b"\x00\xff\xfe\n", -32700),
        (b'{"jsonrpc":\n', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":NaN}}\n', -32700),
        (b'{"jsonrpc":"2.0","id":1,"params":{"n":1e999},"method":"ping"}\n', -32600),
        (b"7\n", -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","Name":"act"}}\n', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}\n', -32600),
        (b"[" * 100_000 + b"\n", -32700),
    ):
        wire.raw(line)
        assert error_of(wire.next()) == (number, "invalid_request"), line[:60]
    # of a member that is there twice both sides know the last one
    wire.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}\n\n \n')
    assert wire.next()["result"] == {}
    assert wire.called(2, "garbage")["id"] == 2
    assert wire.journal() == ["garbage"]


def test_a_server_that_dies_in_the_middle_of_a_frame_is_told_of(wire: Wire, ledger: Ledger) -> None:
    """E8: the outcome is unknown, its exit code passes, and no permit is left."""
    lost = wire.called(1, "die", code=9)
    assert (lost["id"], error_of(lost)[1]) == (1, "outcome_unknown")
    assert wire.next() is None
    assert wire.end() == 9
    assert ledger.permits() == []


async def test_a_client_that_reads_nothing_holds_the_server_back(wire: Wire, ledger: Ledger) -> None:
    """E8: memory is bounded by the pipes and one frame each way."""
    for number in range(8):
        wire.tool(number, "big", size=1_000_000)
    await until(lambda: wire.journal())
    wire.tool(8, "act")
    answers = [wire.next() for _ in range(9)]
    assert [answer["id"] for answer in answers] == list(range(9))


async def test_where_nobody_reads_any_more_the_server_is_told_that_nothing_comes(wire: Wire) -> None:
    """The guard of a relay that has just started may have the end at which it is read open for a moment yet."""
    numbers = itertools.count()

    def ended() -> bool:
        if wire.code is None:
            wire.tool(next(numbers), "act")
        return wire.code is not None

    wire.read_no_more()
    await until(ended)
    assert wire.code == 0


async def test_answers_of_server_and_relay_do_not_interleave(state: Path, ledger: Ledger, tmp_path: Path) -> None:
    """E8: large answers of the server, among hundreds of the relay's own."""
    tools = ToolList(version=1, safe=frozenset({"big"}))
    with contextlib.closing(Wire(state, tmp_path, tools=tools)) as wire, held(ledger):
        wire.listen()
        for number in range(300):
            wire.tool(number, "act")
            if number % 30 == 0:
                wire.tool(f"b{number}", "big", size=300_000)
        answers = [wire.next() for _ in range(310)]
        assert sum("error" in answer for answer in answers) == 300
        assert wire.journal() == ["big"] * 10
