"""C3: a person lets an agent into their own session, from their page."""

import html
import logging
import re
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.gateway.world import Site, World, open_site
from tests.waiting import until
from user_handoff.client.access import Access
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import PostMessage
from user_handoff.gateway import texts

DONE = {"answer": "done", "note": ""}


@pytest.fixture(scope="module")
async def open_to_agents(world: World) -> AsyncIterator[Site]:
    """A gateway on which persons may let agents in."""
    async with open_site(world, person_grants=True) as opened:
        yield opened


@pytest.fixture
async def person(open_to_agents: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=open_to_agents.base_url, timeout=60, follow_redirects=True) as client:
        yield client


@pytest.fixture
def access(world: World) -> Access:
    return Access(world.client, patience_seconds=30, fresh_seconds=0)


async def ended(site: Site, http: httpx.AsyncClient) -> str:
    """The link of a handoff that was answered and has ended."""
    handoff_id, link = await site.held(http)
    await http.post(f"{link}/reply", data=DONE)
    await site.recover(handoff_id)
    return link


def token_of(page: str) -> str:
    """The token on the page that shows it."""
    found = re.search(r'id="grant">[^<]*/agent/(hg_[A-Za-z0-9_.-]+)<', page)
    assert found is not None, page
    return found[1]


async def test_a_person_who_has_answered_lets_an_agent_in(
    open_to_agents: Site, person: httpx.AsyncClient, access: Access
) -> None:
    link = await ended(open_to_agents, person)
    assert texts.LET_IN in (await person.get(link)).text
    shown = await person.post(f"{link}/grant", data={"what": "look"})
    grant = await access.grant(token_of(shown.text))
    assert (grant.owner, grant.session_id) == ("agent:test", open_to_agents.world.handoffs.session_id)
    assert "observe_browser" in grant.capabilities and "control_browser" not in grant.capabilities
    assert shown.headers["cache-control"] == "no-store" and shown.headers["referrer-policy"] == "no-referrer"


async def test_the_address_is_shown_once(open_to_agents: Site, person: httpx.AsyncClient, access: Access) -> None:
    """C1: another post makes another one; no page shows it again."""
    link = await ended(open_to_agents, person)
    first = token_of((await person.post(f"{link}/grant", data={"what": "all"})).text)
    second = token_of((await person.post(f"{link}/grant", data={"what": "all"})).text)
    assert first != second and (await access.grant(first)).capabilities == "all"
    page = (await person.get(link)).text
    assert first not in page and "hg_" not in page


async def test_who_let_the_agent_in_is_in_the_audit(
    open_to_agents: Site, person: httpx.AsyncClient, access: Access
) -> None:
    """C8."""
    link = await ended(open_to_agents, person)
    token = token_of((await person.post(f"{link}/grant", data={"what": "all"})).text)
    grant = await access.grant(token)
    audit = await access.read_audit(open_to_agents.world.handoffs.session_id)
    (who,) = [entry.who for entry in audit if entry.action == f"issue {grant.grant_id}"]
    assert re.fullmatch(r"link [0-9a-f]{8}", who) and who.split()[1] not in link


async def test_nobody_is_let_in_before_the_step_is_over(
    open_to_agents: Site, person: httpx.AsyncClient, access: Access
) -> None:
    """C3: what was granted before a sign-in would be refused after it."""
    handoff_id, link = await open_to_agents.held(person)
    for _ in range(2):
        refused = await person.post(f"{link}/grant", data={"what": "all"})
        assert refused.status_code == 409 and texts.GRANT_LATER[0] in refused.text
        assert texts.LET_IN not in (await person.get(link)).text
        await person.post(f"{link}/reply", data=DONE)
        await open_to_agents.world.until(handoff_id, HandoffState.RECOVERING)


async def test_a_grant_from_the_page_is_refused_after_the_next_sign_in(
    open_to_agents: Site, person: httpx.AsyncClient, access: Access
) -> None:
    """C3."""
    link = await ended(open_to_agents, person)
    token = token_of((await person.post(f"{link}/grant", data={"what": "all"})).text)
    await ended(open_to_agents, person)
    with pytest.raises(HandoffError) as refused:
        # the session is told of the sign-in a moment after the end
        await until(lambda: access.grant(token), wanted=lambda _: False, what="the grant is refused")
    assert refused.value.code is ErrorCode.AUTH_CONTEXT_CHANGED


async def test_a_form_of_another_site_lets_nobody_in(open_to_agents: Site, person: httpx.AsyncClient) -> None:
    """D2: and its absence proves nothing either: it is the link that counts."""
    link = await ended(open_to_agents, person)
    foreign = await person.post(f"{link}/grant", data={"what": "all"}, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403 and "hg_" not in foreign.text


@pytest.mark.parametrize("what", ["", "root", "look&what=root"])
async def test_what_is_no_choice_lets_nobody_in(open_to_agents: Site, person: httpx.AsyncClient, what: str) -> None:
    link = await ended(open_to_agents, person)
    headers = {"content-type": "application/x-www-form-urlencoded"}
    refused = await person.post(f"{link}/grant", content=f"what={what}", headers=headers)
    assert refused.status_code == 400 and "hg_" not in refused.text


async def test_three_hundred_forged_links_let_nobody_in(
    open_to_agents: Site, person: httpx.AsyncClient, access: Access
) -> None:
    """K83: with an Origin of ours, which proves nothing; and what was granted is untouched."""
    link = await ended(open_to_agents, person)
    token = token_of((await person.post(f"{link}/grant", data={"what": "all"})).text)
    before = await access.grants(open_to_agents.world.handoffs.session_id)
    for number in range(300):
        forged = f"{link[:-4]}{number:04d}"
        answer = await person.post(f"{forged}/grant", data={"what": "all"}, headers={"Origin": open_to_agents.base_url})
        assert answer.status_code == 404
    assert await access.grants(open_to_agents.world.handoffs.session_id) == before
    assert not (await access.grant(token)).revoked


async def test_a_session_that_is_closed_lets_nobody_in(open_to_agents: Site, person: httpx.AsyncClient) -> None:
    client = open_to_agents.world.client
    session_id = (await client.open_session(new_id("s"), "agent:test")).session_id
    await client.post_message(session_id, PostMessage(message_id="m1", text="Sign in"))
    handoff_id, link = await open_to_agents.held(person, session_id=session_id, message_id="m1")
    await person.post(f"{link}/reply", data=DONE)
    await open_to_agents.recover(handoff_id)
    await client.close_session(session_id)
    refused = await person.post(f"{link}/grant", data={"what": "all"})
    assert refused.status_code == 409 and html.escape(texts.SESSION_OVER[0]) in refused.text


async def test_unless_it_is_switched_on_no_person_lets_an_agent_in(site: Site, http: httpx.AsyncClient) -> None:
    """C3: off by default."""
    link = await ended(site, http)
    assert texts.LET_IN not in (await http.get(link)).text
    assert (await http.post(f"{link}/grant", data={"what": "all"})).status_code == 404


async def test_the_token_reaches_no_log(
    open_to_agents: Site, person: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    """K41, C6."""
    link = await ended(open_to_agents, person)
    with caplog.at_level(logging.DEBUG, logger="user_handoff"):
        token = token_of((await person.post(f"{link}/grant", data={"what": "all"})).text)
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("user_handoff"))
    assert "/j/{token}/grant" in ours
    assert token.split(".")[1] not in ours and link.rpartition("/")[2] not in ours
