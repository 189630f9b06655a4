"""The agent's worker in a process of its own. Prints a line when it polls; ends when it is killed."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.worker import Worker

from benchmarks.chaos.agent import QUEUE, ChaosAgent
from examples.agent import count_rows
from user_handoff.plugin import HandoffPlugin


async def main() -> None:
    """Work until killed."""
    client = await Client.connect(**ClientConfig.load_client_connect_config(), plugins=[HandoffPlugin()])
    with ThreadPoolExecutor() as pool:
        async with Worker(
            client, task_queue=QUEUE, workflows=[ChaosAgent], activities=[count_rows], activity_executor=pool
        ):
            print("ready", flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
