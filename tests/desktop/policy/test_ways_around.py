"""Other ways to what an agent may not do: by another key, name, role, frame or spelling."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.desktop.policy.pages import Pages
from tests.desktop.policy.support import TOUCHES, press, refused, refused_by, shown
from tests.desktop.support import Agent, code_of
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract.boundary import CONFIRM, Category, UrlRule
from user_handoff.contract.conditions import AnyOf, Not, Probe, Text
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import CheckCondition, FinishHold, GuardHold
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.policy.facts import facts_of_page

CALLED = {
    "a text that is hidden beside it": f"<button {TOUCHES}><span hidden>Loading</span>Pay now</button>",
    "a text of a style": f"<style>#x::before{{content:'Pay now'}}</style><button id=x {TOUCHES}></button>",
    "soft hyphens": f"<button {TOUCHES}>De&shy;lete ac&shy;count</button>",
    "marks without width": f"<button {TOUCHES}>Pay&#8203; n&#8205;ow</button>",
    "wide letters": f"<button {TOUCHES}>\uff30\uff41\uff59 \uff4e\uff4f\uff57</button>",  # Pay now
    "letters of another alphabet": f"<button {TOUCHES}>\u0420\u0430y n\u043ew</button>",
    "an icon": f"<div role=img aria-label='Delete account' style='width:50px;height:50px' {TOUCHES}></div>",
    "an option": f"<div role=listbox><div role=option {TOUCHES}>Delete account</div></div>",
    "a tab": f"<div role=tablist><div role=tab {TOUCHES}>Delete account</div></div>",
    "one of a menu's choices": f"<div role=menu><div role=menuitemradio {TOUCHES}>Delete account</div></div>",
}


@pytest.fixture(scope="module")
async def ruled(desktop: Desktop) -> AsyncIterator[Agent]:
    """A browser that must not go to one page."""
    rule = UrlRule(rule_id="pay-page", category=Category.FINANCIAL, glob="http://*/pay/confirm")
    agent = await Agent.open(desktop, rules=[rule.model_dump()])
    yield agent
    await agent.close()


@pytest.mark.parametrize("case", CALLED)
async def test_what_a_person_reads_is_what_it_is_called(guarded: Agent, pages: Pages, case: str) -> None:
    """B1, B2: however the page says it."""
    pages.asked.clear()
    look = await shown(guarded, pages.put(CALLED[case]))
    assert (await refused(guarded.click(look.elements()[-1].element_id))).rule_id in ("pay", "delete-account")
    assert not [each for each in pages.asked if "touched" in each]


async def test_a_clickable_icon_is_told_as_refused(guarded: Agent, pages: Pages) -> None:
    """B2: on the snapshot that shows it."""
    icon = "<span role=img aria-label='Delete row' style='cursor:pointer;display:block;width:50px;height:50px'></span>"
    assert refused_by(await shown(guarded, pages.put(icon))) == ["delete"]


async def test_what_holds_a_control_is_not_called_like_it(guarded: Agent, pages: Pages) -> None:
    """B1: a dialog about deleting can be left."""
    dialog = f"<div role=dialog aria-label='Delete account'><button {TOUCHES}>Cancel</button></div>"
    pages.asked.clear()
    look = await shown(guarded, pages.put(dialog))
    await guarded.click(look.find(role="button", name="Cancel"))
    await until(lambda: "POST /touched" in pages.asked)


async def test_a_click_around_a_frame_or_a_label_goes_to_what_is_in_it(guarded: Agent, pages: Pages) -> None:
    """B2: the click goes to the middle."""
    inner = pages.put("<body style='margin:0'><button style='width:400px;height:200px'>Confirm payment</button>")
    frame = f"<iframe src='{inner}' width=400 height=200 style='border:0'></iframe>"
    look = await shown(guarded, pages.put(f"<main style='width:400px;height:200px'>{frame}</main>"))
    assert (await refused(guarded.click(look.find(role="main")))).rule_id == "pay"
    label = "<label for=z style='display:block;height:100px'>Next</label>"
    box = "<input id=z type=checkbox style='position:absolute;left:600px' aria-label='Delete account'>"
    look = await shown(guarded, pages.put(f"<main style='width:400px'>{label}</main>{box}"))
    assert (await refused(guarded.click(look.find(role="main")))).rule_id == "delete-account"


@pytest.mark.parametrize(
    ("form", "role"),
    [
        ("<input type=checkbox aria-label=News><button>Pay now</button>", "checkbox"),
        ("<input aria-label=Sum><input type=image alt='Pay now' src=/x>", "textbox"),
    ],
)
async def test_enter_sends_a_form_from_every_kind_of_field(guarded: Agent, pages: Pages, form: str, role: str) -> None:
    """B2: by whatever kind of button it is sent."""
    look = await shown(guarded, pages.put(f"<form action=/sent>{form}</form>"))
    assert (await refused(press(guarded, "Enter", look.find(role=role)))).rule_id == "pay"


@pytest.mark.parametrize("key", ["ArrowDown", "End", "d"])
async def test_a_key_does_not_choose_what_may_not_be_chosen(guarded: Agent, pages: Pages, key: str) -> None:
    """B2: a list may act on what is chosen, and so may radio buttons."""
    choice = "<select aria-label=Act><option>None<option>Delete account</select>"
    look = await shown(guarded, pages.put(choice))
    assert (await refused(press(guarded, key, look.find(role="combobox")))).rule_id == "delete-account"
    if key == "ArrowDown":
        radios = (
            "<label><input type=radio name=a checked>Keep</label><label><input type=radio name=a>Delete account</label>"
        )
        look = await shown(guarded, pages.put(radios))
        assert (await refused(press(guarded, key, look.find(role="radio", name="Keep")))).rule_id == "delete-account"
        look = await shown(guarded, pages.put(choice.replace("Delete account", "Archive")))
        await press(guarded, key, look.find(role="combobox"))


@pytest.mark.parametrize(
    ("body", "role"),
    [
        ("<form action='/pay/confirm'><input type=hidden name=action value=x><button>Go</button></form>", "button"),
        ("<svg width=90 height=50><a href='/pay/confirm'><rect width=90 height=50></rect></a></svg>", "link"),
    ],
)
async def test_an_address_that_a_page_hides_is_found(ruled: Agent, pages: Pages, body: str, role: str) -> None:
    """B2: a form with a field called "action", and links in drawings."""
    look = await shown(ruled, pages.put(body))
    assert (await refused(ruled.click(look.find(role=role)))).rule_id == "pay-page"


async def test_an_address_is_the_same_however_it_is_written(ruled: Agent, pages: Pages) -> None:
    """B2: as the browser and the server read it."""
    url = pages.put("<h1>Paid</h1>", "/pay/confirm")
    pages.asked.clear()
    for other in (
        url.replace("/pay/confirm", "\\pay\\confirm"),
        url.replace("http://", "http:"),
        url.replace("/pay", "/x/%2e%2e/pay"),
        url.replace("/pay", "/p%61y"),
        url.replace("/pay", "/p\ta\ny"),
    ):
        assert (await refused(ruled.go(other))).rule_id == "pay-page", other
    assert pages.asked == []


async def test_a_probe_does_not_go_where_an_agent_may_not(ruled: Agent, pages: Pages) -> None:
    """B2: it is a request with the person's cookies."""
    url = pages.put("<h1>Paid</h1>", "/pay/confirm")
    pages.asked.clear()
    condition = AnyOf(Not(Probe(url=url)), Text("Paid"))
    look = CheckCondition(browser_id=ruled.browser_id, condition=condition, timeout_seconds=1)
    assert (await refused(ruled.desktop.check(look))).rule_id == "pay-page"
    receipt = await ruled.begin()
    watch = GuardHold(**ruled.named(receipt).model_dump(), watch=condition)
    watching = asyncio.create_task(ruled.desktop.guard(watch))
    await ruled.finish(receipt)
    await ruled.look()
    assert (await watching).how == "recovered", "a hold is not ended by that"
    assert pages.asked == []


async def test_what_is_in_a_frame_waits_for_a_person_as_well(desktop: Desktop, pages: Pages) -> None:
    """B2: confirm_before_submit; and closing a page spends what was confirmed, like every other effect."""
    agent = await Agent.open(desktop, confirm_before_submit=True)
    try:
        inner = pages.put("<body style='margin:0'><button style='width:400px;height:200px'>Send</button>")
        frame = f"<iframe src='{inner}' width=400 height=200 style='border:0'></iframe>"
        look = await shown(agent, pages.put(f"{frame}<button onclick='window.open(\"/other\")'>Open</button>"))
        assert (await refused(agent.click(look.find(role="iframe")))).rule_id == CONFIRM
        await agent.click(look.find(role="button", name="Open"))
        await until(lambda: len(desktop.browsers.get(agent.browser_id).pages) == 2)
        receipt = await agent.begin()
        await desktop.finish(FinishHold(**agent.named(receipt).model_dump(), confirmed=True))
        first, other = (page.page_id for page in desktop.browsers.get(agent.browser_id).pages)
        await agent.look(other)
        close = b.ClosePage(browser_id=agent.browser_id, effect_id=new_id("e"), page_id=other)
        await desktop.act(close)
        look = await agent.look(first)
        assert (await refused(agent.click(look.find(role="iframe")))).rule_id == CONFIRM
    finally:
        await agent.close()


async def test_no_key_goes_to_what_is_closed_to_every_look(guarded: Agent, pages: Pages) -> None:
    """B2: a closed shadow root; the way out of it is open."""
    button = """<button onclick="fetch('/touched')">Pay now</button>"""
    script = f"const r = h.attachShadow({{mode: 'closed'}}); r.innerHTML = `{button}`; r.firstChild.focus()"
    await shown(guarded, pages.put(f"<x-pay id=h></x-pay><script>{script}</script>"))
    pages.asked.clear()
    for key in ("Enter", "Space", "a"):
        assert await code_of(press(guarded, key)) is ErrorCode.ACTION_TIMEOUT
    await press(guarded, "Tab")
    assert pages.asked == []


async def test_native_input_meets_what_only_looks_like_a_control(guarded: Agent, pages: Pages) -> None:
    """B2: what shows a hand, what a label stands for, what a list offers; a page with too much on it is not used."""
    browser = guarded.desktop.browsers.get(guarded.browser_id)
    guard, page = guarded.desktop._guard, browser.page(None)
    tiny = "position:absolute;width:1px;height:1px;opacity:0"
    for body in (
        "<div style='cursor:pointer'>Delete account</div>",
        f"<label><input type=checkbox tabindex=-1 style='{tiny}'>I'm not a robot</label>",
        "<select aria-label=Act><option>None<option>Delete account</select>",
    ):
        await guarded.go(pages.put(f"<h1>Text</h1>{body}"))
        assert await guard.shows_boundary(browser, page) is not None, body
    await guarded.go(pages.put("<button>Next</button>" * 3001 + "<button>Delete account</button>"))
    async with asyncio.timeout(30):
        assert await code_of(guard.shows_boundary(browser, page)) in (
            ErrorCode.ACTION_TIMEOUT,
            ErrorCode.BOUNDARY_REACHED,
        )
    assert not (await facts_of_page(page, "controls")).whole
