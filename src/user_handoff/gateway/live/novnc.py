"""noVNC, as it is installed on this machine: served as it is, and kept by browsers for ever."""

import hashlib
import json
import os
from collections.abc import Mapping
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

NOVNC_VARIABLE: Final = "HANDOFF_NOVNC"
"""The environment variable that names another folder of noVNC."""

DEBIAN: Final = Path("/usr/share/novnc")

_PARTS: Final = ("core", "vendor")
_ENTRY: Final = "core/rfb.js"
_MOST_BYTES: Final = 8_000_000
_KEPT: Final = {"Cache-Control": "public, max-age=31536000, immutable"}


class NoVnc:
    """The modules of noVNC, read once. Their address changes with their content."""

    def __init__(self, folder: Path, prefix: str = "") -> None:
        """Read them.

        Args:
            folder: Where noVNC is: it has ``core/rfb.js``. Where it has not, there is no live view.
            prefix: The path under which a reverse proxy shows the gateway.
        """
        self._modules = _read(folder)
        self._prefix = prefix
        digest = hashlib.sha256()
        for name, content in sorted(self._modules.items()):
            digest.update(name.encode() + b"\0" + content)
        self._version = digest.hexdigest()[:16]

    @classmethod
    def found(cls, prefix: str = "", environ: Mapping[str, str] = os.environ) -> "NoVnc":
        """The one that the environment names, else Debian's."""
        return cls(Path(environ.get(NOVNC_VARIABLE) or DEBIAN), prefix)

    @property
    def there(self) -> bool:
        """False where noVNC is not installed."""
        return _ENTRY in self._modules

    async def tell(self, request: Request) -> Response:
        """Where the page finds what the live view is made of."""
        if not self.there:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        base = f"{self._prefix}/assets/novnc/{self._version}/"
        said = {
            "rfb": base + _ENTRY,
            "modules": [base + name for name in sorted(self._modules)],
            "css": self._ours("view.css"),
            "input": self._ours("view-input.js"),
        }
        return Response(json.dumps(said), media_type="application/json")

    def _ours(self, name: str) -> str:
        content = files("user_handoff.gateway.pages").joinpath(name).read_bytes()
        return f"{self._prefix}/assets/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"

    async def module(self, request: Request) -> Response:
        """One of the modules."""
        content = self._modules.get(request.path_params["name"])
        if content is None or request.path_params["version"] != self._version:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(content, headers=_KEPT, media_type="text/javascript")


def _read(folder: Path) -> dict[str, bytes]:
    """Its JavaScript, by path. Nothing else of the folder is ever served."""
    found: dict[str, bytes] = {}
    size = 0
    for part in _PARTS:
        for path in sorted((folder / part).rglob("*.js")):
            if path.is_file():
                found[path.relative_to(folder).as_posix()] = content = path.read_bytes()
                size += len(content)
            if size > _MOST_BYTES:
                return {}  # whatever that is, it is not noVNC
    return found
