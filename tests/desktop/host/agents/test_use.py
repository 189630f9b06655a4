"""What a host notes of its doors for the evidence, and when it closes one by itself."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.desktop.host.agents.conftest import open_door
from tests.desktop.host.conftest import MakeSpec
from tests.desktop.host.raw import raw_client
from tests.waiting import until
from user_handoff.desktop.evidence.noting import Unnoted
from user_handoff.desktop.evidence.outside import FILE, OutsideNotes
from user_handoff.desktop.host import doors as doors_module
from user_handoff.desktop.host.control import HostControl
from user_handoff.desktop.host.doors import Doors
from user_handoff.desktop.host.launch import launch_host
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.use import DoorUse
from user_handoff.desktop.reservation.ledger import Ledger


@dataclass
class Noted:
    """A browser of a desktop that nobody serves, and the notes that wait."""

    control: HostControl
    file: OutsideNotes

    def all(self) -> list[Any]:
        return self.file.waiting(100)[0]

    def said(self, *facts: str) -> list[str]:
        return [" ".join([note.event, *(str(note.facts.get(each, "-")) for each in facts)]) for note in self.all()]

    async def until(self, count: int) -> None:
        await until(lambda: len(self.all()) >= count)


@pytest.fixture
async def noted(make_spec: MakeSpec, tmp_path: Path) -> AsyncIterator[Noted]:
    ledger = Ledger(tmp_path / "d_1.ledger.db")
    ledger.holders()
    record = await launch_host(make_spec(tmp_path / "b_used", ledger=ledger.path))
    control = await HostControl.connect(record.socket)
    with contextlib.closing(OutsideNotes(tmp_path / FILE, "d_1")) as file:
        yield Noted(control, file)
    await control.close_browser()
    await control.aclose()
    ledger.close()


async def test_what_comes_by_a_door_is_counted_at_each_change_and_the_first_refusal_is_a_record(noted: Noted) -> None:
    """E6, F9, B7: thousands of commands are a few records, by the names of methods alone."""
    door = await open_door(noted.control, tcp=False, name="my robot")
    async with raw_client(door.socket, door.path) as client:
        for _ in range(3):
            await client.call("Target.createTarget", url="about:blank")
        await client.call("Target.createTarget", url="file:///secret")
        await noted.control.hold("handoff/b_1", 5)
        for _ in range(50):
            await client.call("Target.createTarget", url="https://example.org/secret")
        await noted.control.release("handoff/b_1")
        await client.call("Target.createTarget", url="about:blank")
    await noted.control.close_door(door.door_id)
    await noted.until(5)
    assert noted.said("who", "why", "admitted", "refused", "action", "code") == [
        "effect_refused my-robot - - - Target.createTarget url_refused",
        "door_used my-robot held 3 1 - -",
        "effect_refused my-robot - - - Target.createTarget browser_held",
        "door_used my-robot released 0 50 - -",
        "door_used my-robot closed 1 0 - -",
    ]
    of_hold = [note.about for note in noted.all()]
    assert of_hold == [None, "handoff/b_1", "handoff/b_1", "handoff/b_1", None]
    assert {(note.desktop_id, note.browser_id, note.facts["door_id"]) for note in noted.all()} == {
        ("d_1", "b_used", door.door_id)
    }
    assert "secret" not in repr(noted.all())


async def test_the_use_of_a_door_is_noted_though_its_browser_ends(noted: Noted) -> None:
    """E6: and nothing of it is lost."""
    door = await open_door(noted.control, tcp=False)
    async with raw_client(door.socket, door.path) as client:
        await client.call("Target.createTarget", url="about:blank")
        await noted.control.close_browser()
    assert noted.said("why", "admitted") == ["door_used browser_ended 1"]


async def test_a_door_of_a_grant_that_nobody_looks_after_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """C3, F9: its runner was killed, or cannot ask; a door without a grant stays."""
    monkeypatch.setattr(doors_module, "UNCHECKED_SECONDS", 0.2)
    doors = Doors(Router(None), DoorUse(Unnoted(), "b_1"))  # type: ignore[arg-type]
    for door_id, grant_id in (("d_kept", "g_1"), ("d_left", "g_1"), ("d_plain", None)):
        doors.open(door_id, "0" * 64, "", False, 600, grant_id)

    def kept() -> bool:
        assert doors.keep("d_kept")
        return len(doors.all()) == 2

    await until(kept)
    assert [door.door_id for door in doors.all()] == ["d_kept", "d_plain"]
    assert not doors.keep("d_left")
    doors.close_all("closed")
