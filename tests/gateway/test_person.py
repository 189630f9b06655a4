"""The person's page over HTTP, with no script."""

import asyncio
import html
import re

import httpx
import pytest

from tests.gateway.world import Site, World, entry_of, open_site, open_world
from user_handoff.contract.handoff import Answer, HandoffState, Result
from user_handoff.gateway import texts
from user_handoff.gateway.links import new_link

FORM = {"answer": "done", "note": "all good"}


async def test_the_page_says_what_is_asked_by_whom_and_how_long(site: Site, http: httpx.AsyncClient) -> None:
    """B9, F4."""
    _, link = await site.held(http, instructions="Sign in <b>now</b> & open Invoices")
    page = (await http.get(link)).text
    said = html.unescape(page)
    for words in ("agent:test", "Sign in at portal.example", "/login", "minutes left", "sign-in-password", texts.NEXT):
        assert words in said
    assert "Sign in &lt;b&gt;now&lt;/b&gt; &amp; open Invoices" in page
    assert all(f'value="{answer}"' in page for answer in Answer)


async def test_an_answer_reaches_the_handoff_and_what_was_found_is_told(site: Site, http: httpx.AsyncClient) -> None:
    """F6, B4: the page tells the observed outcome, not the person's word."""
    handoff_id, link = await site.held(http)
    answered = await http.post(f"{link}/reply", data=FORM, follow_redirects=True)
    assert "You said that it is done" in answered.text and "all good" in answered.text
    summary = await site.recover(handoff_id)
    assert (summary.answer, summary.note, summary.result) == (Answer.DONE, "all good", Result.VERIFIED)
    page = (await http.get(link)).text
    assert texts.ENDS[Result.VERIFIED][0] in page and "https://portal.example/invoices" in page


async def test_a_condition_that_is_not_seen_never_reads_as_done(site: Site, http: httpx.AsyncClient) -> None:
    """K20."""
    handoff_id, link = await site.held(http)
    site.world.desktop.met = False
    try:
        await http.post(f"{link}/reply", data=FORM)
        await site.recover(handoff_id)
    finally:
        site.world.desktop.met = True
    page = (await http.get(link)).text
    assert texts.ENDS[Result.NOT_VERIFIED][0] in page and texts.ENDS[Result.VERIFIED][0] not in page


@pytest.mark.parametrize(("answer", "result"), [(Answer.DECLINED, Result.DECLINED), (Answer.COULD_NOT, Result.FAILED)])
async def test_the_other_answers_end_in_results_of_their_own(
    site: Site, http: httpx.AsyncClient, answer: Answer, result: Result
) -> None:
    """K21."""
    handoff_id, link = await site.held(http)
    await http.post(f"{link}/reply", data={"answer": answer})
    assert (await site.recover(handoff_id)).result is result
    assert texts.ENDS[result][0] in (await http.get(link)).text


async def test_a_double_submit_is_one_answer(site: Site, http: httpx.AsyncClient) -> None:
    """K24."""
    handoff_id, link = await site.held(http)
    both = await asyncio.gather(*(http.post(f"{link}/reply", data=FORM) for _ in range(2)))
    assert {r.headers["location"] for r in both} == {link.removeprefix(site.base_url)}
    history = await site.world.temporal.get_workflow_handle(handoff_id).fetch_history()
    ids = [e.workflow_execution_update_accepted_event_attributes.protocol_instance_id for e in history.events]
    assert len([i for i in ids if i.startswith("reply.")]) == 1


async def test_the_first_answer_stands_and_the_second_is_told_so(site: Site, http: httpx.AsyncClient) -> None:
    """K23, also between two people with a link each."""
    handoff_id, link = await site.held(http)
    other = await site.entered(await site.link(handoff_id), http)
    assert texts.OTHERS in (await http.get(link)).text
    await http.post(f"{link}/reply", data=FORM)
    for late in (link, other):
        page = await http.post(f"{late}/reply", data={"answer": "declined"}, follow_redirects=True)
        assert page.status_code == 200 and texts.EARLIER in page.text
    assert (await site.world.client.summary(handoff_id)).answer is Answer.DONE


@pytest.mark.parametrize(("language", "mine"), [("en", "by you or by somebody else"), ("de", "von Ihnen oder von")])
async def test_a_second_link_in_the_same_browser_is_not_said_to_be_somebody_elses(
    site: Site, http: httpx.AsyncClient, language: str, mine: str
) -> None:
    """C5: a link does not tell who has opened it."""
    handoff_id, link = await site.held(http)
    await site.entered(await site.link(handoff_id), http)

    page = (await http.get(link, headers={"accept-language": language})).text

    assert mine in page and texts.OTHERS in (await http.get(link)).text


async def test_an_answer_after_expiry_is_told_so(site: Site, http: httpx.AsyncClient) -> None:
    """K24, A14."""
    handoff_id, link = await site.held(http, timeout_seconds=5)
    await site.world.until(handoff_id, HandoffState.EXPIRED)
    page = await http.post(f"{link}/reply", data=FORM, follow_redirects=True)
    assert texts.LATE in page.text and texts.ENDS[Result.EXPIRED][1] in page.text
    assert (await site.world.client.summary(handoff_id)).answer is None


async def test_an_answer_after_the_browser_was_closed_is_told_so(site: Site, http: httpx.AsyncClient) -> None:
    handoff_id, link = await site.held(http)
    await site.world.client.close(handoff_id)
    page = await http.post(f"{link}/reply", data=FORM, follow_redirects=True)
    assert texts.LATE in page.text and texts.ENDS[Result.CLOSED][0] in page.text


async def test_every_wrong_link_gets_the_same_answer(site: Site, http: httpx.AsyncClient) -> None:
    handoff_id, link = await site.held(http)
    wrong = [new_link(handoff_id)[0], new_link("handoff/b/s/m")[0], "garbage", link[-20:], "%00", "a" * 3000]
    pages = [await http.get(f"/j/{token}") for token in wrong] + [await http.get("/nowhere/at/all")]
    pages += [await http.post(f"/j/{token}/reply", data=FORM) for token in wrong]
    assert {p.status_code for p in pages} == {404}
    assert len({p.content for p in pages}) == 1
    assert len({tuple((k, v) for k, v in p.headers.items() if k != "date") for p in pages}) == 1
    states = [await http.get(f"/j/{token}/state") for token in wrong]
    assert {s.json()["code"] for s in states} == {"link_unknown"}


async def test_every_response_is_strict(site: Site, http: httpx.AsyncClient) -> None:
    """C6."""
    _, link = await site.held(http)
    for url in (link, f"{link}/state", "/j/garbage", "/healthz", "/nowhere"):
        headers = (await http.get(url)).headers
        assert headers["cache-control"] == "no-store" and headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "server" not in headers


async def test_assets_are_local_and_carry_no_token(site: Site, http: httpx.AsyncClient) -> None:
    """K48."""
    _, link = await site.held(http)
    page = (await http.get(link)).text
    assets = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert {asset.partition("?")[0] for asset in assets} == {
        f"/assets/{name}" for name in ("mark.svg", "page.css", "clock.js", "page.js")
    }
    for asset in assets:
        got = await http.get(asset)
        assert got.status_code == 200 and "immutable" in got.headers["cache-control"]
    assert (await http.get("/assets/__init__.py")).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"Origin": "self"}, 303),
        ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, 303),
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
    ],
)
async def test_an_answer_from_another_site_is_refused(
    site: Site, http: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    _, link = await site.held(http)
    headers = {k: site.base_url if v == "self" else v for k, v in headers.items()}
    assert (await http.post(f"{link}/reply", data=FORM, headers=headers)).status_code == status


async def test_a_form_that_cannot_be_taken_changes_nothing(site: Site, http: httpx.AsyncClient) -> None:
    handoff_id, link = await site.held(http)
    for data in ({"answer": "maybe"}, {"note": "x"}, {"answer": "done", "note": "x" * 1001}):
        page = await http.post(f"{link}/reply", data=data)
        assert page.status_code == 400 and "Nothing was sent yet" in page.text
        assert data.get("note", "") in page.text
    assert (await http.post(f"{link}/reply", json=FORM)).status_code == 400
    assert (await http.post(f"{link}/reply", data={**FORM, "note": "x" * 20_000})).status_code == 413
    assert (await site.world.client.summary(handoff_id)).answer is None


async def test_a_note_of_a_thousand_characters_in_any_script_fits(site: Site, http: httpx.AsyncClient) -> None:
    handoff_id, link = await site.held(http)
    note = "漢😀" * 499 + "\r\n" + "x"
    assert (await http.post(f"{link}/reply", data={"answer": "done", "note": note})).status_code == 303
    assert (await site.world.client.summary(handoff_id)).note == note.replace("\r", "")


@pytest.mark.parametrize("base_url", ["https://h.example/ask", "https://H.Example:443/ask"], ids=["plain", "odd"])
async def test_the_page_works_behind_a_prefix(world: World, base_url: str) -> None:
    """And a proxy that names the gateway by another host, however the address is written in its settings."""
    async with open_site(world, base_url=base_url) as site, httpx.AsyncClient(timeout=30) as http:
        handoff_id, link = await site.held()
        door = (await http.get(link)).text
        token = link.rpartition("/")[2]
        assert f'action="/ask/j/{token}/enter"' in door and 'href="/ask/assets/' in door
        headers = {"Origin": "https://h.example"}
        entered = await http.post(f"{link}/enter", data={"step": "enter", "entry": entry_of(door)}, headers=headers)
        cookie = entered.headers["set-cookie"]
        assert "Path=/ask/j;" in cookie and "Secure" in cookie
        headers |= {"Cookie": cookie.partition(";")[0]}
        page = (await http.get(link, headers=headers)).text
        assert f'action="/ask/j/{token}/reply"' in page
        answer = await http.post(f"{link}/reply", data=FORM, headers=headers)
        assert answer.headers["location"] == f"/ask/j/{token}"
        assert (await world.client.summary(handoff_id)).answer is Answer.DONE


async def test_without_temporal_a_person_is_told_to_come_back() -> None:
    async with (
        open_world() as world,
        open_site(world) as patient,
        open_site(world, patience_seconds=0.3) as site,
        httpx.AsyncClient(timeout=30) as http,
    ):
        _, link = await patient.held(http)
        link = link.replace(patient.base_url, site.base_url)
        assert (await http.get(f"{patient.base_url}/readyz")).status_code == 200
        await world.stop()
        for answer in (await http.get(link), await http.post(f"{link}/reply", data=FORM)):
            assert answer.status_code == 503 and texts.UNREACHABLE[0] in answer.text and answer.headers["retry-after"]
        assert (await http.get(f"{link}/state")).json()["code"] == "temporal_unreachable"
        assert (await http.get(f"{site.base_url}/readyz")).status_code == 503
        assert (await http.get(f"{site.base_url}/healthz")).status_code == 200
