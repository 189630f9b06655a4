"""Closed shadow roots: no script of a page finds them from outside, and a style does not get into them by itself."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

_SECONDS: Final = 5.0
_PART_OF_ANOTHER: Final = "separate CDP session"
_PUT: Final = """function (css) {
  const style = document.createElement("style")
  style.textContent = css
  this.append(style)
  return style
}"""
_TAKE: Final = "function () { this.remove() }"


@contextlib.asynccontextmanager
async def styled(page: Page, css: str) -> AsyncIterator[None]:
    """Have a style hold in all closed shadow roots of a page, for as long as the block runs.

    Args:
        page: The page.
        css: The style.

    Raises:
        PlaywrightError, TimeoutError: Whether it holds everywhere is not known.
    """
    put: list[tuple[CDPSession, str]] = []
    sessions = [each for each in await asyncio.gather(*map(_session, page.frames)) if each is not None]
    try:
        for session in sessions:
            async for style in _put(session, css):
                put.append((session, style))
        yield
    finally:
        for session, style in put:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                await _send(session, "Runtime.callFunctionOn", objectId=style, functionDeclaration=_TAKE)
        for session in sessions:
            with contextlib.suppress(PlaywrightError):
                await session.detach()


async def _session(frame: Frame) -> CDPSession | None:
    """A session of its own for the main frame, and for one in a process of its own; None for any other."""
    try:
        return await frame.page.context.new_cdp_session(frame if frame.parent_frame else frame.page)
    except PlaywrightError as error:
        if _PART_OF_ANOTHER in str(error) or frame.is_detached():
            return None
        raise


async def _put(session: CDPSession, css: str) -> AsyncIterator[str]:
    tree = await _send(session, "DOM.getDocument", depth=-1, pierce=True)
    for root in _closed(tree["root"]):
        found = await _send(session, "DOM.resolveNode", backendNodeId=root)
        style = await _send(
            session,
            "Runtime.callFunctionOn",
            objectId=found["object"]["objectId"],
            functionDeclaration=_PUT,
            arguments=[{"value": css}],
        )
        yield str(style["result"]["objectId"])


def _closed(node: dict[str, Any]) -> Iterator[int]:
    """The closed roots in a tree; a document may be deep."""
    left = [node]
    while left:
        node = left.pop()
        if node.get("shadowRootType") == "closed":
            yield int(node["backendNodeId"])
        left += [*node.get("children", ()), *node.get("shadowRoots", ())]
        if "contentDocument" in node:
            left.append(node["contentDocument"])


async def _send(session: CDPSession, method: str, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await asyncio.wait_for(session.send(method, params), _SECONDS)
    return answer
