"""What a real desktop leaves as evidence of a real handoff, and that a fault of the evidence stops nothing."""

import asyncio
import hashlib
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from examples.portal import Portal
from tests.desktop.evidence.support import SECONDS, records, verify
from tests.desktop.support import Agent, code_of
from tests.desktop.takeover.support import Taker
from tests.desktop.view.raw import viewing
from tests.waiting import until
from user_handoff.contract.browser import Snapshot
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import HandoffState
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.evidence import pictures
from user_handoff.desktop.evidence.store import Evidence

CANARY = "kanarivogel"
KEYS = [ord(letter) for letter in CANARY]


class Kept:
    """The evidence of the desktop, from now on."""

    def __init__(self, desktop: Desktop) -> None:
        assert isinstance(desktop.notes, Evidence)
        self.evidence = desktop.notes
        self.folder = self.evidence.writer.folder
        self._before = self._count()

    def _count(self) -> int:
        assert self.evidence.wait_written(SECONDS)
        return len(records(self.folder))

    @property
    def records(self) -> list[dict[str, Any]]:
        assert self.evidence.wait_written(SECONDS)
        return records(self.folder)[self._before :]

    def said(self, *kinds: str) -> list[str]:
        """The events of these kinds, each with its code or reason."""
        found = [record for record in self.records if record["event"].startswith(kinds)]
        return [
            " ".join([each["event"], *(each["facts"][key] for key in ("code", "why") if key in each["facts"])])
            for each in found
        ]


@pytest.fixture
def kept(desktop: Desktop) -> Kept:
    return Kept(desktop)


@pytest.fixture(scope="module")
async def agent(desktop: Desktop, portal: Portal) -> AsyncIterator[Agent]:
    """One for all: each test gives back what it begins."""
    agent = await Agent.open(desktop, f"{portal.url}/login?token={CANARY}")
    yield agent
    await agent.close()


def help_in(look: Snapshot) -> str:
    return look.find(role="button", name="Need help?")


async def test_every_change_of_control_and_every_effect_is_a_record_without_what_was_typed(
    agent: Agent, desktop: Desktop, kept: Kept
) -> None:
    """E6, B7, K42: a handoff through the view, with an agent that tries meanwhile."""
    look = await agent.look()
    user, password = [each.element_id for each in look.elements() if each.role == "textbox"]
    button = help_in(look)
    await agent.fill(user, CANARY)
    assert await code_of(agent.fill(password, CANARY)) is ErrorCode.BOUNDARY_REACHED
    await agent.click(button)
    receipt = await agent.begin()
    assert await code_of(agent.click(button)) is ErrorCode.BROWSER_HELD
    async with viewing(desktop.view, receipt.handoff_id) as viewer:
        await viewer.take()
        await viewer.press(*KEYS)
        await viewer.until_passed()
        await agent.finish(receipt)
    assert await code_of(agent.click(button)) is ErrorCode.BROWSER_HELD
    await agent.click(help_in(await agent.look()))
    assert kept.said("hold", "lease") == [
        "hold_beginning",
        "hold_held",
        "lease_taken",
        "hold_recovering",
        "lease_ended over",
        "hold_recovered",
    ]
    assert kept.said("effect") == [
        "effect_admitted",
        "effect_completed",
        "effect_refused boundary_reached",
        "effect_admitted",
        "effect_completed",
        "effect_refused browser_held",
        "effect_refused browser_held",
        "effect_admitted",
        "effect_completed",
    ]
    of_hold = [record for record in kept.records if record["event"].startswith(("hold", "lease"))]
    assert {(record["about"], record["browser_id"]) for record in of_hold} == {(receipt.handoff_id, agent.browser_id)}
    refused = next(record for record in kept.records if record["facts"].get("code") == "browser_held")
    assert refused["about"] == receipt.handoff_id and refused["facts"]["action"] == "Click"
    assert verify(kept.folder).good
    held = [file for file in kept.folder.rglob("*") if file.is_file() and CANARY.encode() in file.read_bytes()]
    assert held == []


async def test_a_begin_that_is_refused_is_a_record(agent: Agent, kept: Kept) -> None:
    """E6."""
    receipt = await agent.begin()
    assert await code_of(agent.begin()) is ErrorCode.HANDOFF_ACTIVE
    await agent.finish(receipt)
    await agent.look()
    assert kept.said("hold")[2] == "hold_refused handoff_active"


@pytest.mark.parametrize("fault", ["hangs", "is full"])
async def test_a_store_that_fails_blocks_no_return(
    agent: Agent, kept: Kept, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6: begin, finish and what comes after take as long as ever."""
    answers = threading.Event()
    append = kept.evidence.writer.append

    def broken(some: Any) -> None:
        if fault == "hangs":
            answers.wait()
            append(some)
        elif not answers.is_set():
            raise OSError(28, "No space left on device")
        else:
            append(some)

    monkeypatch.setattr(kept.evidence.writer, "append", broken)
    try:
        async with asyncio.timeout(SECONDS):
            receipt = await agent.begin()
            began = time.monotonic()
            assert (await agent.finish(receipt)).state is HandoffState.RECOVERING
            assert time.monotonic() - began < 2
            await agent.look()
        assert not kept.evidence.wait_written(0.01)
    finally:
        answers.set()
    assert kept.said("hold") == ["hold_beginning", "hold_held", "hold_recovering", "hold_recovered"]
    assert verify(kept.folder).good


@pytest.fixture
def pictured(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop._control_pictures, "_wanted", True)


async def after_the_end(kept: Kept) -> None:
    """Wait for the picture that is taken beside."""
    await until(lambda: any(said.startswith("picture_after") for said in kept.said("picture")), SECONDS)


@pytest.mark.usefixtures("pictured")
async def test_a_picture_before_and_one_after_are_named_by_their_digests(
    agent: Agent, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6, F7."""
    monkeypatch.setattr(pictures, "_WAIT_SECONDS", SECONDS)
    receipt = await agent.begin()
    await agent.finish(receipt)
    await after_the_end(kept)
    await agent.look()
    named = [record for record in kept.records if record["event"].startswith("picture")]
    assert [record["event"] for record in named] == ["picture_before", "picture_after"]
    for record in named:
        file = kept.folder / "pictures" / f"{record['picture']}.png"
        assert hashlib.sha256(file.read_bytes()).hexdigest() == record["picture"]
        assert file.stat().st_mode & 0o777 == 0o600
    began = next(record["n"] for record in kept.records if record["event"] == "hold_held")
    assert named[0]["mono"] < named[1]["mono"] and named[1]["n"] > began
    assert verify(kept.folder).good


@pytest.mark.usefixtures("pictured")
async def test_a_takeover_has_a_picture_before_it_too(
    agent: Agent, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6: and one that is refused is a record."""
    monkeypatch.setattr(pictures, "_WAIT_SECONDS", SECONDS)
    taker = Taker(agent)
    await taker.take()
    assert await code_of(Taker(agent).take()) is ErrorCode.TAKEOVER_ACTIVE
    await taker.give_back()
    await agent.look()
    assert kept.said("picture")[0] == "picture_before"
    said = ["takeover_start", "takeover_refused takeover_active", "takeover_return"]
    assert kept.said("takeover") == said


@pytest.mark.usefixtures("pictured")
async def test_no_picture_of_a_person_at_work_is_kept(
    agent: Agent, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6, B7: one that is not done when the hold begins, and one that is not done when the next one begins."""
    released = asyncio.Event()

    async def slow(page: ManagedPage) -> bytes:
        await released.wait()
        return b"\x89PNG"

    monkeypatch.setattr(pictures, "picture_of", slow)
    await agent.finish(await agent.begin())
    await agent.look()
    receipt = await agent.begin()
    released.set()
    assert await code_of(agent.begin()) is ErrorCode.HANDOFF_ACTIVE
    await agent.finish(receipt)
    await after_the_end(kept)
    await agent.look()
    said = [" ".join([each["event"], *map(str, each["facts"].values())]) for each in kept.records]
    missed = [each for each in said if each.startswith("picture")]
    assert missed[0] == "picture_missed before too_slow"
    assert "picture_missed after not_taken" in missed[1:]


async def test_without_the_operators_word_no_picture_is_taken(agent: Agent, kept: Kept) -> None:
    """B7: the default."""
    await agent.finish(await agent.begin())
    await agent.look()
    assert kept.said("picture") == []
