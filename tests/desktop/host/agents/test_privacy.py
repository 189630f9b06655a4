"""Nothing that a person types in a hold reaches an agent: not by a command, not by an event, not afterwards."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Page, Playwright

from tests.desktop.host.agents.conftest import Door, MakeRaw, page_of, playwright_agent
from tests.desktop.host.conftest import Desk
from tests.desktop.host.raw import RawClient
from tests.waiting import until

SECRET = "canary7secret"

# Everything by which a page can give away what is typed in it.
LEAKY = """<title>Login</title><form method=post action=/done><input id=name name=name autofocus></form>
<script>
  const name = document.querySelector("#name");
  let busy = 0;
  name.oninput = () => {
    const text = name.value;
    console.log(text); console.error(text);
    document.title = text;
    history.replaceState(0, "", "/path-" + text + "?q=" + text + "#" + text);
    window.name = text;
    name.setAttribute("data-typed", text);
    const note = document.createElement("p"); note.textContent = text; document.body.append(note);
    busy++;
    fetch("/beacon?" + text, {method: "POST", body: text, headers: {"x-typed": text}}).finally(() => busy--);
    localStorage.setItem("typed", text);
    document.cookie = "typed=" + text;
    if (window.tell) tell(text);
    new Worker(URL.createObjectURL(new Blob(["postMessage('" + text + "')"])), {name: text});
    const frame = document.createElement("iframe"); frame.src = "/frame?" + text; frame.name = text;
    document.body.append(frame);
    setTimeout(() => { throw new Error(text); });
  };
</script>"""

DOMAINS = ("Page", "Runtime", "Network", "DOM", "Log", "CSS", "Accessibility", "Performance", "DOMStorage", "Console")


@contextlib.asynccontextmanager
async def listening(raw: MakeRaw) -> AsyncIterator[tuple[RawClient, str]]:
    """A client that subscribes to everything there is."""
    async with raw() as client:
        session = await client.attach(await page_of(client))
        for domain in DOMAINS:
            await client.call(f"{domain}.enable", session)
        await client.call("Page.setLifecycleEventsEnabled", session, enabled=True)
        await client.call("Runtime.addBinding", session, name="tell")
        await client.call("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
        await client.call("Page.startScreencast", session, format="jpeg")
        await client.call("Target.setDiscoverTargets", discover=True)
        attach: dict[str, Any] = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        await client.call("Target.setAutoAttach", **attach)
        await client.call("Target.setAutoAttach", session, **attach)
        await client.call("Browser.setDownloadBehavior", behavior="allow", downloadPath="/tmp", eventsEnabled=True)
        yield client, session
        for undo in ("Page.stopScreencast", "Fetch.disable"):
            await client.call(undo, session)


async def _typed(desk: Desk) -> None:
    """The person types into the field, and submits the form."""
    desk.display.person("type", "--delay", "5", SECRET)
    await until(lambda: _shows(desk.page, "document.title", SECRET))
    desk.display.person("key", "Return")
    await until(lambda: _shows(desk.page, "location.pathname", "/done"))


async def _shows(page: Page, expression: str, value: str) -> bool:
    with contextlib.suppress(Exception):
        return bool(await page.evaluate(expression) == value)
    return False


@pytest.fixture
async def leaky(held: Desk, raw: MakeRaw) -> AsyncIterator[tuple[Desk, RawClient, str]]:
    page = await held.show(LEAKY)
    async with listening(raw) as (client, session):
        await page.click("#name")
        await held.control.hold("h", 2)
        client.events.clear()
        yield held, client, session


async def test_no_event_of_a_hold_has_what_a_person_types(leaky: tuple[Desk, RawClient, str]) -> None:
    """F9, B7: titles, addresses, the console, requests, bindings, workers, frames and pictures."""
    desk, client, _ = leaky
    await _typed(desk)
    assert SECRET not in json.dumps(client.events)
    assert {"Page.frameNavigated", "Page.lifecycleEvent"} <= {event["method"] for event in client.events}


async def test_no_command_of_a_hold_tells_what_a_person_types(leaky: tuple[Desk, RawClient, str]) -> None:
    """F9, B7: whatever an agent may still ask for."""
    desk, client, session = leaky
    desk.display.person("type", "--delay", "5", SECRET)
    await until(lambda: _shows(desk.page, "document.title", SECRET))
    answers: list[Any] = [
        await client.call("Target.getTargets"),
        await client.call("Target.getTargetInfo", session),
        *[await client.call(f"Page.get{what}", session) for what in ("FrameTree", "NavigationHistory", "ResourceTree")],
        await client.call("Page.getLayoutMetrics", session),
        refused := await client.call("Runtime.evaluate", session, expression="document.title"),
        await client.call("Page.captureScreenshot", session),
        await client.call("DOM.getDocument", session, depth=-1),
        await client.call("Network.getCookies", session),
        await client.call("Unknown.method", session),
        await client.attach(await page_of(client)),
    ]
    assert SECRET not in json.dumps(answers)
    assert "exceptionDetails" in refused["result"]


async def test_what_was_recorded_in_a_hold_is_not_there_after_it(leaky: tuple[Desk, RawClient, str]) -> None:
    """F9, B7: the browser keeps request bodies and the console for who asks later; the agent's own reads come after."""
    desk, client, session = leaky
    await _typed(desk)
    navigated = [event["params"]["frame"] for event in client.named("Page.frameNavigated")]
    loaders = [frame["loaderId"] for frame in navigated]
    assert loaders
    await desk.page.evaluate("history.replaceState(0, '', '/clean')")
    await desk.control.release("h")
    answers = [await client.call("Network.getRequestPostData", session, requestId=loader) for loader in loaders]
    assert all("error" in answer for answer in answers), answers


async def test_the_console_of_a_hold_is_not_told_after_it(leaky: tuple[Desk, RawClient, str]) -> None:
    """B7: Chromium keeps it, and would tell it to whoever listens next."""
    desk, client, session = leaky
    desk.display.person("type", "--delay", "5", SECRET)
    await until(lambda: _shows(desk.page, "busy || document.title", SECRET))  # what ends later is told later
    await desk.control.release("h")
    for domain in ("Runtime", "Log", "Console"):
        await client.call(f"{domain}.disable", session)
        await client.call(f"{domain}.enable", session)
    await client.call("Page.getFrameTree", session)
    told = [event for event in client.events if event["method"].partition(".")[0] in ("Runtime", "Log", "Console")]
    assert SECRET not in json.dumps([event for event in told if "executionContext" not in event["method"]])


async def test_a_popup_of_a_hold_runs_at_once_and_is_shown_to_agents_at_the_release(
    held: Desk, raw: MakeRaw, playwright: Playwright, door: Door
) -> None:
    """F9: what only waits for an agent would stay empty for the person."""
    page = await held.show("<a href=/popup target=_blank>open</a>")
    async with listening(raw) as (client, _), playwright_agent(playwright, door) as browser:
        await held.control.hold("h", 2)
        client.events.clear()
        async with held.context.expect_page() as opened:
            await held.person_clicks(page, "a")
        popup = await opened.value
        await popup.wait_for_load_state()
        seen = await client.call("Target.getTargets")
        assert len(browser.contexts[0].pages) == len([i for i in seen["result"]["targetInfos"] if i["type"] == "page"])
        assert not client.named("Target.attachedToTarget")
        assert not client.named("Target.targetCreated")
        await held.control.release("h")
        await until(lambda: any(each.url.endswith("/popup") for each in browser.contexts[0].pages))
        shown = next(each for each in browser.contexts[0].pages if each.url.endswith("/popup"))
        assert await asyncio.wait_for(shown.title(), 30) == "/popup"
        assert client.named("Target.attachedToTarget")
    await popup.close()


async def test_an_agent_knows_where_its_pages_are_after_the_release(held: Desk, agent: Page) -> None:
    """Its framework keeps addresses by events; in the hold they were cut to their origin."""
    await held.show("<a href=/elsewhere?q=1#there>go</a>")
    await agent.wait_for_url("**/p*")
    await held.control.hold("h", 2)
    await held.person_clicks(held.page, "a")
    await until(lambda: held.page.url.endswith("/elsewhere?q=1#there"))
    await until(lambda: agent.url == f"{held.site.url}/")
    await held.control.release("h")
    await until(lambda: agent.url.endswith("/elsewhere?q=1#there"))
