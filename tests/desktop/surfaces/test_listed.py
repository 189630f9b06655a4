"""Windows and macOS, on lists that were written by hand: they show how lists are read, and nothing of a machine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.contract.handoff import Surface
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.surfaces import quartz, win32
from user_handoff.desktop.surfaces.base import NoSurfaces, WindowBounds
from user_handoff.desktop.surfaces.choose import UNPROVEN_VARIABLE, choose_surfaces
from user_handoff.desktop.surfaces.match import NativeWindow
from user_handoff.desktop.surfaces.source import SourceSurfaces

RECORDED = Path(__file__).with_name("recorded")
ME = ProcessIdentity.current()
DISPLAY = Display(":987", None, virtual=False, keeper=None)


class Listed:
    """A source that answers with a list."""

    def __init__(self, backend: Literal["win32", "quartz"], windows: list[NativeWindow]) -> None:
        self.backend = backend
        self.listed = windows
        self.raised: list[tuple[int, int]] = []

    def why_not(self) -> str:
        return ""

    def windows(self) -> list[NativeWindow]:
        return self.listed

    def focused(self) -> int | None:
        return None

    def raise_window(self, window_id: int, pid: int) -> None:
        self.raised.append((window_id, pid))


@pytest.fixture(scope="module")
def pids() -> Iterator[dict[str, int]]:
    """Real processes for the names in the lists: the browser is this one, and its helper a child."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as helper:
        yield {"browser": os.getpid(), "other": os.getppid(), "helper": helper.pid, "system": 1}
        helper.kill()


def entries(name: str, key: str, pids: dict[str, int]) -> list[dict[str, Any]]:
    recorded = json.loads((RECORDED / name).read_text())["windows"]
    return [{**{k: v for k, v in e.items() if k != "about"}, key: pids[e[key]]} for e in recorded]


@pytest.fixture
def windows_list(pids: dict[str, int]) -> Listed:
    screens = json.loads((RECORDED / "win32.json").read_text())["screens"]
    raw = [win32.Raw.model_validate(entry) for entry in entries("win32.json", "pid", pids)]
    return Listed("win32", win32.read_windows(raw, [win32.Screen.model_validate(screen) for screen in screens]))


@pytest.fixture
def quartz_list(pids: dict[str, int]) -> Listed:
    return Listed("quartz", quartz.read_windows(entries("quartz.json", "kCGWindowOwnerPID", pids)))


def find(source: Listed, *at: int) -> Surface:
    return SourceSurfaces(source).resolve(ME, WindowBounds(*at), "")


def refusal(source: Listed, *at: int) -> ErrorCode:
    with pytest.raises(Refused) as error:
        find(source, *at)
    return error.value.code


def test_on_windows_the_window_is_found_by_process_and_scaled_bounds(windows_list: Listed) -> None:
    """A3, K62: another browser's window of one class, title and place is not taken."""
    surface = find(windows_list, 100, 100, 1050, 781)
    assert (surface.backend, surface.window_id, surface.pid) == ("win32", 1180010, ME.pid)
    assert (surface.x, surface.y, surface.width, surface.height) == (150, 150, 1575, 1171)
    assert surface.process_started == ME.started


def test_on_windows_a_minimised_window_is_found_where_it_will_be_restored(windows_list: Listed) -> None:
    """K61: its own rectangle is far off the screen, and the restored one counts from the work area."""
    assert find(windows_list, 150, 150, 800, 600).window_id == 1180020


def test_on_windows_a_second_screen_of_another_scale_is_exact_or_ambiguous(windows_list: Listed) -> None:
    """A3: wherever Chromium counts that screen's places from."""
    assert find(windows_list, 1807, 50, 900, 600).window_id == 1180030
    assert refusal(windows_list, 1847, 100, 700, 500) is ErrorCode.SURFACE_AMBIGUOUS


def test_on_windows_a_select_and_a_file_chooser_belong_to_the_window(windows_list: Listed) -> None:
    finder = SourceSurfaces(windows_list)
    assert finder.family(find(windows_list, 100, 100, 1050, 781)) == (1180002, 1180004)


def test_on_windows_hidden_helpers_and_dialogs_are_not_taken(windows_list: Listed) -> None:
    """A3."""
    assert refusal(windows_list, 0, 0, 0, 0) is ErrorCode.SURFACE_NOT_FOUND
    assert refusal(windows_list, 133, 133, 600, 400) is ErrorCode.SURFACE_NOT_FOUND


def test_on_macos_the_window_is_found_by_process_and_bounds(quartz_list: Listed) -> None:
    """A3, K62: another application of one name is in front, at the same place."""
    surface = find(quartz_list, 100, 100, 1050, 781)
    assert (surface.backend, surface.window_id, surface.pid) == ("quartz", 400, ME.pid)


def test_on_macos_a_window_off_the_screen_and_one_on_a_second_screen_are_found(quartz_list: Listed) -> None:
    """K61: minimised, or on another space."""
    assert find(quartz_list, 130, 130, 1050, 781).window_id == 403
    assert find(quartz_list, -1200, -80, 800, 600).window_id == 404


def test_on_macos_two_windows_at_one_place_are_ambiguous(quartz_list: Listed) -> None:
    """A3: two that are maximised, for instance."""
    assert refusal(quartz_list, 0, 37, 1512, 945) is ErrorCode.SURFACE_AMBIGUOUS


def test_on_macos_an_open_select_belongs_to_the_window(quartz_list: Listed) -> None:
    assert SourceSurfaces(quartz_list).family(find(quartz_list, 100, 100, 1050, 781)) == (402,)


def test_on_macos_the_active_applications_frontmost_window_has_the_keyboard(pids: dict[str, int]) -> None:
    listed = entries("quartz.json", "kCGWindowOwnerPID", pids)
    assert quartz.focused_window(listed, pids["other"]) == 510
    assert quartz.focused_window(listed, pids["browser"]) == 401
    assert quartz.focused_window(listed, pids["helper"]) is None


def test_a_reused_pid_or_a_closed_window_is_no_surface(windows_list: Listed) -> None:
    """A3: pid and start time, on every system."""
    finder, surface = SourceSurfaces(windows_list), find(windows_list, 100, 100, 1050, 781)
    older = ProcessIdentity(ME.pid, ME.started - 60)
    with pytest.raises(Refused):
        finder.resolve(older, WindowBounds(100, 100, 1050, 781), "")
    assert finder.exists(surface)
    assert not finder.exists(surface.model_copy(update={"process_started": older.started}))
    assert finder.family(surface.model_copy(update={"process_started": older.started})) == ()
    windows_list.listed = [window for window in windows_list.listed if window.window_id != surface.window_id]
    assert not finder.exists(surface)
    finder.raise_window(surface)
    assert windows_list.raised == []


@pytest.mark.parametrize("name", ["win32.json", "quartz.json"])
def test_the_lists_say_that_they_are_no_evidence(name: str) -> None:
    assert "no evidence" in json.loads((RECORDED / name).read_text())["note"]


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_unproven_systems_do_not_advertise_the_capability(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    """A2: begin is refused there, and nothing is guessed."""
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.delenv(UNPROVEN_VARIABLE, raising=False)
    finder = choose_surfaces(DISPLAY)
    assert isinstance(finder, NoSurfaces)
    able, why = finder.capability()
    assert not able
    assert UNPROVEN_VARIABLE in why
    with pytest.raises(Refused) as error:
        finder.resolve(ME, WindowBounds(0, 0, 1, 1), "")
    assert error.value.code is ErrorCode.HANDOFF_UNSUPPORTED


@pytest.mark.parametrize(("platform", "backend"), [("win32", "win32"), ("darwin", "quartz")])
def test_a_person_can_switch_an_unproven_system_on_and_it_still_has_to_answer(
    monkeypatch: pytest.MonkeyPatch, platform: str, backend: str
) -> None:
    """A2: here there is no such system, and the capability says so."""
    monkeypatch.setenv(UNPROVEN_VARIABLE, "1")
    monkeypatch.setattr("sys.platform", platform)
    finder = choose_surfaces(DISPLAY)
    assert finder.backend == backend
    able, why = finder.capability()
    assert not able
    assert why
