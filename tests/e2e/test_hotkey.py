"""A person takes a browser over by a key at the desktop, on the real parts."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import sys
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Callable

import pytest
from temporalio.client import ActivityFailureError

from tests.desktop.surfaces.programs import program, window
from tests.e2e.stack import OWNER, Stack
from user_handoff.cli.temporal import embedded_environment
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract import computer as c
from user_handoff.contract.browser import (
    BrowserInfo,
    BrowserRequest,
    EffectReceipt,
    Navigate,
    OpenBrowser,
    Snapshot,
    SnapshotRequest,
)
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.takeover import TakeoverEnd, TakeoverState, TakeoverSummary
from user_handoff.desktop.display.record import read_record


@contextlib.asynccontextmanager
async def opened(stack: Stack) -> AsyncIterator[BrowserInfo]:
    """A browser of an agent."""
    spec = OpenBrowser(browser_id=new_id("b"), session_id="s_test", owner=OWNER, url=f"{stack.portal.url}/login")
    yield await stack.ask(Activities.OPEN_BROWSER, spec, BrowserInfo)
    await stack.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=spec.browser_id), type(None))


@pytest.fixture(scope="module")
async def browser(stack: Stack) -> AsyncIterator[BrowserInfo]:
    async with opened(stack) as browser:
        yield browser


@contextlib.asynccontextmanager
async def hotkey(stack: Stack, *more: str) -> AsyncIterator[Process]:
    """`handoff hotkey` as a desk's session starts it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "user_handoff.cli.main", "hotkey", "--state", str(stack.state), *more),
        stdout=PIPE,
        stderr=STDOUT,
        env=embedded_environment(stack.engine.address) | stack.display,
    )
    try:
        await says(process, "Ctrl-C ends this")
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def says(process: Process, words: str) -> str:
    assert process.stdout is not None
    said = ""
    async with asyncio.timeout(30):
        while line := (await process.stdout.readline()).decode():
            said += line
            if words in line:
                return line
    raise AssertionError(said)


async def person(stack: Stack, *words: str) -> None:
    """Somebody at the keyboard."""
    env = {"PATH": os.environ["PATH"]} | stack.display
    hands = await asyncio.create_subprocess_exec("xdotool", *words, env=env)
    assert await hands.wait() == 0


async def press(stack: Stack, *words: str) -> None:
    await person(stack, "key", *words, "ctrl+alt+space")


async def to_front(stack: Stack, browser: BrowserInfo) -> None:
    """Somebody clicks into the window."""
    look = await stack.ask(Activities.OBSERVE_COMPUTER, c.ObserveComputer(), c.DisplayLook)
    (window_id,) = (str(each.window_id) for each in look.windows if each.pid == browser.pid)
    await person(stack, "windowactivate", "--sync", window_id)


async def takeovers(stack: Stack, browser: BrowserInfo, *, ended: bool = False) -> list[TakeoverSummary]:
    return await TakeoverClient(stack.client).takeovers(browser_id=browser.browser_id, ended=ended)


async def how_it_ended(stack: Stack, browser: BrowserInfo, takeover_id: str) -> TakeoverEnd | None:
    """What the agent is told by its next look, and everybody else."""
    seen = await stack.ask(Activities.SNAPSHOT, SnapshotRequest(browser_id=browser.browser_id), Snapshot)
    summary = await TakeoverClient(stack.client).takeover(takeover_id)
    assert seen.resumed is not None
    assert (seen.resumed.takeover_id, seen.resumed.role, seen.resumed.how) == (takeover_id, "desk", summary.how)
    return summary.how


async def refusal_of_a_native_press(stack: Stack) -> ErrorCode | None:
    """What becomes of an agent that presses the very keys; None: they were pressed."""
    look = await stack.ask(Activities.OBSERVE_COMPUTER, c.ObserveComputer(), c.DisplayLook)
    action = c.PressKeys(keys=("ctrl", "alt", "space"))
    effect = c.ComputerEffect(effect_id=new_id("e"), generation=look.generation, action=action)
    try:
        await stack.ask(Activities.COMPUTER, effect, c.ComputerReceipt)
    except ActivityFailureError as failure:
        error = from_failure(failure)
        assert error is not None
        return error.code
    return None


async def held(stack: Stack, browser: BrowserInfo) -> bool:
    info = await stack.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser.browser_id), BrowserInfo)
    return info.state == "held"


@contextlib.asynccontextmanager
async def stuck(stack: Stack, browser: BrowserInfo) -> AsyncIterator[Callable[[], None]]:
    """The agent goes where nobody answers, and would wait there for a minute; call it to let it go on."""
    asked = asyncio.Event()
    waiting: list[asyncio.StreamWriter] = []

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting.append(writer)
        asked.set()
        with contextlib.suppress(OSError):
            await reader.read(-1)
        writer.close()

    server = await asyncio.start_server(never, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    def let_go() -> None:
        server.close()
        for writer in waiting:
            writer.close()

    going = Navigate(
        browser_id=browser.browser_id, effect_id=new_id("e"), url=f"http://127.0.0.1:{port}/", timeout_seconds=60
    )
    effect = asyncio.create_task(stack.ask(Activities.NAVIGATE, going, EffectReceipt))
    async with asyncio.timeout(30):
        await asked.wait()
    yield let_go
    with contextlib.suppress(ActivityFailureError):
        await effect
    let_go()


async def test_the_only_browser_is_taken_whatever_is_in_front_and_interrupted_it_goes_back(
    stack: Stack, browser: BrowserInfo
) -> None:
    """B8, E1, E5: nothing happens without a press, and Ctrl-C leaves nothing taken."""
    record = read_record(stack.state / "desktop")
    assert record is not None
    with program(record.display(stack.state / "desktop"), window("a")) as other:
        await person(stack, "windowactivate", "--sync", str(other.windows[0]))
        async with hotkey(stack) as desk:
            assert not await held(stack, browser)
            await press(stack)
            taken = (await says(desk, "You have the browser")).split()[-1]
            assert await held(stack, browser)
            desk.send_signal(signal.SIGINT)
            await says(desk, "Cancelled after")
            assert await desk.wait() == 130
    assert await how_it_ended(stack, browser, taken) is TakeoverEnd.CANCELLED


async def test_the_one_in_front_is_taken_and_no_press_of_an_agent_gives_it_back(
    stack: Stack, browser: BrowserInfo
) -> None:
    """B8, A10, E1: neither while it is held, nor one that came before it was."""
    async with opened(stack) as other, hotkey(stack) as desk:
        await to_front(stack, browser)
        async with stuck(stack, browser) as let_go:
            await press(stack, "--repeat", "3")
            let_go()
        taken = (await says(desk, "You have the browser")).split()[-1]
        assert await refusal_of_a_native_press(stack) is ErrorCode.DESKTOP_HELD
        assert (await held(stack, browser), await held(stack, other)) == (True, False)
        (summary,) = await takeovers(stack, browser)
        assert (summary.takeover_id, summary.state) == (taken, "held")
        await press(stack)
        await says(desk, "Returned after")
        assert await how_it_ended(stack, browser, taken) is TakeoverEnd.RETURNED
        await to_front(stack, other)
        await press(stack)
        second = (await says(desk, "You have the browser")).split()[-1]
        assert second.startswith(f"takeover/{other.browser_id}/")
        await press(stack)
        await says(desk, "Returned after")


async def test_what_is_refused_is_told_and_the_next_press_counts(stack: Stack, browser: BrowserInfo) -> None:
    """B8: a handoff is left alone; of several browsers one must be in front."""
    async with hotkey(stack) as desk:
        request, _ = await stack.begin()
        info = await stack.browser(await stack.handoffs.summary(request.handoff_id))
        await to_front(stack, info)
        await press(stack)
        await says(desk, "[handoff_active]")
        assert (await stack.handoffs.summary(request.handoff_id)).state is HandoffState.HELD
        record = read_record(stack.state / "desktop")
        assert record is not None
        with program(record.display(stack.state / "desktop"), window("a")) as other:
            await person(stack, "windowactivate", "--sync", str(other.windows[0]))
            await press(stack)
            await says(desk, "[surface_ambiguous]")
        await stack.handoffs.close(request.handoff_id)
        await to_front(stack, browser)
        await press(stack)
        taken = (await says(desk, "You have the browser")).split()[-1]
        await press(stack)
        await says(desk, "Returned after")
    assert await how_it_ended(stack, browser, taken) is TakeoverEnd.RETURNED


async def test_an_agent_that_is_stuck_is_cut_off_where_that_is_wanted(stack: Stack) -> None:
    """F1: without it the press is refused, and nothing is changed."""
    async with opened(stack) as browser, stuck(stack, browser):
        async with hotkey(stack) as desk:
            await to_front(stack, browser)
            await press(stack)
            await says(desk, "[drain_timeout]")
        async with hotkey(stack, "--preempt") as desk:
            await press(stack)
            taken = (await says(desk, "You have the browser")).split()[-1]
            await press(stack)
            await says(desk, "Returned after")
        assert await how_it_ended(stack, browser, taken) is TakeoverEnd.RETURNED


async def test_when_it_is_killed_its_lease_ends_and_the_agent_has_to_look(stack: Stack, browser: BrowserInfo) -> None:
    """E4."""
    async with hotkey(stack) as desk:
        await to_front(stack, browser)
        await press(stack)
        taken = (await says(desk, "You have the browser")).split()[-1]
        desk.kill()
        await desk.wait()
    file = stack.state / "desktop" / f"{browser.desktop_id}.leases.db"
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as leases:  # it was to last some 30 s
        leases.execute("UPDATE leases SET ttl = 0.5, expires = ?", (time.monotonic() + 0.5,))
    async with asyncio.timeout(30):
        while (await TakeoverClient(stack.client).takeover(taken)).state is not TakeoverState.RECOVERING:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert await how_it_ended(stack, browser, taken) is TakeoverEnd.TIMEOUT
