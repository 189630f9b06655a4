"""The rules of a session's inbox: what may be written, what there is to read, and when it is over."""

import hmac
from datetime import datetime, timedelta

from pydantic import ConfigDict, Field

from user_handoff.contract.base import Id, Model
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.requests import (
    MAX_LIVE,
    REQUEST_SECONDS,
    AdmitWriter,
    InboxView,
    PersonRequest,
    Provenance,
    PublishReply,
    ReadRequest,
    ReadResult,
    RequestReceipt,
    RequestState,
    SaveRequest,
    SendRequest,
    Written,
)

MAX_ENDED = 256
"""How many requests that are over are kept for who asks for their receipt; older ones are given up."""

MAX_WRITERS = 64
MAX_EXPECTED = 256


class Writer(Model):
    """A key to write, without what would let anyone use it."""

    key_id: Id
    sha256: str
    name: str
    expires_at: datetime


class Kept(Model):
    """One request with all that is known of it."""

    request: PersonRequest
    state: RequestState
    expires_at: datetime
    writer: str = ""
    """The id of the key that wrote it; none: a reply."""
    read_id: str = ""

    def at(self, now: datetime) -> RequestState:
        """Its state at this time."""
        return RequestState.EXPIRED if self.state.live and self.expires_at <= now else self.state

    def receipt(self) -> RequestReceipt:
        """Without the text."""
        return RequestReceipt(
            request_id=self.request.request_id,
            generation=self.request.generation,
            state=self.state,
            expires_at=self.expires_at,
        )


class Box(Model):
    """What is kept, as it outlives a run of its workflow. It knows no Temporal: the time is given."""

    model_config = ConfigDict(frozen=False)

    session_id: Id
    edges: int = 0
    requests: dict[str, Kept] = Field(default_factory=dict)
    writers: dict[str, Writer] = Field(default_factory=dict)
    expects: tuple[str, ...] = ()

    # --- writing ---

    def admit_refusal(self, writer: AdmitWriter, now: datetime) -> HandoffError | None:
        """Why this key is not taken."""
        valid = [w for w in self.writers.values() if w.expires_at > now]
        if writer.key_id in self.writers or len(valid) < MAX_WRITERS:
            return None
        return make_error(
            ErrorCode.REQUEST_LIMIT,
            f"This session has {MAX_WRITERS} keys to write, and takes no more.",
            holds="None was taken away.",
            do_next="Use one of them, or wait until they expire.",
        )

    def admit(self, writer: AdmitWriter, now: datetime) -> None:
        """Remember a key."""
        expires_at = now + timedelta(seconds=writer.expires_in_seconds)
        known = Writer(key_id=writer.key_id, sha256=writer.sha256, name=writer.name, expires_at=expires_at)
        self.writers.setdefault(writer.key_id, known)

    def write_refusal(self, written: Written, now: datetime) -> HandoffError | None:
        """Why this is not written. Changes nothing."""
        writer = self._writer(written.writer_sha256, now)
        what, kept = written.what, self.requests.get(written.what.request_id)
        if writer is None or (kept is not None and kept.writer != writer.key_id):
            return _unauthorized()
        if kept is None:
            return self._no_room(now) if isinstance(what, SaveRequest) else _over(what.request_id)
        if _is_stale(what, kept):
            return _stale(kept)
        state = kept.at(now)
        return None if state.live or _done(what, kept) else _over(what.request_id, state)

    def write(self, written: Written, now: datetime) -> RequestReceipt:
        """Save, send or withdraw what was not refused."""
        self.expire(now)
        what, kept = written.what, self.requests.get(written.what.request_id)
        if kept is not None and _done(what, kept):
            return kept.receipt()
        if isinstance(what, SaveRequest):
            return self._save(what, kept, written.writer_sha256, now)
        assert kept is not None
        if isinstance(what, SendRequest):
            return self._set(kept, RequestState.PUBLISHED, edge=True)
        return self._set(kept, RequestState.WITHDRAWN, edge=kept.state is RequestState.PUBLISHED)

    def _save(self, save: SaveRequest, kept: Kept | None, sha256: str, now: datetime) -> RequestReceipt:
        writer = self._writer(sha256, now)
        assert writer is not None
        request = PersonRequest(
            request_id=save.request_id,
            kind="request",
            skill=save.skill,
            text=save.text,
            generation=save.generation,
            provenance=Provenance(by=writer.name, via="request", sent_at=now),
        )
        state = RequestState.PUBLISHED if save.send else RequestState.DRAFT
        expires_at = now + timedelta(seconds=save.expires_in_seconds)
        was = kept.state if kept else RequestState.DRAFT
        saved = Kept(request=request, state=state, expires_at=expires_at, writer=writer.key_id)
        return self._set(saved, state, edge=RequestState.PUBLISHED in (was, state))

    # --- reading ---

    def read(self, read: ReadRequest, now: datetime) -> ReadResult:
        """Hand over the oldest one that nobody has read; what was read under this id, again."""
        self.expire(now)
        found = next((k for k in self.requests.values() if k.read_id == read.read_id), None)
        if found is None:
            found = next((k for k in self.requests.values() if k.state is RequestState.PUBLISHED), None)
            if found is not None:
                self._set(found.model_copy(update={"read_id": read.read_id}), RequestState.READ, edge=True)
        return ReadResult(request=found.request if found else None, unread=self.view().unread)

    def view(self) -> InboxView:
        """How much there is."""
        states = [k.state for k in self.requests.values()]
        return InboxView(
            session_id=self.session_id,
            edges=self.edges,
            unread=states.count(RequestState.PUBLISHED),
            live=sum(state.live for state in states),
            expects=self.expects,
        )

    def receipt(self, request_id: str, sha256: str, now: datetime) -> RequestReceipt | None:
        """Where a request stands, for whoever wrote it."""
        kept, writer = self.requests.get(request_id), self._writer(sha256, now)
        return kept.receipt() if kept and writer and kept.writer == writer.key_id else None

    # --- replies ---

    def expect(self, about: str) -> None:
        """A reply to this is to be published; an expectation is nobody's words, so the oldest one gives way."""
        self.expects = tuple(dict.fromkeys((*self.expects, about)))[-MAX_EXPECTED:]

    def seen(self, about: str) -> None:
        """Nothing is left to read of the reply to this."""
        self.expects = tuple(e for e in self.expects if e != about)
        for kept in list(self.requests.values()):
            if kept.request.provenance.about == about and kept.state is RequestState.PUBLISHED:
                self._set(kept, RequestState.READ, edge=True)

    def replied(self, reply: PublishReply, request_id: str, now: datetime) -> None:
        """Publish a reply, once; it stays with what it replies to, so one that finds no room is not lost."""
        if reply.about not in self.expects or self._no_room(now):
            return
        self.expects = tuple(e for e in self.expects if e != reply.about)
        request = PersonRequest(
            request_id=request_id,
            kind="reply",
            answer=reply.answer,
            text=reply.text,
            generation=1,
            provenance=Provenance(by=reply.by, via=reply.via, about=reply.about, sent_at=now),
        )
        expires_at = now + timedelta(seconds=REQUEST_SECONDS)
        kept = Kept(request=request, state=RequestState.PUBLISHED, expires_at=expires_at)
        self._set(kept, RequestState.PUBLISHED, edge=True)

    # --- time ---

    def expire(self, now: datetime) -> None:
        """Forget what is over."""
        self.writers = {i: w for i, w in self.writers.items() if w.expires_at > now}
        for kept in list(self.requests.values()):
            if kept.at(now) is not kept.state:
                self._set(kept, RequestState.EXPIRED, edge=kept.state is RequestState.PUBLISHED)

    def due(self) -> datetime | None:
        """When something expires next; None: nothing will."""
        ends = [k.expires_at for k in self.requests.values() if k.state.live]
        return min([*ends, *(w.expires_at for w in self.writers.values())], default=None)

    def _set(self, kept: Kept, state: RequestState, *, edge: bool) -> RequestReceipt:
        kept = kept.model_copy(update={"state": state})
        self.requests[kept.request.request_id] = kept
        self.edges += edge
        ended = [i for i, k in self.requests.items() if not k.state.live]
        for request_id in ended[: max(0, len(ended) - MAX_ENDED)]:
            del self.requests[request_id]
        return kept.receipt()

    def _no_room(self, now: datetime) -> HandoffError | None:
        if sum(k.at(now).live for k in self.requests.values()) < MAX_LIVE:
            return None
        return make_error(
            ErrorCode.REQUEST_LIMIT,
            f"This session has {MAX_LIVE} requests that wait to be read.",
            holds="None of them was pushed out, and this one was not taken.",
            do_next="Withdraw one, or wait until some are read.",
        )

    def _writer(self, sha256: str, now: datetime) -> Writer | None:
        found = None
        for writer in self.writers.values():
            if hmac.compare_digest(writer.sha256, sha256) and writer.expires_at > now:
                found = writer
        return found


def _same(save: SaveRequest, kept: Kept) -> bool:
    request = kept.request
    return (save.generation, save.text, save.skill) == (request.generation, request.text, request.skill)


def _is_stale(what: object, kept: Kept) -> bool:
    if isinstance(what, SendRequest):
        return what.generation != kept.request.generation
    return isinstance(what, SaveRequest) and what.generation <= kept.request.generation and not _same(what, kept)


def _done(what: object, kept: Kept) -> bool:
    """Whether exactly this was asked before, and its receipt is due again."""
    sent = kept.state in (RequestState.PUBLISHED, RequestState.READ)
    if isinstance(what, SendRequest):
        return sent
    if isinstance(what, SaveRequest):
        return _same(what, kept) and (sent if what.send else kept.state is not RequestState.EXPIRED)
    return kept.state is RequestState.WITHDRAWN


def _unauthorized() -> HandoffError:
    return make_error(
        ErrorCode.UNAUTHORIZED,
        "This key does not let anyone write here.",
        holds="Nothing was changed.",
        do_next="Have a key to write issued for this session.",
    )


def _stale(kept: Kept) -> HandoffError:
    return make_error(
        ErrorCode.STALE_VERSION,
        f"The request stands at generation {kept.request.generation}.",
        holds="What was to be sent is not what stands now, and was not published.",
        do_next="Look at the text as it stands, then send that generation.",
        request_id=kept.request.request_id,
        version=kept.request.generation,
    )


def _over(request_id: str, state: RequestState | None = None) -> HandoffError:
    return make_error(
        ErrorCode.UNKNOWN_REQUEST,
        f"The request is over: {state}." if state else "There is no such request.",
        holds="Nothing was changed.",
        do_next="Write a new one.",
        request_id=request_id,
    )
