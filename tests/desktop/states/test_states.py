"""A login saved in one browser and used in another, on a real desktop."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from examples.portal import Portal
from tests.desktop.evidence.support import SECONDS, records
from tests.desktop.support import OWNER, Agent, code_of
from user_handoff.contract import browser as b
from user_handoff.contract.conditions import Element, Probe
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.contract.states import SavedState, SaveState
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.evidence.store import Evidence

HOST = "127.0.0.1"

STORE = """async () => {
  localStorage.setItem("theme", "dark")
  await new Promise((done, failed) => {
    const asked = indexedDB.open("notes", 1)
    asked.onupgradeneeded = () => asked.result.createObjectStore("all").put("note", "first")
    asked.onsuccess = () => { asked.result.close(); done() }
    asked.onerror = failed
  })
}"""

READ = """async () => [localStorage.getItem("theme"), await new Promise(done => {
  const asked = indexedDB.open("notes")
  asked.onsuccess = () => {
    const get = asked.result.transaction("all").objectStore("all").get("first")
    get.onsuccess = () => { asked.result.close(); done(get.result) }
  }
})]"""


@pytest.fixture(scope="module")
async def agent(desktop: Desktop, portal: Portal) -> AsyncIterator[Agent]:
    """An agent whose browser is signed in, with a sign-in elsewhere half done."""
    agent = await Agent.open(desktop, f"{portal.url}/login")
    context = desktop.browsers.get(agent.browser_id).context
    await context.add_cookies(
        [
            {"name": "sid", "value": portal.sign_in_cookie(), "url": portal.url},
            {"name": "pending", "value": "half", "url": portal.url},
            {"name": "stranger", "value": "x", "url": "http://stranger.example"},
        ]
    )
    await desktop.browsers.get(agent.browser_id).pages[0].page.evaluate(STORE)
    await agent.go(f"{portal.url}/invoices")
    yield agent
    await agent.close()


async def save(agent: Agent, portal: Portal, **fields: Any) -> SavedState:
    asked = {
        "browser_id": agent.browser_id,
        "effect_id": new_id("e"),
        "state_id": "portal",
        "sites": (HOST,),
        "probe": Probe(url=f"{portal.url}/account"),
        "probe_seconds": 0.5,
        **fields,
    }
    return await agent.desktop.save_state(SaveState.model_validate(asked))


async def test_a_browser_opened_with_a_saved_state_is_signed_in(agent: Agent, desktop: Desktop, portal: Portal) -> None:
    """B6: cookies, localStorage and IndexedDB of the site, and nothing of others."""
    state = await save(agent, portal)
    assert (state.probe_met, state.cookies, state.local_storage, state.indexed_db) == (True, 1, 1, 1)
    other = await Agent.open(desktop, f"{portal.url}/invoices", state="portal")
    try:
        assert urlsplit((await other.look()).page.url).path == "/invoices"
        page = desktop.browsers.get(other.browser_id).pages[0].page
        assert await page.evaluate(READ) == ["dark", "note"]
        names = {cookie.get("name") for cookie in await page.context.cookies()}
        assert names == {"sid"}
    finally:
        await other.close()


async def test_what_comes_back_is_numbers(agent: Agent, desktop: Desktop, portal: Portal) -> None:
    """B6, B7: neither a value nor a name of what is kept."""
    (cookie,) = (c for c in await desktop.browsers.get(agent.browser_id).context.cookies() if c.get("name") == "sid")
    said = (await save(agent, portal)).model_dump_json()
    for word in (str(cookie.get("value")), "sid", "theme", "dark", "notes", "stranger"):
        assert word not in said
    assert "passkeys" in said


async def test_it_says_which_marks_of_an_unfinished_sign_in_it_left_out(agent: Agent, portal: Portal) -> None:
    """B6."""
    state = await save(agent, portal)
    assert ("pre_authentication", "pending", 1) in {(n.what, n.where, n.count) for n in state.not_kept}


async def test_a_login_in_the_storage_of_a_tab_is_said_to_be_lost_and_fails_its_probe(
    desktop: Desktop, portal: Portal
) -> None:
    """K44: the application keeps its token in sessionStorage."""
    agent = await Agent.open(desktop, f"{portal.url}/app")
    page = desktop.browsers.get(agent.browser_id).pages[0].page
    await page.get_by_label("Password").fill(portal.password)
    await page.get_by_role("button").click()
    await page.get_by_role("heading", name="Inside").wait_for()
    state = await save(agent, portal, state_id="app", probe=Element(role="heading", name="Inside"))
    assert ("session_storage", portal.url, 1) in {(n.what, n.where, n.count) for n in state.not_kept}
    await agent.close()
    assert await code_of(Agent.open(desktop, f"{portal.url}/app", state="app")) is ErrorCode.STATE_STALE


async def test_a_state_whose_login_is_over_is_refused_and_no_browser_stays(
    agent: Agent, desktop: Desktop, portal: Portal
) -> None:
    """B6: probed again before it is relied on."""
    await save(agent, portal, state_id="ended", probe=Probe(url=f"{portal.url}/nowhere"))
    before = desktop.browsers.ids
    assert await code_of(Agent.open(desktop, portal.url, state="ended")) is ErrorCode.STATE_STALE
    assert desktop.browsers.ids == before


async def test_a_state_that_is_not_there_starts_nothing(desktop: Desktop) -> None:
    browser_id = new_id("b")
    spec = b.OpenBrowser(browser_id=browser_id, session_id="s_test", owner=OWNER, state="never")
    assert await code_of(desktop.open_browser(spec)) is ErrorCode.UNKNOWN_STATE
    assert not (desktop.browsers.folder / browser_id).exists()


async def test_while_a_person_has_the_browser_its_state_is_not_saved(
    agent: Agent, portal: Portal, desktop: Desktop
) -> None:
    """A9, E6: and each try is in the evidence."""
    receipt = await agent.begin()
    assert await code_of(save(agent, portal)) is ErrorCode.BROWSER_HELD
    await agent.finish(receipt)
    await agent.look()
    assert (await save(agent, portal)).probe_met
    assert isinstance(desktop.notes, Evidence)
    assert desktop.notes.wait_written(SECONDS)
    found = [each for each in records(desktop.notes.writer.folder) if each["facts"].get("action") == "SaveState"]
    assert [(each["event"], each["facts"].get("code")) for each in found[-3:]] == [
        ("effect_refused", "browser_held"),
        ("effect_admitted", None),
        ("effect_completed", None),
    ]


async def test_the_same_browser_asked_for_twice_at_once_is_opened_once(
    agent: Agent, desktop: Desktop, portal: Portal
) -> None:
    """A17."""
    await save(agent, portal)
    spec = b.OpenBrowser(
        browser_id=new_id("b"), session_id="s_test", owner=OWNER, url=f"{portal.url}/invoices", state="portal"
    )
    first, second = await asyncio.gather(desktop.open_browser(spec), desktop.open_browser(spec))
    assert first.pid == second.pid
    await desktop.close_browser(b.BrowserRequest(browser_id=spec.browser_id))


async def test_a_browser_whose_runner_died_before_its_login_was_proved_gets_it_when_asked_again(
    agent: Agent, desktop: Desktop, portal: Portal
) -> None:
    """A17: asked again, it is not given out without its state."""
    await save(agent, portal)
    spec = b.OpenBrowser(
        browser_id=new_id("b"), session_id="s_test", owner=OWNER, url=f"{portal.url}/invoices", state="portal"
    )
    await desktop.browsers.open(spec)  # and here the runner was killed
    info = await desktop.open_browser(spec)
    assert urlsplit(info.pages[0].url).path == "/invoices"
    await desktop.close_browser(b.BrowserRequest(browser_id=spec.browser_id))
