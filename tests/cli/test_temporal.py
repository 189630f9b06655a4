"""What a Temporal server must know before it is used."""

from temporalio.testing import WorkflowEnvironment

from user_handoff.cli.engine import temporal_program
from user_handoff.cli.temporal import embedded_environment, missing_search_attributes, require_search_attributes
from user_handoff.contract.names import SearchAttributes


async def test_search_attributes_that_are_missing_are_added_once() -> None:
    async with await WorkflowEnvironment.start_local(dev_server_existing_path=str(temporal_program())) as env:
        assert await require_search_attributes(env.client) == SearchAttributes.ALL
        assert await missing_search_attributes(env.client) == ()
        assert await require_search_attributes(env.client) == ()


def test_the_embedded_server_is_used_whatever_else_is_configured() -> None:
    """A key of another cluster is not sent to it."""
    found = embedded_environment("127.0.0.1:7", {"TEMPORAL_API_KEY": "k", "TEMPORAL_PROFILE": "p", "HOME": "/h"})

    assert found == {
        "HOME": "/h",
        "TEMPORAL_ADDRESS": "127.0.0.1:7",
        "TEMPORAL_NAMESPACE": "default",
        "TEMPORAL_CONFIG_FILE": "/dev/null",
    }
