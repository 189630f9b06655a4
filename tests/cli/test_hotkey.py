"""Where `handoff hotkey` does not start, and where a press takes nothing. What it takes is in tests/e2e."""

import asyncio
import contextlib
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.conftest import SECONDS, Handoff, command
from tests.relay.conftest import make_desk
from user_handoff.cli.hotkey import KEYS, browser_in_front
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.display.display import Display, desktop_id
from user_handoff.desktop.display.virtual import ensure_virtual, stop_virtual
from user_handoff.desktop.input.hotkey import Hotkey

Environment = dict[str, str]


@pytest.fixture(scope="module")
async def display(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Display]:
    folder = tmp_path_factory.mktemp("display")
    yield await ensure_virtual(folder)
    await stop_virtual(folder)


@pytest.mark.parametrize("more", [[], ["--display", ":987"]])
def test_without_an_x_display_it_is_refused(handoff: Handoff, env: Environment, more: list[str]) -> None:
    done = handoff("hotkey", *more, env=env)

    assert (done.returncode, done.stdout) == (1, "")
    assert "[no_display]" in done.stderr


async def test_keys_that_another_program_has_are_refused(handoff: Handoff, env: Environment, display: Display) -> None:
    with contextlib.closing(Hotkey(display, KEYS)):
        done = await asyncio.to_thread(handoff, "hotkey", env=env | display.environment())

    assert (done.returncode, done.stdout) == (1, "")
    assert "[already_running]" in done.stderr and "--keys" in done.stderr


async def test_what_is_no_combination_is_refused(handoff: Handoff, env: Environment, display: Display) -> None:
    done = await asyncio.to_thread(handoff, "hotkey", "--keys", "Space", env=env | display.environment())

    assert (done.returncode, done.stdout) == (3, "")
    assert "[invalid_request]" in done.stderr


async def test_it_ends_with_its_display(env: Environment, tmp_path: Path) -> None:
    """E4: what is taken then is not renewed any more."""
    own = await ensure_virtual(tmp_path / "own")
    process = await asyncio.create_subprocess_exec(
        *command("hotkey"), env=env | own.environment(), stdout=PIPE, stderr=PIPE
    )
    try:
        assert process.stdout is not None
        assert b"Ctrl-C ends this" in await asyncio.wait_for(process.stdout.readline(), SECONDS)
    finally:
        await stop_virtual(tmp_path / "own")
    _, err = await asyncio.wait_for(process.communicate(), SECONDS)

    assert process.returncode == 1
    assert b"[no_display]" in err and b"Traceback" not in err


async def test_the_only_browser_is_meant_and_without_one_a_press_is_refused(state: Path, display: Display) -> None:
    make_desk(state, desktop=desktop_id(display)).close()
    assert browser_in_front(state / "desktop", display) == "b_1"

    (state / "desktop" / "browsers" / "b_1" / "host.json").unlink()
    assert refusal(state, display) is ErrorCode.SURFACE_NOT_FOUND


async def test_of_another_desktop_nothing_is_taken(state: Path, display: Display) -> None:
    """A3: nor where no runner has served one yet, or where that cannot be read."""
    assert refusal(state, display) is ErrorCode.RUNNER_UNAVAILABLE
    make_desk(state, desktop="d_other").close()
    assert refusal(state, display) is ErrorCode.RUNNER_UNAVAILABLE
    (state / "desktop" / "serving.json").write_text("{")
    assert refusal(state, display) is ErrorCode.RESERVATION_CLOSED


def refusal(state: Path, display: Display) -> ErrorCode:
    with pytest.raises(HandoffError) as refused:
        browser_in_front(state / "desktop", display)
    return refused.value.code
