"""What a hold does to agents that came through a door, on a real Chromium."""

import asyncio

import pytest
from playwright.async_api import Error, Page

from tests.desktop.host.agents.conftest import MakeRaw, page_of
from tests.desktop.host.conftest import Desk

FORM = """<title>Form</title><button onclick="hits = (window.hits || 0) + 1">Go</button><input id=name>"""


async def test_an_agent_drives_the_browser_while_nobody_has_it(held: Desk, agent: Page) -> None:
    """F9."""
    await held.show(FORM)
    await agent.click("button")
    await agent.fill("#name", "by the agent")
    assert await held.page.evaluate("[hits, document.querySelector('#name').value]") == [1, "by the agent"]


async def test_an_agents_effects_and_looks_are_refused_in_a_hold(held: Desk, agent: Page) -> None:
    """F9, K01."""
    await held.show(FORM)
    await agent.click("button")
    await held.control.hold("h", 2)
    for refused in (
        agent.mouse.click(5, 5),
        agent.keyboard.type("a"),
        agent.goto(held.site.url),
        agent.evaluate("1"),
        agent.screenshot(),
        agent.content(),
        agent.context.cookies(),
    ):
        with pytest.raises(Error, match="browser_held"):
            await asyncio.wait_for(refused, 5)
    assert await held.page.evaluate("hits") == 1


async def test_an_agent_goes_on_after_the_release_without_reconnecting(held: Desk, agent: Page) -> None:
    """F9: code that was refused in a document runs in it afterwards."""
    await held.show(FORM)
    await agent.click("button")
    await held.control.hold("h", 2)
    with pytest.raises(Error, match="browser_held"):
        await agent.evaluate("1")
    await held.control.release("h")
    assert await agent.evaluate("hits") == 1
    await agent.click("button", timeout=30_000)
    assert await held.page.evaluate("hits") == 2


async def test_refusals_are_typed(held: Desk, raw: MakeRaw) -> None:
    """F9, K01: code is refused by an exception, everything else by an error."""
    async with raw() as client:
        session = await client.attach(await page_of(client))
        await held.control.hold("h", 2)
        ran = (await client.call("Runtime.evaluate", session, expression="1"))["result"]
        assert ran["exceptionDetails"]["exception"]["description"].startswith("Error: browser_held")
        error = (await client.call("Input.insertText", session, text="x"))["error"]
        assert error["code"] == -32050
        assert error["data"] == {
            "code": "browser_held",
            "method": "Input.insertText",
            "outcome": "not_started",
            "hold": "h",
            "do_next": "Wait until the person is done; this connection goes on then.",
        }


async def test_an_agent_that_closes_the_browser_only_lets_go_of_it(held: Desk, raw: MakeRaw) -> None:
    async with raw() as client:
        assert "result" in await client.call("Browser.close")
        await asyncio.wait_for(client.connection.wait_closed(), 5)
    assert await held.page.evaluate("1") == 1
