"""The person of a transcript: at the desk, by native input, without a client of ours."""

import time

from tests.e2e.stack import Stack
from tests.transcripts.steps import Log, Step
from user_handoff.client.requests import RequestsClient
from user_handoff.contract.handoff import Summary
from user_handoff.contract.requests import SaveRequest


class Robin:
    """Somebody who is asked, and does what is asked."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._log = Log("person", time.time)

    @property
    def steps(self) -> list[Step]:
        """What they did."""
        return self._log.steps

    async def signs_in(self, held: Summary) -> None:
        """They sign in at the exact window, and say that they are done."""
        portal = self._stack.portal
        await self._log.ask(
            "types user name, password and code at the window, by native keys",
            self._stack.sign_in(held),
            lambda _: f"the portal's stage: {portal.stage}",
        )
        await self._log.ask("says that it is done", self._stack.answer(held))

    async def writes(self, requests: RequestsClient, writer: str) -> None:
        """They send something of their own accord."""
        sending = requests.write(writer, SaveRequest(request_id="r1", generation=1, text="Thanks", send=True))
        await self._log.ask('sends "Thanks" to the session', sending, lambda receipt: receipt.state)

    async def comes_when_called(self) -> None:
        """The same, for whatever is held next."""
        await self.signs_in(await self._stack.held())

    async def comes_for(self, handoff_id: str) -> None:
        """The same, for one handoff that is held."""
        await self.signs_in(await self._stack.handoffs.summary(handoff_id))
