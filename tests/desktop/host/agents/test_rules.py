"""What agents' commands have to pass beside the hold, and what becomes of what they had begun."""

import asyncio
import contextlib
from pathlib import Path

import pytest
from playwright.async_api import Error, Page, Playwright
from websockets.exceptions import ConnectionClosed

from tests.desktop.host.agents.conftest import Door, MakeRaw, open_door, page_of, playwright_agent
from tests.desktop.host.conftest import Desk, MakeSpec
from tests.desktop.host.raw import RawClient, raw_client
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.host.control import HostControl
from user_handoff.desktop.host.launch import launch_host
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger

COUNTING = """<title>Count</title><button style="position:fixed;inset:0;width:100%;height:100%">Go</button><script>
hits = 0; log = [];
for (const kind of ['mousedown', 'mouseup', 'click', 'keydown', 'keyup'])
  addEventListener(kind, event => { hits++; log.push(`${kind} ${event.target.localName}`); }, true);
</script>"""


@pytest.mark.parametrize(
    "method",
    [
        "Target.createBrowserContext",
        "Target.exposeDevToolsProtocol",
        "Browser.getBrowserCommandLine",
        "SystemInfo.getProcessInfo",
        "SystemInfo.getInfo",
        "Tracing.start",
        "Network.loadNetworkResource",
        "Tethering.bind",
        "Extensions.loadUnpacked",
        "DeviceAccess.enable",
    ],
)
async def test_some_things_are_never_for_agents(desk: Desk, raw: MakeRaw, method: str) -> None:
    """F9: what leaves the browser, tunnels around the gate, or records for later."""
    async with raw() as client:
        assert (await client.call(method))["error"]["code"] == -32601


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "javascript:1", "data:text/html,x"])
async def test_an_agent_opens_only_web_pages(desk: Desk, raw: MakeRaw, url: str) -> None:
    """K05: a token could be read through a file."""
    async with raw() as client:
        session = await client.attach(await page_of(client))
        for answer in (
            await client.call("Page.navigate", session, url=url),
            await client.call("Target.createTarget", url=url),
            await client.call("Fetch.continueRequest", session, requestId="x", url=url),
        ):
            assert answer["error"]["data"]["code"] == "url_refused"


async def test_a_page_is_given_files_of_one_folder_alone(held: Desk, raw: MakeRaw, door: Door, tmp_path: Path) -> None:
    """F9: else a page could be given any file of this user."""
    await held.show("<input type=file id=file>")
    inside, outside, link = door.uploads / "in.txt", tmp_path / "out.txt", door.uploads / "link.txt"
    inside.write_text("in")
    outside.write_text("out")
    link.symlink_to(outside)
    async with raw() as client:
        session = await client.attach(await page_of(client))
        document = await client.call("DOM.getDocument", session)
        root = document["result"]["root"]["nodeId"]
        node = (await client.call("DOM.querySelector", session, nodeId=root, selector="#file"))["result"]["nodeId"]
        for path in (str(outside), str(link), f"{door.uploads}/../host.json", "/etc/passwd"):
            refused = await client.call("DOM.setFileInputFiles", session, nodeId=node, files=[path])
            assert refused["error"]["data"]["code"] == "forbidden"
        dropped = {"items": [], "files": [str(outside)], "dragOperationsMask": 1}
        drag = await client.call("Input.dispatchDragEvent", session, type="drop", x=1, y=1, data=dropped)
        assert drag["error"]["data"]["code"] == "forbidden"
        assert "result" in await client.call("DOM.setFileInputFiles", session, nodeId=node, files=[str(inside)])
    assert await held.page.evaluate("document.querySelector('#file').files[0].name") == "in.txt"


async def test_what_an_agent_had_pressed_is_let_go_when_it_is_gone(held: Desk, raw: MakeRaw) -> None:
    """F9: a client that is killed in the middle of a click."""
    await held.show(COUNTING)
    async with raw() as client:
        session = await client.attach(await page_of(client))
        pressed = {"type": "mousePressed", "x": 50, "y": 50, "button": "left", "clickCount": 1}
        await client.call("Input.dispatchMouseEvent", session, **pressed)
        client.connection.transport.abort()
    await until(lambda: _is(held.page, "log.some(each => each.startsWith('mouseup'))"))
    assert "click button" not in await held.page.evaluate("log")


async def test_nothing_of_an_agent_stands_between_a_person_and_the_page(held: Desk, raw: MakeRaw) -> None:
    """F9: whatever it has armed is off in the hold, and on again after it."""
    page = await held.show(COUNTING)
    async with raw() as client:
        session = await client.attach(await page_of(client))
        await client.call("Input.setIgnoreInputEvents", session, ignore=True)
        await client.call("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
        await held.control.hold("h", 2)
        await held.person_clicks(page, "button")
        await until(lambda: _is(page, "log.includes('click button')"))
        assert await page.evaluate("fetch('/x').then(answer => answer.status)") == 200
        await held.control.release("h")
        await page.evaluate("log = []; fetch('/y').catch(() => 0); 1")
        await until(lambda: bool(client.named("Fetch.requestPaused")))
        await client.call("Input.setIgnoreInputEvents", session, ignore=False)
        await client.call("Fetch.disable", session)


async def test_a_hold_waits_for_an_agents_effect_and_cuts_it_off_only_where_that_is_asked_for(
    held: Desk, raw: MakeRaw
) -> None:
    """F9, A11: also code of an agent that does not end."""
    await held.show(COUNTING)
    async with raw() as client:
        session = await client.attach(await page_of(client))
        forever = {"expression": "new Promise(() => 0)", "awaitPromise": True}
        waiting = asyncio.create_task(client.call("Runtime.evaluate", session, **forever))
        await until(lambda: _in_flight(held))
        with pytest.raises(HandoffError) as refused:
            await held.control.hold("h", 0.1)
        assert refused.value.code is ErrorCode.DRAIN_TIMEOUT
        assert not waiting.done()
        await held.control.hold("h", 0.1, preempt=True)
        cut = (await waiting)["error"]
        assert (cut["data"]["code"], cut["data"]["outcome"]) == ("outcome_unknown", "outcome_unknown")
        await held.control.release("h")
        assert "result" in await client.call("Runtime.evaluate", session, expression="1")


async def test_no_effect_of_three_agents_in_tight_loops_happens_in_a_hold(
    held: Desk, raw: MakeRaw, playwright: Playwright, door: Door
) -> None:
    """F9, K01, K07: by twenty holds; `./run chaos --only agents` makes a thousand of them."""
    page = await held.show(COUNTING)
    stop = asyncio.Event()
    async with raw() as one, raw() as other, playwright_agent(playwright, door) as browser:
        target = await page_of(one)
        loops = [
            asyncio.create_task(_clicks(one, await one.attach(target), stop)),
            asyncio.create_task(_evaluates(other, await other.attach(target), stop)),
            asyncio.create_task(_presses(browser.contexts[0].pages[0], stop)),
        ]
        refused = (await held.control.status()).refused
        try:
            for _ in range(20):
                await until(lambda: _is(page, "hits > 0"))
                await held.control.hold("h", 5)
                at_once = await page.evaluate("hits")
                await page.evaluate("new Promise(done => setTimeout(done, 20))")
                assert await page.evaluate("hits") == at_once
                await page.evaluate("hits = 0")
                await held.control.release("h")
        finally:
            stop.set()
            await asyncio.gather(*loops)
    assert (await held.control.status()).refused > refused


async def test_downloads_of_a_person_are_not_told_to_agents(held: Desk, raw: MakeRaw) -> None:
    """F9."""
    page = await held.show("<a href=/file>get</a>")
    async with raw() as client:
        await client.call(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(held.spec.artifacts), eventsEnabled=True
        )
        async with page.expect_download() as mine:
            await page.click("a")
        await (await mine.value).path()
        await until(lambda: _completed(client))
        client.events.clear()
        await held.control.hold("h", 2)
        async with page.expect_download() as theirs:
            await held.person_clicks(page, "a")
        await (await theirs.value).path()
        await held.control.release("h")
        await client.call("Browser.getVersion")
        assert not client.named("Browser.downloadWillBegin")
        assert not client.named("Browser.downloadProgress")
    for path in (*held.spec.downloads.iterdir(), *held.spec.artifacts.iterdir()):
        path.unlink()  # the next test has a browser that never downloaded anything


async def test_no_window_is_raised_while_a_person_has_another_browser_of_the_desktop(
    make_spec: MakeSpec, tmp_path: Path
) -> None:
    """E7, B9: the desktop's ledger says so, and where it cannot be read nothing is raised."""
    ledger = Ledger(tmp_path / "ledger" / "ledger.db")
    ledger.epoch()
    spec = make_spec(tmp_path / "b_desk", ledger=ledger.path)
    record = await launch_host(spec)
    control = await HostControl.connect(record.socket)
    door = await open_door(control, tcp=False)
    async with raw_client(door.socket, door.path) as client:
        session = await client.attach(await page_of(client))
        assert "result" in await client.call("Page.bringToFront", session)
        assert not ledger.permits()
        ledger.publish("t/h", "b_other", "handoff", ProcessIdentity.current(), "h")
        for answer in (
            await client.call("Page.bringToFront", session),
            await client.call("Target.createTarget", url="about:blank"),
            await client.call("Target.activateTarget", targetId=await page_of(client)),
            await client.call("Browser.setWindowBounds", windowId=1, bounds={"windowState": "normal"}),
        ):
            assert answer["error"]["data"]["code"] == "desktop_held"
        assert "result" in await client.call("Runtime.evaluate", session, expression="1")
        ledger.withdraw("t/h")
        assert "result" in await client.call("Page.bringToFront", session)
        ledger.path.unlink()
        answer = await client.call("Page.bringToFront", session)
        assert answer["error"]["data"]["code"] == "reservation_closed"
    ledger.close()
    await control.close_browser()
    await control.aclose()


async def _clicks(client: RawClient, session: str, stop: asyncio.Event) -> None:
    at = {"x": 60, "y": 60, "button": "left", "clickCount": 1}
    while not stop.is_set():
        await client.call("Input.dispatchMouseEvent", session, type="mousePressed", **at)
        await client.call("Input.dispatchMouseEvent", session, type="mouseReleased", **at)


async def _evaluates(client: RawClient, session: str, stop: asyncio.Event) -> None:
    with contextlib.suppress(ConnectionClosed):
        while not stop.is_set():
            await client.call("Runtime.evaluate", session, expression="hits++")


async def _presses(page: Page, stop: asyncio.Event) -> None:
    while not stop.is_set():
        with contextlib.suppress(Error):
            await page.keyboard.press("a")


async def _is(page: Page, expression: str) -> bool:
    return bool(await page.evaluate(expression))


async def _in_flight(desk: Desk) -> bool:
    return (await desk.control.status()).in_flight > 0


def _completed(client: RawClient) -> bool:
    return any(event["params"].get("state") == "completed" for event in client.named("Browser.downloadProgress"))
