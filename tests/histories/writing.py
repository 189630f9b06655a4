"""Writing down a history."""

import asyncio
import json
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHandle


async def write(handle: WorkflowHandle[Any, Any], path: Path) -> None:
    """Write the history of a workflow."""
    history = await handle.fetch_history()
    events = _without_traces(json.loads(history.to_json()))
    await asyncio.to_thread(path.write_text, json.dumps(events, indent=1) + "\n")


def _without_traces(value: Any) -> Any:
    """The same without stack traces, which name files of the machine that recorded them."""
    if isinstance(value, dict):
        return {key: _without_traces(each) for key, each in value.items() if key != "stackTrace"}
    return [_without_traces(each) for each in value] if isinstance(value, list) else value
