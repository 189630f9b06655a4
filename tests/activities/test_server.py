"""The server's own activities, called alone against a real server."""

import logging

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from tests.workflows.handoffs import OWNER, Handoffs
from user_handoff.activities.server import ServerActivities
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import LinkGrant, Notice
from user_handoff.contract.ids import new_id
from user_handoff.contract.runner import RevokeDesktop
from user_handoff.contract.session import Authorize


async def test_an_open_message_of_the_owner_is_authorized(client: Client, handoffs: Handoffs) -> None:
    """A4."""
    ask = Authorize(session_id=handoffs.session_id, message_id=await handoffs.post(), owner=OWNER)
    await ActivityEnvironment().run(ServerActivities(client).authorize, ask)


async def test_a_refusal_is_typed_names_what_was_asked_and_is_not_retried(client: Client, handoffs: Handoffs) -> None:
    """A4: the owner is checked before anything is said about messages."""
    ask = Authorize(session_id=handoffs.session_id, message_id="nothing", owner="agent:other")
    with pytest.raises(ApplicationError) as refused:
        await ActivityEnvironment().run(ServerActivities(client).authorize, ask)
    error = from_failure(refused.value)
    assert refused.value.non_retryable and error and error.code is ErrorCode.NOT_OWNER
    assert error.holds and error.do_next and error.details["session_id"] == handoffs.session_id


async def test_nobody_is_told_where_there_is_no_notifier(client: Client, handoffs: Handoffs) -> None:
    handoff, receipt = await handoffs.begin()
    notice = Notice(handoff_id=handoff.id, owner=OWNER, instructions="Sign in", expires_at=receipt.expires_at)
    assert await ActivityEnvironment().run(ServerActivities(client).notify, notice) is None
    await handoff.close()


async def test_a_link_is_in_no_log(client: Client, handoffs: Handoffs, caplog: pytest.LogCaptureFixture) -> None:
    """C6, K41: what the notifier makes stays with it."""
    secret = "the-token-of-the-link"

    async def notifier(notice: Notice) -> LinkGrant:
        assert secret not in notice.model_dump_json()
        return LinkGrant(sha256="0" * 64)

    handoff, receipt = await handoffs.begin()
    notice = Notice(handoff_id=handoff.id, owner=OWNER, instructions="Sign in", expires_at=receipt.expires_at)
    with caplog.at_level(logging.DEBUG):
        grant = await ActivityEnvironment().run(ServerActivities(client, notifier).notify, notice)
    assert grant == LinkGrant(sha256="0" * 64)
    assert secret not in caplog.text
    await handoff.close()


async def test_only_handoffs_that_run_on_that_machine_are_told_of_a_replacement(
    client: Client, handoffs: Handoffs
) -> None:
    """A15."""
    activities = ServerActivities(client)
    desktop = handoffs.desktop
    handoff, _ = await handoffs.begin()
    closed, _ = await handoffs.begin()
    await handoffs.listed(handoff, closed)
    await closed.close()
    other = RevokeDesktop(client_id=new_id("c"), desktop_id=desktop.desktop_id)
    assert await ActivityEnvironment().run(activities.revoke_desktop, other) == 0
    own = RevokeDesktop(client_id=desktop.client_id, desktop_id=desktop.desktop_id)
    assert await ActivityEnvironment().run(activities.revoke_desktop, own) == 1
    assert (await handoff.outcome()).reason == "runner_replaced"
