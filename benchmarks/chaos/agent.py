"""An agent that waits at two points, so that a process can be killed at a known step of its handoff."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from examples.agent import INSTRUCTIONS, count_rows
    from user_handoff.contract.conditions import AllOf, Element, Url
    from user_handoff.workflows.agent import Desktop, Session

QUEUE = "chaos-agent"
OWNER = "chaos-agent"


@workflow.defn
class ChaosAgent:
    """Exports the invoices of a portal, as `examples.agent` does, one word of its driver at a time."""

    def __init__(self) -> None:
        self._browser_id = ""
        self._may_hand_over = False
        self._may_go_on = False

    @workflow.run
    async def run(self, portal: str) -> int:
        """Return how many invoices there are."""
        session = await Session.open(owner=OWNER)
        desktop = await Desktop.claim()
        browser = await desktop.open_browser(f"{portal}/invoices", session=session)
        page = await browser.snapshot()
        assert page.boundary
        self._browser_id = browser.browser_id
        await workflow.wait_condition(lambda: self._may_hand_over)
        outcome = await browser.handoff(
            session,
            page.boundary,
            instructions=INSTRUCTIONS,
            verify=AllOf(Url("**/invoices"), Element(role="heading", name="Invoices")),
        )
        outcome.require_verified()
        await workflow.wait_condition(lambda: self._may_go_on)
        page = await browser.snapshot()
        file = await browser.download(page.find(role="button", name="Export"))
        return await workflow.execute_activity(count_rows, file.path, start_to_close_timeout=timedelta(minutes=1))

    @workflow.update
    async def opened(self) -> str:
        """Wait until the browser shows the login, and return its id."""
        await workflow.wait_condition(lambda: bool(self._browser_id))
        return self._browser_id

    @workflow.signal
    def hand_over(self) -> None:
        """Let it ask for the hold."""
        self._may_hand_over = True

    @workflow.signal
    def go_on(self) -> None:
        """Let it use the browser again."""
        self._may_go_on = True
