"""A person's answer from another program, signed as Standard Webhooks (https://www.standardwebhooks.com)."""

import re
from http import HTTPStatus
from typing import Annotated, Final

from pydantic import StringConstraints, ValidationError
from standardwebhooks.webhooks import Webhook
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from user_handoff.client import HandoffClient
from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import Answer, HandoffState, Note, Reply, ReplyReceipt
from user_handoff.gateway.bodies import read_body
from user_handoff.gateway.problems import problem
from user_handoff.gateway.settings import GatewaySettings

_ID: Final = re.compile(r"[\x21-\x7e]{1,200}")


class WebhookReply(Model):
    """The body. No secret belongs in it: all of it is kept in the handoff's history."""

    answer: Answer
    note: Note = ""
    by: Annotated[str, StringConstraints(min_length=1, max_length=200)] = "webhook"
    """Who answered, as the sender knows them."""
    handoff_id: str
    """The one in the path, which the signature does not cover."""


class Webhooks:
    """The endpoint ``POST /webhooks/handoffs/{handoff_id}/reply``."""

    def __init__(self, client: HandoffClient, settings: GatewaySettings) -> None:
        self._client = client
        self._keys = [Webhook(secret.get_secret_value()) for secret in settings.webhook_secrets]

    async def reply(self, request: Request) -> Response:
        """Record a signed answer: 200 and its receipt, or problem details.

        The ``webhook-id`` is the answer's id: delivered again it returns the same receipt and counts once.
        """
        try:
            receipt = await self._record(request)
        except HandoffError as error:
            return problem(error)
        except HTTPException:
            return problem(_invalid("The body is too large."), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if receipt.accepted:
            return JSONResponse(receipt.model_dump(mode="json"))
        return problem(_not_taken(receipt))

    async def _record(self, request: Request) -> ReplyReceipt:
        if not self._keys:
            raise make_error(
                ErrorCode.UNKNOWN_HANDOFF,
                "This gateway takes no webhooks.",
                holds="Nothing was recorded.",
                do_next="Give it a webhook secret (whsec_...), or answer on the person's page.",
            )
        body = await read_body(request)
        webhook_id = self._verified(request, body)
        handoff_id = request.path_params["handoff_id"]
        try:
            sent = WebhookReply.model_validate_json(body)
        except ValidationError as error:
            fields = ", ".join(sorted({".".join(map(str, e["loc"])) or "body" for e in error.errors()}))
            raise _invalid(f"The body does not fit the schema: {fields[:200]}.") from None
        if sent.handoff_id != handoff_id:
            raise _invalid("The body is about another handoff than the path.")
        reply = Reply(answer=sent.answer, note=sent.note, by=sent.by, via="webhook")
        return await self._client.reply(handoff_id, reply, f"webhook.{webhook_id}")

    def _verified(self, request: Request, body: bytes) -> str:
        """The id of a message that one of our secrets has signed in the last five minutes."""
        headers = dict(request.headers)
        for key in self._keys:
            try:
                key.verify(body, headers, json_parse=False)
            except Exception:  # noqa: S112 - the library lets malformed headers raise anything: not verified
                continue
            webhook_id = headers["webhook-id"]
            if not _ID.fullmatch(webhook_id):
                raise _invalid("The webhook-id must be 1 to 200 visible ASCII characters.")
            return webhook_id
        raise make_error(
            ErrorCode.UNAUTHORIZED,
            "The signature is missing or wrong, or its time is more than five minutes away.",
            holds="Nothing was recorded.",
            do_next="Sign the raw body with this gateway's secret as Standard Webhooks, and check the clock.",
        )


def _not_taken(receipt: ReplyReceipt) -> HandoffError:
    if receipt.state is HandoffState.EXPIRED:
        return make_error(
            ErrorCode.EXPIRED,
            "This handoff expired before this answer.",
            holds="The browser stays paused; the answer was not recorded.",
            do_next="Whoever began it can finish with its fence, or close the browser.",
        )
    return make_error(
        ErrorCode.ALREADY_DECIDED,
        f"This handoff was answered before, or has ended ({receipt.state}).",
        holds=f"The answer that stands is {receipt.answer}; this one was not recorded.",
        do_next="Nothing is left to do here.",
    )


def _invalid(what: str) -> HandoffError:
    return make_error(
        ErrorCode.INVALID_REQUEST,
        what,
        holds="Nothing was recorded.",
        do_next='Send {"answer": "done" | "could_not" | "declined", "note": "...", "by": "..."} and nothing else.',
    )
