"""Figures for Prometheus: how much is asked, how it is answered, how long it takes. No id and no token is in them."""

import time
from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TEMPLATE: Final = "handoff.template"
CODE: Final = "handoff.code"
"""Where an endpoint leaves, in the scope of its request, its path's template, and the code of its refusal."""

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The figures of one gateway process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "handoff_http_requests",
            "Requests that were answered, by the template of their path.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "handoff_http_request_seconds",
            "How long an answer took; streams are not in it.",
            ("route",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._refusals = Counter(
            "handoff_http_refusals", "Refusals by HTTP, by their code.", ("code",), registry=self._registry
        )
        self._calls = Counter(
            "handoff_tool_calls",
            "Calls of tools, by whatever door: `completed`, or the code of the refusal.",
            ("tool", "outcome"),
            registry=self._registry,
        )

    def watch(self, name: str, what: str, read: Callable[[], float]) -> None:
        """Tell a figure as it is when it is asked for.

        Args:
            name: Its name, without what all have in front.
            what: What it says.
            read: Reads it.
        """
        Gauge(f"handoff_{name}", what, registry=self._registry).set_function(read)

    def called(self, tool: str, outcome: str) -> None:
        """Count a call of a tool."""
        self._calls.labels(tool, outcome).inc()

    def answered(self, scope: Scope, status: int, seconds: float | None) -> None:
        """Count an answer.

        Args:
            scope: Of its request, with what the endpoint has left in it.
            status: Its status.
            seconds: How long it took; None: it is a stream.
        """
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = scope.get(TEMPLATE, "none")
        self._requests.labels(method, route, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(route).observe(seconds)
        if scope.get(CODE):
            self._refusals.labels(scope[CODE]).inc()

    def response(self) -> Response:
        """All of them, as Prometheus reads them."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


class Measured:
    """Counts every answer of an application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, streams = time.perf_counter(), 500, False

        async def seen(message: Message) -> None:
            nonlocal status, streams
            if message["type"] == "http.response.start":
                status = message["status"]
                streams = any(
                    k == b"content-type" and v.startswith(b"text/event-stream") for k, v in message["headers"]
                )
            await send(message)

        try:
            await self._app(scope, receive, seen)
        finally:
            self._metrics.answered(scope, status, None if streams else time.perf_counter() - began)
