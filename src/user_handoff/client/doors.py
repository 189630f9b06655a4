"""Doors by which other programs drive a browser: opened, listed and closed."""

import secrets
from datetime import UTC, datetime

from user_handoff.client.access import Access
from user_handoff.client.browsers import BrowserClient
from user_handoff.client.tokens import made_of_sense, token_hash
from user_handoff.contract.access import GrantView
from user_handoff.contract.browser import BrowserRequest
from user_handoff.contract.doors import DOOR_SECONDS, DoorOpened, DoorRequest, DoorViews, OpenDoor
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.session import Scope


class DoorClient(BrowserClient):
    """What an operator does with the doors of browsers, wherever they are."""

    async def open_door(
        self,
        browser_id: str,
        *,
        name: str = "",
        tcp: bool = False,
        expires_in_seconds: float = DOOR_SECONDS,
        grant_id: str | None = None,
    ) -> tuple[str, DoorOpened]:
        """Let a program drive a browser by CDP, for a while.

        Args:
            browser_id: The browser.
            name: Who it is for: shown and logged.
            tcp: Open a loopback port of the desktop's machine too.
            expires_in_seconds: At most a day, and no longer than the grant.
            grant_id: The grant, of the browser's own session, by which the program gets in: its session must have the
                scope `browser:cdp`. The door closes with the grant, however that ends.
                None: whoever calls this lets it in.

        Returns:
            The token, which cannot be asked for again, and where the door is.

        Raises:
            HandoffError: `unknown_browser`, `runner_unavailable`, `invalid_request`; of a grant those of
                `Access.grant`, `not_owner` or `missing_scope`.
        """
        queue = await self.queue_of(browser_id)
        if grant_id is not None:
            grant = await self._grant(queue, browser_id, grant_id)
            left = (grant.expires_at - datetime.now(UTC)).total_seconds()
            expires_in_seconds = min(expires_in_seconds, left)
        token, door_id = secrets.token_urlsafe(32), new_id("d")
        with made_of_sense():
            request = OpenDoor(
                browser_id=browser_id,
                door_id=door_id,
                sha256=token_hash(token),
                name=name,
                tcp=tcp,
                expires_in_seconds=expires_in_seconds,
                grant_id=grant_id,
            )
        return token, await self._look(queue, Activities.OPEN_DOOR, request, DoorOpened)

    async def doors(self, browser_id: str) -> DoorViews:
        """The doors of a browser that are open.

        Raises:
            HandoffError: `unknown_browser` or `runner_unavailable`.
        """
        request = BrowserRequest(browser_id=browser_id)
        return await self._look(await self.queue_of(browser_id), Activities.LIST_DOORS, request, DoorViews)

    async def close_door(self, browser_id: str, door_id: str) -> DoorViews:
        """Close a door and cut off who came by it; nothing happens where there is none. Returns those that are left.

        Raises:
            HandoffError: `unknown_browser` or `runner_unavailable`.
        """
        with made_of_sense():
            request = DoorRequest(browser_id=browser_id, door_id=door_id)
        return await self._look(await self.queue_of(browser_id), Activities.CLOSE_DOOR, request, DoorViews)

    async def _grant(self, queue: str, browser_id: str, grant_id: str) -> GrantView:
        info = await self.info(queue, browser_id)
        if not info.session_id:
            raise _refused(ErrorCode.GRANT_UNKNOWN, "The browser is of no session.", "Let the program in yourself.")
        grant = await Access(self).standing_grant(info.session_id, grant_id)
        if grant.owner != info.owner:
            raise _refused(ErrorCode.NOT_OWNER, "The browser is somebody else's.", "Use one of its owner's own.")
        if Scope.BROWSER_CDP not in grant.scopes:
            what = f"The grant's session lacks the scope {Scope.BROWSER_CDP}."
            raise _refused(ErrorCode.MISSING_SCOPE, what, "Open the session with that scope; it is in no default.")
        return grant


def _refused(code: ErrorCode, what: str, do_next: str) -> HandoffError:
    return make_error(code, what, holds="No door was opened.", do_next=do_next)
