"""What is in a page's fields: read in order to withhold it, and kept in this process alone."""

import asyncio
import json
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page, Request

_TELLING: Final = (
    r"pass(?:word|wd|phrase|code)?|pwd|kennwort|passwort|secret|otp|totp|mfa|2fa|one.?time|verif|"
    r"token|cvc|cvv|csc|card.?num|iban|ssn|(?:^|[^a-z])(?:pin|tan|code|cc)(?:[^a-z]|$)"
)
_NAMED_SECRET: Final = re.compile(_TELLING, re.IGNORECASE)

_FILLING_MILLISECONDS: Final = 3000
"""For so long at least a document may go on to fill up, also where it says that it is complete."""

_READ: Final = f"""() => {{
  const labels = new Set(["button", "submit", "reset", "image", "checkbox", "radio", "hidden", "file"])
  const named = /{_TELLING}/i
  const secret = field => field.type === "password" || /one-time-code|password|^cc-/.test(field.autocomplete || "") ||
    named.test([field.name, field.id, field.getAttribute("aria-label") || ""].join(" "))
  const found = []
  const texts = element => {{
    found.push([element.innerText || element.textContent || "", false])
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) found.push([walker.currentNode.nodeValue.trim(), false])
  }}
  const look = root => {{
    for (const field of root.querySelectorAll("input, textarea"))
      if (!labels.has(field.type) && field.value) found.push([field.value, secret(field)])
    for (const editor of root.querySelectorAll("[contenteditable]:not([contenteditable='false' i])")) texts(editor)
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) look(element.shadowRoot)
  }}
  look(document)
  if (document.designMode === "on" && document.body) texts(document.body)
  return [found, document.readyState !== "complete" || performance.now() < {_FILLING_MILLISECONDS}]
}}"""

_FRAME_SECONDS = 5.0
_ATTEMPTS = 5
_SHORTEST = 3
_SHORTEST_KEPT = 4
_KEPT = 200
_BODY_BYTES = 65_536
_PART = re.compile(rb'name="([^"]{1,200})"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n(.{1,1000}?)\r\n--', re.DOTALL)


class Secrets:
    """What was typed into secret fields of a browser, or sent from them: for as long as this process drives it.

    It is never written down: after a restart of the runner what a page repeats from before is not known any more.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, None] = OrderedDict()

    def __iter__(self) -> Any:
        return iter(tuple(self._kept))

    def add(self, values: Iterable[str]) -> None:
        """Keep values; the oldest of too many are forgotten."""
        for value in values:
            if len(value.strip()) >= _SHORTEST_KEPT:
                self._kept[value.strip()] = None
                self._kept.move_to_end(value.strip())
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def sent(self, request: Request) -> None:
        """Keep what a page sends in fields whose names say that it is secret: another page may repeat it."""
        try:
            body = request.post_data_buffer or b""
            pairs = parse_qsl(urlsplit(request.url).query)
            if len(body) <= _BODY_BYTES:
                pairs += _fields(body, request.headers.get("content-type", ""))
        except (PlaywrightError, ValueError, RecursionError):
            return
        self.add(value for name, value in pairs if _NAMED_SECRET.search(name))


def _fields(body: bytes, kind: str) -> list[tuple[str, str]]:
    if not body:
        return []
    if "multipart/form-data" in kind:
        return [(name.decode(errors="replace"), value.decode(errors="replace")) for name, value in _PART.findall(body)]
    if "json" in kind:
        return list(_leaves("", json.loads(body)))
    return parse_qsl(body.decode(errors="replace"))


def _leaves(name: str, value: Any) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(str(key), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(name, inner)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield name, str(value)


@dataclass(frozen=True, slots=True)
class Fields:
    """What is in the fields of a page.

    Attributes:
        values: It.
        filling: A document of it was still on its way, or had just come: there may be more a moment later.
        frames: Which documents it was read from.
    """

    values: set[str]
    filling: bool
    frames: list[tuple[Frame, str]]

    def may_have_grown(self, page: Page) -> bool:
        """Whether the page may have shown fields since that are not among these."""
        return self.filling or self.frames != _frames(page)


async def read_values(page: Page, secrets: Secrets) -> set[str]:
    """See `read_fields`."""
    return (await read_fields(page, secrets)).values


async def read_fields(page: Page, secrets: Secrets) -> Fields:
    """Everything that is in the fields of a page and of the frames in it, whatever role they claim.

    Args:
        page: The page.
        secrets: Where what is in secret fields is kept.

    Raises:
        TimeoutError: A frame does not answer.
    """
    values: set[str] = set()
    frames, filling = _frames(page), False
    for found, fills in await asyncio.gather(*(_of_frame(frame) for frame, _ in frames)):
        values |= {value for value, _ in found if len(value.strip()) >= _SHORTEST}
        secrets.add(value for value, secret in found if secret)
        filling = filling or fills
    return Fields(values, filling, frames)


def _frames(page: Page) -> list[tuple[Frame, str]]:
    return [(frame, frame.url) for frame in page.frames]


async def _of_frame(frame: Frame) -> tuple[list[tuple[str, bool]], bool]:
    for _ in range(_ATTEMPTS):
        try:
            found, filling = await asyncio.wait_for(frame.evaluate(_READ), _FRAME_SECONDS)
        except PlaywrightError:
            if frame.is_detached() or frame.page.is_closed():
                return [], True  # what was in it is not in the snapshot either
            continue  # it is on its way to another document
        return [(str(value), bool(secret)) for value, secret in found], bool(filling)
    raise TimeoutError
