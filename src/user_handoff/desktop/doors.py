"""Doors of the browsers of a desktop, for programs that drive them by CDP themselves."""

from datetime import UTC, datetime, timedelta

from user_handoff.contract.doors import DoorOpened, DoorView, DoorViews, OpenDoor
from user_handoff.desktop.browser.managed import ManagedBrowser


async def open_door(browser: ManagedBrowser, request: OpenDoor) -> DoorOpened:
    """Let a program drive a browser, for a while; asked again under the same id, it is the same door.

    Raises:
        Refused: `invalid_request`: there are too many.
        Gone: `browser_gone`.
    """
    socket, port, uploads = await browser.control.open_door(request)
    return DoorOpened(
        door_id=request.door_id,
        browser_id=request.browser_id,
        socket=socket,
        port=port,
        uploads=uploads,
        expires_at=datetime.now(UTC) + timedelta(seconds=request.expires_in_seconds),
    )


async def list_doors(browser: ManagedBrowser) -> DoorViews:
    """The doors of a browser that are open.

    Raises:
        Gone: `browser_gone`.
    """
    now = datetime.now(UTC)
    return DoorViews(
        doors=tuple(
            DoorView(
                door_id=door["door_id"],
                browser_id=browser.browser_id,
                name=door["name"],
                tcp=door["tcp"],
                grant_id=door.get("grant_id"),
                expires_at=now + timedelta(seconds=door["seconds_left"]),
                connected=door["connected"],
            )
            for door in await browser.control.doors()
        )
    )


async def close_door(browser: ManagedBrowser, door_id: str) -> DoorViews:
    """Close a door, and cut off who came by it; nothing happens where there is none.

    Returns:
        Those that are still open.

    Raises:
        Gone: `browser_gone`.
    """
    await browser.control.close_door(door_id)
    return await list_doors(browser)
