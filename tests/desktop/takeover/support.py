"""A person who takes a browser over."""

import contextlib
import sqlite3
import time
from dataclasses import dataclass

from tests.desktop.support import Agent
from tests.waiting import until
from user_handoff.contract import takeover as t
from user_handoff.contract.ids import new_id, takeover_workflow_id
from user_handoff.desktop.handoff.records import HoldRecord, Phase
from user_handoff.desktop.takeover.takeovers import SUBJECT, Takeovers


@dataclass
class Taker:
    """Takes an agent's browser over, and gives it back."""

    agent: Agent
    number: str = ""
    lease_id: str = ""

    @property
    def takeovers(self) -> Takeovers:
        return self.agent.desktop.takeovers

    @property
    def takeover_id(self) -> str:
        return takeover_workflow_id(self.agent.browser_id, self.number)

    def request(self, **options: object) -> t.BeginTakeover:
        return t.BeginTakeover.model_validate(
            {
                "takeover_id": self.takeover_id,
                "browser_id": self.agent.browser_id,
                "number": self.number,
                "role": "desk",
                "seconds": 60,
                **options,
            }
        )

    async def take(self, **options: object) -> t.TakeoverBegun:
        self.number = new_id("t")
        begun = await self.agent.desktop.begin_takeover(self.request(**options))
        self.lease_id = begun.lease_id
        return begun

    async def give_back(self, note: str = "", how: str = "returned") -> t.TakeoverNow:
        request = {"takeover_id": self.takeover_id, "browser_id": self.agent.browser_id, "how": how, "note": note}
        return await self.agent.desktop.return_takeover(t.ReturnTakeover.model_validate(request))

    def record(self) -> HoldRecord:
        record = self.agent.desktop.holds.record(self.takeover_id)
        assert record is not None
        return record

    async def until(self, phase: Phase, seconds: float = 10) -> HoldRecord:
        await until(lambda: self.record().phase is phase, seconds)
        return self.record()

    def shorten(self, seconds: float) -> None:
        """From now on the lease lasts so long without a renewal."""
        change = "UPDATE leases SET ttl = ?, expires = ? WHERE lease_id = ?"
        with contextlib.closing(sqlite3.connect(self.takeovers._leases.path, isolation_level=None)) as file:
            file.execute(change, (seconds, time.monotonic() + seconds, self.lease_id))

    def lease_remains(self) -> bool:
        return bool(self.takeovers._leases.remains(SUBJECT, self.lease_id))
