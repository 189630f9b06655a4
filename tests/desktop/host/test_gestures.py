"""What is pressed is known, and can be let go."""

from user_handoff.desktop.host.gestures import Gestures

MOUSE, KEY, TOUCH = "Input.dispatchMouseEvent", "Input.dispatchKeyEvent", "Input.dispatchTouchEvent"


def test_what_was_let_go_is_not_let_go_again() -> None:
    gestures = Gestures()
    gestures.note(MOUSE, {"type": "mousePressed", "button": "left"})
    gestures.note(MOUSE, {"type": "mouseReleased", "button": "left"})
    gestures.note(KEY, {"type": "rawKeyDown", "code": "KeyA"})
    gestures.note(KEY, {"type": "keyUp", "code": "KeyA"})
    assert not gestures
    assert gestures.finish() == []


def test_everything_pressed_is_let_go_once() -> None:
    gestures = Gestures()
    gestures.note(MOUSE, {"type": "mousePressed", "button": "right", "x": 5, "y": 5})
    gestures.note(KEY, {"type": "keyDown", "code": "ShiftLeft", "key": "Shift", "text": "secret"})
    gestures.note(TOUCH, {"type": "touchStart", "touchPoints": [{"x": 1, "y": 1}]})
    gestures.note("Input.dispatchDragEvent", {"type": "dragEnter"})
    sent = gestures.finish()
    assert [method for method, _ in sent] == ["Input.cancelDragging", MOUSE, TOUCH, KEY]
    assert sent[1][1]["x"] == -1
    assert sent[3][1] == {"type": "keyUp", "key": "Shift", "code": "ShiftLeft"}
    assert not gestures


def test_only_what_lets_go_of_something_pressed_ends_a_gesture() -> None:
    gestures = Gestures()
    gestures.note(MOUSE, {"type": "mousePressed", "button": "left"})
    assert gestures.ends(MOUSE, {"type": "mouseReleased", "button": "left"})
    assert not gestures.ends(MOUSE, {"type": "mouseReleased", "button": "right"})
    assert not gestures.ends(MOUSE, {"type": "mousePressed", "button": "left"})
    assert not gestures.ends(KEY, {"type": "keyUp", "code": "KeyA"})
    assert not gestures.ends("Page.navigate", {"type": "mouseReleased"})
