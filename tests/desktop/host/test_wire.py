"""What a client may send, and how messages of the browser are routed without reading them."""

import json

import pytest

from user_handoff.contract.errors import ErrorCode
from user_handoff.desktop.host.wire import Command, Incoming, InvalidMessage, parse_command, refusal

SESSION = "0123456789ABCDEF0123456789ABCDEF"


@pytest.mark.parametrize(
    "text",
    [
        b'{"id":1,"method":"A.b"}',
        "no json",
        "[]",
        '{"id":1}',
        '{"id":true,"method":"A.b"}',
        '{"id":1.0,"method":"A.b"}',
        '{"id":-1,"method":"A.b"}',
        '{"id":9007199254740992,"method":"A.b"}',
        '{"id":1,"method":["A.b"]}',
        '{"id":1,"method":"A.b","params":[]}',
        '{"id":1,"method":"A.b","sessionId":7}',
        '{"id":1,"method":"A.b","extra":1}',
        '{"id":1,"method":"A.b","params":{"x":NaN}}',
        '{"id":1,"method":"A.b","params":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_what_is_not_exactly_a_command_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidMessage) as refused:
        parse_command(text)
    assert "error" in json.loads(refused.value.reply)


def test_what_was_checked_is_what_is_sent() -> None:
    """The last of two equal keys counts for the check and for the browser."""
    command = parse_command('{"id":1,"method":"Page.navigate","method":"Page.enable","params":{"a":1,"a":2}}')
    sent = json.loads(command.to_bytes(7, SESSION))
    assert sent == {"id": 7, "method": "Page.enable", "params": {"a": 2}, "sessionId": SESSION}


def test_lone_surrogates_pass() -> None:
    command = parse_command('{"id":1,"method":"Input.insertText","params":{"text":"\\ud800 \\u6f22"}}')
    assert b'"\\ud800 \\u6f22"' in command.to_bytes(1, None)


def test_a_zero_byte_cannot_split_a_message_in_two() -> None:
    command = parse_command('{"id":1,"method":"A.b","params":{"x":"\\u0000{\\"id\\":2}"}}')
    assert b"\0" not in command.to_bytes(1, None)


def test_a_reply_gets_the_id_of_its_client_and_loses_the_root_session() -> None:
    raw = f'{{"id":12,"result":{{"x":"y"}},"sessionId":"{SESSION}"}}'.encode()
    message = Incoming.of(raw)
    assert (message.reply_to, message.session) == (12, SESSION)
    assert message.addressed(id=3, root=True) == b'{"id":3,"result":{"x":"y"}}'
    assert json.loads(message.addressed(id=3, root=False)) == {"id": 3, "result": {"x": "y"}, "sessionId": SESSION}


def test_an_event_of_the_root_session_is_passed_without_it() -> None:
    raw = f'{{"method":"Target.targetCreated","params":{{}},"sessionId":"{SESSION}"}}'.encode()
    message = Incoming.of(raw)
    assert (message.reply_to, message.method) == (None, "Target.targetCreated")
    assert message.addressed(root=True) == b'{"method":"Target.targetCreated","params":{}}'


def test_a_session_inside_the_parameters_is_not_taken_for_the_message_own() -> None:
    raw = f'{{"method":"Target.detachedFromTarget","params":{{"a":1,"sessionId":"{SESSION}"}}}}'.encode()
    assert Incoming.of(raw).session is None


def test_a_refusal_says_what_and_that_nothing_was_started() -> None:
    answer = json.loads(refusal(Command(5, "Page.reload", session=SESSION), ErrorCode.BROWSER_HELD, "no", hold="h"))
    assert answer["id"] == 5
    assert answer["sessionId"] == SESSION
    assert answer["error"]["code"] == -32050
    assert answer["error"]["data"] == {
        "code": "browser_held",
        "method": "Page.reload",
        "outcome": "not_started",
        "do_next": "Wait until the person is done; this connection goes on then.",
        "hold": "h",
    }
