"""`handoff cdp-url` against all real parts: whom it lets in, and what it leaves behind."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from playwright.async_api import async_playwright

from tests.cli.conftest import command
from tests.desktop.host.raw import raw_client
from tests.e2e.stack import OWNER, Stack
from user_handoff.client.access import Access
from user_handoff.client.doors import DoorClient
from user_handoff.contract.browser import BrowserInfo, BrowserRequest, OpenBrowser
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope


async def cdp_url(stack: Stack, *arguments: str) -> tuple[int, str, str]:
    """Run the command; its exit code and what it says."""
    environment = {**os.environ, "TEMPORAL_ADDRESS": stack.engine.address, "TEMPORAL_CONFIG_FILE": os.devnull}
    process = await asyncio.create_subprocess_exec(
        *command("cdp-url", *arguments, "--state", str(stack.state)),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode or 0, out.decode(), err.decode()


async def opened(stack: Stack, *more: Scope) -> str:
    """A browser of a session with these scopes beside the usual ones."""
    session_id, browser_id = new_id("s"), new_id("b")
    await stack.handoffs.open_session(session_id, OWNER, (*SCOPES_OF_A_HANDOFF, *more))
    spec = OpenBrowser(browser_id=browser_id, session_id=session_id, owner=OWNER, url=f"{stack.portal.url}/login")
    await stack.ask(Activities.OPEN_BROWSER, spec, BrowserInfo)
    return browser_id


@pytest.fixture
async def browser_id(stack: Stack) -> AsyncIterator[str]:
    found = await opened(stack)
    yield found
    await stack.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=found), type(None))


async def test_the_address_lets_a_program_in_until_it_is_revoked(stack: Stack, browser_id: str) -> None:
    """F9, B7: the token is shown once; history, logs and the state folder have at most its hash."""
    code, out, _ = await cdp_url(stack, browser_id, "--tcp", "--expires", "5m", "--name", "robot", "--json")
    assert code == 0
    found = json.loads(out)
    token = found["http"].rpartition("/")[2]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(found["http"])
        assert await browser.contexts[0].pages[0].title()
        code, listed, _ = await cdp_url(stack, browser_id, "--list", "--json")
        [door] = json.loads(listed)
        assert (door["name"], door["connected"]) == ("robot", 1)
        gone = asyncio.Event()
        browser.on("disconnected", lambda _: gone.set())
        assert (await cdp_url(stack, browser_id, "--revoke", door["door_id"]))[:2] == (0, "No door is open.\n")
        await asyncio.wait_for(gone.wait(), 30)
    files = [path for path in await asyncio.to_thread(lambda: list(stack.state.rglob("*"))) if path.is_file()]
    assert not [path for path in files if token.encode() in await asyncio.to_thread(path.read_bytes)]


async def test_a_grant_opens_a_door_only_with_the_scope_for_it(stack: Stack, browser_id: str) -> None:
    """F9, C3: raw control of a browser is in no default; a door ends within a second of its grant."""
    access = Access(stack.handoffs)
    info = await stack.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser_id), BrowserInfo)
    assert info.session_id is not None
    _, plain = await access.issue_grant(info.session_id, OWNER)
    code, out, err = await cdp_url(stack, browser_id, "--grant", plain.grant_id)
    assert (code, out) == (3, "")
    assert "browser:cdp" in err
    other = await opened(stack, Scope.BROWSER_CDP)
    info = await stack.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=other), BrowserInfo)
    assert info.session_id is not None
    _, grant = await access.issue_grant(info.session_id, OWNER, expires_in_seconds=120)
    assert (await cdp_url(stack, browser_id, "--grant", grant.grant_id))[0] == 3
    code, out, _ = await cdp_url(stack, other, "--grant", grant.grant_id, "--expires", "8h", "--json")
    assert code == 0
    assert datetime.fromisoformat(json.loads(out)["expires_at"]) <= grant.expires_at + timedelta(seconds=5)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(json.loads(out)["unix"])
        gone = asyncio.Event()
        browser.on("disconnected", lambda _: gone.set())
        await access.revoke_grant(grant.grant_id, info.session_id)
        await asyncio.wait_for(gone.wait(), 1)
    assert (await cdp_url(stack, other, "--grant", grant.grant_id))[0] == 3
    await stack.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=other), type(None))
    await access.aclose()


async def test_a_revoked_key_ends_the_grant_that_was_issued_with_it_and_the_grants_door(stack: Stack) -> None:
    """C1, C2, F9: the agent is refused, and the program cut off, within a second or so."""
    browser_id = await opened(stack, Scope.BROWSER_CDP)
    info = await stack.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser_id), BrowserInfo)
    assert info.session_id is not None
    access = Access(stack.handoffs)
    key = await access.create_key(OWNER, [])
    token, grant = await access.issue_grant(info.session_id, OWNER, key=key)
    secret, door = await DoorClient(stack.client).open_door(browser_id, grant_id=grant.grant_id)
    headers = {"accept": "application/json, text/event-stream"}
    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    async with (
        httpx.AsyncClient(base_url=str(stack.server.facts()["gateway_url"]), headers=headers, timeout=30) as http,
        raw_client(Path(door.socket), f"/agent/{secret}") as program,
    ):
        assert (await program.call("Browser.getVersion"))["result"]["product"]
        await access.revoke_key((await access.principal(key)).key_id)
        await asyncio.wait_for(program.connection.wait_closed(), 2)
        error = (await http.post(f"/agent/{token}", json=ping)).json()["error"]
        assert (error["code"], error["data"]["code"]) == (-32002, "grant_revoked")
    await stack.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=browser_id), type(None))
    await access.aclose()


async def test_what_is_wrong_is_said(stack: Stack, browser_id: str) -> None:
    code, out, err = await cdp_url(stack, "b_nowhere")
    assert (code, out) == (3, "")
    assert "No desktop" in err
    assert (await cdp_url(stack, browser_id, "--expires", "soon"))[0] == 2
    assert (await cdp_url(stack, browser_id, "--expires", "25h"))[0] == 3
