"""`handoff permit`: one command, under a permit of the desktop."""

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from user_handoff.cli import options
from user_handoff.contract.errors import ErrorCode, HandoffError, Held

if TYPE_CHECKING:
    from user_handoff.cli.groups import Group
    from user_handoff.desktop.desk import Desk, DeskPermit

_LOOK_SECONDS: Final = 0.02
_WAIT_SECONDS: Final = 0.05
_CUT_AFTER_SECONDS: Final = 2.0
"""For so long a command that may be cut off can still end by itself."""
_KILL_AFTER_SECONDS: Final = 3.5


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(context_settings={"allow_interspersed_args": False})(permit)


def permit(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="What is run, behind a --.")],
    browser: Annotated[
        str | None,
        typer.Option(
            "--browser", metavar="ID", help="The one browser that it touches. Default: all that the desktop shares."
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="WHO", help="Who acts, as `handoff status` shows it.")] = "",
    wait: Annotated[
        float, typer.Option("--wait", min=0, metavar="SECONDS", help="Wait so long for the end of a person's control.")
    ] = 0,
    cut_off: Annotated[
        bool, typer.Option("--cut-off", help="End the command where a person takes control and it does not end soon.")
    ] = False,
    state: options.State = None,
) -> None:
    """Run one command while no person has control, and let none have it before the command has ended.

    Exit code: the command's own; 3 where it was not started, with the reason on standard error.
    """
    from user_handoff.cli.groups import Group
    from user_handoff.desktop.desk import Desk
    from user_handoff.desktop.evidence.effects import EffectNotes
    from user_handoff.desktop.evidence.events import name_of
    from user_handoff.desktop.permits import effect_name

    desk, program = Desk(state and options.state_folder(state)), Path(command[0]).name
    effect_id = effect_name(name or program)
    noted = EffectNotes(desk, via="permit", who=name_of(name or program))
    with noted.one(effect_id, program, browser):
        permit = _acquired(desk, browser, effect_id, time.monotonic() + wait)
        group = Group(command)
        try:
            # One more that is the command's own: it stands though this process is killed and the command goes on.
            own = desk.acquire(permit.row.scope, browser, effect_id, group.identity)
            try:
                own.recheck()
                noted.admitted(effect_id, program, browser, own.row.permit_id)
                code = _run(group, own, cut_off=cut_off)
            finally:
                own.release()
        finally:
            group.close()
            permit.release()
        noted.over(effect_id, program, browser, code="exit_code" if code else None, exit=code)
    raise typer.Exit(code)


def _acquired(desk: "Desk", browser: str | None, effect_id: str, until: float) -> "DeskPermit":
    while True:
        try:
            return desk.acquire("page" if browser else "native", browser, effect_id)
        except Held as error:
            if error.code is ErrorCode.RESERVATION_CLOSED or time.monotonic() >= until:
                raise
            time.sleep(_WAIT_SECONDS)


def _run(group: "Group", permit: "DeskPermit", *, cut_off: bool) -> int:
    with group.in_front():
        permit.recheck()
        group.begin()
        wanted: float | None = None
        while not group.ended():
            time.sleep(_LOOK_SECONDS)
            if cut_off:
                wanted = _cut(group, permit, wanted)
    return group.code or 0


def _cut(group: "Group", permit: "DeskPermit", wanted: float | None) -> float | None:
    """End a command that a person waits for; returns since when they do."""
    now = time.monotonic()
    if wanted is None:
        try:
            permit.recheck()
        except HandoffError:
            return now
        return None
    if now - wanted >= _KILL_AFTER_SECONDS:
        group.signal(signal.SIGKILL)
    elif now - wanted >= _CUT_AFTER_SECONDS:
        group.signal(signal.SIGTERM)
    return wanted
