"""A real desktop: a private X display, and a portal to browse."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page

from examples.portal import Portal
from tests.desktop.hands import Hands, editor_page
from tests.desktop.policy.pages import Pages
from tests.desktop.support import Agent
from user_handoff.desktop.browser.waking import Waking
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.start import DesktopSettings, running_desktop


@pytest.fixture(scope="session")
async def desktop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desktop]:
    settings = DesktopSettings(folder=tmp_path_factory.mktemp("desktop"), virtual=True, sandbox=False)
    async with running_desktop(settings) as desktop:
        yield desktop


@pytest.fixture(scope="session")
async def portal() -> AsyncIterator[Portal]:
    async with Portal.start() as portal:
        yield portal


@pytest.fixture(scope="session")
async def pages() -> AsyncIterator[Pages]:
    async with Pages().serving() as pages:
        yield pages


@pytest.fixture(scope="session")
async def spare() -> list[Agent]:
    """Agents whose browsers are as good as new: a new one takes longer than most tests."""
    return []


@pytest.fixture
async def agent(desktop: Desktop, portal: Portal, spare: list[Agent]) -> AsyncIterator[Agent]:
    """An agent that stands before the portal's sign-in page."""
    address = f"{portal.url}/invoices"
    if spare:
        agent = spare.pop()
        await agent.go(address)
    else:
        agent = await Agent.open(desktop, address)
    yield agent
    if await agent.is_as_new():
        spare.append(agent)
    else:
        await agent.close()


@pytest.fixture
def looked_in_vain(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set once a condition was looked for and not seen, and the browser is to tell of a change."""
    event, wait = asyncio.Event(), Waking.wait

    async def waits(self: Waking, seconds: float) -> None:
        event.set()
        await wait(self, seconds)

    monkeypatch.setattr(Waking, "wait", waits)
    return event


@pytest.fixture
async def hands(desktop: Desktop) -> Hands:
    return Hands(desktop)


@pytest.fixture(scope="module")
async def editor(desktop: Desktop) -> AsyncIterator[Agent]:
    """A browser whose page notes what native input does to it."""
    agent = await Agent.open(desktop)
    yield agent
    await agent.close()


@pytest.fixture
async def page(editor: Agent, hands: Hands) -> Page:
    """Its page, fresh, with the keyboard in its text field."""
    return await editor_page(editor, hands)
