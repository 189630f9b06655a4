"""A site full of secrets: in fields of every type, in frames, addresses, cookies, storage, answers, and said again."""

import asyncio
import contextlib
import html
import secrets
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from examples.portal import _Server


def _word() -> str:
    return f"Kanari{secrets.token_hex(6)}"


def _number(digits: int) -> str:
    return str(secrets.randbelow(9 * 10 ** (digits - 1)) + 10 ** (digits - 1))


def _planted() -> dict[str, str]:
    year = str(3000 + secrets.randbelow(6000))
    words = (
        "password shown_password text search textarea datalist odd_role hidden shadow editable editable_rich "
        "frame_password frame_editable frame_text design query fragment cookie_http cookie_script local session "
        "indexed answer echoed_password colon away typed"
    )
    return {name: _word() for name in words.split()} | {
        "email": f"{_word()}@a.example",
        "url": f"https://{_word().lower()}.example/",
        "tel": f"+49{_number(11)}",
        "number": _number(13),
        "range": _number(9),
        "color": f"#{secrets.token_hex(3)}",
        "date": f"{year}-11-23",
        "datetime": f"{year}-10-21T11:51",
        "month": f"{year}-07",
        "week": f"{year}-W31",
        "otp": _number(8),
        "echoed_code": _number(9),
    }


@dataclass
class Vault:
    """The server, and what is hidden in it.

    Attributes:
        planted: What must be found nowhere, by what it is.
        url: One origin of it.
        other: Another origin, and another site, of the same server.
        sent: The typed secrets that a person has sent.
    """

    planted: dict[str, str] = field(default_factory=_planted)
    url: str = ""
    other: str = ""
    sent: list[str] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator["Vault"]:
        """Serve for as long as the block runs."""
        routes = [
            Route("/", self._enter),
            Route("/form", self._form),
            Route("/untitled", self._untitled),
            Route("/frame", self._frame),
            Route("/away", self._away),
            Route("/answer", self._answer),
            Route("/echo", self._echo, methods=["POST"]),
        ]
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        self.url, self.other = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
        config = uvicorn.Config(Starlette(routes=routes), lifespan="off", ws="none", log_config=None, access_log=False)
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield self
        finally:
            server.should_exit = server.force_exit = True
            await serving
            listener.close()

    async def _enter(self, request: Request) -> Response:
        """As portals do: the address that the wall is at has a secret in it, and a cookie comes with it."""
        response = RedirectResponse(f"/form?session={self.planted['query']}#at={self.planted['fragment']}", 303)
        response.set_cookie("sid", self.planted["cookie_http"], httponly=True, max_age=3600)
        return response

    async def _form(self, request: Request) -> Response:
        return HTMLResponse(_FORM.format(other=self.other, **_escaped(self.planted)))

    async def _untitled(self, request: Request) -> Response:
        return HTMLResponse("<!doctype html><h1>No title</h1>")

    async def _away(self, request: Request) -> Response:
        """To where nobody answers, with a secret on the way."""
        return RedirectResponse(f"http://127.0.0.1:1/gone?token={self.planted['away']}#{self.planted['away']}", 303)

    async def _frame(self, request: Request) -> Response:
        return HTMLResponse(_FRAME.format(**_escaped(self.planted)))

    async def _answer(self, request: Request) -> Response:
        return JSONResponse({"token": self.planted["answer"]})

    async def _echo(self, request: Request) -> Response:
        """What a careless site does with what was sent to it."""
        form = {name: html.escape(str(value)) for name, value in (await request.form()).items()}
        self.sent.append(form.get("typed_password", ""))
        return HTMLResponse(
            f"<!doctype html><title>Code {form.get('code', '')}</title><h1>Welcome</h1>"
            f"<p>You sent {form.get('new_password', '')} and {form.get('code', '')}.</p>"
            f"<p>{form.get('typed_password', '')}</p>"
            f"<button aria-label='Forget {form.get('new_password', '')}'>x</button>"
            f"<a href='/form/{form.get('code', '')}'>Again</a>"
        )


def _escaped(planted: dict[str, str]) -> dict[str, str]:
    return {name: html.escape(value, quote=True) for name, value in planted.items()}


_FRAME = """<!doctype html><title>Frame</title>
<label>Frame password <input type=password value="{frame_password}"></label>
<label>Frame text <input value="{frame_text}"></label>
<div contenteditable>{frame_editable}</div><p>Repeated: {frame_text}</p>"""

_FORM = """<!doctype html><title>Vault {text}</title><h1>Vault</h1>
<form method=post action=/echo>
<label>Password <input id=pw type=password value="{password}"></label>
<label>Shown <input id=shown type=password value="{shown_password}"></label>
<button type=button onclick="shown.type='text'">Show</button>
<label>Text <input value="{text}"></label>
<label>It's: a field <input value="{colon}"></label>
<label>Email <input type=email value="{email}"></label>
<label>Address <input type=url value="{url}"></label>
<label>Phone <input type=tel value="{tel}"></label>
<label>Search <input type=search value="{search}"></label>
<label>Number <input type=number value="{number}"></label>
<label>Range <input type=range min=0 max=9999999999 value="{range}"></label>
<label>Colour <input type=color value="{color}"></label>
<label>Date <input type=date value="{date}"></label>
<label>Moment <input type=datetime-local value="{datetime}"></label>
<label>Month <input type=month value="{month}"></label>
<label>Week <input type=week value="{week}"></label>
<label>One-time code <input autocomplete=one-time-code value="{otp}"></label>
<label>List <input list=all value="{datalist}"></label><datalist id=all><option>One</datalist>
<input role=button value="{odd_role}" aria-label="Odd">
<input type=hidden name=token value="{hidden}">
<label>Long <textarea>Dear all,
  {textarea}
</textarea></label>
<div id=plain contenteditable=plaintext-only>{editable}</div>
<div contenteditable><p>Some <b>{editable_rich}</b> text</p></div>
<div id=host></div>
<label>New password <input name=new_password type=password value="{echoed_password}"></label>
<label>Code <input name=code value="{echoed_code}"></label>
<label>Typed <input id=typed name=typed_password type=password></label>
<button>Send</button></form>
<p>You typed {text}, {otp} and {textarea}.</p><p aria-label="Was {password}">x</p>
<a href="/form/{password}?q={query}#f={fragment}">Link</a>
<iframe title="Other" src="{other}/frame"></iframe><iframe id=design title="Design"></iframe>
<script>
addEventListener("click", e => {{ if (!e.target.closest("form, a, p")) typed.focus() }})
host.attachShadow({{mode: "open"}}).innerHTML = '<label>Shadow <input value="{shadow}"></label>'
document.cookie = "js={cookie_script}; max-age=3600"
localStorage.setItem("login", "{local}"); sessionStorage.setItem("login", "{session}")
const asked = indexedDB.open("vault", 1)
asked.onupgradeneeded = () => asked.result.createObjectStore("all").put("{indexed}", "login")
fetch("/answer").then(r => r.json()).then(said => {{ window.token = said.token }})
const inside = design.contentDocument
inside.body.innerHTML = "<p>{design}</p>"; inside.designMode = "on"
</script>"""
