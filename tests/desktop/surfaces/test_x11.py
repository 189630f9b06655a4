"""Exact windows, of programs that try to look like the browser."""

from collections.abc import Iterator
from functools import partial

import pytest

from tests.desktop.surfaces.programs import TOKEN, Program, program, window
from tests.desktop.surfaces.servers import bare_server
from tests.waiting import until_blocking
from user_handoff.contract.errors import ErrorCode, Refused, SetupError
from user_handoff.contract.handoff import Surface
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.surfaces.base import WindowBounds
from user_handoff.desktop.surfaces.x11 import X11Surfaces

AT = (50, 60, 300, 200)
ELSEWHERE = (500, 300, 300, 200)


def find(finder: X11Surfaces, program: Program, at: tuple[int, int, int, int] = AT) -> Surface:
    return finder.resolve(program.identity, WindowBounds(*at), TOKEN)


def find_soon(finder: X11Surfaces, program: Program, at: tuple[int, int, int, int] = AT) -> int:
    """The window that is found once the window manager has placed it."""

    def found() -> int:
        try:
            return find(finder, program, at).window_id
        except Refused:
            return 0

    return int(until_blocking(found))


def is_focused(finder: X11Surfaces, window_id: int) -> bool:
    return finder.focused() == window_id


@pytest.fixture
def two(managed: Display) -> Iterator[Program]:
    """One program with two windows."""
    with program(managed, window("a", AT), window("b", ELSEWHERE)) as started:
        yield started


def test_the_window_at_the_browsers_bounds_is_found(surfaces: X11Surfaces, two: Program) -> None:
    """A3: exactly one window of exactly this process."""
    assert find_soon(surfaces, two, AT) == two.windows[0]
    assert find_soon(surfaces, two, ELSEWHERE) == two.windows[1]
    surface = find(surfaces, two, ELSEWHERE)
    assert (surface.x, surface.y, surface.width, surface.height) == ELSEWHERE
    assert (surface.pid, surface.process_started) == (two.process.pid, two.identity.started)


def test_two_browsers_of_one_title_and_size_are_told_apart(surfaces: X11Surfaces, managed: Display) -> None:
    """K62: two browsers share title, size and place."""
    with program(managed, window("same")) as one, program(managed, window("same")) as other:
        assert find_soon(surfaces, one) == one.windows[0]
        assert find_soon(surfaces, other) == other.windows[0]


def test_a_program_that_claims_the_browsers_pid_title_and_class_is_not_taken(
    surfaces: X11Surfaces, managed: Display
) -> None:
    """K62, A3: _NET_WM_PID, title and class are a program's own words; the server knows whose window it is."""
    with program(managed, window("bank")) as browser, program(managed, window("bank", AT, pid=browser.process.pid)):
        assert find_soon(surfaces, browser) == browser.windows[0]


def test_two_windows_at_one_place_are_ambiguous(surfaces: X11Surfaces, managed: Display) -> None:
    """A3: several is a typed refusal."""
    with program(managed, window("a"), window("b"), window("c", ELSEWHERE)) as both:
        find_soon(surfaces, both, ELSEWHERE)

        def refused() -> bool:
            with pytest.raises(Refused) as error:
                find(surfaces, both)
            return error.value.code is ErrorCode.SURFACE_AMBIGUOUS

        assert until_blocking(refused)


def test_several_windows_and_none_at_the_bounds_is_not_found(surfaces: X11Surfaces, two: Program) -> None:
    """A3: none is a typed refusal."""
    with pytest.raises(Refused) as error:
        find(surfaces, two, (1, 2, 3, 4))
    assert error.value.code is ErrorCode.SURFACE_NOT_FOUND


def test_another_window_of_the_browser_at_its_place_is_not_taken(surfaces: X11Surfaces, managed: Display) -> None:
    with program(managed, window("a"), window("helper", role="helper")) as browser:
        assert find_soon(surfaces, browser) == browser.windows[0]


def test_another_class_is_not_found(surfaces: X11Surfaces, two: Program) -> None:
    with pytest.raises(Refused) as error:
        surfaces.resolve(two.identity, WindowBounds(*AT), "uh-b-2")
    assert error.value.code is ErrorCode.SURFACE_NOT_FOUND


def test_a_reused_pid_is_not_found(surfaces: X11Surfaces, two: Program) -> None:
    """A3: the process is its pid and its start time."""
    older = ProcessIdentity(two.process.pid, two.identity.started - 60)
    with pytest.raises(Refused) as error:
        surfaces.resolve(older, WindowBounds(*AT), TOKEN)
    assert error.value.code is ErrorCode.SURFACE_NOT_FOUND


def test_a_process_without_windows_is_not_found(surfaces: X11Surfaces) -> None:
    with pytest.raises(Refused) as error:
        surfaces.resolve(ProcessIdentity.current(), WindowBounds(*AT), "")
    assert error.value.code is ErrorCode.SURFACE_NOT_FOUND


def test_a_minimised_window_with_a_title_of_one_letter_is_found(surfaces: X11Surfaces, two: Program) -> None:
    """K61."""
    find_soon(surfaces, two)
    two.tell("iconify", 0)
    assert find_soon(surfaces, two) == two.windows[0]


def test_a_window_is_found_without_a_window_manager(bare: Display) -> None:
    """K61: the tree of windows is walked, and no list of a window manager is needed."""
    finder = X11Surfaces(bare)
    with program(bare, window("a", AT), window("b", ELSEWHERE)) as two:
        assert finder.capability() == (True, "")
        assert find(finder, two, ELSEWHERE).window_id == two.windows[1]
        finder.raise_window(find(finder, two, AT))
        assert finder.focused() == two.windows[0]
    finder.close()


def test_a_closed_window_no_longer_exists(surfaces: X11Surfaces, two: Program) -> None:
    find_soon(surfaces, two)
    surface = find(surfaces, two)
    assert surfaces.exists(surface)
    two.tell("destroy", 0)
    assert not surfaces.exists(surface)
    assert surfaces.family(surface) == ()
    surfaces.raise_window(surface)  # no error


def test_windows_that_vanish_meanwhile_are_no_error(surfaces: X11Surfaces, managed: Display) -> None:
    """K61: never a crash on a window that is gone when it is asked about."""
    with program(managed, window("steady")) as steady:
        find_soon(surfaces, steady)
        crowd = [window(str(n), (n, n, 100, 100)) for n in range(30)]
        with program(managed, *crowd, window("b", ELSEWHERE)) as vanishing:
            vanishing.start("destroy", *range(30))
            while len(surfaces._windows.of_process(vanishing.process.pid)) > 1:
                assert find(surfaces, steady).window_id == steady.windows[0]


def test_dialogs_and_popups_of_the_process_are_the_surfaces_family(surfaces: X11Surfaces, managed: Display) -> None:
    dialog = window("Open file", ELSEWHERE, role="GtkFileChooserDialog", type="DIALOG", transient_for=0)
    popup = window("", (80, 90, 100, 50), role="", type="MENU", unmanaged=True)
    with program(managed, window("main"), dialog, popup) as browser, program(managed, popup):
        find_soon(surfaces, browser)
        surface = find(surfaces, browser)
        assert surface.window_id == browser.windows[0]
        until_blocking(lambda: len(surfaces.family(surface)) == 2)
        assert surfaces.family(surface) == tuple(sorted(browser.windows[1:]))


def test_raising_a_window_gives_it_the_keyboard(surfaces: X11Surfaces, two: Program) -> None:
    for number, at in enumerate((AT, ELSEWHERE)):
        find_soon(surfaces, two, at)
        surfaces.raise_window(find(surfaces, two, at))
        until_blocking(partial(is_focused, surfaces, two.windows[number]))


def test_the_capability_needs_a_server_that_can_be_opened() -> None:
    """A2: where no exact window can be found, the reason is said."""
    able, why = X11Surfaces(Display(":987", None, virtual=False, keeper=None)).capability()
    assert not able
    assert ":987" in why


def test_a_server_without_the_x_resource_extension_has_no_capability(
    bare: Display, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A2: the window manager's or a client's word for a pid is not enough."""
    finder = X11Surfaces(bare)
    with finder._windows.connected() as x:
        monkeypatch.setattr(x, "list_extensions", lambda: ["XTEST"])
        able, why = finder.capability()
    assert not able
    assert "X-Resource" in why
    finder.close()


def test_a_display_that_ends_is_a_typed_error(tmp_path_factory: pytest.TempPathFactory) -> None:
    with bare_server(tmp_path_factory.mktemp("ending")) as (display, server):
        finder = X11Surfaces(display)
        assert finder.capability() == (True, "")
        server.terminate()
        server.wait()
        with pytest.raises(SetupError) as error:
            finder.focused()
        assert error.value.code is ErrorCode.NO_DISPLAY
        finder.close()
