"""Ways by which an agent could get around the gate: each is closed."""

import asyncio
import functools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.asyncio.client import unix_connect
from websockets.exceptions import WebSocketException

from tests.desktop.host.agents.conftest import MakeRaw, open_door, page_of
from tests.desktop.host.conftest import Desk
from tests.desktop.host.raw import RawClient
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.host.agent_server import MAX_AGENTS
from user_handoff.desktop.host.downloads import _may_be_given_files
from user_handoff.desktop.host.policy import Kind, Role, classify
from user_handoff.desktop.host.uploads import Uploads

BUTTON = "<title>B</title><button style='position:fixed;inset:0' onclick='hits = (window.hits || 0) + 1'>Go</button>"


async def press(client: RawClient, session: str, **more: object) -> dict[str, object]:
    """Press the pointer in the page; it is let go where it was pressed."""
    at = {"x": 50, "y": 50, "button": "left", "clickCount": 1}
    answer = await client.call("Input.dispatchMouseEvent", session, type="mousePressed", **at, **more)
    if "result" in answer:
        await client.call("Input.dispatchMouseEvent", session, type="mouseReleased", **at, **more)
    return answer


async def test_a_target_that_is_named_beside_the_page_is_no_way_around_a_look(held: Desk, raw: MakeRaw) -> None:
    """A12: Chromium leaves parameters out that it does not know; and a tab has another id than its page."""
    page = await held.show(BUTTON)
    async with raw() as client:
        target = await page_of(client)
        session = await client.attach(target)
        tabs = (await client.call("Target.getTargets", filter=[{"type": "tab"}]))["result"]["targetInfos"]
        await held.control.hold("h", 2)
        await held.control.recover("h", [target])
        await held.control.release("h")
        for answer in (
            await press(client, session, targetId="D"),
            await press(client, session, targetId=[]),
            await client.call("Target.closeTarget", targetId=tabs[0]["targetId"]),
        ):
            assert answer["error"]["data"]["code"] == "snapshot_required"  # type: ignore[index]
        assert await page.evaluate("window.hits") is None
        await held.control.looked(target)
        assert "result" in await press(client, session)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Page.addScriptToEvaluateOnLoad", {"scriptSource": "agent = 1"}),
        ("Page.reload", {"scriptToEvaluateOnLoad": "agent = 1"}),
    ],
)
async def test_no_code_waits_for_the_next_document(
    held: Desk, raw: MakeRaw, method: str, params: dict[str, str]
) -> None:
    """F11: it would run in the document that a person opens, and nothing could take it out."""
    page = await held.show("<title>A</title>")
    async with raw() as client:
        session = await client.attach(await page_of(client))
        assert (await client.call(method, session, **params))["error"]["code"] == -32601
        async with page.expect_navigation():
            assert "result" in await client.call("Page.reload", session)
        assert await page.evaluate("window.agent") is None


async def test_a_document_is_marked_into_which_code_came_as_markup(held: Desk, raw: MakeRaw) -> None:
    """F11: markup can have handlers, and a style can send on what is typed."""
    await held.show("<title>A</title><div id=d></div>")
    async with raw() as client:
        target = await page_of(client)
        session = await client.attach(target)
        assert (await held.control.status()).code_ran == []
        root = (await client.call("DOM.getDocument", session))["result"]["root"]["nodeId"]
        node = (await client.call("DOM.querySelector", session, nodeId=root, selector="#d"))["result"]["nodeId"]
        await client.call("DOM.focus", session, nodeId=node)
        assert (await held.control.status()).code_ran == []
        await client.call("DOM.setOuterHTML", session, nodeId=node, outerHTML="<img src=x onerror='agent = 1'>")
        assert (await held.control.status()).code_ran == [target]


async def test_a_document_is_marked_that_an_agent_sent_in_the_sites_place(held: Desk, raw: MakeRaw) -> None:
    """F11: the address is the site's, the code is not."""
    await held.show("<title>A</title>")
    async with raw() as client:
        target = await page_of(client)
        session = await client.attach(target)
        await client.call("Fetch.enable", session)
        going = asyncio.create_task(client.call("Page.navigate", session, url=f"{held.site.url}/bank"))
        await until(lambda: bool(client.named("Fetch.requestPaused")))
        paused = client.named("Fetch.requestPaused")[0]["params"]["requestId"]
        async with held.page.expect_navigation():
            await client.call("Fetch.fulfillRequest", session, requestId=paused, responseCode=200, body="PHA+aGk8L3A+")
            await going
        assert (await held.control.status()).code_ran == [target]
        await client.call("Fetch.disable", session)
        await held.page.goto(f"{held.site.url}/other")
        await until(lambda: _is_clean(held))


async def _is_clean(held: Desk) -> bool:
    return (await held.control.status()).code_ran == []


async def test_the_browsers_own_window_is_not_for_agents(held: Desk, raw: MakeRaw) -> None:
    """K05: its parts may do what no site may, and see what a person types into its own fields."""
    page = await held.show("<p>here</p>")
    await held.person_clicks(page, "p")
    held.display.person("key", "ctrl+shift+a")  # the search among tabs is such a part
    async with raw() as client:
        parts = await until(lambda: _own_parts(client))
        for answer in (
            await client.call("Target.attachToTarget", targetId=parts[0], flatten=True),
            await client.call("Target.closeTarget", targetId=parts[0]),
        ):
            assert answer["error"]["data"]["code"] == "forbidden"
        whole = [{"type": "browser_ui", "exclude": False}]
        await client.call(
            "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True, filter=whole
        )
        await until(lambda: bool(client.named("Target.attachedToTarget")))
        own = client.named("Target.attachedToTarget")[0]["params"]["sessionId"]
        ran = await client.call("Runtime.evaluate", own, expression="location.href")
        assert "forbidden" in ran["result"]["exceptionDetails"]["exception"]["description"]
        assert (await client.call("Page.captureScreenshot", own))["error"]["data"]["code"] == "forbidden"
    held.display.person("key", "Escape")


async def _own_parts(client: RawClient) -> list[str]:
    everything = (await client.call("Target.getTargets", filter=[{}]))["result"]["targetInfos"]
    return [info["targetId"] for info in everything if info["type"] == "browser_ui"]


async def test_a_message_that_chromium_could_not_answer_does_not_reach_it(held: Desk, raw: MakeRaw) -> None:
    """E2: it would count as an effect in flight for ever, and no handoff could begin."""
    deep: list[object] = []
    for _ in range(320):
        deep = [deep]
    async with raw() as client:
        assert (await client.call("Any.thing", x=deep))["error"]["code"] == -32600
        await client.connection.send('{"id": 9, "method": "Any.thing", "params": {"x": 1e999}}')
        assert "result" in await client.call("Target.getTargets"), "it is still connected"
        assert (await held.control.status()).in_flight == 0


async def test_only_so_many_agents_are_in_however_many_come_at_once(held: Desk) -> None:
    """F9: the bound holds for those too that come before any of them is in."""
    door = await open_door(held.control)
    enough, entered = asyncio.Event(), 0

    async def come() -> None:
        nonlocal entered
        try:
            async with unix_connect(str(door.socket), f"ws://host{door.path}") as client:
                await client.send('{"id": 1, "method": "Target.getTargets"}')
                await client.recv()
                entered += 1
                await enough.wait()
        except WebSocketException:
            return

    coming = [asyncio.create_task(come()) for _ in range(MAX_AGENTS + 8)]
    await until(lambda: entered >= MAX_AGENTS)
    await until(lambda: sum(each.done() for each in coming) >= 8)
    assert entered == MAX_AGENTS
    enough.set()
    await asyncio.gather(*coming)
    await held.control.close_door(door.door_id)


async def test_a_network_that_an_agent_took_away_is_back_in_a_hold(held: Desk, raw: MakeRaw) -> None:
    """F9: else the person's page would load nothing."""
    page = await held.show("<title>A</title>")
    async with raw() as client:
        session = await client.attach(await page_of(client))
        await client.call("Network.enable", session)
        rule = {"urlPattern": "", "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1, "offline": True}
        answer = await client.call("Network.emulateNetworkConditionsByRule", session, matchedNetworkConditions=[rule])
        assert "result" in answer
        await held.control.hold("h", 2)
        await page.evaluate("url => { location = url }", f"{held.site.url}/person")
        await until(lambda: "/person" in held.site.asked)


@pytest.mark.parametrize(
    ("folder", "given"),
    [
        ("/tmp/x", True),
        ("/etc/cron.d", False),
        (f"{Path.home()}/files", True),
        (f"{Path.home()}/.config/autostart", False),
    ],
)
def test_downloads_are_linked_for_agents_where_nothing_runs_them(
    folder: str, given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K05: an agent in a container has a door, and no files of this user."""
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    assert _may_be_given_files(Path(folder)) is given


def _has_download(client: RawClient) -> bool:
    return any(event["params"]["state"] == "completed" for event in client.named("Browser.downloadProgress"))


@pytest.fixture
def downloading(held: Desk) -> Iterator[Desk]:
    """The next test has a browser that never downloaded anything."""
    yield held
    for path in (*held.spec.downloads.iterdir(), *held.spec.artifacts.iterdir()):
        path.unlink()


async def test_a_download_is_not_put_where_an_agent_has_no_business(
    downloading: Desk, raw: MakeRaw, tmp_path: Path
) -> None:
    """K05: the folder is named by the agent; it is looked at as it is on disk, and not as it is called."""
    hidden, link, plain = Path.home() / f".uh-{os.getpid()}", tmp_path / "link", tmp_path / "plain"
    hidden.mkdir()
    plain.mkdir()
    link.symlink_to(hidden)
    try:
        for folder in (hidden, link, plain):
            async with raw() as client:
                session = await client.attach(await page_of(client))
                await client.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
                await client.call("Page.navigate", session, url=f"{downloading.site.url}/file")
                await until(functools.partial(_has_download, client))
        assert list(hidden.iterdir()) == []
        assert len(list(plain.iterdir())) == 1
    finally:
        for each in hidden.iterdir():
            each.unlink()
        hidden.rmdir()


async def test_input_that_waits_for_a_busy_page_is_not_done_once_a_person_has_it(held: Desk, raw: MakeRaw) -> None:
    """E2: what an agent has sent ahead would be done when the page goes on, in the middle of the person's work."""
    page = await held.show(BUTTON)
    async with raw() as client:
        session = await client.attach(await page_of(client))
        async with page.expect_console_message():  # it is said once the page is busy: no click comes before that
            busy = "console.log('busy'); for (const end = Date.now() + 1500; Date.now() < end;);"
            working = asyncio.create_task(page.evaluate(f"() => {{ {busy} }}"))
        clicks = [asyncio.create_task(press(client, session)) for _ in range(20)]
        await until(lambda: _in_flight(held))
        await held.control.hold("h", 0.2, preempt=True)
        answers = await asyncio.gather(*clicks)
        await working
        hits = await page.evaluate("window.hits || 0")  # the page goes on only now
        assert hits <= 1, "one was begun, and its end is told as unknown"
        codes = [answer["error"]["data"]["code"] for answer in answers]  # type: ignore[index]
        assert codes == ["outcome_unknown"] + ["browser_held"] * 19


async def _in_flight(held: Desk) -> bool:
    return (await held.control.status()).in_flight > 0


async def test_input_waits_for_what_was_sent_before_it_and_keeps_its_order(held: Desk, raw: MakeRaw) -> None:
    """F9: a client that sends without waiting for answers gets what it asked for."""
    page = await held.show("<input autofocus>")
    async with raw() as client:
        session = await client.attach(await page_of(client))
        await client.call("Runtime.evaluate", session, expression="document.querySelector('input').focus()")
        typed = [client.call("Input.insertText", session, text=letter) for letter in "handoff"]
        assert all("result" in answer for answer in await asyncio.gather(*typed))
    assert await page.evaluate("document.querySelector('input').value") == "handoff"


@pytest.mark.parametrize(
    ("params", "passes"),
    [
        ({"yDistance": -600}, True),
        ({"yDistance": -20_000, "speed": 50_000}, True),
        ({"yDistance": -20_000}, False),
        ({"yDistance": -10, "repeatCount": 1_000}, False),
        ({"yDistance": "x"}, False),
    ],
)
def test_a_scroll_that_the_browser_makes_is_short(params: dict[str, object], passes: bool) -> None:
    """E2: nothing could stop a long one for a person."""
    kind = classify("Input.synthesizeScrollGesture", {"x": 1, "y": 1, **params}, Role.AGENT)
    assert kind is (Kind.EFFECT if passes else Kind.NEVER)


def test_a_file_that_was_given_to_a_page_is_not_exchanged_later(tmp_path: Path) -> None:
    """K05: an agent that can write to the folder could put a link to any file there, once the path was looked at."""
    folder, secret = tmp_path / "uploads", tmp_path / "secret.txt"
    folder.mkdir()
    secret.write_text("secret")
    mine = folder / "mine.txt"
    mine.write_text("mine")
    (given,) = Uploads(folder).give([str(mine)])
    mine.unlink()
    mine.symlink_to(secret)
    assert (Path(given).name, Path(given).read_text()) == ("mine.txt", "mine")
    assert not Path(given).is_symlink() and not Path(given).is_relative_to(folder)


def test_what_is_no_file_is_not_given_to_a_page(tmp_path: Path) -> None:
    """F9: a pipe would keep the browser waiting."""
    os.mkfifo(tmp_path / "pipe")
    for files in (["/no/such"], [str(tmp_path / "pipe")], [str(tmp_path)], ["a\x00b"], [1], "x", None):
        with pytest.raises(HandoffError) as refused:
            Uploads(tmp_path).give(files)
        assert refused.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("folder", ["a\x00b", "\ud800", "/no/such"])
async def test_a_folder_that_cannot_be_costs_nobody_the_browser(downloading: Desk, raw: MakeRaw, folder: str) -> None:
    """F9: the download is a person's as well as an agent's, and the browser is."""
    async with raw() as client:
        session = await client.attach(await page_of(client))
        await client.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
        await client.call("Page.navigate", session, url=f"{downloading.site.url}/file")
        await until(functools.partial(_has_download, client))
        assert "result" in await client.call("Target.getTargets")


async def test_the_console_of_a_shared_worker_is_not_told_after_a_hold(held: Desk, raw: MakeRaw) -> None:
    """B7, F9: nobody has a session with it, and what it says is kept for whoever comes."""
    page = await held.show("""<title>A</title><script>
        const code = `onconnect = ({ports: [port]}) => {
            port.onmessage = message => { console.log(message.data); port.postMessage(1) };
        }`;
        const worker = new SharedWorker(URL.createObjectURL(new Blob([code], {type: "text/javascript"})));
        const said = text => new Promise(done => {
            worker.port.onmessage = () => done();
            worker.port.postMessage(text);
        });
    </script>""")

    async def consoles(client: RawClient) -> str:
        targets = (await client.call("Target.getTargets", filter=[{"type": "shared_worker"}]))["result"]["targetInfos"]
        for info in targets:
            await client.call("Runtime.enable", await client.attach(info["targetId"]))
        return str(client.named("Runtime.consoleAPICalled"))

    async def has_said(word: str) -> bool:
        async with raw() as client:
            return word in await consoles(client)

    await page.evaluate("said('before')")
    await until(lambda: has_said("before"))
    await held.control.hold("h", 2)
    await page.evaluate("said('canary')")
    await held.control.release("h")
    await page.evaluate("said('after')")
    await until(lambda: has_said("after"))
    assert not await has_said("canary")
