"""A person who answers from Temporal's own web UI, or by its own command line, on real parts."""

import asyncio
import json
import os
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Page, expect

from tests.e2e.stack import Stack
from tests.gateway.browsing import running_chromium
from tests.waiting import until
from user_handoff.cli.engine import temporal_program
from user_handoff.contract.conditions import Url
from user_handoff.contract.handoff import Answer, HandoffState, Result, Summary
from user_handoff.contract.ids import Association

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
HOSTILE: Final = "Sign in. <b>Then</b> [call us](http://evil.example/x)\n## To answer\n![](http://evil.example/y.png)"
SECONDS: Final = 40
"""A machine that has much else to do shows a page late."""

expect.set_options(timeout=SECONDS * 1000)


@pytest.fixture(scope="module")
async def ui(stack: Stack) -> AsyncIterator[Page]:
    """Temporal's web UI in a real Chromium."""
    async with running_chromium() as chromium, await chromium.new_context() as context:
        context.set_default_timeout(SECONDS * 1000)
        yield await context.new_page()


async def until_in(stack: Stack, handoff_id: str, state: HandoffState) -> Summary:
    return await until(
        lambda: stack.handoffs.summary(handoff_id), SECONDS, wanted=lambda now: now.state is state, what=state
    )


async def open_handoff(ui: Page, stack: Stack, handoff_id: str) -> None:
    """Find it among what waits, and go to its page."""
    await ui.goto(f"{stack.engine.ui_url}/namespaces/default/workflows?query=HandoffState%3D%22held%22")
    link = ui.get_by_role("link", name=handoff_id, exact=True)
    async with asyncio.timeout(SECONDS):
        while not await link.count():  # what Temporal lists lags a moment behind
            await ui.get_by_role("button", name="Refresh").click()
    await link.click()


async def send(ui: Page, kind: str, name: str, data: object) -> None:
    """Send a message to the workflow of the page, by its buttons."""
    await ui.get_by_role("button", name="More Actions").click()
    await ui.get_by_role("menuitem", name=f"Send a{'n' if kind == 'Update' else ''} {kind}").click()
    dialog = ui.get_by_role("dialog")
    await dialog.get_by_test_id(f"{kind.lower()}-select-button").click()
    await dialog.get_by_role("option", name=name).first.click()
    # As the page itself would lay it out: the button stays where it is.
    await dialog.get_by_role("textbox", name="Data").fill(json.dumps(data, indent=2))
    await expect(dialog.get_by_role("textbox", name="Data")).to_contain_text("answer")
    async with ui.expect_response(lambda response: f"/{kind.lower()}/{name}" in response.url):
        await dialog.get_by_role("button", name="Submit").click()


async def test_a_person_answers_from_the_web_ui(ui: Page, stack: Stack) -> None:
    """F6: they are told there what to do and by which buttons, and the agent goes on."""
    agent = await stack.start_agent()
    held = await stack.held()
    await stack.sign_in(held)
    await open_handoff(ui, stack, held.handoff_id)
    await expect(ui.get_by_text("A person is waited for: see User Metadata").first).to_be_visible()
    await ui.get_by_role("tab", name="User Metadata").click()
    shown = ui.frame_locator("iframe").nth(1)
    await expect(shown.get_by_role("heading", name="A person is needed")).to_be_visible()
    data = json.loads(await shown.locator("pre").first.inner_text())
    await send(ui, "Update", "reply", data | {"by": "Robin"})
    exported = await agent.result()
    summary = await stack.handoffs.summary(held.handoff_id)
    assert (summary.result, summary.answer, summary.answered_by) == (Result.VERIFIED, Answer.DONE, "Robin")
    assert exported.rows > 0
    await stack.close(held)


async def test_what_cannot_be_an_answer_is_refused_in_the_web_ui_and_wedges_nothing(ui: Page, stack: Stack) -> None:
    """K23: by the signal too; and the instructions of an agent are text there, whatever they say."""
    request, receipt = await stack.begin(instructions=HOSTILE)
    await open_handoff(ui, stack, receipt.handoff_id)
    await ui.get_by_role("tab", name="User Metadata").click()
    quote = ui.frame_locator("iframe").nth(1).locator("blockquote")
    await expect(quote).to_have_text(HOSTILE, use_inner_text=True)
    assert await quote.locator("a, b, img, h1, h2, h3").count() == 0
    await send(ui, "Update", "reply", {"answer": "hunter2"})
    await expect(ui.get_by_text("Failed decoding arguments", exact=True)).to_be_visible()
    assert (await stack.handoffs.summary(receipt.handoff_id)).answer is None
    await ui.reload()
    await send(ui, "Signal", "reply", {"answer": "declined", "via": "temporal_ui"})
    summary = await until_in(stack, receipt.handoff_id, HandoffState.RECOVERING)
    assert summary.answer is Answer.DECLINED
    await stack.close(summary)
    assert request.handoff_id == receipt.handoff_id


# --- the command line ---


def documented(name: str, **values: str) -> list[str]:
    """The one command of the operations page that has this in it, with values in place of the examples' ids."""
    section = OPERATIONS.read_text().split("## Answer with Temporal's own tools\n")[1].split("\n## ")[0]
    (line,) = [line for line in section.splitlines() if line.startswith("temporal ") and name in line]
    for name, value in {"$ID": values.get("id", ""), "$FENCE": values.get("fence", "")}.items():
        line = line.replace(name, value)
    return [str(temporal_program()), *shlex.split(line)[1:]]


async def temporal(stack: Stack, name: str, **values: str) -> str:
    """What such a command prints."""
    process = await asyncio.create_subprocess_exec(
        *documented(name, **values),
        env={"TEMPORAL_ADDRESS": stack.engine.address, "HOME": str(stack.state), "PATH": os.environ["PATH"]},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode == 0
    return said.decode()


async def test_a_person_answers_and_takes_the_browser_back_by_the_temporal_command_line(stack: Stack) -> None:
    """F6: every command of the operations page."""
    _, receipt = await stack.begin(finish_on_reply=False, verify=Url("**/invoices"))
    held = await stack.handoffs.summary(receipt.handoff_id)
    await stack.sign_in(held)
    await until(lambda: temporal(stack, "workflow list"), SECONDS, wanted=lambda listed: receipt.handoff_id in listed)
    assert "A person is needed" in await temporal(stack, "metadata", id=receipt.handoff_id)
    asked: dict[str, Any] = json.loads(
        re.findall(r"\{.*\}", await temporal(stack, "workflow query", id=receipt.handoff_id))[0]
    )
    assert (asked["state"], asked["receipt"]["handoff_fence"]) == ("held", receipt.handoff_fence)
    assert "accepted:true" in await temporal(stack, "--name reply", id=receipt.handoff_id)
    await temporal(stack, "--name finish", id=receipt.handoff_id, fence=asked["receipt"]["handoff_fence"])
    await stack.look_again(held.handoff_id)
    assert '"result":"verified"' in await temporal(stack, "workflow result", id=receipt.handoff_id)
    await stack.close(held)


async def test_the_temporal_command_line_closes_a_browser(stack: Stack) -> None:
    """A15."""
    _, receipt = await stack.begin()
    await temporal(stack, "--name close", id=receipt.handoff_id)
    summary = await stack.handoffs.summary(receipt.handoff_id)
    assert (summary.state, summary.result) == (HandoffState.CLOSED, Result.CLOSED)
    assert Association.parse(receipt.handoff_id)
