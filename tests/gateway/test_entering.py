"""Getting in by a link, over HTTP: what spends it, and what each other comer is told."""

import asyncio
import html

import httpx
import pytest

from tests.gateway.world import Site, World, entry_of, open_site
from user_handoff.contract.entering import OpenedLink
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import new_id
from user_handoff.gateway import texts
from user_handoff.gateway.links import issue_link, look_up

JSON = {"accept": "application/json"}


def browser(site: Site) -> httpx.AsyncClient:
    """Another browser, without a cookie."""
    return httpx.AsyncClient(base_url=site.base_url, timeout=30)


async def standing(site: Site, link: str) -> OpenedLink:
    return await look_up(site.world.client, link.rpartition("/")[2])


async def told(http: httpx.AsyncClient, link: str, step: str, tab: str = "tab-1", entry: str = "e") -> httpx.Response:
    """A step of a script."""
    return await http.post(f"{link}/enter", data={"step": step, "tab": tab, "entry": entry}, headers=JSON)


async def test_looking_spends_nothing_and_tells_nothing(site: Site, http: httpx.AsyncClient) -> None:
    """C5, K46, K48: previews, prefetches and reloads come before the person."""
    _, link = await site.held(instructions="canary-instructions")
    before = await standing(site, link)
    for agent in ("TelegramBot (like TwitterBot)", "Mozilla/5.0"):
        headers = {"User-Agent": agent, "Sec-Purpose": "prefetch;prerender"}
        assert (await http.head(link, headers=headers)).status_code == 200
        page = await http.get(link, headers=headers)
        assert page.status_code == 200 and texts.ENTRY[0] in page.text and "set-cookie" not in page.headers
        assert "canary" not in page.text and "agent:test" not in page.text and "portal.example" not in page.text
        assert (await http.get(f"{link}/state", headers=headers)).json()["code"] == "link_taken"
    assert await standing(site, link) == before
    await site.entered(link, http)
    assert "canary-instructions" in (await http.get(link)).text


async def test_a_script_attaches_finalizes_and_is_in(site: Site, http: httpx.AsyncClient) -> None:
    """C5: by a cookie that no script can read, and that no other site can send."""
    _, link = await site.held()
    attached = await told(http, link, "attach")
    assert attached.json() == {"next": "finalize"}
    cookie = attached.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/j", "Max-Age=3600"))
    assert not (await standing(site, link)).link.spent
    for _ in range(2):
        assert (await told(http, link, "finalize")).json() == {"next": "done"}
    assert (await standing(site, link)).link.spent
    assert (await told(http, link, "attach", entry="another")).json() == {"next": "done"}


async def test_what_a_browser_without_the_cookie_can_do_with_a_spent_link_is_nothing(
    site: Site, http: httpx.AsyncClient
) -> None:
    """C5, K04: neither look nor answer, with the tab's id or a cookie of its own making."""
    handoff_id, link = await site.held(http, instructions="canary-instructions")
    name = next(iter(http.cookies.jar)).name
    async with browser(site) as other:
        for cookies in ({}, {name: "made-up"}, {name: ""}):
            headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in cookies.items())} if cookies else {}
            assert "canary" not in (await other.get(link, headers=headers)).text
            answer = await other.post(f"{link}/reply", data={"answer": "declined"}, headers=headers)
            assert answer.status_code == 403 and "canary" not in answer.text
            assert (await other.get(f"{link}/state", headers=headers)).status_code == 409
        for step in ("attach", "finalize", "enter", "take"):
            refused = await told(other, link, step, tab="" if step in ("enter", "take") else "tab-1")
            assert refused.status_code == 409 and texts.TAKEN[0] in refused.json()["page"]
            assert "canary" not in refused.text and "set-cookie" not in refused.headers
        page = await other.post(f"{link}/enter", data={"step": "enter", "entry": "e"})
        assert page.status_code == 409 and texts.TAKEN[0] in page.text
    assert (await site.world.client.summary(handoff_id)).answer is None


@pytest.mark.parametrize("step", ["attach", "finalize"])
async def test_a_script_that_names_no_tab_does_not_get_in(site: Site, http: httpx.AsyncClient, step: str) -> None:
    """C5: the id of the tab is needed, or the page would be open in every tab of that browser."""
    _, link = await site.held()
    before = await standing(site, link)
    if step == "finalize":
        assert (await told(http, link, "attach")).json() == {"next": "finalize"}
    refused = await told(http, link, step, tab="")
    assert refused.status_code == 400 and "set-cookie" not in refused.headers
    after = await standing(site, link)
    assert not after.link.spent and (step == "finalize" or after == before)


async def test_of_many_browsers_at_once_one_gets_in(site: Site) -> None:
    """C5: also through two gateways."""
    _, link = await site.held()
    async with open_site(site.world) as second:
        browsers = [browser(site if number % 2 else second) for number in range(8)]
        path = link.removeprefix(site.base_url)
        entered = await asyncio.gather(
            *(
                each.post(f"{path}/enter", data={"step": "enter", "entry": f"e{number}"})
                for number, each in enumerate(browsers)
            )
        )
        assert sorted(answer.status_code for answer in entered) == [303] + [409] * 7
        seen = [texts.WHAT_TO_DO in (await each.get(path)).text for each in browsers]
        assert seen.count(True) == 1
        for each in browsers:
            await each.aclose()


async def test_a_button_pressed_again_after_a_lost_answer_enters_once(site: Site, http: httpx.AsyncClient) -> None:
    """A17: the cookie of the first answer, which never came, is given again."""
    _, link = await site.held()
    form = {"step": "enter", "entry": entry_of((await http.get(link)).text)}
    async with browser(site) as lost:
        assert (await lost.post(f"{link}/enter", data=form)).status_code == 303
    assert (await http.post(f"{link}/enter", data=form)).status_code == 303
    assert texts.WHAT_TO_DO in (await http.get(link)).text


async def test_another_tab_is_told_and_takes_it_over_by_a_click_alone(site: Site, http: httpx.AsyncClient) -> None:
    """C5: what the first tab still sends is refused then."""
    handoff_id, link = await site.held()
    for step in ("attach", "finalize"):
        await told(http, link, step)
    second = await told(http, link, "attach", tab="tab-2")
    assert second.status_code == 409 and texts.ELSEWHERE[0] in html.unescape(second.json()["page"])
    assert (await http.get(f"{link}/state", headers={"x-tab": "tab-1"})).json()["here"]
    assert (await told(http, link, "take", tab="tab-2")).json() == {"next": "done"}
    assert not (await http.get(f"{link}/state", headers={"x-tab": "tab-1"})).json()["here"]
    late = await http.post(f"{link}/reply", data={"answer": "done", "tab": "tab-1"})
    assert late.status_code == 403 and texts.ELSEWHERE[0] in late.text
    assert (await site.world.client.summary(handoff_id)).answer is None
    assert (await http.post(f"{link}/reply", data={"answer": "done", "tab": "tab-2"})).status_code == 303


async def test_a_link_that_nobody_opened_in_time_says_so(site: Site, http: httpx.AsyncClient) -> None:
    """C5: and the one that is issued then opens."""
    receipt = await site.world.held()
    link = await issue_link(site.world.client, site.base_url, receipt.handoff_id, expires_in_seconds=0.01)
    form = {"step": "enter", "entry": entry_of((await http.get(link)).text)}
    late = await http.post(f"{link}/enter", data=form)
    assert late.status_code == 410 and texts.LINK_EXPIRED[0] in late.text
    again = await site.entered(await site.link(receipt.handoff_id), http)
    assert texts.WHAT_TO_DO in (await http.get(again)).text


async def test_a_link_of_a_handoff_that_has_ended_lets_nobody_in(site: Site, http: httpx.AsyncClient) -> None:
    """C5: and whoever was in still sees how it ended."""
    handoff_id, entered = await site.held(http)
    late = await site.link(handoff_id)
    await site.world.client.close(handoff_id)
    answer = await told(http, late, "attach")
    assert answer.status_code == 410 and texts.OVER[0] in answer.json()["page"]
    assert "The browser was closed" in (await http.get(entered)).text


async def test_a_step_from_another_site_is_refused(site: Site, http: httpx.AsyncClient) -> None:
    _, link = await site.held()
    headers = {"Origin": "https://evil.example"}
    assert (await http.post(f"{link}/enter", data={"step": "enter"}, headers=headers)).status_code == 403
    assert (await http.post(f"{link}/enter", data={"step": "nonsense"})).status_code == 400
    assert not (await standing(site, link)).link.spent


async def test_a_handoff_for_a_named_person_opens_at_no_gateway_that_cannot_tell_who_it_is(
    site: Site, http: httpx.AsyncClient
) -> None:
    """Fail closed: and the link is not spent by the attempt."""
    receipt = await site.world.held(person="ada@example.org")
    link = await site.link(receipt.handoff_id)
    form = {"step": "enter", "entry": entry_of((await http.get(link)).text)}
    refused = await http.post(f"{link}/enter", data=form)
    assert refused.status_code == 403 and texts.NOT_FOR_YOU[0] in refused.text
    assert not (await standing(site, link)).link.spent


async def test_a_seat_is_good_for_its_own_link_only(site: Site, http: httpx.AsyncClient) -> None:
    """K25, K04: of another handoff, and of the same one."""
    first, link = await site.held(http)
    seat = next(iter(http.cookies.jar)).value
    for other in (await site.link(first), (await site.held())[1]):
        async with browser(site) as thief:
            await site.entered(other, thief)
            name = next(iter(thief.cookies.jar)).name
        page = await http.get(other, headers={"Cookie": f"{name}={seat}"})
        assert texts.WHAT_TO_DO not in page.text
    assert texts.WHAT_TO_DO in (await http.get(link)).text


@pytest.mark.parametrize("language", ["en-GB,en;q=0.9", "de-AT,de;q=0.9,en;q=0.5", "xx,*;q=0.1", ""])
async def test_a_person_reads_their_own_language_where_it_is_there(
    site: Site, http: httpx.AsyncClient, language: str
) -> None:
    _, link = await site.held()
    page = await http.get(link, headers={"Accept-Language": language})
    assert page.headers["vary"] == "Accept-Language"
    assert f'<html lang="{"de" if language.startswith("de") else "en"}">' in page.text


async def test_history_keeps_no_cookie_and_no_tab(site: Site, world: World, http: httpx.AsyncClient) -> None:
    """C1, C6: hashes alone."""
    handoff_id, link = await site.held()
    tab = new_id("tab")
    for step in ("attach", "finalize"):
        await told(http, link, step, tab=tab)
    await http.post(f"{link}/reply", data={"answer": "declined", "tab": tab})
    await world.until(handoff_id, HandoffState.RECOVERING)
    history = await world.temporal.get_workflow_handle(handoff_id).fetch_history()
    stored = b"".join(event.SerializeToString() for event in history.events)
    seat = next(iter(http.cookies.jar)).value
    assert seat and all(secret.encode() not in stored for secret in (seat, tab, link.rpartition("/")[2]))
