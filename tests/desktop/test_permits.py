"""A block of any program, under a permit of a real desktop."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.desktop.evidence.support import SECONDS, records
from tests.desktop.support import Agent
from user_handoff.contract.errors import ErrorCode, HandoffError, Held, Refused
from user_handoff.desktop import permit
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.evidence.store import Evidence


@pytest.fixture
def state(desktop: Desktop, tmp_path: Path) -> Path:
    """The state folder that this desktop is in, as a command finds it."""
    (tmp_path / "desktop").symlink_to(desktop.browsers.folder.parent)
    return tmp_path


async def test_a_begin_waits_for_a_block_and_a_hold_keeps_the_next_one_out(agent: Agent, state: Path) -> None:
    """F1, E2, E7, A10, K11: of any program on the desktop."""
    async with permit(name="my bot", state=state) as mine:
        mine.recheck()
        with pytest.raises(HandoffError) as refused:
            await agent.begin(drain_seconds=0.1)
        assert refused.value.code is ErrorCode.DRAIN_TIMEOUT
    await agent.begin()
    for asked, code in (
        (permit(state=state), ErrorCode.DESKTOP_HELD),
        (permit(state=state, browser=agent.browser_id), ErrorCode.BROWSER_HELD),
    ):
        with pytest.raises(Held) as held, asked:
            raise AssertionError("the block was run")
        assert held.value.code is code


async def test_a_block_is_told_that_a_person_waits(agent: Agent, state: Path) -> None:
    """F1, K07: and the begin goes on once it has ended."""
    with permit(state=state, browser=agent.browser_id) as mine:
        beginning = asyncio.create_task(agent.begin())
        while True:
            try:
                mine.recheck()
            except Held as error:
                assert error.code is ErrorCode.BROWSER_HELD
                break
            await asyncio.sleep(0)
        assert not beginning.done()
    assert (await beginning).handoff_id


async def test_a_permit_is_for_one_block_at_a_time(desktop: Desktop, state: Path) -> None:
    asked = permit(state=state)
    with pytest.raises(RuntimeError):
        asked.recheck()
    for _ in range(2):
        with asked, pytest.raises(RuntimeError), asked:
            raise AssertionError("the block was run")
    assert desktop.holds.permits() == 0


async def test_a_permit_waits_as_long_as_it_was_told(agent: Agent, state: Path) -> None:
    """F1."""
    await agent.begin()
    with pytest.raises(Held):
        async with permit(state=state, wait=0.1):
            raise AssertionError("the block was run")
    waiting = asyncio.create_task(_in_a_block(state))
    await asyncio.sleep(0)
    await agent.close()
    assert await waiting == "run"


async def _in_a_block(state: Path) -> str:
    async with permit(state=state, wait=10):
        return "run"


def test_where_no_runner_was_the_block_is_not_run(tmp_path: Path) -> None:
    """E2: neither for a file that cannot be understood."""
    (tmp_path / "desktop").mkdir()
    with pytest.raises(Refused) as refused, permit(state=tmp_path):
        raise AssertionError("the block was run")
    assert refused.value.code is ErrorCode.RUNNER_UNAVAILABLE
    for content in ("", "{}", '{"client_id": "c", "desktop_id": "../x"}', '{"client_id": "c_1", "desktop_id": "d_1"}'):
        (tmp_path / "desktop" / "serving.json").write_text(content)
        with pytest.raises(Held) as closed, permit(state=tmp_path):
            raise AssertionError("the block was run")
        assert closed.value.code is ErrorCode.RESERVATION_CLOSED


def test_the_documented_block_runs(
    desktop: Desktop, state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = Path(__file__).parents[2] / "docs" / "relay.md"
    block = document.read_text().split("```python\n")[1].split("```")[0]
    monkeypatch.setenv("HANDOFF_STATE", str(state))
    exec(block, {})
    assert capsys.readouterr().out.splitlines() == ["step 0", "step 1", "step 2"]


def test_the_import_is_cheap() -> None:
    """What is needed is imported with the first permit."""
    said = "import sys, user_handoff.desktop; print(*{'pydantic', 'asyncio', 'psutil', 'sqlite3'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=30)
    assert done.stdout.strip() == "", done


async def test_blocks_are_in_the_evidence_of_the_desktop(agent: Agent, desktop: Desktop, state: Path) -> None:
    """E6, F1: admitted, refused, and what became of them; by the name that the program gave."""
    assert isinstance(desktop.notes, Evidence)
    with permit(name="my bot", state=state):
        pass
    with pytest.raises(ValueError, match="secret"), permit(name="my bot", state=state, browser=agent.browser_id):
        raise ValueError("secret")
    receipt = await agent.begin()
    with pytest.raises(Held), permit(name="my bot", state=state, wait=0.2):
        raise AssertionError("the block was run")
    desktop.notes.take_in()
    assert desktop.notes.wait_written(SECONDS)
    found = [each for each in records(desktop.notes.writer.folder) if each["facts"].get("who") == "my-bot"][-5:]
    assert [" ".join([each["event"], each["facts"].get("code", "-")]) for each in found] == [
        "effect_admitted -",
        "effect_completed -",
        "effect_admitted -",
        "effect_failed ValueError",
        "effect_refused desktop_held",
    ]
    assert [each.get("browser_id") for each in found] == [None, None, agent.browser_id, agent.browser_id, None]
    assert found[-1]["about"] == receipt.handoff_id and found[0]["facts"]["permit_id"]
