"""Browsers and the desktop that they are on: the same tools as everywhere, under the same gate."""

from http import HTTPStatus
from typing import Any

from user_handoff.contract.browser import BrowserInfo, DownloadReceipt, EffectReceipt, Picture, Snapshot
from user_handoff.contract.computer import ComputerReceipt, DisplayLook
from user_handoff.contract.states import SavedState
from user_handoff.gateway.rest import shapes
from user_handoff.gateway.rest.operations import Asked, Operation
from user_handoff.gateway.toolbox import Toolbox
from user_handoff.gateway.tools import outputs

_BROWSERS = "/v1/browsers"
_ONE = f"{_BROWSERS}/{{browser_id:id}}"
_CONTROL, _READ = "browser:control", "runtime:read"


class BrowserOperations:
    """What can be asked of browsers."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    def table(self) -> tuple[Operation, ...]:
        """The operations."""
        return (
            Operation(
                "POST",
                _BROWSERS,
                "openBrowser",
                "browsers",
                "Start a managed, visible browser in a session, and go to a URL.",
                self.open,
                (BrowserInfo,),
                shapes.NewBrowser,
                status=HTTPStatus.CREATED,
                changes=True,
                example={"url": "https://portal.example/invoices"},
                scopes=_CONTROL,
            ),
            Operation(
                "GET",
                _ONE,
                "showBrowser",
                "browsers",
                "State and pages of a browser.",
                self.show,
                (BrowserInfo,),
                scopes=_READ,
            ),
            Operation(
                "POST",
                f"{_ONE}/snapshots",
                "takeSnapshot",
                "browsers",
                "Look at a page as text with element ids. Each look is a new one. A `boundary` in it: stop, hand over.",
                self.snapshot,
                (Snapshot,),
                shapes.NewSnapshot,
                example={"max_bytes": 20_000},
                scopes=_READ,
            ),
            Operation(
                "POST",
                f"{_ONE}/screenshots",
                "takeScreenshot",
                "browsers",
                "Take a picture of a page, which stays on the desktop.",
                self.screenshot,
                (Picture,),
                shapes.NewScreenshot,
                scopes=_READ,
            ),
            Operation(
                "POST",
                f"{_ONE}/actions",
                "actOnPage",
                "browsers",
                "One effect on a page, done at most once. While a person has the browser it is refused.",
                self.act,
                (EffectReceipt, DownloadReceipt),
                shapes.PageAction,
                changes=True,
                example={"action": "navigate", "url": "https://portal.example/invoices"},
                scopes=_CONTROL,
            ),
            Operation(
                "POST",
                f"{_ONE}/states",
                "saveState",
                "browsers",
                "Keep what sites know of a login, on the desktop, for a later browser. Only numbers are returned.",
                self.save_state,
                (SavedState,),
                shapes.NewState,
                status=HTTPStatus.CREATED,
                changes=True,
                example={
                    "state_id": "portal",
                    "sites": ["portal.example"],
                    "probe": {"kind": "probe", "url": "https://portal.example/account", "statuses": [200]},
                },
                scopes=_CONTROL,
            ),
            Operation(
                "POST",
                f"{_ONE}/close",
                "closeBrowser",
                "browsers",
                "Close a browser, also while a person has it: the handoff ends `closed` then.",
                self.close,
                (outputs.BrowserClosed,),
                changes=True,
                scopes=_CONTROL,
            ),
            Operation(
                "POST",
                f"{_ONE}/desktop/looks",
                "lookAtDesktop",
                "desktop",
                "List the windows of the desktop that a browser is on. One effect may follow each look.",
                self.look,
                (DisplayLook,),
                shapes.NewLook,
                scopes="computer:read",
            ),
            Operation(
                "POST",
                f"{_ONE}/desktop/actions",
                "actOnDesktop",
                "desktop",
                "One native effect on that desktop, done at most once. It spends the generation of the latest look.",
                self.native,
                (ComputerReceipt,),
                shapes.NativeAction,
                changes=True,
                example={"generation": "g_1f0c8a5b2d3e4f60", "do": {"action": "press", "keys": ["enter"]}},
                scopes=f"{_CONTROL}, computer:read",
            ),
        )

    async def open(self, asked: Asked) -> dict[str, Any]:
        """Open one."""
        fields = dict(asked.body)
        return await self._tool(
            asked, "control_browser", session_id=fields.pop("session_id"), do={"action": "open", **fields}
        )

    async def show(self, asked: Asked) -> dict[str, Any]:
        """Tell of one."""
        return await self._tool(asked, "observe_browser", do=_named(asked, "info"))

    async def snapshot(self, asked: Asked) -> dict[str, Any]:
        """Look at a page."""
        return await self._tool(asked, "observe_browser", do=_named(asked, "snapshot"))

    async def screenshot(self, asked: Asked) -> dict[str, Any]:
        """Take a picture."""
        return await self._tool(asked, "observe_browser", do=_named(asked, "screenshot"))

    async def act(self, asked: Asked) -> dict[str, Any]:
        """Act on a page."""
        return await self._tool(asked, "control_browser", do=_named(asked, asked.body["action"]))

    async def save_state(self, asked: Asked) -> dict[str, Any]:
        """Save a state."""
        return await self._tool(asked, "control_browser", do=_named(asked, "save_state"))

    async def close(self, asked: Asked) -> dict[str, Any]:
        """Close one."""
        return await self._tool(asked, "control_browser", do=_named(asked, "close_browser"))

    async def look(self, asked: Asked) -> dict[str, Any]:
        """Look at the desktop."""
        return await self._tool(asked, "observe_computer", **asked.body, browser_id=asked.path["browser_id"])

    async def native(self, asked: Asked) -> dict[str, Any]:
        """Act on the desktop."""
        return await self._tool(asked, "control_computer", **asked.body, browser_id=asked.path["browser_id"])

    async def _tool(self, asked: Asked, name: str, **arguments: Any) -> dict[str, Any]:
        called = await self._toolbox.call(asked.caller, name, arguments, key=asked.key)
        result: dict[str, Any] = called["result"]
        return result


def _named(asked: Asked, action: str) -> dict[str, Any]:
    return {**asked.body, "action": action, "browser_id": asked.path["browser_id"]}
