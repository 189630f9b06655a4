"""After a person has finished: agents look at a page before they act on it, each for itself."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Error, Page

from tests.desktop.host.agents.conftest import MakeRaw, page_of
from tests.desktop.host.conftest import Desk
from tests.waiting import until

FORM = '<title>Form</title><button onclick="hits = (window.hits || 0) + 1">Go</button>'


@pytest.fixture(autouse=True)
async def looked_at_afterwards(held: Desk) -> AsyncIterator[None]:
    """The next test finds a page that was looked at."""
    yield
    await held.control.looked(await _target(held))


async def _target(desk: Desk) -> str:
    session = await desk.context.new_cdp_session(desk.page)
    found: str = (await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
    await session.detach()
    return found


@contextlib.asynccontextmanager
async def runner(desk: Desk) -> AsyncIterator[None]:
    """What a runner does where an agent looks first: it frees the browser."""
    freeing: list[asyncio.Task[None]] = []
    desk.control.on_look = lambda hold_id: freeing.append(asyncio.create_task(desk.control.release(hold_id)))
    try:
        yield
    finally:
        desk.control.on_look = lambda hold_id: None
        await asyncio.gather(*freeing)


async def finish(desk: Desk) -> None:
    await desk.control.recover("h", [await _target(desk)])


async def test_an_agent_that_looks_gets_the_browser_back(held: Desk, agent: Page) -> None:
    """F9, A12: no reconnecting, and nobody else has to look."""
    await held.show(FORM)
    await held.control.hold("h", 2)
    await finish(held)
    async with runner(held):
        with pytest.raises(Error, match="snapshot_required"):
            await agent.mouse.click(5, 5)
        assert await agent.title() == "Form"
        assert (await held.control.status()).hold_id is None
        await agent.click("button", timeout=30_000)
    assert await held.page.evaluate("hits") == 1


async def test_each_agent_looks_at_each_page_for_itself(held: Desk, raw: MakeRaw) -> None:
    """F9, A12."""
    await held.show(FORM)
    async with raw() as one, raw() as other:
        page = await page_of(one)
        mine, theirs = await one.attach(page), await other.attach(page)
        await held.control.hold("h", 2)
        await finish(held)
        async with runner(held):
            assert "result" in await one.call("DOM.getDocument", mine)
        assert "result" in await one.call("Input.insertText", mine, text="a")
        error = (await other.call("Input.insertText", theirs, text="a"))["error"]
        assert (error["code"], error["data"]["code"]) == (-32050, "snapshot_required")
        assert "error" in await other.call("Target.closeTarget", targetId=page)
        assert "result" in await other.call("Runtime.evaluate", theirs, expression="1")
        assert "result" in await other.call("Input.insertText", theirs, text="a")


async def test_a_look_of_the_runner_counts_for_every_agent(held: Desk, raw: MakeRaw) -> None:
    """A12."""
    await held.show(FORM)
    async with raw() as client:
        page = await page_of(client)
        session = await client.attach(page)
        await held.control.hold("h", 2)
        await finish(held)
        await held.control.release("h")
        assert "error" in await client.call("Input.insertText", session, text="a")
        await held.control.looked(page)
        assert "result" in await client.call("Input.insertText", session, text="a")


async def test_where_no_runner_is_there_to_free_it_the_browser_stays_held(held: Desk, raw: MakeRaw) -> None:
    """K01: fail closed."""
    await held.show(FORM)
    async with raw() as client:
        session = await client.attach(await page_of(client))
        await held.control.hold("h", 2)
        await finish(held)
        answer = await client.call("Runtime.evaluate", session, expression="1")
        assert "browser_held" in answer["result"]["exceptionDetails"]["exception"]["description"]
        assert (await held.control.status()).hold_id == "h"


# --- code that no gate can stop ---


async def _marked(desk: Desk) -> bool:
    return bool((await desk.control.status()).code_ran)


async def test_a_document_in_which_an_agents_code_ran_is_marked_until_it_is_loaded_anew(
    held: Desk, agent: Page, raw: MakeRaw
) -> None:
    """F11."""
    await held.show(FORM)
    async with raw() as client:
        page = await page_of(client)
        session = await client.attach(page)
        await client.call("DOM.getDocument", session)
        await client.call("Input.insertText", session, text="a")
        assert not await _marked(held)
        await client.call("Runtime.evaluate", session, expression="setInterval(() => hits = 1, 10)")
        assert (await held.control.status()).code_ran == [page]
        await held.control.hold("h", 2)
        assert await _marked(held)
        await held.page.evaluate("location.reload()")
        await held.page.wait_for_load_state()
        await until(lambda: _unmarked(held))
        await held.control.release("h")


async def test_a_script_of_an_agent_is_in_no_document_that_a_person_opens(held: Desk, agent: Page) -> None:
    """F11: it is taken out for the hold, and put in again after it."""
    await agent.context.add_init_script("window.mine = 1")
    await held.show(FORM)
    assert await held.page.evaluate("window.mine") == 1
    assert await _marked(held)
    await held.control.hold("h", 2)
    await held.page.evaluate("location.reload()")
    await held.page.wait_for_function("window.mine === undefined")
    await until(lambda: _unmarked(held))
    await held.control.release("h")
    await held.page.reload()
    assert await held.page.evaluate("window.mine") == 1
    assert await _marked(held)


async def _unmarked(desk: Desk) -> bool:
    return not await _marked(desk)
