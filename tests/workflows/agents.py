"""Agents as users write them, for a worker of their own."""

import asyncio

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from user_handoff.contract.boundary import Boundary, Category
    from user_handoff.contract.conditions import Url
    from user_handoff.contract.errors import HandoffError
    from user_handoff.contract.handoff import Outcome
    from user_handoff.workflows.agent import Browser, Desktop, Session

WALL = Boundary(
    rule_id="sign-in-password",
    category=Category.AUTHENTICATION,
    page_id="p1",
    url="https://portal.example/login",
    reason='textbox "Password"',
)


async def _ask(browser: Browser, session: Session, seconds: float) -> Outcome:
    return await browser.handoff(
        session, WALL, instructions="Sign in to the portal", verify=Url("**/invoices"), timeout_seconds=seconds
    )


@workflow.defn
class Exporter:
    """The agent of the architecture page."""

    @workflow.run
    async def run(self, seconds: float) -> str:
        session = await Session.open(owner="agent:demo")
        desktop = await Desktop.claim()
        browser = await desktop.open_browser("https://portal.example/invoices", session=session)
        await browser.snapshot()
        outcome = await _ask(browser, session, seconds)
        outcome.require_verified()
        page = await browser.snapshot()
        await browser.click(page.find(role="button", name="Export"))
        return outcome.handoff_id


@workflow.defn
class Nosy:
    """Asks for what nobody may write down, and says what it was refused with."""

    @workflow.run
    async def run(self) -> str:
        session = await Session.open(owner="agent:demo")
        try:
            await session.post("What is your password?", kind="question")
        except HandoffError as error:
            return str(error.code)
        return "asked"


@workflow.defn
class Clicker:
    """Clicks once, and says what it was refused with."""

    @workflow.run
    async def run(self) -> str:
        session = await Session.open(owner="agent:demo")
        desktop = await Desktop.claim()
        browser = await desktop.open_browser(session=session)
        try:
            await browser.click("e1")
        except HandoffError as error:
            return f"{type(error).__name__} {error.code} {error.details.get('outcome', '')}".strip()
        return "done"


@workflow.defn
class Several:
    """Hands two browsers over at once."""

    @workflow.run
    async def run(self) -> list[str]:
        session = await Session.open(owner="agent:demo")
        desktop = await Desktop.claim()
        browsers = [await desktop.open_browser(session=session) for _ in range(2)]
        outcomes = await asyncio.gather(*(_ask(browser, session, 600) for browser in browsers))
        return [f"{outcome.handoff_id} {outcome.result}" for outcome in outcomes]


@workflow.defn
class Tidy:
    """Closes what it opened, and posts too late."""

    @workflow.run
    async def run(self) -> str:
        session = await Session.open(owner="agent:demo")
        desktop = await Desktop.claim()
        browser = await desktop.open_browser(session=session)
        await browser.close()
        await session.resolve(await session.post("Nothing to do"))
        await session.close()
        try:
            await Session("nobody", "agent:demo").post("Anybody?")
        except HandoffError as error:
            return str(error.code)
        return "posted"


@workflow.defn
class Watcher:
    """Waits for the hold by itself, and says what the agent may do then."""

    @workflow.run
    async def run(self) -> list[str]:
        session = await Session.open(owner="agent:demo")
        desktop = await Desktop.claim()
        browser = await desktop.open_browser(session=session)
        handoff = await browser.begin_handoff(session, WALL, instructions="Sign in to the portal")
        try:
            await handoff.held()
        except HandoffError as error:
            return [str(error.code)]
        await browser.snapshot()
        outcome = await handoff.outcome()
        return ["held", str(outcome.result)]


@workflow.defn
class Guest:
    """Asks in the session that its principal has open, and closes that."""

    @workflow.run
    async def run(self, owner: str) -> list[str]:
        session = Session.current(owner=owner)
        desktop = await Desktop.claim()
        try:
            browser = await desktop.open_browser(session=session)
            handoff = await browser.begin_handoff(session, WALL, instructions="Sign in to the portal")
        except HandoffError as error:
            return [str(error.code)]
        await handoff.held()
        handle = workflow.get_external_workflow_handle(handoff.handoff_id)
        await handle.signal("close")
        outcome = await handoff.outcome()
        await session.close()
        try:
            await Session.open(owner=owner, session_id="current")
        except HandoffError as error:
            return [handoff.handoff_id, str(outcome.result), str(error.code)]
        return []


ALL = (Exporter, Clicker, Nosy, Several, Tidy, Watcher, Guest)
