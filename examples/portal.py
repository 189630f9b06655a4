"""The fixture portal: a small web shop's back office with a password, a second factor and a CSV export.

Tests and the demo share it. `Portal.state()` and ``GET /control/state`` tell the server's truth: what really arrived.
"""

import asyncio
import contextlib
import csv
import io
import secrets
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from examples import portal_pages as pages

Stage = Literal["out", "code", "in"]
CONTROL_HEADER = "X-Control-Key"
_SYMBOLS = "!@#$%^*()-_=+[]{};:,.?/|~"
_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def is_beside(state: Mapping[str, Any], count: int) -> bool:
    """Whether the page was clicked beside its fields since the focus had moved so many times.

    Args:
        state: What `Portal.state` or ``GET /control/state`` told.
        count: `state["focus"]["count"]` of before.
    """
    focus = state["focus"]
    return focus["count"] > count and focus["field"] is None


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Signals belong to the program that the portal runs in.
        yield


class Portal:
    """A running portal.

    Attributes:
        url: Its root, such as ``http://127.0.0.1:40123``, without a slash at the end.
        username: Who may sign in.
        password: Random for each start: 24 characters, four of them symbols.
        code: The one-time code, random for each start: eight digits.
        control_key: What ``/control/state`` asks for, in the header `CONTROL_HEADER`.
    """

    def __init__(self, *, username: str = "robin", password: str | None = None, code: str | None = None) -> None:
        self.url = ""
        self.username = username
        self.password = password if password is not None else _random_password()
        self.code = code if code is not None else f"{secrets.randbelow(90_000_000) + 10_000_000}"
        self.control_key = secrets.token_hex(16)
        self._pending: set[str] = set()
        self._signed_in: set[str] = set()
        self._app_tokens: set[str] = set()
        self._issued: list[str] = []
        self._stage: Stage = "out"
        self._counts: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._focus: dict[str, Any] = {"field": None, "count": 0}
        self._consent: str | None = None
        self._changed = asyncio.Condition()
        self._stopping = asyncio.Event()

    @classmethod
    @contextlib.asynccontextmanager
    async def start(cls, *, host: str = "127.0.0.1", port: int = 0, **options: str | None) -> AsyncIterator["Portal"]:
        """Serve a portal for as long as the block runs.

        Args:
            host: The address to listen on.
            port: The port; 0 takes a free one.
            options: `username`, `password` and `code`, where random ones will not do.

        Raises:
            OSError: The port is taken.
        """
        portal = cls(**options)  # type: ignore[arg-type]
        listener = socket.create_server((host, port))
        portal.url = f"http://{host}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            portal.application(), lifespan="off", ws="none", log_config=None, access_log=False, log_level="error"
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield portal
        finally:
            portal._stopping.set()
            server.should_exit = server.force_exit = True
            await serving
            listener.close()

    @property
    def planted(self) -> dict[str, tuple[str, ...]]:
        """Everything that must be found nowhere, by kind: the password, the code, and every token given out."""
        return {"password": (self.password,), "code": (self.code,), "cookie": tuple(self._issued)}

    @property
    def stage(self) -> Stage:
        """How far the latest sign-in came: ``out``, ``code`` (the password was right) or ``in``."""
        return self._stage

    def state(self) -> dict[str, Any]:
        """The server's truth, without a secret: the same as ``GET /control/state``."""
        return {
            "stage": self._stage,
            "sessions": len(self._signed_in),
            "pending": len(self._pending),
            "focus": dict(self._focus),
            "consent": self._consent,
            **{key: self._counts[key] for key in ("logins", "wrong_passwords", "wrong_codes", "exports", "touches")},
            "requests": dict(self._requests),
        }

    async def wait_for(self, check: Callable[[dict[str, Any]], bool], seconds: float = 30) -> dict[str, Any]:
        """Wait until the server's truth passes a check, and return it.

        Raises:
            TimeoutError: It did not within so many seconds.
        """
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(lambda: check(self.state()))
        return self.state()

    def sign_in_cookie(self) -> str:
        """Mint the value of a `sid` cookie that is signed in, for tests that need no person."""
        return self._issue(self._signed_in)

    def application(self) -> Starlette:
        """The portal as an ASGI application."""
        return Starlette(routes=[self._route(*entry) for entry in self._routes()])

    def _routes(self) -> list[tuple[str, Callable[[Request], Awaitable[Response]], str]]:
        shown = {
            "/consent": pages.consent,
            "/windows": pages.windows,
            "/app": pages.app,
            "/relabel": pages.relabel,
            "/login": pages.login,
        }
        return [
            *((path, _constant(page()), "GET") for path, page in shown.items()),
            ("/", self._home, "GET"),
            ("/login", self._login, "POST"),
            ("/login/failed", _constant(pages.failed("The user name or password is wrong.", "/login")), "GET"),
            ("/login/code", self._show_code, "GET"),
            ("/login/code", self._code, "POST"),
            ("/login/code/failed", _constant(pages.failed("That code is wrong.", "/login/code")), "GET"),
            ("/invoices", self._invoices, "GET"),
            ("/invoices/export", self._export, "GET"),
            ("/account", self._account, "GET"),
            ("/logout", self._logout, "GET"),
            ("/popup", self._popup, "GET"),
            ("/big", self._big, "GET"),
            ("/slow", self._slow, "GET"),
            ("/titled", self._titled, "GET"),
            ("/endless", self._endless, "GET"),
            ("/silent", self._silent, "GET"),
            ("/eyes/{field}", self._eyes, "POST"),
            ("/api/touch", self._touch, "POST"),
            ("/api/consent/{answer}", self._consented, "POST"),
            ("/api/app/login", self._app_login, "POST"),
            ("/api/app/me", self._app_me, "GET"),
            ("/control/state", self._control, "GET"),
        ]

    def _route(self, path: str, handler: Callable[[Request], Awaitable[Response]], method: str) -> Route:
        async def counted(request: Request) -> Response:
            self._requests[f"{method} {path}"] += 1
            response = await handler(request)
            async with self._changed:
                self._changed.notify_all()
            response.headers.setdefault("Cache-Control", "no-store")
            return response

        return Route(path, counted, methods=[method])

    def _issue(self, into: set[str]) -> str:
        token = secrets.token_urlsafe(24)
        into.add(token)
        self._issued.append(token)
        return token

    def _is_in(self, request: Request) -> bool:
        return request.cookies.get("sid", "") in self._signed_in

    async def _home(self, request: Request) -> Response:
        return RedirectResponse("/invoices", 303)

    async def _login(self, request: Request) -> Response:
        form = await request.form()
        if form.get("username") != self.username or form.get("password") != self.password:
            self._counts["wrong_passwords"] += 1
            return RedirectResponse("/login/failed", 303)
        self._stage = "code"
        response = RedirectResponse("/login/code", 303)
        response.set_cookie("pending", self._issue(self._pending), httponly=True, samesite="lax")
        return response

    async def _show_code(self, request: Request) -> Response:
        if request.cookies.get("pending", "") not in self._pending:
            return RedirectResponse("/login", 303)
        return HTMLResponse(pages.code())

    async def _code(self, request: Request) -> Response:
        pending = request.cookies.get("pending", "")
        if pending not in self._pending:
            return RedirectResponse("/login", 303)
        if (await request.form()).get("code") != self.code:
            self._counts["wrong_codes"] += 1
            return RedirectResponse("/login/code/failed", 303)
        self._pending.discard(pending)
        self._counts["logins"] += 1
        self._stage = "in"
        response = RedirectResponse("/invoices", 303)
        response.delete_cookie("pending")
        response.set_cookie("sid", self._issue(self._signed_in), httponly=True, samesite="lax", max_age=86_400)
        return response

    async def _invoices(self, request: Request) -> Response:
        return HTMLResponse(pages.invoices()) if self._is_in(request) else RedirectResponse("/login", 303)

    async def _export(self, request: Request) -> Response:
        if not self._is_in(request):
            return RedirectResponse("/login", 303)
        self._counts["exports"] += 1
        text = io.StringIO()
        csv.writer(text).writerows([pages.Invoice._fields, *pages.INVOICES])
        headers = {"Content-Disposition": 'attachment; filename="invoices.csv"'}
        return Response(text.getvalue(), media_type="text/csv", headers=headers)

    async def _account(self, request: Request) -> Response:
        return HTMLResponse(pages.account(self.username)) if self._is_in(request) else RedirectResponse("/login", 303)

    async def _logout(self, request: Request) -> Response:
        self._signed_in.discard(request.cookies.get("sid", ""))
        self._stage = "out"
        response = RedirectResponse("/login", 303)
        response.delete_cookie("sid")
        return response

    async def _popup(self, request: Request) -> Response:
        return HTMLResponse(pages.popup(closes="close" in request.query_params))

    async def _big(self, request: Request) -> Response:
        return HTMLResponse(pages.big(min(int(request.query_params.get("n", "1000")), 20_000)))

    async def _slow(self, request: Request) -> Response:
        return HTMLResponse(pages.slow(min(int(request.query_params.get("ms", "3000")), 30_000)))

    async def _titled(self, request: Request) -> Response:
        return HTMLResponse(pages.page(request.query_params.get("t", "Titled"), "<h1>Titled</h1>"))

    async def _endless(self, request: Request) -> Response:
        async def body() -> AsyncIterator[str]:
            yield pages.page("Endless", "<h1>Endless</h1>").removesuffix("</html>")
            await self._stopping.wait()

        return StreamingResponse(body(), media_type="text/html")

    async def _silent(self, request: Request) -> Response:
        await self._stopping.wait()
        return Response(status_code=503)

    async def _eyes(self, request: Request) -> Response:
        field = request.path_params["field"][:20]
        self._focus = {"field": None if field == "-" else field, "count": self._focus["count"] + 1}
        return Response(status_code=204)

    async def _touch(self, request: Request) -> Response:
        self._counts["touches"] += 1
        return Response(status_code=204)

    async def _consented(self, request: Request) -> Response:
        self._consent = "yes" if request.path_params["answer"] == "yes" else "no"
        return Response(status_code=204)

    async def _app_login(self, request: Request) -> Response:
        if (await request.form()).get("password") != self.password:
            return Response(status_code=403)
        return JSONResponse({"token": self._issue(self._app_tokens)})

    async def _app_me(self, request: Request) -> Response:
        known = request.headers.get("authorization", "").removeprefix("Bearer ") in self._app_tokens
        return Response(status_code=204 if known else 401)

    async def _control(self, request: Request) -> Response:
        if not secrets.compare_digest(request.headers.get(CONTROL_HEADER, ""), self.control_key):
            return Response(status_code=404)
        return JSONResponse(self.state())


def _constant(text: str) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        return HTMLResponse(text)

    return show


def _random_password() -> str:
    characters = [secrets.choice(_LETTERS) for _ in range(20)] + [secrets.choice(_SYMBOLS) for _ in range(4)]
    secrets.SystemRandom().shuffle(characters)
    return "".join(characters)
