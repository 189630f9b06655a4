"""Looking at a page: redacted text with ids that an effect can name."""

import asyncio
from dataclasses import dataclass

from user_handoff.contract.browser import SnapshotRequest
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.snapshots.bindings import Bound, bind
from user_handoff.desktop.snapshots.locate import locate
from user_handoff.desktop.snapshots.redact import bound as cut
from user_handoff.desktop.snapshots.redact import plain_keys, scrub_tree, withhold
from user_handoff.desktop.snapshots.values import read_fields, read_values

_SNAPSHOT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a page gave, before anyone may see or keep it.

    Attributes:
        text: Redacted and within the bound.
        truncated: Lines were cut at the bound.
        ids: What the element ids in the text stand for.
        values: What was withheld, and what is known to be secret: stays in this process.
    """

    text: str
    truncated: bool
    ids: Bound
    values: set[str]


async def look_at(page: ManagedPage, request: SnapshotRequest, *, typing: bool) -> Look:
    """Take a snapshot. The caller decides whether it counts, and only then makes its ids valid.

    Args:
        page: The page.
        request: Which part of it, and how much.
        typing: Somebody may be typing all the while: what is in the fields is read afterwards, too, as it is where the
            page may still be filling up.

    Raises:
        Gone: `page_gone`.
        Stale: `stale_element`: the region is of an earlier snapshot.
        Refused: `action_timeout`: the page does not answer.
    """
    # what is asked first is answered first: a document that is left in between makes all of its ids stale
    document, before, raw = await asyncio.gather(
        page.document(),
        page.bounded(read_fields(page.page, page.secrets)),
        page.bounded(_raw(page, request), _SNAPSHOT_SECONDS),
    )
    again = typing or before.may_have_grown(page.page)
    after = await page.bounded(read_values(page.page, page.secrets)) if again else set()
    named, ids = bind(plain_keys(raw), document)
    held_back, values = withhold(named)
    values |= before.values | after | set(page.secrets)
    text, truncated = cut(scrub_tree(held_back, values), request.max_bytes)
    return Look(text, truncated, ids, values)


async def _raw(page: ManagedPage, request: SnapshotRequest) -> str:
    milliseconds = _SNAPSHOT_SECONDS * 1000
    if request.region is None:
        return await page.page.aria_snapshot(mode="ai", depth=request.depth, timeout=milliseconds)
    binding = (await page.bound(request.region)).resolve(request.region)
    region = await locate(page.page, binding, request.region)
    return await region.aria_snapshot(mode="ai", depth=request.depth, timeout=milliseconds)
