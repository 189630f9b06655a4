"""What was typed is withheld in whatever form a page repeats it, and in pictures of what no style reaches."""

import operator
import time
from collections.abc import AsyncIterator

import pytest

from tests.desktop.policy.pages import Pages
from tests.desktop.policy.support import shown
from tests.desktop.snapshots.test_privacy import NOISE, page_of, pixels
from tests.desktop.support import Agent
from user_handoff.contract import browser as b
from user_handoff.contract.conditions import Url
from user_handoff.contract.handoff import CheckCondition
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.snapshots.redact import scrub, scrub_tree

SAID = {
    "in capitals": ("hunter-two", "Hello HUNTER-TWO"),
    "a number in groups": ("4111111111111111", "4111 1111 1111-1111"),
    "a number without its groups": ("DE02 1203 0000 0000 2020 51", "de02120300000000202051"),
    "a part of an address": ("my word!/x", "/u/my%20word!%2Fx"),
    "a path": ("p@ss word", "/u/p@ss%20word"),
    "a form's field": ("my word x", "/u/my+word+x"),
    "letters with their marks apart": ("r\u00e9sum\u00e9 x", "re\u0301sume\u0301 x"),
    "a word of the mark itself": ("withheld", "withheld"),
}


@pytest.mark.parametrize("case", SAID)
def test_a_value_is_withheld_in_whatever_form_it_is_repeated(case: str) -> None:
    """B7: the whole of it."""
    value, said = SAID[case]
    assert scrub(said, {value, "else"}) in ("[withheld]", "Hello [withheld]", "/u/[withheld]")
    assert scrub_tree(f'- link "{said}" [id=a.e1]: {said}', {value}).count("[withheld]") == 2


@pytest.mark.parametrize(("value", "said"), [("Ann", "annual"), ("12 ab", "1-2ab"), ("a1", "a1")])
def test_what_only_resembles_a_value_stays(value: str, said: str) -> None:
    assert scrub(said, {value}) == said


def test_a_large_tree_with_many_values_is_scrubbed_soon() -> None:
    tree = "\n".join(f'- button "Button {n} does a thing" [id=a.e{n}]: text of line {n}' for n in range(10_000))
    values = {"text", "4111 1111 1111 1111", *(f"value {n}-{n}" for n in range(200))}
    began = time.thread_time()
    assert scrub_tree(tree, values).count("[withheld]") == 10_000
    assert time.thread_time() - began < 1.5


CLOSED = """<div id=h></div><script>
h.attachShadow({mode: 'closed'}).innerHTML = "<input style='font-family:monospace' value='%s'>"</script>"""
FIELD = "<input value='%s' style='font-family:monospace;font-size:30px' autofocus>"
DRAWN = {
    "selected": f"{FIELD}<script>document.querySelector('input').select()</script>",
    "selected in a colour": f"<style>::selection{{color:red}}</style>{FIELD}"
    "<script>document.querySelector('input').select()</script>",
    "its background": "<style>input{background:linear-gradient(red,blue);-webkit-background-clip:text}</style>" + FIELD,
    "a closed shadow root": CLOSED,
    "repeated in capitals": f"{FIELD}<p style='font-family:monospace'></p><script>"
    "document.querySelector('p').textContent = document.querySelector('input').value.toUpperCase()</script>",
}


@pytest.fixture(scope="module")
async def fresh(desktop: Desktop) -> AsyncIterator[Agent]:
    agent = await Agent.open(desktop)
    yield agent
    await agent.close()


def difference(one: bytes, other: bytes) -> int:
    return int(max(map(abs, map(operator.sub, one, other))))


@pytest.mark.parametrize("case", DRAWN)
async def test_a_picture_does_not_show_a_field_in_any_way(fresh: Agent, pages: Pages, case: str) -> None:
    """B7, K40."""
    seen = []
    for value in ("secretvalue", "canaryvalue"):
        await shown(fresh, pages.put(DRAWN[case] % value))
        await page_of(fresh).bring_to_front()
        seen.append(await pixels(fresh))
    assert difference(*seen) <= NOISE
    assert await page_of(fresh).locator("style").count() == DRAWN[case].count("<style>"), "nothing is left behind"


async def test_a_picture_does_not_show_what_is_closed_in_a_frame(fresh: Agent, pages: Pages) -> None:
    """B7: of the same site and of another."""
    seen = []
    for value in ("secretvalue", "canaryvalue"):
        inner = (pages.put(CLOSED % value), pages.elsewhere(CLOSED % value))
        await shown(fresh, pages.put("".join(f"<iframe src='{url}' width=300 height=200></iframe>" for url in inner)))
        seen.append(await pixels(fresh))
    assert difference(*seen) <= NOISE


async def test_no_address_and_no_file_says_what_is_in_a_field(fresh: Agent, pages: Pages) -> None:
    """B7: before any look as well; neither what was observed, nor the name of a download."""
    link = "<a download='of-robin-the-typed.txt' href='data:text/plain,x'>Get</a>"
    look = await shown(fresh, pages.put(f"<input aria-label=F id=f>{link}"))
    await page_of(fresh).evaluate("f.value = 'robin-the-typed'; history.pushState(0, '', '/u/robin-the-typed')")
    assert (await fresh.info()).pages[0].url.endswith("/u/[withheld]")
    check = CheckCondition(browser_id=fresh.browser_id, condition=Url("**/u/*"), timeout_seconds=1)
    seen = await fresh.desktop.check(check)
    assert seen.met and "robin" not in seen.model_dump_json()
    get = b.Download(browser_id=fresh.browser_id, effect_id=new_id("e"), element_id=look.find(role="link"))
    assert "robin" not in (await fresh.desktop.download(get)).model_dump_json()
