"""What fits REST and what nobody should send: no request is a fault of the server, and no wrong one has an effect."""

import asyncio
import contextlib
import itertools
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.client import HandoffClient, connect_temporal
from user_handoff.client.access import Access
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope
from user_handoff.gateway.app import create_app
from user_handoff.gateway.serving import serve
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.testing import InMemoryDesktop, Page, ScriptedPerson

Case = schemathesis.Case[Any]
Operation = schemathesis.APIOperation[Any, Any, Any, Any]

REQUESTS = 10_000
UNBOUNDED = 100_000.0
"""Requests in a second: so many that nobody is refused for it."""

URL = "https://open.example/"
_CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
_LASTS = "followHandoff"
"""It lasts as long as its handoff."""

_NOT_THERE = {"handoff_id": "handoff/b/s/m"}
_TAKEOVER = "takeover/b/t"
"""Nobody takes over on a desktop in memory."""
_REAL = 0.6
"""How often an id of something that is there is put in the place of one that was made up."""

_TRIES = 5
_AT_ONCE = 25
_ROUND = 40
_KEPT = 20


@dataclass
class Fuzzed:
    """What was seen.

    Attributes:
        requests: How many were sent.
        wrong: How many of them did not fit the file.
        statuses: How they were answered.
        failures: Answers that must not be: the first of them, in words.
        failed: How many there were.
        silences: How often what the requests need could not be made at once, by the code: asked again by the same key.
        effects_of_wrong: Effects on a desktop, of what did not fit.
        seconds: How long it took.
    """

    requests: int = 0
    wrong: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    failed: int = 0
    silences: Counter[str] = field(default_factory=Counter)
    effects_of_wrong: int = 0
    seconds: float = 0.0


class _There:
    """Things that are there, made anew every so often, since they are closed and used up."""

    def __init__(self, http: httpx.Client, dice: random.Random) -> None:
        self._http = http
        self.silences: Counter[str] = Counter()
        self._dice = dice
        self._left = 0
        self._ids: dict[str, str] = {}
        self._open: list[str] = []

    def names(self, operation: Operation) -> dict[str, str] | None:
        """What is there, for the path of an operation; None: it names nothing."""
        self._count()
        ids = self._ids if operation.definition.raw.get("operationId") != _LASTS else _NOT_THERE
        return {each.name: ids[each.name] for each in operation.path_parameters} or None

    def put(self, case: Case) -> None:
        """Name what is there in a request, more often than not."""
        self._count()
        for name in case.path_parameters or {}:
            if not _slashes(case.operation) and self._dice.random() < _REAL:
                case.path_parameters[name] = self._ids[name]
        if isinstance(case.body, dict) and "browser_id" in case.body and self._dice.random() < _REAL:
            case.body["browser_id"] = self._ids["browser_id"]

    def _count(self) -> None:
        if self._left <= 0:
            self._renew()
        self._left -= 1

    def _renew(self) -> None:
        self._left = _ROUND
        for path in self._open:  # each hold keeps a place of the desktop's worker
            self._http.post(f"{path}/close", json={})
        session_id = self._post("/v1/sessions", {})["session_id"]
        message = self._post(f"/v1/sessions/{session_id}/messages", {"text": "Which invoice?"})
        browsers = [self._post("/v1/browsers", {"url": URL})["browser_id"] for _ in range(2)]
        begun = self._post("/v1/handoffs", {"browser_id": browsers[1], "instructions": "Look"})
        self._open = [*(f"/v1/browsers/{browser_id}" for browser_id in browsers), f"/v1/sessions/{session_id}"]
        self._ids = {
            "session_id": session_id,
            "message_id": message["message_id"],
            "browser_id": browsers[0],
            "handoff_id": begun["handoff_id"],
            "takeover_id": _TAKEOVER,
        }

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Ask, and ask again by the same key where nothing answers."""
        key = new_id("k")
        for _ in range(_TRIES):
            answer = self._http.post(path, json=body, headers={"idempotency-key": key})
            found: dict[str, Any] = answer.json()
            if answer.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
                answer.raise_for_status()
                return found
            self.silences[str(found["code"])] += 1
        raise RuntimeError(f"nothing answers: {found['code']}")


def fuzz(base_url: str, bearer: str, count: int, effects: Callable[[], int], start: int = 4) -> Fuzzed:
    """Send requests that fit the OpenAPI file, and as many that do not.

    Args:
        base_url: Of a gateway.
        bearer: Of a principal who may do all.
        count: How many requests.
        effects: How many effects its desktop has done.
        start: The seed.
    """
    schema = schemathesis.openapi.from_url(f"{base_url}/openapi.json")
    operations: list[Operation] = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    seen = Fuzzed()
    each = min(_AT_ONCE, max(1, count // (2 * len(operations))))
    began, seeds = time.monotonic(), itertools.count(start)
    headers = {"authorization": f"Bearer {bearer}"}
    with requests.Session() as session, httpx.Client(base_url=base_url, headers=headers, timeout=60) as http:
        session.headers.update(headers)
        there = _There(http, random.Random(start))
        while seen.requests < count:
            for operation, mode in itertools.product(operations, schemathesis.GenerationMode):
                wrong = mode is schemathesis.GenerationMode.NEGATIVE
                send = _Sender(base_url, session, there, seen, effects, wrong)
                # What is wrong must stay so: it is in body or query, of something that is there.
                path = there.names(operation) if wrong or _slashes(operation) else None
                # Some take nothing that could be wrong.
                with contextlib.suppress(Unsatisfiable):
                    strategy = operation.as_strategy(mode, headers=headers, path_parameters=path)
                    _fuzz_one(strategy, each, next(seeds), send)
        seen.silences = there.silences
    seen.seconds = round(time.monotonic() - began, 1)
    return seen


@dataclass
class _Sender:
    """Sends cases, and notes what came back."""

    base_url: str
    session: requests.Session
    there: _There
    seen: Fuzzed
    effects: Callable[[], int]
    wrong: bool

    def __call__(self, case: Case) -> None:
        if not self.wrong:
            self.there.put(case)
        before = self.effects()
        response = case.call(base_url=self.base_url, session=self.session, timeout=60)
        self.seen.requests += 1
        self.seen.wrong += self.wrong
        self.seen.statuses[response.status_code] += 1
        refused = response.status_code >= 400
        if self.wrong and refused:
            self.seen.effects_of_wrong += self.effects() - before
        checks = [*_CHECKS, negative_data_rejection] if self.wrong else _CHECKS
        try:
            case.validate_response(response, checks=checks)
        except BaseExceptionGroup as found:
            self.seen.failed += 1
            if len(self.seen.failures) < _KEPT:
                what = "; ".join(str(one).replace("\n", " ")[:300] for one in found.exceptions)
                sent = f"{case.path_parameters} {case.query} {str(case.body)[:300]}"
                self.seen.failures.append(f"{case.method} {case.path} {sent}: {what}")


def _slashes(operation: Operation) -> bool:
    """Whether its path names a handoff or takeover: the library makes up no names with slashes."""
    return "handoff_id" in operation.path or "takeover_id" in operation.path


def _fuzz_one(strategy: Any, count: int, start: int, send: Callable[[Case], None]) -> None:
    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def run(case: Case) -> None:
        send(case)

    run()


@contextlib.asynccontextmanager
async def _gateway() -> AsyncIterator[tuple[str, str, InMemoryDesktop]]:
    """A real Temporal, a desktop in memory and a gateway: its address, a key, and the desktop."""
    async with contextlib.AsyncExitStack() as stack:
        state = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="api-")))
        engine = EmbeddedTemporal(state, port=0, ui_port=None)
        stack.push_async_callback(engine.stop)
        await engine.start()
        client = HandoffClient(await connect_temporal(engine.address, "default"))
        person = ScriptedPerson("done", waits_for=asyncio.Event())
        desktop = InMemoryDesktop(client.temporal, pages=[Page(URL)], person=person)
        await stack.enter_async_context(desktop)
        settings = GatewaySettings.model_validate({"requests_per_second": UNBOUNDED})
        stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
        app = create_app(client, settings)
        serving = asyncio.create_task(serve(app, "127.0.0.1", 0, stop, ready=ready.set_result))
        try:
            key = await Access(client).create_key("agent:fuzz", [*SCOPES_OF_A_HANDOFF, Scope.SESSIONS_OPEN])
            yield f"http://127.0.0.1:{await ready}", key, desktop
        finally:
            stop.set()
            await serving


@contextlib.contextmanager
def _in_a_thread() -> Iterator[tuple[str, str, InMemoryDesktop]]:
    """The same in a thread of its own, since what sends the requests waits for each."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    context = _gateway()
    try:
        yield asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result(60)
    finally:
        asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def run(count: int) -> Fuzzed:
    """Fuzz a gateway of our own."""
    with _in_a_thread() as (base_url, key, desktop):
        return fuzz(base_url, key, count, lambda: len(desktop.effects))
