"""Limits that are declared when a browser is opened, rules on URLs, and native input."""

import pytest

from tests.desktop.hands import Hands
from tests.desktop.policy.pages import Pages
from tests.desktop.policy.support import TOUCHES, press, refused, shown
from tests.desktop.support import Agent, code_of
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract.boundary import CONFIRM, READ_ONLY, Category, ControlRule, ResponseRule, UrlRule
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import FinishHold
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop

FORM = "<form action=/sent method=post><input aria-label=Note name=n><button>Go</button></form>"


async def test_a_browser_for_reading_goes_to_pages_and_does_nothing_to_them(desktop: Desktop, pages: Pages) -> None:
    """B2: read_only; navigation by GET is allowed, back and closing too."""
    agent = await Agent.open(desktop, read_only=True)
    try:
        other = pages.put("<h1>Other</h1>")
        look = await shown(agent, pages.put(f"<button {TOUCHES}>Next</button>{FORM}<a href='{other}'>Other</a>"))
        button, field = look.find(role="button", name="Next"), look.find(role="textbox")
        new = {"browser_id": agent.browser_id, "effect_id": new_id("e"), "element_id": button}
        pages.asked.clear()
        for effect in (
            agent.click(button),
            agent.fill(field, "x"),
            press(agent, "Enter", button),
            press(agent, "a"),
            desktop.act(b.Select(**new, labels=("a",))),
            desktop.download(b.Download(**new)),
            agent.click(look.find(role="link")),
        ):
            assert (await refused(effect)).rule_id == READ_ONLY
        await agent.go(other)
        await desktop.act(b.Back(browser_id=agent.browser_id, effect_id=new_id("e")))
        assert not [each for each in pages.asked if each.startswith("POST")]
    finally:
        await agent.close()


async def test_what_submits_waits_for_a_person_who_says_done(desktop: Desktop, pages: Pages) -> None:
    """B2: confirm_before_submit; the confirmation is for the very next effect, in the document that the person saw."""
    agent = await Agent.open(desktop, confirm_before_submit=True)
    try:
        look = await shown(agent, pages.put(f"{FORM}<button>Send message</button><button>Next</button>"))
        await agent.fill(look.find(role="textbox"), "x")
        await agent.click(look.find(role="button", name="Next"))
        for effect in (
            agent.click(look.find(role="button", name="Go")),
            agent.click(look.find(role="button", name="Send message")),
            press(agent, "Enter", look.find(role="textbox")),
        ):
            assert (await refused(effect)).rule_id == CONFIRM

        pages.asked.clear()
        for confirmed, between in ((False, False), (True, True)):
            await _handed_over(agent, confirmed)
            look = await agent.look()
            if between:
                await agent.fill(look.find(role="textbox"), "something else")
            assert (await refused(agent.click(look.find(role="button", name="Go")))).rule_id == CONFIRM
        await _handed_over(agent, confirmed=True)
        await agent.click((await agent.look()).find(role="button", name="Go"))
        await until(lambda: "POST /sent" in pages.asked)
    finally:
        await agent.close()


async def _handed_over(agent: Agent, confirmed: bool) -> None:
    receipt = await agent.begin()
    named = agent.named(receipt)
    await agent.desktop.finish(FinishHold(**named.model_dump(), confirmed=confirmed) if confirmed else named)


async def test_a_persons_done_does_not_make_the_stop_list_shorter(desktop: Desktop, pages: Pages) -> None:
    """B2: what the person was asked for they do; the control stays theirs."""
    agent = await Agent.open(desktop, confirm_before_submit=True)
    try:
        await shown(agent, pages.put("<button>Pay now</button>"))
        await _handed_over(agent, confirmed=True)
        assert (await refused(agent.click((await agent.look()).find(role="button")))).rule_id == "pay"
    finally:
        await agent.close()


async def test_rules_of_a_browser_on_urls_controls_and_answers(desktop: Desktop, pages: Pages) -> None:
    """B1, B2: a page that is a person's is reached by no door, and left again; a sign-in page is reached."""
    pay, gone = (
        pages.put("<button>Hello</button>", "/pay/confirm"),
        pages.put("<button>No</button>", "/gone", status=403),
    )
    start = pages.put(f"<a href='{pay}'>Continue</a><form action='{pay}'><button>Review</button></form>")
    rules = (
        UrlRule(rule_id="pay-page", category=Category.FINANCIAL, glob="**/pay/confirm"),
        UrlRule(rule_id="login-page", glob="**/enter"),
        ControlRule(rule_id="archive", category=Category.DESTRUCTIVE, role="button", name="^archive$"),
        ResponseRule(rule_id="forbidden", category=Category.ACCOUNT, statuses=(403,), refuses=True),
    )
    agent = await Agent.open(desktop, rules=[rule.model_dump() for rule in rules])
    try:
        look = await shown(agent, start)
        for effect in (agent.go(pay), agent.click(look.find(role="link")), agent.click(look.find(role="button"))):
            assert (await refused(effect)).rule_id == "pay-page"
        page = desktop.browsers.get(agent.browser_id).page(None).page
        await page.goto(pay)
        look = await agent.look()
        assert look.boundary is not None and look.boundary.rule_id == "pay-page"
        assert (await refused(agent.click(look.find(role="button")))).rule_id == "pay-page"
        look = await shown(agent, pages.put("<button>Archive</button>", "/enter"))
        assert look.boundary is not None and look.boundary.rule_id == "archive"
        assert (await refused(agent.click(look.find(role="button")))).rule_id == "archive"
        look = await shown(agent, gone)
        assert look.boundary is not None and look.boundary.reason == "status 403"
        assert (await refused(agent.click(look.find(role="button")))).rule_id == "forbidden"
        await page.goto(pay)
        await page.goto(start)
        assert (
            await refused(desktop.act(b.Back(browser_id=agent.browser_id, effect_id=new_id("e"))))
        ).rule_id == "pay-page"
    finally:
        await agent.close()


async def test_a_caller_cannot_take_a_rule_away(desktop: Desktop, pages: Pages) -> None:
    """B1: a rule of its own under the id of a built-in one changes nothing."""
    weak = ControlRule(rule_id="pay", role="button", name="^never$", refuses=False)
    agent = await Agent.open(desktop, rules=[weak.model_dump()])
    try:
        look = await shown(agent, pages.put("<button>Pay now</button>"))
        assert (await refused(agent.click(look.find(role="button")))).rule_id == "pay"
    finally:
        await agent.close()


async def test_native_input_does_not_reach_a_browser_that_shows_a_boundary(
    editor: Agent, hands: Hands, pages: Pages
) -> None:
    """B2: pointer and keys know no elements, so nothing of a page that shows one is clicked or typed at."""
    page = editor.desktop.browsers.get(editor.browser_id).page(None).page
    await page.goto(pages.put(f"<h1 style='height:500px' {TOUCHES}>Text</h1><button>Delete account</button>"))
    await page.bring_to_front()
    pages.asked.clear()
    for action in (c.ClickAt(x=640, y=400), c.TypeText(text="x"), c.PressKeys(keys=("enter",))):
        assert (await refused(_native(editor.desktop, action))).rule_id == "delete-account"
    await _native(editor.desktop, c.Move(x=640, y=400))
    await page.goto(pages.put(f"<h1 style='height:700px' {TOUCHES}>Text</h1>"))
    await _native(editor.desktop, c.ClickAt(x=640, y=400))
    await until(lambda: "POST /touched" in pages.asked)


async def _native(desktop: Desktop, action: c.ComputerAction) -> c.ComputerReceipt:
    look = await desktop.observe_computer(c.ObserveComputer())
    return await desktop.computer(c.ComputerEffect(effect_id=new_id("e"), generation=look.generation, action=action))


@pytest.mark.parametrize("limit", ["read_only", "confirm_before_submit"])
async def test_native_input_does_not_get_round_a_limit(desktop: Desktop, pages: Pages, limit: str) -> None:
    """B2."""
    limits: dict[str, object] = {limit: True}
    agent = await Agent.open(desktop, "about:blank", **limits)
    try:
        await agent.go(pages.put("<h1>Text</h1>"))
        await desktop.browsers.get(agent.browser_id).page(None).page.bring_to_front()
        assert (await refused(_native(desktop, c.ClickAt(x=640, y=400)))).rule_id == limit.replace("_", "-")
    finally:
        await agent.close()


async def test_opening_a_browser_at_a_page_that_is_a_persons_is_refused(desktop: Desktop, pages: Pages) -> None:
    """B2: the first navigation is an effect like every other."""
    rule = UrlRule(rule_id="pay-page", category=Category.FINANCIAL, glob="**/pay/confirm")
    spec = b.OpenBrowser(
        browser_id=new_id("b"), session_id="s", owner="agent:test", url=pages.put("", "/pay/confirm"), rules=(rule,)
    )
    assert await code_of(desktop.open_browser(spec)) is ErrorCode.BOUNDARY_REACHED
    await desktop.close_browser(b.BrowserRequest(browser_id=spec.browser_id))
