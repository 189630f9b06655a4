"""The scripted person types exactly, at one window, by native input only."""

import asyncio
import string

import pytest
from playwright.async_api import Page

from examples.person import NotSeen, act, sign_in
from examples.portal import Portal

SYMBOLS = string.punctuation + " " + string.ascii_letters + string.digits
"""Every printable ASCII character."""


async def test_every_printable_ascii_character_arrives_exactly(
    page: Page, window_id: int, display_env: dict[str, str]
) -> None:
    """K50, at the desk."""
    async with Portal.start(password=SYMBOLS) as portal:
        await page.goto(f"{portal.url}/invoices")
        await sign_in(display_env, window_id, portal)
        state = portal.state()
        assert (state["stage"], state["logins"], state["wrong_passwords"]) == ("in", 1, 0)
        await page.wait_for_url("**/invoices")


async def test_only_typing_leaves_the_password_in_the_field_and_sends_nothing(
    page: Page, window_id: int, display_env: dict[str, str], portal: Portal
) -> None:
    """K40."""
    await page.goto(f"{portal.url}/login")
    await act("only-type", display_env, window_id, portal)
    assert await page.get_by_label("Password").input_value() == portal.password
    assert portal.state()["stage"] == "out"
    assert "POST /login" not in portal.state()["requests"]


async def test_a_wrong_password_ends_on_an_error_page(
    page: Page, window_id: int, display_env: dict[str, str], portal: Portal
) -> None:
    """K20."""
    await page.goto(f"{portal.url}/login")
    await act("wrong-password", display_env, window_id, portal)
    await page.get_by_role("heading", name="Sign-in failed").wait_for()
    assert portal.stage == "out"


async def test_a_wrong_code_ends_on_an_error_page(
    page: Page, window_id: int, display_env: dict[str, str], portal: Portal
) -> None:
    """K20."""
    await page.goto(f"{portal.url}/login")
    await act("wrong-code", display_env, window_id, portal)
    await page.get_by_role("heading", name="Sign-in failed").wait_for()
    assert portal.stage == "code"


async def test_a_native_dialog_is_answered_by_a_key(
    page: Page, window_id: int, display_env: dict[str, str], portal: Portal
) -> None:
    """K70."""
    shown = asyncio.Event()
    page.on("dialog", lambda dialog: shown.set())  # left to the person
    await page.goto(f"{portal.url}/consent")
    click = asyncio.create_task(page.get_by_role("button", name="Allow access").click())
    await asyncio.wait_for(shown.wait(), 30)
    await act("keys", display_env, window_id, portal, keys=["Return"])
    await click
    assert (await portal.wait_for(lambda state: state["consent"] is not None))["consent"] == "yes"


async def test_a_window_that_does_not_exist_is_said(display_env: dict[str, str], portal: Portal) -> None:
    with pytest.raises(NotSeen, match="no window"):
        await act("sign-in", display_env, 0x1, portal)


async def test_what_the_person_says_holds_no_secret(page: Page, display_env: dict[str, str]) -> None:
    """B7."""
    async with Portal.start(password="unwritable-漢-password") as portal:
        with pytest.raises(NotSeen) as raised:
            await act("sign-in", display_env, 0x1, portal)
        assert "unwritable" not in str(raised.value)
