"""The presence of one desktop machine, by the beats of its runner."""

from datetime import datetime, timedelta

from temporalio import workflow

from user_handoff.contract.base import Model
from user_handoff.contract.names import Activities, Workflows
from user_handoff.contract.runner import RevokeDesktop, RunnerInfo, RunnerView

BEAT = timedelta(seconds=30)
"""How often a runner says that it is there."""

OFFLINE_AFTER = timedelta(seconds=90)
"""A machine that was not heard of for so long is offline."""


class Carried(Model):
    """What outlives a continue-as-new."""

    view: RunnerView
    retired: tuple[str, ...] = ()
    """Desktops that were replaced: what they still say is not heard."""


@workflow.defn(name=Workflows.RUNNER)
class RunnerWorkflow:
    """One desktop machine. A new desktop under its name is a replacement: the holds of the old one are revoked."""

    @workflow.init
    def __init__(self, start: RunnerInfo | Carried) -> None:
        if isinstance(start, RunnerInfo):
            start = Carried(view=RunnerView(info=start, online=True, last_seen=workflow.now()))
        self._info = start.view.info
        self._last_seen = start.view.last_seen
        self._online = start.view.online
        self._retired = list(start.retired)
        self._to_revoke: list[str] = []
        self._over = False

    @workflow.run
    async def run(self, start: RunnerInfo | Carried) -> RunnerView:
        """Live until retired. A view is what an earlier run carries over."""
        self._show()
        while not self._over:
            if self._to_revoke:
                await self._revoke(self._to_revoke[0])
            elif workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(Carried(view=self.view(), retired=tuple(self._retired)))
            else:
                await self._wait()
        self._online = False
        self._show()
        return self.view()

    @workflow.signal(name=Workflows.HEARTBEAT, description="A runner says that it is there, and what it can do.")
    def heartbeat(self, info: RunnerInfo) -> None:
        """Note the beat."""
        if info.client_id != self._info.client_id or info.desktop_id in self._retired:
            return
        if info.desktop_id != self._info.desktop_id:
            self._retired.append(self._info.desktop_id)
            self._to_revoke.append(self._info.desktop_id)
        changed = info != self._info or not self._online
        self._info, self._last_seen, self._online = info, workflow.now(), True
        if changed:
            self._show()

    @workflow.signal(name=Workflows.RETIRE, description="The machine is taken out of service.")
    def retire(self) -> None:
        """End."""
        self._over = True

    @workflow.query(name=Workflows.VIEW, description="Whether the machine is online, and what it can do.")
    def view(self) -> RunnerView:
        """Tell, also after the end."""
        return RunnerView(info=self._info, online=self._online, last_seen=self._last_seen)

    async def _wait(self) -> None:
        """Wait for something to do; one timer covers many beats."""
        seen = self._last_seen

        def stirred() -> bool:
            back = not online and self._online
            return bool(self._over or self._to_revoke or back or workflow.info().is_continue_as_new_suggested())

        online = self._online
        left = _until_offline(seen)
        try:
            await workflow.wait_condition(
                stirred, timeout=left if online else None, timeout_summary="offline without a beat" if online else None
            )
        except TimeoutError:
            if _until_offline(self._last_seen) <= timedelta(seconds=0.001):
                self._online = False
                self._show()

    async def _revoke(self, desktop_id: str) -> None:
        await workflow.execute_activity(
            Activities.REVOKE_DESKTOP,
            RevokeDesktop(client_id=self._info.client_id, desktop_id=desktop_id),
            start_to_close_timeout=timedelta(seconds=60),
            summary="Revoke the holds of the desktop that was replaced",
        )
        self._to_revoke.remove(desktop_id)

    def _show(self) -> None:
        info = self._info
        reason = f" ({info.capabilities.reason})" if info.capabilities.reason else ""
        workflow.set_current_details(
            f"## `{info.client_id}` is {'online' if self._online else 'offline'}\n"
            f"- **desktop**: `{info.desktop_id}`, version {info.version}\n"
            f"- **browser handoff**: {'yes' if info.capabilities.browser_user_handoff else 'no'}{reason}\n"
            f"- **browsers**: {', '.join(info.browsers) or 'none'}"
        )


def _until_offline(seen: datetime) -> timedelta:
    return max(seen + OFFLINE_AFTER - workflow.now(), timedelta(milliseconds=1))
