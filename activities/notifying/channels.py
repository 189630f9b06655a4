"""Sending one notice by one channel, once."""

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from user_handoff.activities.notifying.post import post_signed
from user_handoff.activities.notifying.settings import Channel, make_apprise
from user_handoff.activities.notifying.texts import asked_body, line, message, title
from user_handoff.contract.notices import TellPerson

Say = Callable[[str], None]

_TALKATIVE: Final = ("apprise", "httpx2", "httpcore2", "urllib3", "requests_oauthlib")
"""Their logs name whole addresses, and in those are tokens."""


class NotTakenError(Exception):
    """The receiver did not take it, as far as it said. The text names no address."""


def keep_quiet() -> None:
    """Let no library write addresses into a log, however the program configures its logging."""
    for name in _TALKATIVE:
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL + 1)


def say_on_terminal(text: str) -> None:
    """Write a line on this process's standard output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def send(channel: Channel, ask: TellPerson, link: str, say: Say) -> None:
    """Send one notice.

    Args:
        channel: By which channel.
        ask: What is told.
        link: The address of the person's page; empty: this channel gets none.
        say: Writes a line on the console.

    Raises:
        NotTakenError: The service refused or failed.
        httpx2.HTTPError: The receiver of a webhook was not reached.
        TimeoutError: It did not answer in time.
    """
    now = datetime.now(UTC)
    if channel.kind == "console":
        say(line(ask, link, now))
    elif channel.kind == "webhook":
        answer = await post_signed(channel.url, channel.secrets, ask.notice_id, asked_body(ask, link))
        if not answer.taken:
            raise NotTakenError(f"it answered {answer.status}")
    else:
        done = await make_apprise(channel.url).async_notify(
            body=message(ask, link, now), title=title(ask), body_format="text"
        )
        if not done:
            raise NotTakenError("the service did not confirm it")
