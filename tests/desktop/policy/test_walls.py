"""Walls of a sign-in: three signals together, CAPTCHAs and passkeys. They are told, and never got past."""

import pytest

from tests.desktop.policy.pages import Pages
from tests.desktop.policy.support import refused, shown
from tests.desktop.support import Agent
from user_handoff.contract.boundary import Category, Seen, Shown, StopList, UrlRule
from user_handoff.contract.boundary.built_in import BUILT_IN
from user_handoff.contract.boundary.walls import signals
from user_handoff.contract.browser import Snapshot

BUTTON, FIELD, LINK = ("button", "Sign in"), ("textbox", "Email"), ("link", "Sign in")


@pytest.mark.parametrize(
    ("url", "status", "control", "wall"),
    [
        ("https://a.example/start", 401, None, True),
        ("https://a.example/start", 407, None, True),
        ("https://a.example/login", 200, FIELD, True),
        ("https://login.a.example/", 200, BUTTON, True),
        ("https://a.example/reports", 403, LINK, True),
        ("https://a.example/signin", 403, None, True),
        ("https://a.example/reports", 403, None, False),
        ("https://a.example/login", 200, None, False),
        ("https://a.example/shop", 200, LINK, False),
        ("https://a.example/shop", 200, BUTTON, False),
        ("https://a.example/login", 200, LINK, False),
        ("https://a.example/blog/how-to-login-safely", 200, BUTTON, False),
    ],
)
def test_one_strong_sign_or_two_weak_ones_are_a_wall(
    url: str, status: int, control: tuple[str, str] | None, wall: bool
) -> None:
    """B1: every combination of URL, control and status that matters."""
    controls = [(*control, frozenset[str]())] if control else []
    assert bool(signals(url, status, controls)) is wall


async def test_a_page_that_asks_for_the_name_first_is_a_wall(guarded: Agent, pages: Pages) -> None:
    """B2: no field for a password is there yet; why is told without the query."""
    body = "<h1>Welcome</h1><label>E-mail <input autocomplete=username></label><button>Next</button>"
    look = await shown(guarded, pages.put(body, "/signin") + "?next=SECRET")
    assert look.boundary is not None
    assert (look.boundary.rule_id, look.boundary.category) == ("sign-in-wall", Category.AUTHENTICATION)
    assert "sign-in page" in look.boundary.reason and "name of an account" in look.boundary.reason
    assert "SECRET" not in look.boundary.model_dump_json()


@pytest.mark.parametrize(("status", "wall"), [(401, True), (403, False)])
async def test_the_answer_of_the_main_document_counts(guarded: Agent, pages: Pages, status: int, wall: bool) -> None:
    """B1: as the browser knows it, also for a runner that was not there when it came."""
    look = await shown(guarded, pages.put("<h1>No</h1>", f"/answer{status}", status=status))
    assert (look.boundary is not None) is wall
    if look.boundary:
        assert look.boundary.reason == f"status {status}"


@pytest.mark.parametrize(
    ("body", "rule_id"),
    [
        ("<label><input type=checkbox> I'm not a robot</label>", "captcha"),
        ("<label>Enter the characters you see below <input></label>", "captcha-field"),
        ("<button>Sign in with a passkey</button>", "passkey"),
    ],
)
async def test_a_captcha_and_a_passkey_are_walls(guarded: Agent, pages: Pages, body: str, rule_id: str) -> None:
    """B1: nothing of them is clicked or filled in."""
    look = await shown(guarded, pages.put(f"<h1>One more step</h1>{body}"))
    assert look.boundary is not None and look.boundary.rule_id == rule_id
    element = next(each for each in look.elements() if each.role in ("checkbox", "textbox", "button"))
    effect = guarded.fill(element.element_id, "x") if element.role == "textbox" else guarded.click(element.element_id)
    assert (await refused(effect)).rule_id == rule_id


async def test_a_captcha_is_known_by_its_frame_where_a_person_sees_it(guarded: Agent, pages: Pages) -> None:
    """B1: a frame that nobody sees asks nobody anything; in the one that is seen nothing is clicked."""
    pages.put("<button>Check</button>", "/recaptcha/api2/anchor")
    frame = "<iframe src='/recaptcha/api2/anchor{0}' width={1} height={1}></iframe>"
    rules = (UrlRule(rule_id="frame", glob="http://*/recaptcha/**", frames=True, refuses=True),)
    agent = await Agent.open(guarded.desktop, rules=[rule.model_dump() for rule in rules])
    try:
        for query, size in (("?size=invisible", 200), ("", 0)):
            look = await shown(agent, pages.put(frame.format(query, size)))
            assert look.boundary is None
        look = await shown(agent, pages.put(frame.format("", 200)))
        assert look.boundary is not None and look.boundary.rule_id == "frame"
        inside = next(each for each in look.elements() if each.name == "Check")
        assert (await refused(agent.click(inside.element_id))).rule_id == "frame"
    finally:
        await agent.close()


@pytest.mark.parametrize(
    "url",
    [
        "https://www.google.com/recaptcha/api2/anchor?k=1",
        "https://www.recaptcha.net/recaptcha/enterprise/bframe",
        "https://newassets.hcaptcha.com/captcha/v1/static/hcaptcha.html",
        "https://challenges.cloudflare.com/cdn-cgi/challenge-platform/h/b/turnstile",
        "https://client-api.arkoselabs.com/fc/gc/",
    ],
)
def test_the_frames_of_known_captchas_are_in_the_list(url: str) -> None:
    """B1."""
    boundary = StopList(BUILT_IN).boundary("p", Seen("https://a.example/", frames=(url,)))
    assert boundary is not None and boundary.rule_id.startswith("captcha-")
    assert StopList(BUILT_IN).frame(url) is not None


async def test_what_is_typed_is_not_in_the_reason(guarded: Agent, pages: Pages) -> None:
    """B7: a page that echoes a field's value in the name of a control."""
    body = "<input aria-label=Name value=robin-the-secret><button>Pay with robin-the-secret</button>"
    look: Snapshot = await shown(guarded, pages.put(body))
    assert look.boundary is not None and look.boundary.rule_id == "pay"
    assert "robin" not in look.model_dump_json()
    await guarded.look()
    assert "robin" not in (await refused(guarded.click((await guarded.look()).refused[0].element_id))).model_dump_json()


def test_a_control_goes_by_each_of_its_names() -> None:
    shown_ = Shown("button", ("OK", "Delete account"))
    met = StopList(BUILT_IN).control(shown_)
    assert met is not None and met[0].rule_id == "delete-account"
