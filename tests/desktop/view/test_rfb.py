"""What a viewer may say, byte by byte."""

import random
import struct

import pytest

from user_handoff.desktop.view.rfb import ENCODINGS, Kind, ViewerParser, Violation, key, pointer

HELLO = b"RFB 003.008\n\x01\x00"
ASK = struct.pack(">BBHHHH", 3, 1, 0, 0, 1280, 800)
CUT = struct.pack(">BxxxI", 6, 5) + b"paste"
FENCE = struct.pack(">BxxxIB", 248, 0, 4) + b"1234"
FORMAT = bytes(20)


def greeted() -> ViewerParser:
    parser = ViewerParser()
    assert parser.feed(HELLO) == []
    return parser


def encodings(*asked: int) -> bytes:
    return struct.pack(f">BxH{len(asked)}i", 2, len(asked), *asked)


def test_every_message_that_is_known_is_read_whatever_comes_at_once() -> None:
    said = FORMAT + encodings(7, 0) + ASK + key(97, down=True).data + CUT + pointer(1, 640, 400).data + FENCE
    whole = greeted().feed(said)
    parser, byte_by_byte = greeted(), []
    for one in said:
        byte_by_byte += parser.feed(bytes([one]))
    assert whole == byte_by_byte
    assert [each.kind for each in whole] == [Kind.PICTURE] * 3 + [Kind.KEY, Kind.POINTER, Kind.PICTURE]
    pressed, moved = whole[3], whole[4]
    assert (pressed.keysym, pressed.down) == (97, True)
    assert (moved.buttons, moved.place) == (1, (640, 400))


def test_a_clipboard_goes_nowhere() -> None:
    assert greeted().feed(CUT) == []


def test_encodings_that_open_other_doors_are_left_out() -> None:
    """E3: extended keys, mouse, clipboard, resizing, power, names."""
    others = (-258, -316, -1063131698, -308, -309, -307, -261, 50)
    (message,) = greeted().feed(encodings(7, *others, -239))
    assert struct.unpack(">BxH2i", message.data) == (2, 2, 7, -239)
    assert not ENCODINGS & set(others)


def test_only_seven_buttons_are_passed_on() -> None:
    """The eighth bit announces a longer message to a server that knows it."""
    (message,) = greeted().feed(pointer(0xFF, 1, 2).data)
    assert message.data[1] == 0x7F


@pytest.mark.parametrize(
    "said",
    [
        struct.pack(">BBHII", 255, 0, 1, 97, 30),  # an extended key
        bytes([251, 0, 5, 0, 3, 32, 1, 0]),  # a resize
        bytes([250, 0, 1, 2]),  # power
        struct.pack(">BxxxiI", 6, -4, 1),  # an extended clipboard
        struct.pack(">BxxxI", 6, 2**31 - 1),  # more than anybody copies
        struct.pack(">BxxxIB", 248, 0, 65),  # a fence that is too long
        struct.pack(">BxH", 2, 1000),  # more encodings than there are
        bytes([1]),
        bytes([7]),
    ],
)
def test_anything_else_ends_the_connection(said: bytes) -> None:
    parser = greeted()
    with pytest.raises(Violation):
        parser.feed(said)
    with pytest.raises(Violation):
        parser.feed(ASK)


@pytest.mark.parametrize("hello", [b"RFB 003.003\n", b"GET / HTTP/1.", b"RFB 003.008\n\x02"])
def test_another_greeting_ends_the_connection(hello: bytes) -> None:
    with pytest.raises(Violation):
        ViewerParser().feed(hello)


def test_random_bytes_never_become_anything_but_whole_messages_that_are_known() -> None:
    """E3, K51: 20,000 streams, some of them of parts that are right."""
    dice = random.Random(20261129)
    right = [FORMAT, encodings(7, -258), ASK, key(97, down=True).data, pointer(1, 5, 5).data, CUT, FENCE]
    lengths = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10}
    for _ in range(20_000):
        parser = greeted()
        stream = b"".join(
            dice.choice(right) if dice.random() < 0.5 else dice.randbytes(dice.randrange(1, 24)) for _ in range(6)
        )
        at = 0
        try:
            while at < len(stream):
                step = dice.randrange(1, 40)
                for message in parser.feed(stream[at : at + step]):
                    kind = message.data[0]
                    assert kind in (*lengths, 2, 248)
                    assert len(message.data) == lengths.get(kind, len(message.data))
                    assert (message.kind is Kind.PICTURE) == (kind not in (4, 5))
                    if kind == 2:
                        count = len(message.data) // 4 - 1
                        assert set(struct.unpack(f">{count}i", message.data[4:])) <= ENCODINGS
                at += step
        except Violation:
            with pytest.raises(Violation):
                parser.feed(ASK)
