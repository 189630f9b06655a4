"""Who may take a browser over on a page."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.gateway.test_inbox import OWNER, sign_in
from tests.gateway.world import Site, World
from user_handoff.client.access import Access
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import Scope
from user_handoff.gateway import texts


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
    await sign_in(http, await keys.create_key("operator:ada", [Scope.HANDOFFS_OPERATE]))
    for browser_id in (new_id("b"), "no/id at all"):
        answer = await http.post("/takeovers", data={"browser_id": browser_id})
        assert answer.status_code == 409 and texts.NOT_TAKEN[1] in answer.text
