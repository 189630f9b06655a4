"""A desktop whose browser is driven through a door too: the ledger, the host and the runner act as one."""

import hashlib
import secrets
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Error, Page, async_playwright

from examples.portal import Portal
from tests.desktop.support import Agent, code_of
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract.doors import DoorOpened, DoorRequest, OpenDoor
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop


async def opened_by(desktop: Desktop, browser_id: str) -> tuple[DoorOpened, str]:
    """A door of a browser, and its address."""
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    door = await desktop.open_door(OpenDoor(browser_id=browser_id, door_id=new_id("d"), sha256=digest, name="test"))
    return door, f"ws+unix://{door.socket}:/agent/{token}"


@pytest.fixture(scope="module")
async def agent(desktop: Desktop, portal: Portal) -> AsyncIterator[Agent]:
    """One browser for all: each test leaves it free, and looked at."""
    agent = await Agent.open(desktop, f"{portal.url}/invoices")
    yield agent
    await agent.close()


@pytest.fixture(scope="module")
async def guest(desktop: Desktop, agent: Agent) -> AsyncIterator[Page]:
    """The agent's page, as a program that came through a door has it."""
    _, address = await opened_by(desktop, agent.browser_id)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(address)
        yield browser.contexts[0].pages[0]
        await browser.close()


async def test_a_program_is_held_with_the_browser_and_frees_it_by_looking(
    desktop: Desktop, agent: Agent, guest: Page
) -> None:
    """F9, A12: after finish the first look, whosever it is, ends the hold; effects come after looks."""
    receipt = await agent.begin()
    with pytest.raises(Error, match="browser_held"):
        await guest.mouse.click(1, 1)
    await agent.finish(receipt)
    with pytest.raises(Error, match="snapshot_required"):
        await guest.mouse.click(1, 1)
    assert (await agent.info()).state == "recovering"
    assert await guest.title()
    assert (await agent.info()).state == "open"
    await guest.mouse.click(1, 1)


async def test_a_look_by_a_program_does_not_spare_the_agents_own(desktop: Desktop, agent: Agent, guest: Page) -> None:
    """A12: what the agent knew of the page is from before."""
    await agent.look()
    await agent.finish(await agent.begin())
    assert await guest.title()
    assert await code_of(agent.click("e1")) is ErrorCode.SNAPSHOT_REQUIRED
    await agent.look()
    await guest.mouse.click(1, 1)


async def test_a_person_is_told_that_a_programs_code_ran(agent: Agent, guest: Page) -> None:
    """F11: in the receipt, and so on their page; a document that was loaded anew is clean."""
    await guest.evaluate("setInterval(() => 0, 1000)")
    receipt = await agent.begin()
    assert [page.code_ran for page in receipt.pages] == [True]
    await agent.finish(receipt)
    await agent.look()
    await agent.go(receipt.pages[0].url)
    await agent.look()
    again = await agent.begin()
    assert [page.code_ran for page in again.pages] == [False]
    await agent.finish(again)
    await agent.look()


async def test_no_program_raises_its_window_while_a_person_has_another_browser(
    desktop: Desktop, agent: Agent, guest: Page, portal: Portal
) -> None:
    """E7, B9."""
    other = await Agent.open(desktop, f"{portal.url}/invoices")
    receipt = await other.begin()
    with pytest.raises(Error, match="desktop_held"):
        await guest.bring_to_front()
    assert await guest.title()
    await other.finish(receipt)
    await other.look()
    await guest.bring_to_front()
    await other.close()


async def test_doors_are_listed_and_closed(
    desktop: Desktop, agent: Agent, guest: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F9, E6."""
    noted: list[str] = []
    monkeypatch.setattr(desktop.notes, "note", lambda event, **facts: noted.append(event))
    request = b.BrowserRequest(browser_id=agent.browser_id)
    [door] = (await desktop.list_doors(request)).doors
    assert (door.name, door.tcp, door.connected) == ("test", False, 1)
    assert not (await desktop.close_door(DoorRequest(browser_id=agent.browser_id, door_id=door.door_id))).doors
    browser = guest.context.browser
    assert browser is not None
    await until(lambda: not browser.is_connected())
    assert noted == ["door_closed"]
