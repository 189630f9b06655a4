"""A person's link in a tab that they have not looked at yet, in a real browser on a real display."""

import pytest

from tests.desktop.policy.pages import Pages
from tests.e2e.stack import OWNER, Stack
from tests.e2e.test_hotkey import person, to_front
from tests.waiting import until
from user_handoff.contract.browser import BrowserInfo, BrowserRequest, OpenBrowser
from user_handoff.contract.entering import LinkView
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.gateway import texts
from user_handoff.gateway.links import issue_link, look_up

CHAT = "<a href=/go style='position:fixed;inset:0'>Your link</a>"


async def test_a_link_that_was_opened_in_the_background_is_spent_once_its_tab_is_looked_at(stack: Stack) -> None:
    """C5, K47: by a click with Ctrl in a chat; the tab has loaded, and Chromium itself says that it is hidden."""
    async with Pages().serving() as pages:
        spec = OpenBrowser(browser_id=new_id("b"), session_id="s_test", owner=OWNER, url=pages.put(CHAT))
        chat = await stack.ask(Activities.OPEN_BROWSER, spec, BrowserInfo)
        request, _ = await stack.begin()
        link = await issue_link(stack.handoffs, str(stack.server.facts()["gateway_url"]), request.handoff_id)
        pages.put("", "/go", status=302, headers=(f"Location: {link}",))

        async def standing() -> LinkView:
            return (await look_up(stack.handoffs, link.rpartition("/")[2])).link

        async def tabs() -> list[str]:
            asked = BrowserRequest(browser_id=chat.browser_id)
            return [page.title for page in (await stack.ask(Activities.BROWSER_INFO, asked, BrowserInfo)).pages]

        async def attached() -> bool:
            return (await standing()).attached_at is not None

        await to_front(stack, chat)
        await person(stack, "mousemove", "500", "450", "keydown", "ctrl", "click", "1", "keyup", "ctrl")
        await until(tabs, wanted=lambda titles: any(texts.ENTRY[0] in title for title in titles))
        with pytest.raises(TimeoutError):
            await until(attached, 2)
        await person(stack, "key", "ctrl+Tab")
        await until(standing, wanted=lambda now: now.spent)
        for browser_id in (chat.browser_id, request.browser_id):
            await stack.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=browser_id), type(None))
