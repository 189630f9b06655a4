"""The embedded Temporal server."""

import asyncio
import stat
import sys
from pathlib import Path

import httpx
import psutil
import pytest
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client, WorkflowExecutionStatus

from tests.cli.conftest import SECONDS
from tests.waiting import until
from user_handoff.cli import engine as engine_module
from user_handoff.cli.engine import DATABASE, EmbeddedTemporal
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.contract.names import SearchAttributes


async def test_it_knows_our_search_attributes(temporal: EmbeddedTemporal) -> None:
    client = await Client.connect(temporal.address)

    listed = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace="default"))

    assert set(SearchAttributes.ALL) <= set(listed.custom_attributes)


async def test_it_listens_on_this_machine_only(temporal: EmbeddedTemporal) -> None:
    listening = [c for c in psutil.Process(temporal.pid).net_connections("tcp") if c.status == psutil.CONN_LISTEN]

    assert listening
    assert {c.laddr.ip for c in listening} <= {"127.0.0.1", "::1"}


async def test_it_shows_a_web_ui(state: Path) -> None:
    engine = EmbeddedTemporal(state, port=0, ui_port=0)
    await engine.start()
    try:
        async with httpx.AsyncClient(timeout=30) as http:
            answer = await http.get(f"{engine.ui_url}/", follow_redirects=True)
    finally:
        await engine.stop()

    assert answer.status_code == 200


async def test_a_killed_server_comes_back_with_what_it_was_told(state: Path) -> None:
    """F10, A19: the database file outlives the server."""
    engine = EmbeddedTemporal(state, port=0, ui_port=None)
    await engine.start()
    try:
        client = await Client.connect(engine.address)
        await client.start_workflow("Nobody", id="w", task_queue="q")
        await engine.kill()
        assert engine.pid is None
        await engine.start()

        found = await (await Client.connect(engine.address)).get_workflow_handle("w").describe()
    finally:
        await engine.stop()

    assert found.status is WorkflowExecutionStatus.RUNNING


async def test_its_files_are_private(temporal: EmbeddedTemporal) -> None:
    state = temporal.state

    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert (state / DATABASE).exists()
    assert stat.S_IMODE((state / "logs" / "temporal.log").stat().st_mode) == 0o600


async def test_a_taken_port_is_named_and_nothing_is_started(temporal: EmbeddedTemporal, state: Path) -> None:
    engine = EmbeddedTemporal(state, port=temporal.port, ui_port=None)

    with pytest.raises(SetupError, match=rf"Port {temporal.port} .*--port") as refused:
        await engine.start()

    assert refused.value.code is ErrorCode.PORT_TAKEN
    assert engine.pid is None


async def test_a_second_server_on_the_same_database_is_refused(temporal: EmbeddedTemporal) -> None:
    with pytest.raises(SetupError) as refused:
        await EmbeddedTemporal(temporal.state, port=0, ui_port=None).start()

    assert refused.value.code is ErrorCode.ALREADY_RUNNING


async def test_a_server_that_does_not_come_up_is_told_with_its_last_words(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = state.parent / "temporal"
    program.write_text("#!/bin/sh\necho 'it is broken' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(engine_module, "temporal_program", lambda: program)

    with pytest.raises(SetupError, match="it is broken") as refused:
        await EmbeddedTemporal(state, port=0, ui_port=None).start()

    assert refused.value.code is ErrorCode.TEMPORAL_UNREACHABLE


async def test_it_dies_with_whoever_started_it(state: Path) -> None:
    program = (
        "import asyncio, sys, pathlib\n"
        "from user_handoff.cli.engine import EmbeddedTemporal\n"
        "async def main():\n"
        "    engine = EmbeddedTemporal(pathlib.Path(sys.argv[1]), port=0, ui_port=None)\n"
        "    await engine.start()\n"
        "    print(engine.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    starter = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(state), stdout=asyncio.subprocess.PIPE
    )
    assert starter.stdout is not None
    server = psutil.Process(int(await starter.stdout.readline()))

    starter.kill()
    await starter.communicate()

    await until(
        lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE, SECONDS, what="the server is gone"
    )
