"""What the person's page says of a handoff at one moment: a pure function of its summary and the time."""

from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Any, Literal

from user_handoff.contract.handoff import Answer, HandoffState, Result, Summary
from user_handoff.contract.urls import place_of
from user_handoff.gateway import texts

Phase = Literal["preparing", "waiting", "answered", "checking", "ended"]
Tone = Literal["calm", "good", "warn", "bad"]

_TONES: dict[Result, Tone] = {
    Result.VERIFIED: "good",
    Result.NOT_VERIFIED: "warn",
    Result.EXPIRED: "warn",
    Result.FAILED: "warn",
    Result.RUNNER_LOST: "bad",
    Result.REFUSED: "bad",
    Result.REVOKED: "bad",
}
_ENDS: dict[HandoffState, Result] = {
    HandoffState.EXPIRED: Result.EXPIRED,
    HandoffState.CLOSED: Result.CLOSED,
    HandoffState.REVOKED: Result.REVOKED,
    HandoffState.REFUSED: Result.REFUSED,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of what happens after the answer."""

    text: str
    state: Literal["past", "now", "next"]


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows."""

    summary: Summary
    phase: Phase
    tone: Tone
    title: str
    text: str
    host: str
    """The site's host; empty where the agent named no page."""
    path: str
    seconds_left: int
    seconds_total: int
    steps: tuple["Step", ...]
    """What happened and happens since the answer."""
    final: bool
    """True where nothing can change any more."""

    @property
    def version(self) -> str:
        """Changes when the page has something else to say."""
        return f"{self.phase}.{self.summary.state}.{self.summary.answer or '-'}"

    @property
    def code_ran(self) -> bool:
        """True where a program's own code may still act in a page of the browser, and no gate can stop it."""
        return self.summary.receipt is not None and any(page.code_ran for page in self.summary.receipt.pages)

    def state(self) -> dict[str, Any]:
        """What the page's script polls."""
        return {
            "version": self.version,
            "title": self.title,
            "text": self.text,
            "seconds_left": self.seconds_left,
            "final": self.final,
        }


def view_of(summary: Summary, now: datetime, me: str = "", words: ModuleType = texts) -> View:
    """Say what holds.

    Args:
        summary: What the handoff's workflow says.
        now: The gateway's time, with its zone.
        me: The name under which this person's answer would be kept.
        words: The sentences, in this person's language.
    """
    host, path = place_of(summary.boundary.url) if summary.boundary else ("", "")
    phase, tone, title, text = _words(summary, host, words)
    left = (summary.expires_at - now).total_seconds() if summary.expires_at else 0
    total = summary.receipt.expires_in_seconds if summary.receipt else left
    return View(
        summary=summary,
        phase=phase,
        tone=tone,
        title=title,
        text=text,
        host=host,
        path=path if path != "/" else "",
        seconds_left=max(0, int(left)),
        seconds_total=max(1, int(total)),
        steps=_steps(summary, phase, me, words),
        final=summary.state.ended,
    )


def can_let_in(summary: Summary) -> bool:
    """Whether the person may let an agent into the session now.

    Only after the end: what was granted before a sign-in would be refused after it.
    """
    return summary.answer is not None and summary.state.ended


def _steps(summary: Summary, phase: Phase, me: str, words: ModuleType) -> tuple[Step, ...]:
    """The answer, the way back and the check, as far as each of them comes about."""
    if summary.answer is None:
        return ()
    mine = summary.answered_by == me
    told = words.YOU_SAID[summary.answer] if mine else words.said(summary.answered_by, summary.answer)
    said = Step(told, "past")
    if phase == "ended" and summary.state is not HandoffState.COMPLETED:
        return (said,)
    reached = {"answered": 0, "checking": 1, "ended": 2}.get(phase, 0)
    lines = (words.STEP_BACK, words.STEP_CHECK) if summary.answer is Answer.DONE else (words.STEP_BACK,)
    return (said, *(_step(i - reached, *both) for i, both in enumerate(lines)))


def _step(distance: int, ahead: str, over: str) -> Step:
    if distance < 0:
        return Step(over, "past")
    return Step(ahead, "now" if distance == 0 else "next")


def _words(summary: Summary, host: str, words: ModuleType) -> tuple[Phase, Tone, str, str]:
    if summary.state is HandoffState.REQUESTED:
        return ("preparing", "calm", *words.PREPARING)
    if summary.state is HandoffState.HELD and summary.answer is None:
        title = words.TITLES[summary.boundary.category if summary.boundary else None]
        return ("waiting", "calm", words.title_at(title, host) if host else title, words.WAITING)
    if summary.state in (HandoffState.HELD, HandoffState.FINISHING):
        return ("answered", "calm", *words.TAKING_BACK)
    if summary.state is HandoffState.RECOVERING:
        return ("checking", "calm", *words.CHECKING)
    result = summary.result or _ENDS.get(summary.state, Result.NOT_VERIFIED)
    title, text = words.ENDS[result]
    if result is Result.NOT_VERIFIED and summary.observation is None:
        text = words.NOTHING_TO_CHECK
    if result is Result.EXPIRED and summary.state.ended:
        text = words.EXPIRED_AND_OVER
    elif summary.reason is not None:
        text = words.REVOKED[summary.reason]
    return "ended", _TONES.get(result, "calm"), title, text
