"""Handoffs: begun, shown, listed, followed and ended, and the links of their persons."""

import base64
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from user_handoff.client.desktop import DesktopClient
from user_handoff.client.listing import list_handoffs
from user_handoff.contract.handoff import CloseReceipt, FinishReceipt, Summary
from user_handoff.contract.links import RANDOM_BYTES
from user_handoff.gateway.rest import shapes
from user_handoff.gateway.rest.events import HandoffEvents, event_id_of
from user_handoff.gateway.rest.operations import Asked, Operation
from user_handoff.gateway.toolbox import Toolbox
from user_handoff.gateway.tools import callers, inputs, outputs
from user_handoff.gateway.tools.callers import session_of, who

_HANDOFFS = "/v1/handoffs"
_ONE = f"{_HANDOFFS}/{{handoff_id:handoff}}"
_LINK = "issue_browser_url"
_ALL_THREE = "browser:control, computer:read, runtime:read"


class HandoffOperations:
    """What can be asked of handoffs."""

    def __init__(self, client: DesktopClient, toolbox: Toolbox, events: HandoffEvents) -> None:
        self._client = client
        self._toolbox = toolbox
        self._events = events

    def table(self) -> tuple[Operation, ...]:
        """The operations."""
        return (
            Operation(
                "POST",
                _HANDOFFS,
                "beginHandoff",
                "handoffs",
                "Hand a browser to a person. It returns once the browser is held.",
                self.begin,
                (outputs.Begun,),
                shapes.NewHandoff,
                status=HTTPStatus.CREATED,
                changes=True,
                example={
                    "browser_id": "b_1f0c8a5b2d3e4f60",
                    "instructions": "Sign in to the portal.",
                    "verify": {"kind": "url", "glob": "https://portal.example/invoices"},
                },
                scopes=_ALL_THREE,
            ),
            Operation(
                "GET",
                _HANDOFFS,
                "listHandoffs",
                "handoffs",
                "Your handoffs. The list lags a moment behind; each row is what holds now.",
                self.rows,
                (shapes.HandoffPage,),
                query=shapes.HandoffQuery,
            ),
            Operation(
                "GET",
                _ONE,
                "showHandoff",
                "handoffs",
                "What holds now, also after the end. Nothing but `verified` says that the step is done.",
                self.show,
                (Summary,),
            ),
            Operation(
                "GET",
                f"{_ONE}/events",
                "followHandoff",
                "handoffs",
                "Server-sent events: one for each change, with the summary as its data, until the end.",
                self.follow,
                (Summary,),
                stream=True,
            ),
            Operation(
                "POST",
                f"{_ONE}/finish",
                "finishHandoff",
                "handoffs",
                "Take the browser back by its exact fence; each page then needs a fresh snapshot.",
                self.finish,
                (FinishReceipt,),
                shapes.Finish,
                changes=True,
                example={"handoff_fence": "the exact fence that begin returned"},
                scopes="browser:control",
            ),
            Operation(
                "POST",
                f"{_ONE}/close",
                "closeHandoff",
                "handoffs",
                "Close the browser, and the hold with it. After the end it changes nothing.",
                self.close,
                (CloseReceipt,),
                changes=True,
                scopes="browser:control",
            ),
            Operation(
                "POST",
                f"{_ONE}/links",
                "issueLink",
                "handoffs",
                "Make a link to the person's page. Whoever has it can answer; it is shown here alone.",
                self.link,
                (outputs.PersonUrl,),
                status=HTTPStatus.CREATED,
                changes=True,
            ),
        )

    async def begin(self, asked: Asked) -> dict[str, Any]:
        """Hand over."""
        return await self._control(asked, {"action": "begin_user_handoff", **asked.body})

    async def finish(self, asked: Asked) -> dict[str, Any]:
        """Take back."""
        handoff_id = asked.path["handoff_id"]
        return await self._control(asked, {"action": "finish_user_handoff", "handoff_id": handoff_id, **asked.body})

    async def close(self, asked: Asked) -> dict[str, Any]:
        """Close."""
        asked.allow("control_browser")
        call, handoff_id = asked.call(), asked.path["handoff_id"]

        async def close() -> CloseReceipt:
            await self._toolbox.sessions.handoff(call, handoff_id)
            return await self._client.close(handoff_id)

        return await self._toolbox.told(call, "control_browser", "close_handoff", close)

    async def link(self, asked: Asked) -> dict[str, Any]:
        """Make a link; under the same key the same one, which is kept nowhere."""
        asked.allow(_LINK)
        call, handoff_id = asked.call(), asked.path["handoff_id"]
        secret = asked.secret(f"link {handoff_id} {asked.key}", RANDOM_BYTES) if asked.key else None

        async def make() -> outputs.PersonUrl:
            return await self._toolbox.sessions.issue_url(call, inputs.IssueBrowserUrl(handoff_id=handoff_id), secret)

        return await self._toolbox.told(call, _LINK, "", make)

    async def show(self, asked: Asked) -> dict[str, Any]:
        """Tell of one."""
        asked.allow("wait")
        summary = await self._toolbox.sessions.handoff(asked.call(), asked.path["handoff_id"])
        return callers.projected(asked.caller, summary.model_dump(mode="json"))

    async def follow(self, asked: Asked) -> Response:
        """Tell of each change."""
        asked.allow("wait")
        handoff_id, last = asked.path["handoff_id"], asked.request.headers.get("last-event-id", "")
        summary = await self._toolbox.sessions.handoff(asked.call(), handoff_id)

        def tell(summary: Summary) -> dict[str, Any]:
            told = summary.model_copy(update={"link_hashes": ()})
            return callers.projected(asked.caller, told.model_dump(mode="json"))

        if summary.state.ended and event_id_of(tell(summary)) == last:
            # This is how a client is told to come no more.
            return Response(status_code=HTTPStatus.NO_CONTENT)
        return self._events.stream(handoff_id, who(asked.caller), tell, asked.still, last)

    async def rows(self, asked: Asked) -> dict[str, Any]:
        """List them."""
        asked.allow("wait")
        query: shapes.HandoffQuery = asked.query
        owner, bound = callers.owner_of(asked.caller), session_of(asked.caller)
        question = [owner, bound, query.session_id, query.state]
        token = b""
        if query.cursor is not None:
            token = base64.b64decode(asked.cursors.place("handoffs", question, query.cursor))
        mine = [bound] if bound else [row.session_id for row in await self._client.sessions_of(owner)]
        wanted = [session for session in mine if query.session_id in (None, session)]
        found, following = await list_handoffs(self._client, wanted, query.state, query.limit, token)
        told = [summary.model_copy(update={"link_hashes": ()}) for summary in found if summary.owner == owner]
        cursor = asked.cursors.to("handoffs", question, base64.b64encode(following).decode()) if following else None
        items = [callers.projected(asked.caller, summary.model_dump(mode="json")) for summary in told]
        return {"items": items, "next_cursor": cursor}

    async def _control(self, asked: Asked, do: dict[str, Any]) -> dict[str, Any]:
        called = await self._toolbox.call(asked.caller, "control_browser", {"do": do}, key=asked.key)
        result: dict[str, Any] = called["result"]
        return result
