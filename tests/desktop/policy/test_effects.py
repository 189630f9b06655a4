"""What the built-in stop list refuses in a real browser, and what it lets by."""

import asyncio

import pytest

from tests.desktop.policy.pages import Pages
from tests.desktop.policy.support import TOUCHES, press, refused, refused_by, shown
from tests.desktop.support import Agent
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract.boundary import Category
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id

SHADOW = """<x-row></x-row><script>customElements.define("x-row",class extends HTMLElement{connectedCallback(){
this.attachShadow({mode:"open"}).innerHTML="<button onclick=\\"fetch('/touched')\\">Delete card</button>"}})</script>"""

CROSSING = {
    "a button": (f"<button {TOUCHES}>Delete account</button>", "button", "delete-account"),
    "an icon with a label": (f"<button aria-label='Delete row' {TOUCHES}>x</button>", "button", "delete"),
    "an icon with a title": (
        f"<button title='Pay bill' {TOUCHES}><svg width=9 height=9></svg></button>",
        "button",
        "pay",
    ),
    "an input that submits": (
        "<form action=/touched><input type=submit value='Place order'></form>",
        "button",
        "order",
    ),
    "a link": ("<a href=/touched>Buy now</a>", "link", "buy"),
    "a link as a button": (f"<a role=button tabindex=0 {TOUCHES}>Grant access</a>", "button", "grant-access"),
    "a shadow root": (SHADOW, "button", "delete"),
    "another language": (f"<button {TOUCHES}>Überweisung ausführen</button>", "button", "pay"),
    "a text that the label hides": (f"<button aria-label=OK {TOUCHES}>Pay now</button>", "button", "pay"),
}


@pytest.mark.parametrize("case", CROSSING)
async def test_a_control_that_is_a_persons_is_not_clicked(guarded: Agent, pages: Pages, case: str) -> None:
    """B1, B2: with the rule's id, and nothing reaches the page."""
    body, role, rule_id = CROSSING[case]
    pages.asked.clear()
    look = await shown(guarded, pages.put(body))
    boundary = await refused(guarded.click(look.find(role=role)))
    assert boundary.rule_id == rule_id
    assert not [each for each in pages.asked if "touched" in each]


async def test_a_control_in_a_frame_of_another_site_is_not_clicked(guarded: Agent, pages: Pages) -> None:
    """B2: out of the page's own process."""
    inner = pages.elsewhere(f"<button {TOUCHES}>Confirm payment</button>")
    look = await shown(guarded, pages.put(f"<h1>Shop</h1><iframe src='{inner}' width=400 height=200></iframe>"))
    button = next(each for each in look.elements() if each.name == "Confirm payment")
    assert (await refused(guarded.click(button.element_id))).category is Category.FINANCIAL
    frame = next(each for each in look.elements() if each.role == "iframe")
    assert (await refused(guarded.click(frame.element_id))).rule_id == "pay"


async def test_what_is_within_a_button_is_the_button(guarded: Agent, pages: Pages) -> None:
    """B2: a click on its text, on its label or on what it fills activates it."""
    body = f"<button aria-label='Delete account' style='width:200px;height:200px' {TOUCHES}><b>Now</b></button>"
    browser = guarded.desktop.browsers.get(guarded.browser_id)
    look = await shown(guarded, pages.put(f"<main style='width:200px'><p>Settings</p>{body}</main>"))
    page = browser.page(None)
    click = b.Click(browser_id=guarded.browser_id, effect_id=new_id("e"), element_id=look.find(role="main"))
    guard = guarded.desktop._guard
    for selector in ("button b", "main"):
        crossed = await refused(guard.check(browser, page, click, page.page.locator(selector)))
        assert crossed.category is Category.DESTRUCTIVE


async def test_a_row_is_clicked_beside_its_delete_button(guarded: Agent, pages: Pages) -> None:
    """B1: the click goes to the middle of the row."""
    delete = "<button style='float:right'>Delete</button>"
    row = f"<div role=row {TOUCHES} style='width:700px;cursor:pointer'>Row {delete}</div>"
    pages.asked.clear()
    look = await shown(guarded, pages.put(f"<div role=table>{row}</div>"))
    await guarded.click(next(each for each in look.elements() if each.role == "row").element_id)
    await until(lambda: "POST /touched" in pages.asked)


@pytest.mark.parametrize("key", ["Enter", "Space"])
async def test_a_key_does_not_press_what_a_click_may_not(guarded: Agent, pages: Pages, key: str) -> None:
    """B2: on an element that is named, and on the one that has the focus."""
    look = await shown(guarded, pages.put("<button id=a autofocus>Pay now</button>"))
    assert (await refused(press(guarded, key, look.find(role="button")))).rule_id == "pay"
    assert (await refused(press(guarded, key))).rule_id == "pay"
    await press(guarded, "Tab")


async def test_enter_in_a_field_does_not_send_what_its_button_may_not(guarded: Agent, pages: Pages) -> None:
    """B2."""
    look = await shown(guarded, pages.put("<form action=/sent><input aria-label=Sum><button>Pay now</button></form>"))
    assert (await refused(press(guarded, "Enter", look.find(role="textbox")))).rule_id == "pay"
    await guarded.fill(look.find(role="textbox"), "12")


async def test_a_key_in_a_frame_goes_by_what_has_the_focus_there(guarded: Agent, pages: Pages) -> None:
    """B2."""
    inner = pages.elsewhere("<input type=password aria-label=Secret>")
    look = await shown(guarded, pages.put(f"<iframe src='{inner}' width=400 height=200></iframe>"))
    browser = guarded.desktop.browsers.get(guarded.browser_id)
    await browser.page(None).page.frames[1].locator("input").focus()
    assert (await refused(press(guarded, "a"))).rule_id == "sign-in-password"
    assert look.boundary is not None and look.boundary.rule_id == "sign-in-password"


async def test_secrets_are_not_filled_in_whatever_the_field_is_called(guarded: Agent, pages: Pages) -> None:
    """B1: agents never type a password or a code, key by key neither."""
    fields = (
        "<input aria-label=Word type=password><input aria-label=Six autocomplete=one-time-code><input aria-label=PIN>"
    )
    look = await shown(guarded, pages.put(f"<h1>In</h1>{fields}"))
    for name in ("Word", "Six", "PIN"):
        element = look.find(role="textbox", name=name)
        assert (await refused(guarded.fill(element, "1"))).category is Category.AUTHENTICATION
        assert (await refused(press(guarded, "1", element))).category is Category.AUTHENTICATION
    assert refused_by(look) == ["sign-in-code"], "those that only their type tells are refused at the effect"


async def test_a_form_with_a_password_is_not_sent_but_the_way_to_it_is_open(guarded: Agent, pages: Pages) -> None:
    """B1: a link that leads to a sign-in page must be clicked for a person to be asked there."""
    form = "<form action=/sent><input type=password aria-label=Password><button>Sign in</button></form>"
    login = pages.put(form, "/login")
    look = await shown(guarded, pages.put(f"<a href='{login}'>Sign in</a>"))
    assert look.boundary is None
    await guarded.click(look.find(role="link", name="Sign in"))
    await until(lambda: guarded.desktop.browsers.get(guarded.browser_id).page(None).page.url == login)
    look = await guarded.look()
    assert look.boundary is not None and look.boundary.rule_id == "sign-in-password"
    assert (await refused(guarded.click(look.find(role="button")))).rule_id == "sign-in-submit"


async def test_a_page_that_only_talks_of_deleting_is_no_boundary(guarded: Agent, pages: Pages) -> None:
    """B1: neither are articles, headings and links to help."""
    text = "<h1>Delete account</h1><p>Press Delete my account, enter your password and pay now.</p>"
    look = await shown(guarded, pages.put(f"{text}<a href='#a'>How to delete your account</a><button>Next</button>"))
    assert look.boundary is None
    assert look.refused == ()
    await guarded.click(look.find(role="link"))
    await guarded.click(look.find(role="button"))


async def test_the_page_of_a_last_step_is_a_boundary_and_names_what_is_refused(guarded: Agent, pages: Pages) -> None:
    """B2: reported on the snapshot that shows it."""
    look = await shown(guarded, pages.put("<h1>Review</h1><button>Edit</button><button>Place your order</button>"))
    assert look.boundary is not None
    assert (look.boundary.rule_id, look.boundary.category) == ("order", Category.FINANCIAL)
    assert [each.element_id for each in look.refused] == [look.find(role="button", name="Place your order")]
    await guarded.click(look.find(role="button", name="Edit"))


async def test_a_download_is_refused_where_a_click_is(guarded: Agent, pages: Pages) -> None:
    """B2: no door avoids it."""
    look = await shown(guarded, pages.put("<button>Delete file</button>"))
    download = b.Download(browser_id=guarded.browser_id, effect_id=new_id("e"), element_id=look.find(role="button"))
    assert (await refused(guarded.desktop.download(download))).rule_id == "delete"


async def test_an_effect_that_was_refused_was_not_begun_and_may_be_asked_again(guarded: Agent, pages: Pages) -> None:
    """B2, A17: under the same id, once the page is another one."""
    look = await shown(guarded, pages.put("<button id=b>Pay now</button>"))
    effect_id = new_id("e")
    await refused(guarded.click(look.find(role="button"), effect_id))
    assert guarded.desktop._effects._ledger.see_effect(effect_id) is None


async def test_a_page_that_hides_what_it_shows_is_not_acted_on(guarded: Agent, pages: Pages) -> None:
    """B2: what cannot be examined is not clicked."""
    look = await shown(
        guarded, pages.put("<button>Go</button><script>Element.prototype.closest=()=>{throw 1}</script>")
    )
    async with asyncio.timeout(30):
        with pytest.raises(Exception) as error:
            await guarded.click(look.find(role="button"))
    assert getattr(error.value, "code", None) is ErrorCode.ACTION_FAILED


async def test_the_label_of_a_field_is_the_field(guarded: Agent, pages: Pages) -> None:
    """B1: what is filled into a label, or pressed on what takes no focus, reaches a field all the same."""
    body = "<label style='cursor:pointer'>Word <input type=password autofocus></label><h1>Hello</h1>"
    look = await shown(guarded, pages.put(body))
    label = [each.element_id for each in look.elements() if each.role == "generic"][-1]
    assert (await refused(guarded.fill(label, "x"))).rule_id == "sign-in-password"
    assert (await refused(press(guarded, "x", look.find(role="heading")))).rule_id == "sign-in-password"


async def test_a_name_with_a_colon_or_a_hash_is_a_name_like_others(guarded: Agent, pages: Pages) -> None:
    """B1, B7: YAML quotes such a line; its value is withheld all the same, and its control is found."""
    fields = "<label>Card: number <input value=planted-secret-7></label><button>Pay order #7: now</button>"
    look = await shown(guarded, pages.put(f"{fields}<button>Order #12345: open</button>"))
    assert "planted-secret-7" not in look.text
    assert "[ref=" not in look.text
    await guarded.click(look.find(role="button", name="Order #12345: open"))
    field = look.find(role="textbox", name="Card: number")
    assert "[value withheld]" in next(line for line in look.text.splitlines() if field in line)
