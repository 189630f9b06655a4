"""What the page on notifications says is so."""

import asyncio
import contextlib
import re
from pathlib import Path
from typing import Any

import pytest

from tests.activities.notifying.conftest import Newsroom
from tests.receiver import SECRET
from user_handoff.activities.notifying.notifying import SCHEDULE
from user_handoff.activities.notifying.settings import Endpoint
from user_handoff.cli.notify import NotifyOptions, read_settings
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.notices import How
from user_handoff.gateway.serving import serve

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "notifications.md").read_text()


@contextlib.asynccontextmanager
async def _served(app: Any) -> Any:
    stop, port = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(app, "127.0.0.1", 0, stop, ready=port.set_result))
    try:
        yield f"http://127.0.0.1:{await port}"
    finally:
        stop.set()
        await serving


async def test_the_documented_receiver_takes_the_news_of_a_handoff(
    newsroom: Newsroom, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AUDIT_SECRET", SECRET)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, "docs/notifications.md", "exec"), names)
    async with _served(names["app"]) as base_url:
        endpoint = Endpoint.model_validate({"name": "audit", "url": f"{base_url}/handoffs", "secrets": [SECRET]})
        async with newsroom.telling(endpoints=(endpoint,)) as handoffs:
            handoff, _ = await handoffs.begin()
            await handoffs.finished(handoff)
            await newsroom.delivered(handoff)
    assert list(names["known"].values())[1] == "handoff.held" and len(names["known"]) == 6
    assert f"handoff.completed {handoff.id}" in capsys.readouterr().out


def test_the_documented_settings_are_understood() -> None:
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL):
        environ = {name: value.strip('"') for name, value in re.findall(r"export (\w+)=(.+)", block)}
        environ = {name: value.replace("whsec_…", SECRET) for name, value in environ.items()}
        settings = read_settings(NotifyOptions(), environ)
        assert settings.channels or settings.endpoints


def test_every_state_outcome_and_pause_is_named() -> None:
    for word in (*map(str, HandoffState), "answered", *map(str, How)):
        assert f"`{word}`" in PAGE, word
    assert len(SCHEDULE) == 7 and sum(SCHEDULE) < 28 * 3600
