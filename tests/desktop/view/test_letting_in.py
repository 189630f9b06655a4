"""Who is let in to the live view at the desktop."""

import asyncio
import secrets
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from tests.desktop.support import code_of
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import ask, knock
from user_handoff.contract.errors import ErrorCode
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.view.view import View


async def status_of(view: View, ticket: str) -> int:
    """What somebody with this ticket is answered."""
    with pytest.raises(InvalidStatus) as refused:
        async with knock(view, ticket):
            pass
    return int(refused.value.response.status_code)


async def test_a_real_display_is_not_shown(stand: Stand, desktop: Desktop, tmp_path: Path) -> None:
    leases = Leases(tmp_path / "leases.db")
    view = View(replace(desktop.display, rfb_socket=None), desktop.holds, leases, desktop.browsers.pid_of)
    await view.open(tmp_path)
    assert view.address is None
    assert await code_of(view.admit(ask(stand.handoff_id, "t"))) is ErrorCode.VIEW_UNAVAILABLE
    await view.aclose()
    leases.close()


async def test_a_ticket_lets_one_connection_in_once(stand: Stand) -> None:
    """K04: and nothing else lets anybody in."""
    ticket = secrets.token_urlsafe(24)
    assert await status_of(stand.view, ticket) == 401
    asked = ask(stand.handoff_id, ticket)
    await stand.view.admit(asked)
    assert await status_of(stand.view, asked.viewer_id) == 401
    assert await status_of(stand.view, asked.ticket_sha256) == 401
    async with knock(stand.view, ticket):
        assert await status_of(stand.view, ticket) == 401


async def test_a_viewers_id_is_not_used_twice(stand: Stand) -> None:
    """K04."""
    asked = ask(stand.handoff_id, "one")
    await stand.view.admit(asked)
    again = ask(stand.handoff_id, "two", viewer_id=asked.viewer_id)
    assert await code_of(stand.view.admit(again)) is ErrorCode.FORBIDDEN
    assert await status_of(stand.view, "two") == 401


async def test_a_ticket_that_is_not_used_in_time_lets_nobody_in(stand: Stand) -> None:
    await stand.view.admit(ask(stand.handoff_id, "late", expires_in_seconds=0.05))
    await asyncio.sleep(0.06)  # to ask earlier would use it
    assert await status_of(stand.view, "late") == 401


async def test_nobody_is_let_in_to_what_is_not_held(stand: Stand) -> None:
    other = f"{stand.handoff_id}x"
    assert await code_of(stand.view.admit(ask(other, "t"))) is ErrorCode.NOT_HELD
    wrong = ask(stand.handoff_id, "t", browser_id="b_other")
    assert await code_of(stand.view.admit(wrong)) is ErrorCode.NOT_HELD
    await stand.view.admit(ask(stand.handoff_id, "early"))
    await stand.finish()
    assert await code_of(stand.view.admit(ask(stand.handoff_id, "t"))) is ErrorCode.NOT_HELD
    async with knock(stand.view, "early") as socket:
        await socket.wait_closed()
        assert socket.close_reason == ErrorCode.NOT_HELD


def test_the_socket_is_for_this_user_alone(stand: Stand) -> None:
    path = Path((stand.view.address or "").removeprefix("unix:"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
