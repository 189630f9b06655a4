"""Which of a list of windows is meant: the core that all systems share."""

import math

import pytest

from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.desktop.surfaces.base import WindowBounds
from user_handoff.desktop.surfaces.match import NativeWindow, agrees, family, pick

Place = tuple[int, int, int, int]

MEASURED = [
    (1.0, (10, 10, 1050, 780), (10, 10, 1050, 780)),
    (1.5, (15, 15, 1250, 770), (10, 10, 834, 514)),
    (1.5, (150, 180, 617, 551), (100, 120, 412, 368)),
    (1.5, (29, 29, 1251, 771), (19, 19, 835, 515)),
    (1.5, (0, 0, 1280, 800), (0, 0, 854, 534)),
]
"""A scale, a window's place on X11, and what Chromium 156 said of it."""


def window(window_id: int, place: Place, pid: int = 7, *, main: bool = True, **more: object) -> NativeWindow:
    spec = {"window_id": window_id, "pid": pid, "rectangle": place, "main": main, **more}
    return NativeWindow(**spec)  # type: ignore[arg-type]


def refusal(windows: list[NativeWindow], bounds: WindowBounds, *, alone: bool = True) -> ErrorCode:
    with pytest.raises(Refused) as error:
        pick(windows, 7, bounds, alone=alone)
    return error.value.code


def said(place: Place, scale: float) -> WindowBounds:
    """What Chromium says of a place: each edge divided by the scale and rounded outwards."""
    x, y, width, height = place
    left, top = math.floor(x / scale), math.floor(y / scale)
    return WindowBounds(left, top, math.ceil((x + width) / scale) - left, math.ceil((y + height) / scale) - top)


@pytest.mark.parametrize(("scale", "place", "told"), MEASURED)
def test_what_chromium_said_of_its_windows_agrees_with_their_places(scale: float, place: Place, told: Place) -> None:
    """A3: on a scaled screen Chromium's pixels are not the screen's."""
    assert said(place, scale) == WindowBounds(*told)
    assert agrees(window(1, place, scale=None), WindowBounds(*told))


@pytest.mark.parametrize("scale", [1.0, 1.1, 1.25, 4 / 3, 1.5, 1.75, 2.0, 2.5, 3.0])
def test_a_window_agrees_with_its_bounds_at_every_scale(scale: float) -> None:
    """A3: the window that is meant is always among those that could be: none other can then be taken for it."""
    for step in range(200):
        place = (step * 7 - 300, step * 3 - 90, 400 + step * 5, 300 + step * 2)
        assert agrees(window(1, place, scale=None), said(place, scale)), place
        assert agrees(window(1, place, scale=scale), said(place, scale)), place


@pytest.mark.parametrize("place", [(11, 20, 640, 480), (10, 21, 640, 480), (10, 20, 641, 480), (10, 20, 640, 479)])
@pytest.mark.parametrize("scale", [None, 1.0])
def test_a_window_one_pixel_off_does_not_agree(place: Place, scale: float | None) -> None:
    """A3."""
    assert agrees(window(1, (10, 20, 640, 480), scale=scale), WindowBounds(10, 20, 640, 480))
    assert not agrees(window(1, place, scale=scale), WindowBounds(10, 20, 640, 480))


def test_no_window_below_or_above_every_scale_agrees() -> None:
    assert not agrees(window(1, (0, 0, 100, 100), scale=None), WindowBounds(0, 0, 1000, 1000))
    assert not agrees(window(1, (0, 0, 10_000, 10_000), scale=None), WindowBounds(0, 0, 1000, 1000))


def test_windows_at_one_place_are_ambiguous() -> None:
    """A3, K62."""
    twice = [window(1, (0, 0, 9, 9)), window(2, (0, 0, 9, 9)), window(3, (5, 5, 9, 9))]
    assert refusal(twice, WindowBounds(0, 0, 9, 9)) is ErrorCode.SURFACE_AMBIGUOUS


def test_a_lone_window_elsewhere_is_taken_only_where_that_is_certain() -> None:
    """A3: on X11 class and role tell all of a browser's windows; elsewhere a bubble may look like one."""
    lone = [window(1, (0, 0, 9, 9)), window(2, (0, 0, 9, 9), pid=8)]
    assert pick(lone, 7, WindowBounds(3, 3, 9, 9), alone=True).window_id == 1
    assert refusal(lone, WindowBounds(3, 3, 9, 9), alone=False) is ErrorCode.SURFACE_NOT_FOUND


@pytest.mark.parametrize("wrong", [{"main": False}, {"shown": False}, {"pid": 8}])
def test_no_dialog_no_hidden_window_and_no_other_process_is_taken(wrong: dict[str, object]) -> None:
    """A3, K62."""
    only = [window(1, (0, 0, 9, 9), **wrong)]  # type: ignore[arg-type]
    assert refusal(only, WindowBounds(0, 0, 9, 9)) is ErrorCode.SURFACE_NOT_FOUND


def test_where_only_sizes_compare_one_of_another_size_is_told_apart_and_one_of_its_own_is_ambiguous() -> None:
    """A3: on a second screen of another scale, Windows lets nobody know where Chromium counts from."""
    far = [window(1, (3000, 0, 900, 600), placed=False), window(2, (3100, 0, 800, 600), placed=False)]
    assert pick(far, 7, WindowBounds(1707, 0, 800, 600), alone=False).window_id == 2
    far.append(window(3, (3300, 0, 800, 600), placed=False))
    assert refusal(far, WindowBounds(1707, 0, 800, 600), alone=False) is ErrorCode.SURFACE_AMBIGUOUS


def test_dialogs_of_dialogs_and_popups_are_the_family_and_other_windows_are_not() -> None:
    windows = [
        window(1, (0, 0, 9, 9)),
        window(2, (0, 0, 9, 9)),
        window(3, (1, 1, 5, 5), main=False, owner=1),
        window(4, (2, 2, 5, 5), main=False, owner=3),
        window(5, (3, 3, 5, 5), main=False, popup=True),
        window(6, (3, 3, 5, 5), main=False, popup=True, owner=2),
        window(7, (3, 3, 5, 5), main=False, owner=1, pid=8),
        window(8, (3, 3, 5, 5), main=False, owner=1, shown=False),
    ]
    assert family(windows, 1, [7]) == (3, 4, 5)
