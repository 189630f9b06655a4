"""Who may take a browser over on a page."""

import html
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.gateway.test_inbox import OWNER, sign_in
from tests.gateway.world import Site, World
from tests.workflows.fake_takeovers import FakeTakeovers
from user_handoff.client.access import Access
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import Scope
from user_handoff.contract.takeover import TakeoverEnd, TakeoverRequest, TakeoverState
from user_handoff.gateway import texts

ADA = "operator:ada"


def said(code: ErrorCode) -> str:
    """The cause of a refusal, as it stands in a page."""
    return html.escape(texts.NOT_TAKEN_BECAUSE[code]).replace("&#x27;", "&#39;")


@pytest.fixture(scope="module")
async def keys(world: World) -> AsyncIterator[Access]:
    access = Access(world.client, patience_seconds=30, fresh_seconds=0)
    yield access
    await access.aclose()


async def test_whoever_has_not_signed_in_is_asked_to(http: httpx.AsyncClient) -> None:
    """B8."""
    assert texts.SIGN_IN_INBOX[1] in (await http.get("/takeovers")).text
    answer = await http.post("/takeovers", data={"browser_id": "b"})
    assert texts.SIGN_IN_INBOX[1] in answer.text
    assert (await http.get("/takeovers/b/t/state")).status_code == 401


async def test_a_principal_who_operates_nothing_takes_nothing_over(http: httpx.AsyncClient, keys: Access) -> None:
    """B8, C3: an agent's own key is not enough."""
    await sign_in(http, await keys.create_key(OWNER, [Scope.BROWSER_CONTROL, Scope.RUNTIME_READ]))
    for answer in (await http.get("/takeovers"), await http.post("/takeovers", data={"browser_id": "b"})):
        assert answer.status_code == 403
        assert texts.NO_OPERATOR[1] in answer.text
    assert "/takeovers" not in (await http.get("/")).text


async def test_an_operator_sees_the_page_and_no_takeover_of_somebody_else(
    site: Site, http: httpx.AsyncClient, keys: Access
) -> None:
    """B8: what is not theirs is not there; and a form of another site does nothing."""
    await sign_in(http, await keys.create_key("operator:ada", [Scope.HANDOFFS_OPERATE]))
    assert "/takeovers" in (await http.get("/")).text
    page = await http.get("/takeovers")
    assert page.status_code == 200 and texts.TAKE_IT in page.text
    number = new_id("t")
    assert (await http.get(f"/takeovers/{new_id('b')}/{number}")).status_code == 409
    foreign = {"origin": "https://elsewhere.example"}
    for path in ("/takeovers", f"/takeovers/b/{number}/end"):
        answer = await http.post(path, data={"browser_id": "b"}, headers=foreign)
        assert answer.status_code == 403 and texts.FOREIGN[1] in answer.text


async def test_a_browser_that_no_desktop_has_is_not_taken(http: httpx.AsyncClient, keys: Access) -> None:
    """B8: typed and told in words; what is no id at all, too."""
    await sign_in(http, await keys.create_key(ADA, [Scope.HANDOFFS_OPERATE]))
    for browser_id in (new_id("b"), "no/id at all"):
        answer = await http.post("/takeovers", data={"browser_id": browser_id})
        assert answer.status_code == 409 and said(ErrorCode.UNKNOWN_BROWSER) in answer.text


@pytest.mark.parametrize(
    "code", [ErrorCode.HANDOFF_ACTIVE, ErrorCode.TAKEOVER_ACTIVE, ErrorCode.LEASE_TAKEN, ErrorCode.DRAIN_TIMEOUT]
)
async def test_a_refusal_says_why_at_once_and_on_its_page(
    world: World, http: httpx.AsyncClient, keys: Access, monkeypatch: pytest.MonkeyPatch, code: ErrorCode
) -> None:
    """E1: such as that a person has the browser already."""
    await sign_in(http, await keys.create_key(ADA, [Scope.HANDOFFS_OPERATE]))
    desk, asked = FakeTakeovers(refuse=code), []

    async def request_for(client: TakeoverClient, browser_id: str, **options: object) -> TakeoverRequest:
        asked.append(desk.request(browser_id=browser_id, **options))
        return asked[0]

    monkeypatch.setattr(TakeoverClient, "request_for", request_for)
    async with desk.serving(world.temporal):
        answer = await http.post("/takeovers", data={"browser_id": new_id("b")})
        page = await http.get("/" + asked[0].takeover_id.replace("takeover", "takeovers", 1))

    assert answer.status_code == 409 and said(code) in answer.text
    assert page.status_code == 200 and said(code) in page.text


async def test_a_takeover_tells_the_time_that_is_left(world: World, http: httpx.AsyncClient, keys: Access) -> None:
    """E1: also where no script counts it down."""
    await sign_in(http, await keys.create_key(ADA, [Scope.HANDOFFS_OPERATE]))
    desk = FakeTakeovers()
    request = desk.request(by=ADA, seconds=200)
    path = "/" + request.takeover_id.replace("takeover", "takeovers", 1)
    async with desk.serving(world.temporal):
        await TakeoverClient(world.temporal).take_over(request)
        page, state = (await http.get(path)).text, (await http.get(f"{path}/state")).json()
        await desk.move(request.takeover_id, TakeoverState.ENDED, TakeoverEnd.RETURNED)

    assert texts.minutes_left(190) in page
    assert state["state"] == "held" and 150 < state["seconds_left"] <= 200
