"""The tools of a session: asking people, reading and awaiting what they answer or send."""

import asyncio
from typing import Final

from user_handoff.client.desktop import DesktopClient
from user_handoff.client.requests import RequestsClient
from user_handoff.contract.claims import id_reused
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import HandoffState, Summary
from user_handoff.contract.ids import Association
from user_handoff.contract.requests import InboxView, PublishReply
from user_handoff.contract.session import CURRENT, Message, MessageState
from user_handoff.contract.session import PostMessage as Post
from user_handoff.gateway.links import issue_link
from user_handoff.gateway.tools import inputs, outputs
from user_handoff.gateway.tools.callers import Call, session_of

LOOK_SECONDS: Final = 0.5
"""How often a wait looks."""

TELL_SECONDS: Final = 5.0
"""How often it tells its caller that it waits."""

_LOOKED_SECONDS: Final = 5.0
"""How long a desktop is asked which pages are still to be looked at."""

_GOING_ON: Final = (HandoffState.REQUESTED, HandoffState.HELD, HandoffState.FINISHING)

_NEXT: Final = {
    HandoffState.REQUESTED: "Call wait again: the browser is not held yet.",
    HandoffState.HELD: "Call wait again: the person has not answered yet.",
    HandoffState.FINISHING: "Call wait again: the browser is being taken back.",
    HandoffState.RECOVERING: "Take a fresh snapshot of every page of the browser, then call wait again.",
    HandoffState.EXPIRED: "Nobody finished in time. The step is not done and the browser stays paused: finish with "
    "the exact fence, or close the browser.",
    HandoffState.COMPLETED: "It has ended: read `summary.result`. Nothing but `verified` says that the step is done.",
    HandoffState.CLOSED: "The browser was closed; the step is not done.",
    HandoffState.REVOKED: "The hold ended with its browser; the step is not done.",
    HandoffState.REFUSED: "It was refused; nothing was held. Read `summary.code`.",
}

_LOOKED: Final = "Call wait again: every page was looked at, and the outcome is being observed."


class Sessions:
    """What belongs to a session, after it was seen that the caller may have it."""

    def __init__(self, client: DesktopClient, requests: RequestsClient, base_url: str) -> None:
        self._client = client
        self._requests = requests
        self._base_url = base_url

    # --- whose ---

    async def exact(self, call: Call, key: str) -> str:
        """The exact session of a call.

        Args:
            call: Which call.
            key: What it is for: the same key means the same session, also where `current` is another by then.

        Raises:
            Refused: ``session_not_found`` or ``not_owner``.
        """
        if call.session_id is not None:
            return call.session_id
        session_id = await self._client.exact_session(call.given_session or CURRENT, call.owner, key)
        if call.given_session not in (None, CURRENT) and (await self._client.session(session_id)).owner != call.owner:
            raise _not_yours("session")
        call.session_id = session_id
        return session_id

    async def open_one(self, call: Call, key: str) -> str:
        """The same, where the session must be open.

        Raises:
            Refused: ``session_closed`` too.
        """
        session_id = await self.exact(call, key)
        if (await self._client.session(session_id)).closed:
            raise make_error(
                ErrorCode.SESSION_CLOSED,
                "This session is closed.",
                holds="Nothing was done.",
                do_next="Have another session opened.",
                session_id=session_id,
            )
        return session_id

    async def handoff(self, call: Call, handoff_id: str) -> Summary:
        """A handoff that the caller may know of.

        Raises:
            Gone: ``unknown_handoff``.
            Refused: ``not_owner``.
        """
        summary = await self._client.summary(handoff_id)
        session_id = Association.parse(handoff_id).session_id
        if summary.owner != call.owner or session_of(call.caller) not in (None, session_id):
            raise _not_yours("handoff")
        call.session_id = call.session_id or session_id
        return summary.model_copy(update={"link_hashes": ()})

    # --- asking ---

    async def post(self, call: Call, args: inputs.PostMessage) -> outputs.Posted:
        """Ask a person something.

        Raises:
            Refused: ``id_reused``: the message's id is that of another one.
        """
        message_id = args.message_id or call.mint("m")
        session_id = await self.open_one(call, message_id)
        posted = await self.put(session_id, Post(message_id=message_id, kind=args.kind, text=args.text))
        await self._requests.expect(session_id, _about_message(message_id))
        return outputs.Posted(session_id=session_id, message_id=message_id, kind=posted.kind, state=str(posted.state))

    async def put(self, session_id: str, message: Post) -> Message:
        """Post a message; under its id again the same one.

        Raises:
            Refused: ``id_reused``: another one stands under its id.
        """
        posted = await self._client.post_message(session_id, message)
        if (posted.kind, posted.text) != (message.kind, message.text):
            raise id_reused(
                "Another message has this id.", "Post it under an id of its own.", message_id=message.message_id
            )
        return posted

    async def issue_url(
        self, call: Call, args: inputs.IssueBrowserUrl, secret: bytes | None = None
    ) -> outputs.PersonUrl:
        """Make a link to a person's page; a new one unless its secret is given."""
        await self.handoff(call, args.handoff_id)
        url = await issue_link(self._client, self._base_url, args.handoff_id, secret=secret)
        return outputs.PersonUrl(handoff_id=args.handoff_id, url=url)

    # --- reading ---

    async def read_reply(self, call: Call, args: inputs.ReadReply) -> outputs.ReplyView:
        """What a person has answered."""
        if args.handoff_id is not None:
            reply = _of_handoff(await self.handoff(call, args.handoff_id))
        else:
            assert args.message_id is not None
            reply = await self._of_message(await self.exact(call, args.message_id), args.message_id)
        await self._seen(call, reply)
        return reply

    async def read_request(self, call: Call, args: inputs.ReadPersonRequest) -> outputs.PersonRequestRead:
        """The oldest thing that a person has sent."""
        read_id = call.mint("q")
        found = await self._requests.read(await self.exact(call, call.connection or read_id), read_id)
        assert found.request is not None
        return outputs.PersonRequestRead(request=found.request, unread=found.unread)

    async def wait(self, call: Call, args: inputs.Wait) -> outputs.Waited:
        """Look until there is news, the time is over, or the caller may ask no more. Nothing is kept of a wait."""
        clock = asyncio.get_running_loop().time
        began = told = clock()
        while True:
            found = await self._look(call, args)
            waited = clock() - began
            if not found.waiting or waited >= args.timeout_seconds:
                return found.model_copy(update={"waited_seconds": round(waited, 1)})
            if call.progress is not None and (clock() - told >= TELL_SECONDS or told == began):
                await call.progress(round(waited, 1), args.timeout_seconds, f"{found.state}: {_for_what(found)}")
                told = clock()
            await asyncio.sleep(min(LOOK_SECONDS, max(0.0, args.timeout_seconds - waited)))
            await call.alive()

    async def _look(self, call: Call, args: inputs.Wait) -> outputs.Waited:
        if args.handoff_id is not None:
            summary = await self.handoff(call, args.handoff_id)
            await self._seen(call, _of_handoff(summary))
            looked = summary.state is HandoffState.RECOVERING and await self._looked_everywhere(summary)
            return outputs.Waited(
                waiting=looked or summary.state in _GOING_ON,
                state=str(summary.state),
                do_next=_LOOKED if looked else _NEXT[summary.state],
                waited_seconds=0,
                summary=summary,
            )
        if args.message_id is not None:
            reply = await self._of_message(await self.exact(call, args.message_id), args.message_id)
            await self._seen(call, reply)
            waiting = reply.state == MessageState.OPEN and not reply.replied
            next_ = "Call wait again: nobody has answered yet." if waiting else "Read `reply`."
            return outputs.Waited(waiting=waiting, state=reply.state, do_next=next_, waited_seconds=0, reply=reply)
        unread = (await self.unread(await self.exact(call, call.connection or call.mint("q")))).unread
        next_ = "Call read_person_request." if unread else "Call wait again: nothing has come yet."
        state = "published" if unread else "nothing"
        return outputs.Waited(waiting=not unread, state=state, do_next=next_, waited_seconds=0, unread=unread)

    async def _looked_everywhere(self, summary: Summary) -> bool:
        """Whether the agent has nothing left to look at; False where its desktop does not say."""
        browser_id = Association.parse(summary.handoff_id).browser_id
        try:
            async with asyncio.timeout(_LOOKED_SECONDS):
                pages = (await self._client.info(summary.queue, browser_id)).pages
        except (HandoffError, TimeoutError):
            return False
        return not any(page.needs_snapshot for page in pages)

    async def unread(self, session_id: str) -> InboxView:
        """What there is to read; a reply that has come meanwhile, by whatever door, is published first."""
        view = await self._requests.view(session_id)
        replies = [await self._reply_to(session_id, about) for about in view.expects]
        come = [reply for reply in replies if reply is not None and reply.replied]
        for reply in come:
            await self._requests.replied(
                session_id,
                PublishReply(about=reply.about, answer=reply.answer, text=reply.text, by=reply.by, via=reply.via),
            )
        return await self._requests.view(session_id) if come else view

    async def _reply_to(self, session_id: str, about: str) -> outputs.ReplyView | None:
        if not about.startswith("message/"):
            return _of_handoff(await self._client.summary(about))
        return await self._of_message(session_id, about.removeprefix("message/"))

    async def _of_message(self, session_id: str, message_id: str) -> outputs.ReplyView:
        view = await self._client.session(session_id)
        message = next((m for m in view.messages if m.message_id == message_id), None)
        if message is None:
            raise make_error(
                ErrorCode.MESSAGE_NOT_OPEN,
                "There is no such message in this session.",
                holds="Nothing was done.",
                do_next="Post a message first.",
                message_id=message_id,
            )
        reply = message.reply
        return outputs.ReplyView(
            about=_about_message(message_id),
            replied=reply is not None,
            state=str(message.state),
            text=reply.text if reply else "",
            by=reply.by if reply else "",
            via=reply.via if reply else "",
        )

    async def _seen(self, call: Call, reply: outputs.ReplyView) -> None:
        """What the agent has got this way need not be read a second time."""
        if reply.replied and call.session_id is not None:
            view = await self._requests.view(call.session_id)
            if reply.about in view.expects or view.unread:
                await self._requests.seen(call.session_id, reply.about)


def _for_what(found: outputs.Waited) -> str:
    return "observing the outcome" if found.state == HandoffState.RECOVERING else "waiting for a person"


def _about_message(message_id: str) -> str:
    return f"message/{message_id}"


def _of_handoff(summary: Summary) -> outputs.ReplyView:
    return outputs.ReplyView(
        about=summary.handoff_id,
        replied=summary.answer is not None,
        state=str(summary.state),
        answer=str(summary.answer or ""),
        text=summary.note,
        by=summary.answered_by,
        via="handoff" if summary.answer else "",
    )


def _not_yours(what: str) -> Exception:
    return make_error(
        ErrorCode.NOT_OWNER,
        f"This {what} belongs to somebody else.",
        holds="Nothing was done.",
        do_next="Use one of your own session.",
    )
