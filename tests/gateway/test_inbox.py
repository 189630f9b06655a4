"""The inbox over HTTP: who sees what, and who makes links."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import httpx
import pytest

from tests.gateway.world import WALL, Site, World, open_site, open_world
from tests.waiting import until
from user_handoff.client.access import Access
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.handoff import Result
from user_handoff.contract.names import Workflows
from user_handoff.contract.session import Scope
from user_handoff.gateway import inbox, texts

OWNER = "agent:test"


@pytest.fixture(scope="module")
async def keys(world: World) -> AsyncIterator[Access]:
    access = Access(world.client, patience_seconds=30, fresh_seconds=0)
    yield access
    await access.aclose()


async def sign_in(http: httpx.AsyncClient, key: str) -> httpx.Response:
    return await http.post("/signin", data={"key": key})


async def with_cookie(site: Site, cookie: str) -> httpx.Response:
    """The page for a browser that has this cookie alone."""
    async with httpx.AsyncClient(timeout=30) as http:
        return await http.get(f"{site.base_url}/", headers={"Cookie": cookie})


async def listed(site: Site, http: httpx.AsyncClient, handoff_id: str) -> str:
    """The page, once it has this handoff: Temporal's lists lag a moment behind."""
    return (await until(lambda: http.get("/"), 20, wanted=lambda page: handoff_id in page.text)).text


async def test_whoever_has_not_signed_in_is_asked_to(site: Site, http: httpx.AsyncClient) -> None:
    page = await http.get("/")
    assert page.status_code == 200 and texts.SIGN_IN_INBOX[1] in page.text and OWNER not in page.text
    assert (await http.get("/waiting/events")).status_code == 401
    handoff_id, _ = await site.held()
    form = {"handoff_id": handoff_id}
    assert (await http.post("/waiting/link", data=form, headers={"accept": "application/json"})).status_code == 401
    assert "/j/" not in (await http.post("/waiting/link", data=form)).text


async def test_an_operator_pastes_a_key_once_and_sees_what_waits(
    site: Site, http: httpx.AsyncClient, keys: Access
) -> None:
    """F8: by whom, for whom, where and how long; the browser keeps a sign-in, and nobody the key."""
    key = await keys.create_key(OWNER, [Scope.RUNTIME_READ])
    handoff_id, _ = await site.held(instructions="Open the <b>vault</b>", person="ada@example.org")
    answer = await sign_in(http, key)
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303 and "httponly" in cookie and "samesite=lax" in cookie
    assert key not in cookie and key.split(".")[1] not in cookie
    page = await listed(site, http, handoff_id)
    desktop = site.world.desktop.client_id
    for words in ("Sign in at portal.example", OWNER, "ada@example.org", desktop, "minutes left"):
        assert words in page
    assert "Open the &lt;b&gt;vault&lt;/b&gt;" in page and "<img" not in page.replace('<img src="/assets/mark.svg', "")


async def test_a_wrong_key_is_told_so_and_gives_no_cookie(http: httpx.AsyncClient, keys: Access) -> None:
    revoked = await keys.create_key(OWNER, [])
    await keys.revoke_key(revoked.split(".")[0].removeprefix("hk_"))
    for key in ("", "hk_x.y", "nonsense", revoked):
        answer = await sign_in(http, key)
        assert answer.status_code == 401 and texts.WRONG_KEY in answer.text and "set-cookie" not in answer.headers


async def test_a_key_that_is_revoked_signs_out_wherever_it_was_used(
    site: Site, http: httpx.AsyncClient, keys: Access
) -> None:
    key = await keys.create_key(OWNER, [])
    await sign_in(http, key)
    assert texts.WAITS in (await http.get("/")).text
    async with http.stream("GET", "/waiting/events") as events:
        await keys.revoke_key(key.split(".")[0].removeprefix("hk_"))
        async with asyncio.timeout(30):
            lines = [line async for line in events.aiter_lines()]
    assert "event: signed-out" in lines
    assert texts.WAITS not in (await http.get("/")).text


async def test_a_cookie_that_was_changed_or_is_signed_by_another_gateway_lets_nobody_in(
    site: Site, http: httpx.AsyncClient, keys: Access, world: World
) -> None:
    await sign_in(http, await keys.create_key(OWNER, []))
    (value,) = [cookie.value or "" for cookie in http.cookies.jar]
    for bad in (value[:-1], value[5:], f"x{value}"):
        page = await with_cookie(site, f"handoff_session={bad}")
        assert texts.SIGN_IN_INBOX[1] in page.text
    async with open_site(world) as other:
        page = await with_cookie(other, f"handoff_session={value}")
        assert texts.SIGN_IN_INBOX[1] in page.text


async def test_gateways_of_one_secret_know_the_same_people(world: World, keys: Access) -> None:
    """The gateway keeps nothing: whichever is asked."""
    secret = {"session_secret": "s" * 32}
    async with (
        open_site(world, **secret) as one,
        open_site(world, **secret) as two,
        httpx.AsyncClient(timeout=30) as http,
    ):
        await http.post(f"{one.base_url}/signin", data={"key": await keys.create_key(OWNER, [])})
        (value,) = [cookie.value for cookie in http.cookies.jar]
        page = await with_cookie(two, f"handoff_session={value}")
        assert texts.WAITS in page.text


@pytest.mark.parametrize(("name", "scopes", "sees"), [("other", [], False), ("boss", [Scope.HANDOFFS_OPERATE], True)])
async def test_a_principal_sees_its_own_and_an_operator_all(
    site: Site, http: httpx.AsyncClient, keys: Access, name: str, scopes: list[Scope], sees: bool
) -> None:
    """And makes links to no others."""
    handoff_id, _ = await site.held()
    await sign_in(http, await keys.create_key(OWNER, []))
    await listed(site, http, handoff_id)
    await sign_in(http, await keys.create_key(name, scopes))
    assert (handoff_id in (await http.get("/")).text) is sees
    made = await http.post("/waiting/link", data={"handoff_id": handoff_id}, headers={"accept": "application/json"})
    assert made.status_code == (200 if sees else 404)
    assert ("/j/" in made.text) is sees


async def test_no_handoff_hides_the_others_by_what_it_calls_its_place(
    site: Site, http: httpx.AsyncClient, keys: Access
) -> None:
    """An agent says where it stopped, and that may be anything. Its own page opens too."""
    await sign_in(http, await keys.create_key(OWNER, [Scope.RUNTIME_READ]))
    other, _ = await site.held()
    odd, link = await site.held(http, boundary=WALL.model_copy(update={"url": "http://["}))
    page = await http.get(link)
    assert page.status_code == 200 and texts.WHERE in page.text.replace("&#39;", "'")
    assert other in await listed(site, http, odd)
    await site.world.client.close(odd)
    ended = await until(lambda: http.get("/"), 20, wanted=lambda page: odd not in page.text)
    assert ended.status_code == 200 and other in ended.text


async def test_no_handoff_hides_the_others_by_its_silence() -> None:
    """F3: neither from the inbox nor from a program, as long as one of them can tell of itself."""
    async with open_world() as world, open_site(world, patience_seconds=2) as site:
        silent = await world.handoffs.request()
        await world.temporal.start_workflow(Workflows.HANDOFF, silent, id=silent.handoff_id, task_queue="nobody")
        client = world.client.within(2)
        await until(lambda: _listed_by_temporal(world, silent.handoff_id), 20)
        with pytest.raises(HandoffError, match="does not answer"):
            await client.going_on()
        handoff_id, _ = await site.held()
        await until(client.waiting, 30, wanted=lambda found: [each.handoff_id for each in found] == [handoff_id])
        access = Access(world.client, patience_seconds=30, fresh_seconds=0)
        async with httpx.AsyncClient(base_url=site.base_url, timeout=30) as http:
            await sign_in(http, await access.create_key(OWNER, [Scope.RUNTIME_READ]))
            page = await listed(site, http, handoff_id)
        await access.aclose()
        assert silent.handoff_id not in page


async def _listed_by_temporal(world: World, handoff_id: str) -> bool:
    return handoff_id in [row.id async for row in world.temporal.list_workflows("ExecutionStatus = 'Running'")]


async def test_a_link_is_made_on_demand_and_shown_once(site: Site, http: httpx.AsyncClient, keys: Access) -> None:
    """C5: it opens the request for whoever gets it."""
    handoff_id, _ = await site.held()
    await sign_in(http, await keys.create_key(OWNER, []))
    made = await http.post("/waiting/link", data={"handoff_id": handoff_id})
    link = f"{site.base_url}/j/" + made.text.split("/j/")[1].split("<")[0]
    assert made.headers["cache-control"] == "no-store"
    await site.entered(link, http)
    assert texts.WHAT_TO_DO in (await http.get(link)).text
    assert link not in await listed(site, http, handoff_id)
    await site.world.client.close(handoff_id)
    late = await http.post("/waiting/link", data={"handoff_id": handoff_id})
    assert late.status_code == 409 and texts.NO_LINK[0] in late.text


async def test_what_changes_comes_as_an_event(site: Site, http: httpx.AsyncClient, keys: Access) -> None:
    """F8."""
    await sign_in(http, await keys.create_key(OWNER, []))
    handoff_id, _ = await site.held(instructions="canary-live")
    seen: list[str] = []
    async with asyncio.timeout(30), http.stream("GET", "/waiting/events") as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        assert events.headers["cache-control"] == "no-store"
        async for line in events.aiter_lines():
            if not line.startswith("data: {"):
                continue
            told = json.loads(line.removeprefix("data: "))
            if any("canary-live" in row["html"] for row in told["waiting"]) and not seen:
                seen.append("waits")
                await site.world.client.close(handoff_id)
            elif seen and not any("canary-live" in row["html"] for row in told["waiting"]):
                assert texts.RESULTS[Result.CLOSED] in told["recent"][0]["html"]
                break


async def test_one_person_does_not_take_the_streams_of_all(
    site: Site, http: httpx.AsyncClient, keys: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MAX_STREAMS_OF_ONE", 2)
    await sign_in(http, await keys.create_key("agent:many", []))
    async with AsyncExitStack() as open_streams:
        for status in (200, 200, 204):
            stream = await open_streams.enter_async_context(http.stream("GET", "/waiting/events"))
            assert stream.status_code == status
        async with httpx.AsyncClient(base_url=site.base_url, timeout=30) as other:
            await sign_in(other, await keys.create_key("agent:few", []))
            async with other.stream("GET", "/waiting/events") as stream:
                assert stream.status_code == 200


async def test_forms_of_another_site_are_refused(site: Site, http: httpx.AsyncClient, keys: Access) -> None:
    key = await keys.create_key(OWNER, [])
    await sign_in(http, key)
    handoff_id, _ = await site.held()
    for path, data in (("signin", {"key": key}), ("signout", {}), ("waiting/link", {"handoff_id": handoff_id})):
        refused = await http.post(f"/{path}", data=data, headers={"Origin": "https://evil.example"})
        assert refused.status_code == 403
    assert texts.WAITS in (await http.get("/")).text
    assert (await http.post("/signout")).status_code == 303
    assert texts.WAITS not in (await http.get("/")).text


async def test_neither_key_nor_link_reaches_a_log(
    site: Site, http: httpx.AsyncClient, keys: Access, caplog: pytest.LogCaptureFixture
) -> None:
    """K41, C6."""
    key = await keys.create_key(OWNER, [])
    handoff_id, _ = await site.held()
    with caplog.at_level(logging.DEBUG):
        await sign_in(http, key)
        made = await http.post("/waiting/link", data={"handoff_id": handoff_id}, headers={"accept": "application/json"})
    token = made.json()["url"].rpartition("/")[2]
    written = "\n".join(f"{r.getMessage()} {r.args}" for r in caplog.records if not r.name.startswith("http"))
    assert "POST /signin 303" in written
    assert key.split(".")[1] not in written and token not in written and token[:32] not in written
