"""What is known of a principal: which of its sessions is the current one."""

from datetime import timedelta

from pydantic import Field
from temporalio import workflow

from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.failures import to_failure
from user_handoff.contract.names import Workflows
from user_handoff.contract.session import CurrentRequest, CurrentSession, SessionChange, SessionRow, SessionRows

MAX_SESSIONS = 200
"""How many sessions are kept, those that ended first given up."""

MAX_ANSWERS = 1_000
"""How many answers are kept for who asks again; older ones are given up."""

KEPT = timedelta(days=1)
"""How long answers are kept where no session is open."""

_TELL = "A session of this principal was opened, or has ended."
_CURRENT = (
    "The exact session that is meant by `current`. The same key gets the same answer, also when another is newer."
)


class Carried(Model):
    """What outlives a continue-as-new."""

    sessions: dict[str, bool] = Field(default_factory=dict)
    """Which sessions are open, the newest last; those that ended are kept, so that a late word opens none again."""
    answers: dict[str, str] = Field(default_factory=dict)


@workflow.defn(name=Workflows.PRINCIPAL)
class PrincipalWorkflow:
    """The sessions of one principal, told by themselves: no list of the server's is asked, since those lag behind."""

    @workflow.init
    def __init__(self, carried: Carried | None = None) -> None:
        carried = carried or Carried()
        self._sessions = dict(carried.sessions)
        self._answers = dict(carried.answers)

    @workflow.run
    async def run(self, carried: Carried | None = None) -> None:
        """Live while a session is open, and a day longer."""
        while not workflow.info().is_continue_as_new_suggested():
            try:
                await self._wait()
            except TimeoutError:
                return
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(Carried(sessions=self._sessions, answers=self._answers))

    @workflow.signal(name=Workflows.TELL, description=_TELL)
    def tell(self, change: SessionChange) -> None:
        """Note it. A session is opened once, however often that is told."""
        if not change.open:
            self._sessions[change.session_id] = False
        elif change.session_id not in self._sessions:
            self._sessions[change.session_id] = True
        while len(self._sessions) > MAX_SESSIONS:
            ended = (session_id for session_id, is_open in self._sessions.items() if not is_open)
            del self._sessions[next(ended, next(iter(self._sessions)))]

    @workflow.update(name=Workflows.CURRENT, description=_CURRENT)
    def current(self, ask: CurrentRequest) -> CurrentSession:
        """Tell, and keep what was told."""
        session_id = self._answers.get(ask.key) or self._newest()
        assert session_id is not None  # the validator saw to it
        self._answers[ask.key] = session_id
        while len(self._answers) > MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]
        return CurrentSession(session_id=session_id)

    @current.validator
    def _check_current(self, ask: CurrentRequest) -> None:
        if ask.key not in self._answers and self._newest() is None:
            raise to_failure(
                make_error(
                    ErrorCode.SESSION_NOT_FOUND,
                    "This principal has no open session.",
                    holds="Nothing was done.",
                    do_next="Open one.",
                )
            )

    @workflow.query(name=Workflows.VIEW, description="The sessions that are kept, the newest first.")
    def view(self) -> SessionRows:
        """Tell, also after the end."""
        rows = reversed(self._sessions.items())
        return SessionRows(rows=tuple(SessionRow(session_id=session_id, open=is_open) for session_id, is_open in rows))

    async def _wait(self) -> None:
        quiet = self._newest() is None
        await workflow.wait_condition(
            lambda: (self._newest() is None) is not quiet or workflow.info().is_continue_as_new_suggested(),
            timeout=KEPT if quiet else None,
            timeout_summary="until this is forgotten: no session is open" if quiet else None,
        )

    def _newest(self) -> str | None:
        return next((session_id for session_id, is_open in reversed(self._sessions.items()) if is_open), None)
