"""What the agent tries while a person has the browser: it may look, and it may do nothing."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from temporalio.client import ActivityFailureError, Client
from temporalio.common import RetryPolicy

from user_handoff.contract.browser import (
    BrowserInfo,
    BrowserRequest,
    Click,
    Navigate,
    Picture,
    ScreenshotRequest,
    Snapshot,
    SnapshotRequest,
)
from user_handoff.contract.computer import ComputerEffect, DisplayLook, ObserveComputer, TypeText
from user_handoff.contract.failures import from_failure
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import DESKTOPS_QUEUE, Activities
from user_handoff.contract.runner import DesktopClaim

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One effect that was tried.

    Attributes:
        what: Said to the reader.
        code: The code it was refused with; None where it was done.
    """

    what: str
    code: str | None


class Desk:
    """The activities of the one desktop, called as an agent's own program would."""

    def __init__(self, client: Client, queue: str, browser_id: str) -> None:
        self._client = client
        self._queue = queue
        self._browser_id = browser_id

    @classmethod
    async def of(cls, client: Client, browser_id: str) -> "Desk":
        """The desktop that answers, and a browser on it."""
        claim = await _call(client, DESKTOPS_QUEUE, Activities.CLAIM_DESKTOP, [], DesktopClaim)
        return cls(client, claim.queue, browser_id)

    async def info(self) -> BrowserInfo:
        """Process, pages and state of the browser."""
        return await self._ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=self._browser_id), BrowserInfo)

    async def snapshot(self) -> Snapshot:
        """Look at the page in front."""
        return await self._ask(Activities.SNAPSHOT, SnapshotRequest(browser_id=self._browser_id), Snapshot)

    async def picture(self) -> Picture:
        """A picture of the page in front, with what is typed in it made invisible."""
        return await self._ask(Activities.SCREENSHOT, ScreenshotRequest(browser_id=self._browser_id), Picture)

    async def try_effects(self, portal: str, page: Snapshot) -> list[Attempt]:
        """Two effects on the page and one on the desktop."""
        help_button = page.find(role="button", name="Need help?")
        common = {"browser_id": self._browser_id}
        look = await self._ask(Activities.OBSERVE_COMPUTER, ObserveComputer(), DisplayLook)
        return [
            await self._try(
                'click "Need help?" in the page',
                Activities.CLICK,
                Click(**common, effect_id=new_id("e"), element_id=help_button),
            ),
            await self._try(
                "go to another page",
                Activities.NAVIGATE,
                Navigate(**common, effect_id=new_id("e"), url=f"{portal}/windows"),
            ),
            await self._try(
                "type on the desktop's keyboard",
                Activities.COMPUTER,
                ComputerEffect(effect_id=new_id("e"), generation=look.generation, action=TypeText(text="agent")),
            ),
        ]

    async def _try(self, what: str, name: str, effect: object) -> Attempt:
        try:
            await self._ask(name, effect, dict)
        except ActivityFailureError as error:
            refusal = from_failure(error)
            if refusal is None:
                raise
            return Attempt(what, str(refusal.code))
        return Attempt(what, None)

    async def _ask(self, name: str, request: object, result: type[T]) -> T:
        return await _call(self._client, self._queue, name, [request], result)


async def _call(client: Client, queue: str, name: str, args: list[Any], result: type[T]) -> T:
    answer: T = await client.execute_activity(
        name,
        args=args,
        id=new_id("a"),
        task_queue=queue,
        result_type=result,
        schedule_to_close_timeout=timedelta(seconds=30),
        start_to_close_timeout=timedelta(seconds=20),
        retry_policy=RetryPolicy(maximum_attempts=1),
    )
    return answer
