"""A server worker in a process of its own, for tests that kill it: ADDRESS, the settings as JSON, and the schedule."""

import asyncio
import json
import sys

from temporalio.client import Client

from user_handoff.activities.notifying.notifying import Notifying
from user_handoff.activities.notifying.settings import NotifySettings
from user_handoff.worker.server import server_worker


async def main() -> None:
    client = await Client.connect(sys.argv[1])
    settings = NotifySettings.model_validate(json.loads(sys.stdin.read()))
    async with server_worker(client, notifying=Notifying(settings, lambda: "https://handoff.example")):
        print("ready", flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
