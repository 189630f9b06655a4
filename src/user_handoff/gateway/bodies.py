"""Reading a form within a bound, and whether it is one of ours."""

from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

BODY_BYTES: Final = 16 * 1024
"""Room for a note of 1,000 characters that all need twelve bytes as percent escapes, and the rest of a form."""


async def read_body(request: Request, limit: int = BODY_BYTES) -> bytes:
    """The body, if it is short enough.

    Args:
        request: Whose body.
        limit: The bound, in bytes.

    Raises:
        HTTPException: 413; nothing more than the bound was read.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return bytes(body)


def read_form(body: bytes) -> dict[str, str]:
    """The fields of a urlencoded form; nothing where it is not one."""
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=8, errors="strict")
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}


def same_origin(request: Request, base_url: str) -> bool:
    """Whether a form comes from a page of ours, as far as the browser says. It lets nobody in.

    Args:
        request: What was sent.
        base_url: What people's links begin with, which may be another host than the one that is asked.
    """
    origin = request.headers.get("origin")
    if origin == "null":
        # Browsers send that with our no-referrer policy; the fetch metadata says what it was.
        return request.headers.get("sec-fetch-site", "same-origin") == "same-origin"
    try:
        return origin is None or urlsplit(origin).netloc in (request.headers.get("host"), urlsplit(base_url).netloc)
    except ValueError:  # no browser sends that
        return False
