"""Every English sentence that a person is told, and what a program is told instead."""

import json
from datetime import UTC, datetime
from typing import Any

from user_handoff.contract.ids import Association
from user_handoff.contract.news import Deliver
from user_handoff.contract.notices import TellPerson

_WARNING = "Do it there yourself. Never answer this message with a password or a code."


def title(ask: TellPerson) -> str:
    """One line: who asks."""
    return f"{ask.owner} still waits for you" if ask.number else f"{ask.owner} asks for you"


def message(ask: TellPerson, link: str, now: datetime) -> str:
    """What to do, where, for how long, and how to get there."""
    lines = [ask.instructions, ""]
    if ask.boundary:
        lines.append(f"Where: {ask.boundary.url} ({ask.boundary.reason})")
    lines += [f"Until: {ask.expires_at:%H:%M:%S} UTC, {time_left(ask, now)} left"]
    lines.append(f"Open: {link}" if link else f"Request: {ask.handoff_id}")
    return "\n".join([*lines, "", _WARNING])


def line(ask: TellPerson, link: str, now: datetime) -> str:
    """The same in one line, which no terminal obeys."""
    what = " ".join(ask.instructions.split())
    what = what if len(what) <= 200 else f"{what[:199]}…"
    where = f" at {ask.boundary.url}" if ask.boundary else ""
    how = f"Open {link}" if link else f"`handoff link {ask.handoff_id}` makes a link"
    return _plain(f"{title(ask)}{where}: {what} ({time_left(ask, now)} left). {how}")


def time_left(ask: TellPerson, now: datetime) -> str:
    """In words, rounded down."""
    seconds = int((ask.expires_at - now).total_seconds())
    if seconds < 60:
        return f"{max(seconds, 0)} seconds"
    return f"{seconds // 60} minute{'s' if seconds >= 120 else ''}"


def asked_body(ask: TellPerson, link: str) -> str:
    """The body of the webhook that asks for a person."""
    data = {
        **_ids(ask.handoff_id),
        "owner": ask.owner,
        "instructions": ask.instructions,
        "boundary": ask.boundary.model_dump(mode="json") if ask.boundary else None,
        "expires_at": _time(ask.expires_at),
        "link": link or None,
    }
    return _body("handoff.reminder" if ask.number else "handoff.asked", datetime.now(UTC), data)


def news_body(told: Deliver) -> str:
    """The body of the webhook that tells of a state."""
    news, details = told.news, told.details
    data: dict[str, Any] = {
        **_ids(told.handoff_id),
        "number": news.number,
        "state": news.what,
        "over": news.over,
        "expires_at": _time(news.expires_at) if news.expires_at else None,
        "answer": news.answer,
        "result": news.result,
        "reason": news.reason,
        "code": news.code,
    }
    if details is not None:
        data |= details.model_dump(mode="json")
    return _body(f"handoff.{news.what}", news.at, data)


def _body(kind: str, at: datetime, data: dict[str, Any]) -> str:
    return json.dumps({"type": kind, "timestamp": _time(at), "data": data}, separators=(",", ":"))


def _ids(handoff_id: str) -> dict[str, str]:
    it = Association.parse(handoff_id)
    return {
        "handoff_id": handoff_id,
        "browser_id": it.browser_id,
        "session_id": it.session_id,
        "message_id": it.message_id,
    }


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
