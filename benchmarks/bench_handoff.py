"""What a handoff costs through Temporal, with a real browser: begin, finish, and the size of its history."""

import tempfile
from pathlib import Path

from benchmarks.numbers import Times
from tests.e2e.stack import OWNER, Stack, running_stack
from user_handoff.contract.browser import BrowserInfo, OpenBrowser, Snapshot, SnapshotRequest
from user_handoff.contract.conditions import Url
from user_handoff.contract.handoff import Answer, HandoffRequest, Reply, Result
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.session import PostMessage

COUNT = 30
LIMITS = {"events": 60, "bytes": 25_000}
"""What the history of one plain handoff may have at most."""

_WARM_UP = 3
_A_BROWSER = 60
"""Handoffs of one browser, which can have 64."""


async def measure(count: int = COUNT) -> dict[str, float]:
    """Milliseconds of begin and finish, one handoff after the other, and the largest history."""
    begin, finish = Times(), Times()
    sizes: list[tuple[int, int]] = []
    with tempfile.TemporaryDirectory(prefix="handoff-") as folder:
        async with running_stack(Path(folder)) as stack:
            browser: BrowserInfo | None = None
            for number in range(_WARM_UP + count):
                if number % _A_BROWSER == 0:
                    session_id, browser = await open_browser(stack)
                assert browser
                timed = (begin, finish) if number >= _WARM_UP else (Times(), Times())
                sizes.append(await _one(stack, session_id, browser, *timed))
    return {
        "count": count,
        "begin_ms_p50": begin.milliseconds(50),
        "begin_ms_p95": begin.milliseconds(95),
        "finish_ms_p50": finish.milliseconds(50),
        "finish_ms_p95": finish.milliseconds(95),
        "events": max(events for events, _ in sizes),
        "bytes": max(size for _, size in sizes),
    }


async def open_browser(stack: Stack) -> tuple[str, BrowserInfo]:
    """A session, and a browser of it on a page that the benchmarks look for."""
    session_id = new_id("s")
    await stack.handoffs.open_session(session_id, OWNER)
    spec = OpenBrowser(
        browser_id=new_id("b"), session_id=session_id, owner=OWNER, url=f"{stack.portal.url}/titled?t=Bench"
    )
    return session_id, await stack.ask(Activities.OPEN_BROWSER, spec, BrowserInfo)


async def _one(stack: Stack, session_id: str, browser: BrowserInfo, begin: Times, finish: Times) -> tuple[int, int]:
    """One plain handoff: asked for, answered, taken back, looked at, verified. Returns events and bytes."""
    request = await ask(stack, session_id, browser, finish_on_reply=False)
    with begin.one():
        receipt = await stack.handoffs.begin(request)
    await stack.handoffs.reply(request.handoff_id, Reply(answer=Answer.DONE), new_id("r"))
    with finish.one():
        await stack.handoffs.finish(request.handoff_id, receipt.handoff_fence)
    await stack.ask(Activities.SNAPSHOT, SnapshotRequest(browser_id=browser.browser_id), Snapshot)
    outcome = await stack.handoffs.result(request.handoff_id)
    assert outcome.result is Result.VERIFIED, outcome.message
    told = await stack.client.get_workflow_handle(request.handoff_id).describe()
    info = told.raw_description.workflow_execution_info
    return info.history_length, info.history_size_bytes


async def ask(stack: Stack, session_id: str, browser: BrowserInfo, *, finish_on_reply: bool) -> HandoffRequest:
    """What it takes to hand the browser over once more."""
    message_id = new_id("m")
    await stack.handoffs.post_message(session_id, PostMessage(message_id=message_id, text="Sign in"))
    return HandoffRequest(
        browser_id=browser.browser_id,
        session_id=session_id,
        message_id=message_id,
        client_id=browser.client_id,
        desktop_id=browser.desktop_id,
        queue=browser.queue,
        owner=OWNER,
        instructions="Sign in to the portal: user name, password and one-time code.",
        verify=Url("**/titled"),
        finish_on_reply=finish_on_reply,
    )
