"""Doors that were opened under a grant, on a real desktop: they close with it, and others do not."""

import asyncio
import contextlib
import hashlib
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.desktop.evidence.support import SECONDS, records
from tests.desktop.host.raw import raw_client
from tests.desktop.support import OWNER, Agent
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract.access import GrantRecord, GrantView, SessionAccess
from user_handoff.contract.doors import DoorOpened, OpenDoor
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.evidence.store import Evidence


class Session:
    """What a session says of its one grant."""

    def __init__(self) -> None:
        self.silent = False
        self.asked = 0
        grant = GrantView(
            grant_id="g_1",
            session_id="s_test",
            owner=OWNER,
            scopes=(),
            capabilities="all",
            projections=(),
            expires_at=datetime.now(UTC) + timedelta(minutes=5),
            require_version=None,
            auth_version=0,
        )
        record = GrantRecord(view=grant, sha256="0" * 64)
        self.access: SessionAccess | None = SessionAccess(
            session_id="s_test", owner=OWNER, closed=False, version=0, auth_version=0, grants=(record,)
        )

    async def ask(self, session_id: str) -> SessionAccess | None:
        assert session_id == "s_test"
        self.asked += 1
        if self.silent:
            raise TimeoutError
        return self.access

    def end(self, how: str) -> None:
        assert self.access is not None
        [record] = self.access.grants
        if how == "session_not_found":
            self.access = None
        elif how in ("session_closed", "auth_context_changed"):
            change: dict[str, Any] = {"closed": True} if how == "session_closed" else {"auth_version": 1}
            self.access = self.access.model_copy(update=change)
        else:
            change = {"revoked": True} if how == "grant_revoked" else {"expires_at": datetime.now(UTC)}
            view = record.view.model_copy(update=change)
            self.access = self.access.model_copy(update={"grants": (record.model_copy(update={"view": view}),)})


async def door_of(agent: Agent, grant_id: str | None) -> tuple[DoorOpened, str]:
    """A door, and the path by which a program gets in."""
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    asked = OpenDoor(browser_id=agent.browser_id, door_id=new_id("d"), sha256=digest, grant_id=grant_id)
    return await agent.desktop.open_door(asked), f"/agent/{token}"


async def open_doors(agent: Agent) -> set[str]:
    found = await agent.desktop.list_doors(b.BrowserRequest(browser_id=agent.browser_id))
    return {door.door_id for door in found.doors}


def noted(desktop: Desktop, door_id: str) -> list[dict[str, Any]]:
    """What the evidence has of a door, by the runner and by the browser's host."""
    assert isinstance(desktop.notes, Evidence)
    desktop.notes.take_in()
    assert desktop.notes.wait_written(SECONDS)
    return [each for each in records(desktop.notes.writer.folder) if each["facts"].get("door_id") == door_id]


@pytest.fixture(scope="module")
async def agent(desktop: Desktop) -> AsyncIterator[Agent]:
    agent = await Agent.open(desktop)
    yield agent
    await agent.close()


@pytest.fixture
async def session(desktop: Desktop) -> AsyncIterator[Session]:
    session = Session()
    running = asyncio.create_task(desktop.granted_doors.run(session.ask))
    yield session
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


@pytest.mark.parametrize(
    "how", ["grant_revoked", "grant_expired", "auth_context_changed", "session_closed", "session_not_found"]
)
async def test_a_door_closes_within_a_second_of_its_grants_end(
    agent: Agent, desktop: Desktop, session: Session, how: str
) -> None:
    """C3, F9, E6: who came by it is cut off; a door without a grant stays."""
    theirs, path = await door_of(agent, "g_1")
    mine, _ = await door_of(agent, None)
    async with raw_client(Path(theirs.socket), path) as client:
        seen = session.asked
        await until(lambda: session.asked > seen + 1)
        assert {theirs.door_id, mine.door_id} <= await open_doors(agent)
        session.end(how)
        await asyncio.wait_for(client.connection.wait_closed(), 1)
    left = await open_doors(agent)
    assert theirs.door_id not in left and mine.door_id in left
    await until(lambda: len(noted(desktop, theirs.door_id)) == 3)
    said = {each["event"]: each["facts"] for each in noted(desktop, theirs.door_id)}
    why = how.replace("not_found", "closed")
    assert (said["door_opened"]["grant_id"], said["door_closed"]["grant_id"]) == ("g_1", "g_1")
    assert (said["door_closed"]["why"], said["door_used"]["why"]) == (why, why)


async def test_a_door_of_another_sessions_grant_is_closed(agent: Agent, session: Session) -> None:
    """C3."""
    door, _ = await door_of(agent, "g_2")
    await until(lambda: open_doors(agent), wanted=lambda doors: door.door_id not in doors)


async def test_a_session_that_cannot_be_asked_now_closes_nothing_at_once(agent: Agent, session: Session) -> None:
    """C3, F9: nor does it keep the doors of others from being looked at."""
    door, _ = await door_of(agent, "g_1")
    session.silent = True
    seen = session.asked
    await until(lambda: session.asked > seen + 1)
    assert door.door_id in await open_doors(agent)
