"""The smallest agent: it opens a portal, meets the login wall, hands the browser over, and finishes its task."""

import asyncio
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow

with workflow.unsafe.imports_passed_through():
    from user_handoff.contract.base import Model
    from user_handoff.contract.conditions import AllOf, Element, Url
    from user_handoff.workflows.agent import Desktop, Session

_A_MINUTE = timedelta(minutes=1)
QUEUE = "invoice-agent"
"""Where the agent's own worker runs."""

INSTRUCTIONS = "Sign in to the portal: user name, password and one-time code."
"""Shown to the person, and kept in the history: no secret belongs here."""


class Exported(Model):
    """What the agent brings home."""

    browser_id: str
    path: str
    """The file, on the desktop."""
    rows: int


@activity.defn
async def count_rows(path: str) -> int:
    """Count the invoices in an exported file. Stands for whatever the agent does with its result."""
    text = await asyncio.to_thread(Path(path).read_text)
    return len(text.splitlines()) - 1


@workflow.defn
class ExportInvoices:
    """Export the invoices of a portal."""

    @workflow.run
    async def run(self, portal: str) -> Exported:
        """Export the invoices of the portal at this URL."""
        session = await Session.open(owner="invoice-agent")
        desktop = await Desktop.claim()
        browser = await desktop.open_browser(f"{portal}/invoices", session=session)
        page = await browser.snapshot()
        if wall := page.boundary:
            outcome = await browser.handoff(
                session,
                wall,
                instructions=INSTRUCTIONS,
                verify=AllOf(Url("**/invoices"), Element(role="heading", name="Invoices")),
            )
            outcome.require_verified()
            page = await browser.snapshot()
        file = await browser.download(page.find(role="button", name="Export"))
        rows = await workflow.execute_activity(count_rows, file.path, start_to_close_timeout=_A_MINUTE)
        return Exported(browser_id=browser.browser_id, path=file.path, rows=rows)
