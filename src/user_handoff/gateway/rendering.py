"""Templates and the few files that the pages need, read once at the start."""

import hashlib
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from user_handoff.gateway.languages import words_for

_TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


class Renderer:
    """Turns views into responses."""

    def __init__(self, prefix: str) -> None:
        """Read templates and assets.

        Args:
            prefix: The path under which a reverse proxy shows the gateway.
        """
        folder = files("user_handoff.gateway.pages")
        self._assets = {
            file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _TYPES
        }
        self._jinja = Environment(
            loader=PackageLoader("user_handoff.gateway", "pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        urls = {
            name: f"{prefix}/assets/{name}?v={hashlib.sha256(data).hexdigest()[:12]}"
            for name, data in self._assets.items()
        }
        self._jinja.globals.update(prefix=prefix, assets=urls)

    def page(self, request: Request, template: str, status: int = HTTPStatus.OK, /, **values: Any) -> HTMLResponse:
        """A page from a template, in the language of whoever asks."""
        values = {"view": None, "texts": words_for(request), **values}
        return HTMLResponse(self._jinja.get_template(template).render(**values), status, {"Vary": "Accept-Language"})

    def fragment(self, request: Request, template: str, /, **values: Any) -> str:
        """A part of a page."""
        return self._jinja.get_template(template).render(texts=words_for(request), **values)

    def notice(self, request: Request, words: tuple[str, str], status: int) -> HTMLResponse:
        """A page that only says something: a title and a text."""
        title, text = words
        response = self.page(request, "notice.html", status, title=title, text=text)
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            response.headers["Retry-After"] = "5"
        return response

    async def asset(self, request: Request) -> Response:
        """One of the files; its URL changes with its content, so it may be kept for ever."""
        name = request.path_params["name"]
        if name not in self._assets:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(self._assets[name], headers=headers, media_type=_TYPES[name.rpartition(".")[2]])
