"""The agent of the page on MCP does what the page says."""

import asyncio
import re
from pathlib import Path
from typing import Any, get_args

from tests.gateway.mcp.stage import INVOICES_URL, Stage
from user_handoff.gateway.mcp.errors import _NUMBERS
from user_handoff.gateway.tools import inputs
from user_handoff.gateway.tools.catalogue import TOOLS
from user_handoff.testing import ScriptedPerson

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "mcp.md").read_text()


async def test_the_documented_agent_signs_in(stage: Stage) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, "docs/mcp.md", "exec"), names)
    stage.meets(ScriptedPerson("done"))
    await stage.session()
    async with asyncio.timeout(100):
        assert await names["sign_in"](stage.base_url, await stage.key(), INVOICES_URL) == "verified"


def test_every_tool_action_and_scope_is_documented() -> None:
    rows = {row[0]: row for row in re.findall(r"^\| `(\w+)` \| (.+?) \| (.*?) ?\|$", PAGE, re.MULTILINE)}
    assert list(rows) == list(TOOLS)
    for name, spec in TOOLS.items():
        assert re.findall(r"`([a-z]+:[a-z]+)`", rows[name][2]) == [str(scope) for scope in spec.scopes]
    for name, union in (("control_browser", inputs.Controlling), ("observe_browser", inputs.Looking)):
        models = get_args(get_args(union)[0])
        actions = [get_args(model.model_fields["action"].annotation)[0] for model in models]
        assert re.findall(r"`(\w+)`", rows[name][1]) == actions


def test_every_json_rpc_code_is_documented() -> None:
    for number in sorted(set(_NUMBERS.values())):
        (row,) = re.findall(rf"^\| {number} \| (.+) \|$", PAGE, re.MULTILINE)
        assert sorted(re.findall(r"`(\w+)`", row.split(" (with")[0])) == sorted(
            str(code) for code, each in _NUMBERS.items() if each == number
        )
