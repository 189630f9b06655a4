"""`handoff browsers`, against a real server and a desktop in memory."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typer.testing import Result

from tests.cli.conftest import Call, Handoff, clean_environment
from tests.cli.test_completion import completing
from tests.gateway.mcp.stage import OPEN, OWNER
from tests.waiting import until
from tests.workflows.handoffs import start_server
from user_handoff.client.browsers import BrowserClient
from user_handoff.contract.browser import OpenBrowser
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import HandoffRequest, HandoffState
from user_handoff.contract.ids import new_id
from user_handoff.contract.runner import Capabilities, DesktopClaim, RunnerInfo
from user_handoff.contract.session import PostMessage
from user_handoff.testing import InMemoryDesktop, ScriptedPerson
from user_handoff.worker.runner import beat


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[BrowserClient]:
    """A server, and one desktop whose people never answer."""
    env = await start_server()
    async with InMemoryDesktop(env.client, pages=[OPEN], person=ScriptedPerson(waits_for=asyncio.Event())):
        yield BrowserClient(env.client)
    await env.shutdown()


@pytest.fixture
def environment(client: BrowserClient, tmp_path: Path) -> dict[str, str]:
    address = client.temporal.service_client.config.target_host
    return clean_environment(TEMPORAL_ADDRESS=address, HANDOFF_STATE=str(tmp_path))


@pytest.fixture
async def browser_id(client: BrowserClient) -> AsyncIterator[str]:
    """A browser of an agent that is gone."""
    session_id, browser_id = new_id("s"), new_id("b")
    await client.open_session(session_id, OWNER)
    claim = await client.claim()
    spec = OpenBrowser(browser_id=browser_id, session_id=session_id, owner=OWNER, url=OPEN.url)
    await client.open_browser(claim.queue, spec)
    await tell(client, claim, browser_id)
    yield browser_id
    await client.close_browser(claim.queue, browser_id)


async def tell(client: BrowserClient, claim: DesktopClaim, browser_id: str) -> None:
    """What a runner says of itself, and a desktop in memory does not."""
    capabilities = Capabilities(browser_user_handoff=True, surface_backend="x11", virtual=True)
    info = RunnerInfo(**claim.model_dump(), version="0", capabilities=capabilities, browsers=(browser_id,))
    await beat(client.temporal, info)


async def held(client: BrowserClient, browser_id: str) -> str:
    """Hand it over; the handoff's id."""
    claim = await client.claim()
    info, message_id = await client.info(claim.queue, browser_id), new_id("m")
    await client.post_message(info.session_id, PostMessage(message_id=message_id, text="Sign in"))
    request = HandoffRequest(
        browser_id=browser_id,
        session_id=info.session_id,
        message_id=message_id,
        owner=OWNER,
        instructions="Sign in",
        client_id=claim.client_id,
        desktop_id=claim.desktop_id,
        queue=claim.queue,
    )
    return (await client.begin(request)).handoff_id


def refused(done: Result) -> HandoffError:
    assert isinstance(done.exception, HandoffError), done.output
    assert done.exception.what and done.exception.holds and done.exception.do_next
    return done.exception


async def test_a_browser_whose_agent_is_gone_is_listed_and_closed(call: Call, browser_id: str) -> None:
    """A8: another one has room then."""
    said = await until(lambda: call("browsers", "list"), wanted=lambda listed: browser_id in listed.stdout)
    row = next(line for line in said.stdout.splitlines() if browser_id in line)
    assert "open" in row and OWNER in row

    assert (await call("browsers", "close", browser_id)).stdout.startswith(f"Closed: {browser_id}.")

    listed = await until(
        lambda: call("browsers", "list", "--json"), wanted=lambda listed: browser_id not in listed.stdout
    )
    assert browser_id not in [row["browser_id"] for row in json.loads(listed.stdout)]


async def test_close_tells_a_program_the_same_as_json(call: Call, browser_id: str) -> None:
    done = await call("browsers", "close", browser_id, "--json")

    assert (done.exit_code, json.loads(done.stdout)) == (0, {"browser_id": browser_id, "closed": True})


async def test_it_is_not_closed_under_a_person(call: Call, client: BrowserClient, browser_id: str) -> None:
    """A9: `handoff close` is what ends a handoff with its browser, and is named."""
    handoff_id = await held(client, browser_id)

    error = refused(await call("browsers", "close", browser_id))

    assert error.code is ErrorCode.BROWSER_HELD and f"`handoff close {handoff_id}`" in error.do_next
    assert (await client.summary(handoff_id)).state is HandoffState.HELD
    await client.close(handoff_id)


@pytest.mark.parametrize(
    ("wrong", "code"), [("b_none", ErrorCode.UNKNOWN_BROWSER), ("no id", ErrorCode.INVALID_REQUEST)]
)
async def test_what_is_no_browser_is_refused(call: Call, browser_id: str, wrong: str, code: ErrorCode) -> None:
    assert refused(await call("browsers", "close", wrong)).code is code


async def test_the_ids_of_browsers_are_completed(
    client: BrowserClient, environment: dict[str, str], handoff: Handoff, browser_id: str
) -> None:
    env = environment | completing("browsers", "close", browser_id[:10])

    said = await until(
        lambda: asyncio.to_thread(handoff, env=env), wanted=lambda said: said.stdout.split() == [browser_id]
    )

    assert said.returncode == 0
