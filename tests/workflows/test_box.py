"""The rules of a session's inbox."""

from datetime import UTC, datetime, timedelta

import pytest

from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.requests import (
    MAX_LIVE,
    AdmitWriter,
    PublishReply,
    ReadRequest,
    RequestReceipt,
    RequestState,
    SaveRequest,
    SendRequest,
    WithdrawRequest,
    Written,
)
from user_handoff.workflows.box import MAX_ENDED, MAX_EXPECTED, MAX_WRITERS, Box

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROBIN, SAM = "a" * 64, "b" * 64


def opened() -> Box:
    box = Box(session_id="s")
    for key_id, sha256 in (("w_robin", ROBIN), ("w_sam", SAM)):
        box.admit(AdmitWriter(key_id=key_id, sha256=sha256, name=key_id), NOW)
    return box


def save(request_id: str = "r", generation: int = 1, text: str = "Hello", *, send: bool = False) -> SaveRequest:
    return SaveRequest(request_id=request_id, generation=generation, text=text, send=send)


def write(
    box: Box, what: SaveRequest | SendRequest | WithdrawRequest, key: str = ROBIN, at: datetime = NOW
) -> RequestReceipt | ErrorCode:
    written = Written(writer_sha256=key, what=what)
    refusal = box.write_refusal(written, at)
    return refusal.code if refusal else box.write(written, at)


def state(found: RequestReceipt | ErrorCode) -> RequestState:
    assert isinstance(found, RequestReceipt), found
    return found.state


def read(box: Box, read_id: str = "q", at: datetime = NOW) -> str | None:
    found = box.read(ReadRequest(read_id=read_id), at).request
    return found.text if found else None


def test_the_same_again_gets_the_same_receipt_at_every_step() -> None:
    """A17, K24."""
    box = opened()
    for what in (save(), save(), SendRequest(request_id="r", generation=1), save(send=True)):
        write(box, what)
    assert (box.edges, box.view().unread) == (1, 1)
    assert state(write(box, SendRequest(request_id="r", generation=1))) is RequestState.PUBLISHED
    assert (read(box), read(box), read(box, "other")) == ("Hello", "Hello", None)
    assert state(write(box, SendRequest(request_id="r", generation=1))) is RequestState.READ
    assert box.edges == 2


def test_a_generation_that_is_not_above_the_one_that_stands_is_refused() -> None:
    """D3."""
    box = opened()
    write(box, save(generation=5))
    for what in (save(generation=4), save(generation=5, text="Other"), SendRequest(request_id="r", generation=4)):
        assert write(box, what) is ErrorCode.STALE_VERSION
    assert write(box, SendRequest(request_id="r", generation=6)) is ErrorCode.STALE_VERSION
    assert box.edges == 0


def test_an_edit_takes_back_what_was_published_until_it_is_sent() -> None:
    """D3, K84."""
    box = opened()
    write(box, save(send=True))
    assert state(write(box, save(generation=2, text="Better"))) is RequestState.DRAFT
    assert (read(box), box.edges) == (None, 2)
    write(box, SendRequest(request_id="r", generation=2))
    assert read(box, "later") == "Better"


def test_what_is_over_takes_no_change() -> None:
    box = opened()
    write(box, save("gone", send=True))
    write(box, WithdrawRequest(request_id="gone"))
    write(box, save("read", send=True))
    read(box)
    for request_id in ("gone", "never"):
        assert write(box, SendRequest(request_id=request_id, generation=1)) is ErrorCode.UNKNOWN_REQUEST
    assert write(box, save("read", 2)) is ErrorCode.UNKNOWN_REQUEST
    assert state(write(box, WithdrawRequest(request_id="gone"))) is RequestState.WITHDRAWN


def test_a_request_belongs_to_the_key_that_wrote_it() -> None:
    """D2."""
    box = opened()
    write(box, save())
    assert write(box, save(generation=2), SAM) is ErrorCode.UNAUTHORIZED
    assert write(box, WithdrawRequest(request_id="r"), SAM) is ErrorCode.UNAUTHORIZED
    assert write(box, save("mine"), "c" * 64) is ErrorCode.UNAUTHORIZED
    assert box.receipt("r", ROBIN, NOW) is not None
    assert box.receipt("r", SAM, NOW) is None


def test_an_expired_key_writes_nothing() -> None:
    box = opened()
    assert write(box, save(), at=NOW + timedelta(days=1)) is ErrorCode.UNAUTHORIZED


def test_a_request_expires_on_time_and_only_a_published_one_is_an_edge() -> None:
    """D1, K85."""
    box = opened()
    write(box, save("draft"))
    write(box, save("sent", send=True))
    late = NOW + timedelta(minutes=30)
    assert box.due() == late
    assert write(box, save("sent", 2), at=late) is ErrorCode.UNKNOWN_REQUEST
    assert read(box, at=late) is None
    assert (box.edges, box.view().live) == (2, 0)


def test_a_refusal_changes_nothing() -> None:
    """Refusals are not in history: what they changed would be lost by a replay."""
    box = opened()
    write(box, save(send=True))
    before = box.model_dump_json()
    write(box, save(generation=2), at=NOW + timedelta(hours=1))
    assert box.model_dump_json() == before


def test_at_the_bound_the_new_one_is_refused() -> None:
    """D4."""
    box = opened()
    for number in range(MAX_LIVE):
        assert state(write(box, save(f"r{number}"))) is RequestState.DRAFT
    assert write(box, save("more")) is ErrorCode.REQUEST_LIMIT
    assert state(write(box, save("r0", 2))) is RequestState.DRAFT
    write(box, WithdrawRequest(request_id="r7"))
    assert state(write(box, save("more"))) is RequestState.DRAFT


def test_only_what_is_over_is_ever_given_up() -> None:
    box = opened()
    write(box, save("live"))
    for number in range(MAX_ENDED + 50):
        write(box, save(f"r{number}"))
        write(box, WithdrawRequest(request_id=f"r{number}"))
    assert len(box.requests) == MAX_ENDED + 1
    assert "live" in box.requests


def test_keys_and_expectations_are_bounded() -> None:
    box = opened()
    for number in range(MAX_WRITERS - 2):
        box.admit(AdmitWriter(key_id=f"k{number}", sha256="d" * 64, name="x"), NOW)
    more = AdmitWriter(key_id="more", sha256="e" * 64, name="x")
    refused = box.admit_refusal(more, NOW)
    assert refused is not None
    assert refused.code is ErrorCode.REQUEST_LIMIT
    assert box.admit_refusal(more, NOW + timedelta(days=2)) is None
    for number in range(MAX_EXPECTED + 5):
        box.expect(f"message/{number}")
    assert len(box.expects) == MAX_EXPECTED


@pytest.mark.parametrize("again", [1, 3])
def test_a_reply_is_published_once_where_it_is_expected(again: int) -> None:
    box = opened()
    reply = PublishReply(about="handoff/b/s/m", answer="done", text="", by="Robin", via="page")
    box.replied(reply, "x", NOW)
    assert box.view().unread == 0
    box.expect(reply.about)
    for number in range(again):
        box.replied(reply, f"reply{number}", NOW)
    assert box.view().unread == 1
    box.seen(reply.about)
    assert (box.view().unread, box.expects) == (0, ())
