"""The gateway on one machine, the desktop on another: what goes over the wire between them, and what when it is cut."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.machines import GATEWAY, VIEW, Machines, refused, running_machines
from tests.e2e.test_elsewhere import click_at, sign_in, take_control
from tests.gateway.browsing import person, running_chromium
from tests.waiting import until
from user_handoff.contract.conditions import Url
from user_handoff.contract.handoff import Answer, HandoffState, Result
from user_handoff.gateway import texts
from user_handoff.gateway.links import issue_link

WHY_NOT = refused()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
LARGE: dict[str, Any] = {
    "viewport": {"width": 1280, "height": 1700},
    "expected": ("The Cross-Origin-Opener-Policy header has been ignored",),  # by plain http from another machine
}


@pytest.fixture(scope="module")
async def machines(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Machines]:
    async with running_machines(tmp_path_factory.mktemp("machines")) as machines:
        yield machines


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with running_chromium() as browser:
        yield browser


def control_ended(log: Path) -> str:
    """Why the desk says that control has ended; empty where it has not."""
    return log.read_text().partition("control has ended: ")[2].partition("\n")[0]


async def test_a_sign_in_through_the_view_of_another_machine_survives_a_cut_of_the_wire(
    machines: Machines, chromium: Browser
) -> None:
    """F4, F5, K02: it is said within two seconds, nothing that was pressed stays so, and the hold stands."""
    await machines.start_runner({"HANDOFF_VIEW_LISTEN": VIEW})
    request, _ = await machines.begin(verify=Url("**/invoices"))
    log = machines.folder / "desk" / "logs" / "runner.log"
    async with person(chromium, await issue_link(machines.handoffs, GATEWAY, request.handoff_id), **LARGE) as page:
        view = page.locator("#view")
        await take_control(page)
        seen = machines.portal.state()["focus"]["count"]
        await click_at(page, 0.5, 0.95)
        await page.keyboard.press("Tab")
        await machines.portal.wait_for(lambda state: state["focus"]["count"] > seen)
        await page.keyboard.down("Shift")
        await page.mouse.down()
        with machines.cut():
            await expect(view).to_have_attribute("data-state", "frozen", timeout=2_000)
            await page.keyboard.type("nobody gets this")
            await page.keyboard.up("Shift")
            await page.mouse.up()
            await until(lambda: control_ended(log), 10, wanted=lambda why: why == "silent")
        await take_control(page)
        assert (await machines.handoffs.summary(request.handoff_id)).state is HandoffState.HELD
        await sign_in(page, machines)  # a key that is still down, or a letter too many, and the password is wrong
        await page.get_by_role("button", name="Done").click()
        await machines.look_again(request.handoff_id)
        await expect(page.get_by_role("heading", level=1)).to_have_text(texts.ENDS[Result.VERIFIED][0])
    assert machines.portal.state()["wrong_passwords"] == 0
    assert (await machines.handoffs.summary(request.handoff_id)).result is Result.VERIFIED


async def test_without_a_place_to_listen_the_page_says_so_and_the_answer_counts(
    machines: Machines, chromium: Browser
) -> None:
    """F5: a runner whose view only its own machine can open."""
    await machines.start_runner({})
    request, _ = await machines.begin()
    async with person(chromium, await issue_link(machines.handoffs, GATEWAY, request.handoff_id), **LARGE) as page:
        view = page.locator("#view")
        await expect(view).to_have_attribute("data-state", "unreachable")
        await expect(view).to_contain_text(texts.VIEW_WORDS["unreachable"])
        await page.get_by_role("button", name="Done").click()
        await until(
            lambda: machines.handoffs.summary(request.handoff_id), wanted=lambda seen: seen.answer is Answer.DONE
        )
    log = (machines.folder / "office" / "logs" / "server.log").read_text()
    assert "HANDOFF_VIEW_LISTEN" in log
