"""A desktop that starts, is left standing, and is found again."""

from pathlib import Path

import psutil
import pytest

from tests.desktop.support import Agent
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, Held, SetupError
from user_handoff.contract.handoff import RevokeReason
from user_handoff.desktop.start import DesktopSettings, running_desktop


def settings(folder: Path, *, keep: bool = False) -> DesktopSettings:
    return DesktopSettings(folder=folder, virtual=True, sandbox=False, keep_on_stop=keep)


async def test_the_next_runner_finds_desktop_browser_and_hold(tmp_path: Path) -> None:
    """F10, A19: under the same ids and the same fence."""
    async with running_desktop(settings(tmp_path, keep=True)) as desktop:
        agent = await Agent.open(desktop)
        receipt = await agent.begin()
        before, identity = await agent.info(), desktop.identity
    async with running_desktop(settings(tmp_path)) as desktop:
        assert desktop.identity == identity
        found = Agent(desktop, agent.browser_id)
        after = await found.info()
        assert (after.pid, after.state) == (before.pid, "held")
        await found.finish(receipt)
        await found.look()
        assert (await found.info()).state == "open"


async def test_a_new_display_is_a_new_desktop(tmp_path: Path) -> None:
    """A15: an old fence can never name a browser of a replacement."""
    async with running_desktop(settings(tmp_path)) as desktop:
        first = desktop.identity
    async with running_desktop(settings(tmp_path)) as desktop:
        assert desktop.identity.client_id == first.client_id
        assert desktop.identity.desktop_id != first.desktop_id


async def test_shutdown_revokes_the_holds_and_leaves_nothing_running(tmp_path: Path) -> None:
    """A15."""
    async with running_desktop(settings(tmp_path)) as desktop:
        agent = await Agent.open(desktop)
        receipt = await agent.begin()
        record = desktop.browsers.get(agent.browser_id).record
        keeper = desktop.display.keeper
        holds = desktop.holds
    end = await holds.wait_end(agent.named(receipt))
    assert (end.how, end.reason) == ("revoked", RevokeReason.SHUTDOWN)
    assert not record.browser.alive()
    assert not record.host.alive()
    assert keeper is not None
    assert not keeper.alive()


async def test_where_the_display_has_ended_the_holds_are_not_said_to_end_by_a_shutdown(tmp_path: Path) -> None:
    """A15: whoever sees its end first, the browser went with it."""
    async with running_desktop(settings(tmp_path)) as desktop:
        agent = await Agent.open(desktop)
        receipt = await agent.begin()
        assert desktop.display.keeper is not None
        psutil.Process(desktop.display.keeper.pid).kill()
        await until(lambda: not desktop.display.alive())
        await desktop.browsers.shutdown()
        end = await desktop.holds.wait_end(agent.named(receipt))
    assert (end.how, end.reason) == ("revoked", RevokeReason.BROWSER_CRASHED)


async def test_a_second_runner_on_the_same_desktop_is_refused(tmp_path: Path) -> None:
    async with running_desktop(settings(tmp_path)):
        with pytest.raises(SetupError) as refused:
            async with running_desktop(settings(tmp_path)):
                pass
        assert refused.value.code is ErrorCode.ALREADY_RUNNING


async def test_a_broken_ledger_is_put_aside_only_where_no_browser_lives(tmp_path: Path) -> None:
    """E2: while one lives the gate stays closed; afterwards the desktop works again."""
    async with running_desktop(settings(tmp_path, keep=True)) as desktop:
        agent = await Agent.open(desktop)
    break_ledger(tmp_path)
    async with running_desktop(settings(tmp_path, keep=True)) as desktop:
        with pytest.raises(Held) as held:
            await Agent(desktop, agent.browser_id).go("about:blank")
        assert held.value.code is ErrorCode.RESERVATION_CLOSED
        await Agent(desktop, agent.browser_id).close()
    async with running_desktop(settings(tmp_path)) as desktop:
        await (await Agent.open(desktop)).go("about:blank")
    assert put_aside(tmp_path)


def break_ledger(folder: Path) -> None:
    """What a disk or a stray program does."""
    for each in folder.glob("*.ledger.db*"):
        each.write_bytes(b"nonsense" * 500)


def put_aside(folder: Path) -> list[Path]:
    """The broken ledgers that were kept."""
    return list(folder.glob("*.broken-*"))
