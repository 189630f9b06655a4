"""What a hold refuses and what it lets through, on a real Chromium driven by a real Playwright."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from playwright.async_api import Error, Page, Route

from tests.desktop.host.conftest import Desk
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError

FORM = """<title>Form</title><button onclick="this.textContent = 'hit'">Go</button><input id=name value=kept>
<input id=file type=file><script>document.cookie = 'seen=1'</script>"""

Does = Callable[[Desk, Page], Coroutine[Any, Any, object]]


OBSERVATIONS: dict[str, Does] = {
    "snapshot": lambda desk, page: page.aria_snapshot(mode="ai"),
    "screenshot": lambda desk, page: page.screenshot(full_page=True, style="input { color: transparent }"),
    "transparent screenshot": lambda desk, page: page.screenshot(omit_background=True),
    "evaluate": lambda desk, page: page.evaluate("1 + 1"),
    "title": lambda desk, page: page.title(),
    "content": lambda desk, page: page.content(),
    "visible": lambda desk, page: page.locator("button").is_visible(),
    "wait": lambda desk, page: page.locator("button").wait_for(),
    "box": lambda desk, page: page.locator("button").bounding_box(),
    "cookies": lambda desk, page: desk.context.cookies(),
    "request": lambda desk, page: desk.context.request.get(f"{desk.site.url}/probe"),
    "storage state": lambda desk, page: desk.context.storage_state(),
    "CDP session": lambda desk, page: desk.context.new_cdp_session(page),
    "browser session": lambda desk, page: desk.browser.new_browser_cdp_session(),
}

EFFECTS: dict[str, Does] = {
    "mouse": lambda desk, page: page.mouse.click(5, 5),
    "keyboard": lambda desk, page: page.keyboard.type("a"),
    "goto": lambda desk, page: page.goto(f"{desk.site.url}/elsewhere"),
    "reload": lambda desk, page: page.reload(),
    "bring to front": lambda desk, page: page.bring_to_front(),
    "new page": lambda desk, page: desk.context.new_page(),
    "set cookies": lambda desk, page: desk.context.add_cookies([{"name": "a", "value": "b", "url": desk.site.url}]),
    "clear cookies": lambda desk, page: desk.context.clear_cookies(),
    "script": lambda desk, page: page.add_init_script("1"),
    "permission": lambda desk, page: desk.context.grant_permissions(["geolocation"]),
}

POLLED: dict[str, Does] = {
    "click": lambda desk, page: page.click("button", timeout=300),
    "fill": lambda desk, page: page.fill("#name", "changed", timeout=300),
    "press": lambda desk, page: page.press("#name", "a", timeout=300),
    "files": lambda desk, page: page.set_input_files("#file", __file__, timeout=300),
}


@pytest.mark.parametrize("name", OBSERVATIONS)
async def test_observing_works_while_held(held: Desk, name: str) -> None:
    """A9, K01."""
    page = await held.show(FORM)
    await held.control.hold("h", 2)
    assert await OBSERVATIONS[name](held, page) is not None or name == "wait"


@pytest.mark.parametrize("name", EFFECTS)
async def test_effects_are_refused_at_once_while_held(held: Desk, name: str) -> None:
    """A9, K01."""
    page = await held.show(FORM)
    await held.control.hold("h", 2)
    with pytest.raises(Error, match="browser_held"):
        await asyncio.wait_for(EFFECTS[name](held, page), 10)


@pytest.mark.parametrize("name", POLLED)
async def test_actions_on_locators_never_happen_while_held(held: Desk, name: str) -> None:
    """A9, K01. Playwright tries again until its own time-out, since it takes the refusal for a passing state."""
    page = await held.show(FORM)
    await held.control.hold("h", 2)
    with pytest.raises(Error, match="Timeout 300ms"):
        await POLLED[name](held, page)
    state = "[document.querySelector('button').textContent, document.querySelector('#name').value,"
    assert await page.evaluate(state + "document.querySelector('#file').files.length]") == ["Go", "kept", 0]


async def test_closing_a_page_is_refused_while_held(held: Desk) -> None:
    """A9. Playwright swallows the refusal and waits for a page that does not close, so the runner never lets it try."""
    page = await held.context.new_page()
    session = await held.context.new_cdp_session(page)
    before = (await held.control.status()).refused
    await held.control.hold("h", 2)
    closing = asyncio.create_task(page.close())
    await until(lambda: _refused(held, before))
    with pytest.raises(Error, match="browser_held"):
        await session.send("Page.close")
    assert await page.evaluate("1") == 1
    await held.control.release("h")
    await session.send("Page.close")
    await closing


async def test_an_unknown_method_is_refused_while_held(held: Desk) -> None:
    session = await held.context.new_cdp_session(await held.show(FORM))
    await held.control.hold("h", 2)
    with pytest.raises(Error, match="browser_held"):
        await session.send("Fancy.newThing")


async def test_effects_work_again_after_the_release_without_reconnecting(held: Desk) -> None:
    """F9."""
    page = await held.show(FORM)
    await held.control.hold("h", 2)
    with pytest.raises(Error, match="browser_held"):
        await page.mouse.click(5, 5)
    await held.control.release("h")
    await page.click("button")
    assert await page.inner_text("button") == "hit"


async def test_a_hold_waits_for_the_effect_in_flight(held: Desk) -> None:
    """A11, K11."""
    held.site.gate.clear()
    going = asyncio.create_task(held.page.goto(f"{held.site.url}/slow"))
    await until(lambda: _in_flight(held))
    holding = asyncio.create_task(held.control.hold("h", 5))
    await until(lambda: _held(held))
    assert not holding.done()
    held.site.gate.set()
    await holding
    await going
    assert held.page.url.endswith("/slow")


async def test_an_effect_in_flight_gets_the_answers_that_it_needs_to_end(held: Desk) -> None:
    """Else a hold would wait in vain for a request that the agent has intercepted."""
    asked, answer = asyncio.Event(), asyncio.Event()

    async def handle(route: Route) -> None:
        asked.set()
        await answer.wait()
        await route.continue_()

    await held.page.route("**/routed", handle)
    going = asyncio.create_task(held.page.goto(f"{held.site.url}/routed"))
    await asked.wait()
    holding = asyncio.create_task(held.control.hold("h", 5))
    await until(lambda: _held(held))
    answer.set()
    await holding
    await going
    await held.page.unroute("**/routed")


async def test_a_hold_fails_and_leaves_nothing_when_an_effect_does_not_end(held: Desk) -> None:
    """A11."""
    held.site.gate.clear()
    going = asyncio.create_task(held.page.goto(f"{held.site.url}/slow"))
    await until(lambda: _in_flight(held))
    with pytest.raises(HandoffError) as refused:
        await held.control.hold("h", 0.05)
    assert refused.value.code is ErrorCode.DRAIN_TIMEOUT
    assert (await held.control.status()).hold_id is None
    held.site.gate.set()
    await going
    await held.page.mouse.click(1, 1)


async def test_the_same_hold_again_changes_nothing_and_another_is_refused(held: Desk) -> None:
    """A7, K13."""
    await held.control.hold("h", 2)
    await held.control.hold("h", 2)
    with pytest.raises(HandoffError) as refused:
        await held.control.hold("other", 2)
    assert refused.value.code is ErrorCode.HANDOFF_ACTIVE
    assert (await held.control.status()).hold_id == "h"


async def test_only_its_own_id_releases_a_hold(held: Desk) -> None:
    """K09, K25."""
    await held.control.hold("h", 2)
    with pytest.raises(HandoffError) as refused:
        await held.control.release("other")
    assert refused.value.code is ErrorCode.FENCE_MISMATCH
    assert (await held.control.status()).hold_id == "h"
    await held.control.release("h")
    await held.control.release("h")
    assert (await held.control.status()).hold_id is None


async def test_a_pressed_button_and_key_are_let_go_at_the_hold_and_nothing_is_clicked(held: Desk) -> None:
    page = await held.show(
        """<button onclick="seen.push('clicked')">Pay</button><script>
        seen = [];
        for (const kind of ['mouseup', 'keyup']) addEventListener(kind, event => seen.push(kind), true);
        </script>"""
    )
    await page.hover("button")
    await page.mouse.down()
    await page.keyboard.down("Shift")
    await held.control.hold("h", 2)
    await until(lambda: _equals(page, "seen.includes('keyup')"))
    assert await page.evaluate("seen") == ["mouseup", "keyup"]
    await held.control.release("h")
    await page.keyboard.up("Shift")
    await page.mouse.up()


async def test_settings_are_off_while_held_and_on_again_afterwards(held: Desk) -> None:
    """Emulation and interception of the agent do not stand between the person and the page."""
    page = await held.show(FORM)
    await page.emulate_media(color_scheme="dark")
    await page.route("**/routed", lambda route: route.fulfill(body="by the agent"))
    dark = "matchMedia('(prefers-color-scheme: dark)').matches"
    fetched = "fetch('/routed').then(answer => answer.text())"
    assert await page.evaluate(dark)
    await held.control.hold("h", 2)
    assert not await page.evaluate(dark)
    assert "by the agent" not in await page.evaluate(fetched)
    await held.control.release("h")
    assert await page.evaluate(dark)
    assert await page.evaluate(fetched) == "by the agent"
    await page.unroute("**/routed")
    await page.emulate_media(color_scheme="null")


async def test_a_setting_made_while_held_takes_effect_at_the_release(held: Desk) -> None:
    page = await held.show(FORM)
    await held.control.hold("h", 2)
    await page.set_viewport_size({"width": 333, "height": 222})
    assert await page.evaluate("innerWidth") != 333
    await held.control.release("h")
    assert await page.evaluate("innerWidth") == 333
    session = await held.context.new_cdp_session(page)
    await session.send("Emulation.clearDeviceMetricsOverride")


async def test_the_gate_answers_while_held_within_milliseconds(held: Desk) -> None:
    """F9."""
    session = await held.context.new_cdp_session(await held.show(FORM))
    await held.control.hold("h", 2)
    before = (await held.control.status()).refused
    loop = asyncio.get_running_loop()
    started = loop.time()
    for _ in range(50):
        with pytest.raises(Error, match="browser_held"):
            await session.send("Input.insertText", {"text": "x"})
    assert (loop.time() - started) / 50 < 0.05
    assert (await held.control.status()).refused == before + 50


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "chrome://version", "data:text/html,x", "javascript:1", "blob:x"]
)
async def test_only_web_pages_are_opened(desk: Desk, url: str) -> None:
    with pytest.raises(Error, match="url_refused"):
        await desk.page.goto(url)
    session = await desk.browser.new_browser_cdp_session()
    with pytest.raises(Error, match="url_refused"):
        await session.send("Target.createTarget", {"url": url})


async def test_what_tunnels_around_the_gate_is_never_available(desk: Desk) -> None:
    session = await desk.browser.new_browser_cdp_session()
    with pytest.raises(Error, match="not available"):
        await session.send("Target.exposeDevToolsProtocol", {"targetId": "x"})
    with pytest.raises(Error, match="not available"):
        await session.send("Target.attachToTarget", {"targetId": "x"})


async def _refused(desk: Desk, before: int) -> bool:
    return (await desk.control.status()).refused > before


async def _held(desk: Desk) -> bool:
    return (await desk.control.status()).hold_id is not None


async def _in_flight(desk: Desk) -> bool:
    return (await desk.control.status()).in_flight > 0


async def _equals(page: Page, expression: str) -> bool:
    return bool(await page.evaluate(expression))
