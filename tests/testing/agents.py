"""Agents as users write them."""

from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from user_handoff.contract.browser import Snapshot
    from user_handoff.contract.computer import ClickAt
    from user_handoff.contract.conditions import AllOf, Element, Probe, Url
    from user_handoff.contract.errors import HandoffError
    from user_handoff.workflows.agent import Browser, Desktop, Session

INVOICES = "https://portal.example/invoices"
HOME = "https://portal.example/home"
SIGNED_IN = AllOf(Url("**/invoices"), Element(role="heading", name="Invoices"), Probe(url=INVOICES))


@workflow.defn
class Exporter:
    """Signs in by a person and exports; says how it went."""

    @workflow.run
    async def run(self, timeout_seconds: float) -> str:
        session = await Session.open(owner="exporter")
        browser = await (await Desktop.claim()).open_browser(INVOICES, session=session)
        page = await browser.snapshot()
        if wall := page.boundary:
            outcome = await browser.handoff(
                session,
                wall,
                instructions="Sign in to the portal",
                verify=SIGNED_IN,
                verify_seconds=1,
                timeout_seconds=timeout_seconds,
            )
            if not outcome.verified:
                await browser.close()
                return " ".join(filter(None, (outcome.result, outcome.note)))
            page = await browser.snapshot()
        receipt = await browser.download(page.find(role="button", name="Export"))
        return f"{receipt.bytes} bytes"


async def _said(doing: object) -> str:
    try:
        await doing  # type: ignore[misc]
    except HandoffError as error:
        return str(error.code)
    return "done"


@workflow.defn
class Impatient:
    """Tries everything while a person has the browser, and before it looked again."""

    def __init__(self) -> None:
        self._tried = False

    @workflow.query
    def tried(self) -> bool:
        return self._tried

    @workflow.run
    async def run(self) -> dict[str, str]:
        session = await Session.open(owner="impatient")
        desktop = await Desktop.claim()
        browser = await desktop.open_browser(INVOICES, session=session)
        before = await browser.snapshot()
        password = before.find(role="textbox", name="Password")
        handoff = await browser.begin_handoff(session, before.boundary, instructions="Sign in", verify=SIGNED_IN)
        await handoff.held()
        said = {
            "held click": await _said(browser.click(password)),
            "held state": (await browser.info()).state,
            "held look": str((await browser.snapshot()).boundary is not None),
            "held desktop": await _said(desktop.computer(await desktop.observe(), ClickAt(x=1, y=1))),
            "held picture": await _said(desktop.observe(screenshot=True)),
        }
        self._tried = True
        said["outcome"] = (await handoff.outcome()).result
        said["old click"] = await _said(browser.click(password))
        return said | await self._afterwards(desktop, browser, await browser.snapshot())

    async def _afterwards(self, desktop: Desktop, browser: Browser, page: Snapshot) -> dict[str, str]:
        look = await desktop.observe()
        return {
            "new click": await _said(browser.click(page.find(role="button", name="Details"))),
            "desktop": await _said(desktop.computer(look, ClickAt(x=1, y=1))),
            "desktop again": await _said(desktop.computer(look, ClickAt(x=1, y=1))),
            "popup unseen": str([p.needs_snapshot for p in (await browser.info()).pages]),
        }


@workflow.defn
class Clicker:
    """Acts once, twice, and says what came of it."""

    @workflow.run
    async def run(self) -> list[str]:
        session = await Session.open(owner="clicker")
        browser = await (await Desktop.claim()).open_browser("https://portal.example/open", session=session)
        page = await browser.snapshot()
        link = page.find(role="link", name="Next")
        said = [await _said(browser.click(link)), await _said(browser.click(link))]
        page = await browser.snapshot()
        said.append(page.page.url)
        said.append(await _said(browser.navigate("https://portal.example/nowhere")))
        said.append(await _said(browser.navigate("file:///etc/passwd")))
        await browser.back()
        said.append((await browser.snapshot()).page.url)
        return said


@workflow.defn
class Keeper:
    """Saves the login of one browser, and opens others with it."""

    @workflow.run
    async def run(self) -> list[str]:
        session = await Session.open(owner="keeper")
        desktop = await Desktop.claim()
        browser = await desktop.open_browser(INVOICES, session=session)
        await browser.handoff(session, None, instructions="Sign in to the portal")
        await browser.save_state("portal", sites=["portal.example"], probe=Probe(url=INVOICES))
        other = await desktop.open_browser(INVOICES, session=session, state="portal")
        page = await other.snapshot()
        unsaved = desktop.open_browser(INVOICES, session=session, state="never")
        return [page.page.url, await _said(unsaved)]


@activity.defn
async def fail(text: str) -> None:
    raise ValueError(text)


@workflow.defn
class Teller:
    """Says a text everywhere where it may be kept, and fails with it."""

    @workflow.run
    async def run(self, text: str) -> str:
        session = await Session.open(owner="teller")
        browser = await (await Desktop.claim()).open_browser(HOME, session=session)
        page = await browser.snapshot()
        outcome = await browser.handoff(session, page.boundary, instructions=f"Sign in, {text}")
        try:
            await workflow.execute_activity(
                fail, text, start_to_close_timeout=timedelta(seconds=5), retry_policy=RetryPolicy(maximum_attempts=1)
            )
        except ActivityError as error:
            raise ApplicationError(f"{text} {outcome.note}") from error
        return text


ALL = (Exporter, Impatient, Clicker, Keeper, Teller)
