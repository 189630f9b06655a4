"""What `handoff server` is told of whom to tell: from the environment, since addresses and secrets are for it alone."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from user_handoff.activities.notifying.channels import Say, say_on_terminal
from user_handoff.activities.notifying.notifying import Notifying
from user_handoff.activities.notifying.settings import NotifySettings
from user_handoff.contract.errors import ErrorCode, make_error

PREFIX: Final = "HANDOFF_NOTIFY"
"""What the names of all these variables begin with; nobody but the server worker needs them."""

CHANNELS: Final = "HANDOFF_NOTIFY"
LINKS: Final = "HANDOFF_NOTIFY_LINK"
REMINDERS: Final = "HANDOFF_NOTIFY_REMIND"
WEBHOOKS: Final = "HANDOFF_NOTIFY_WEBHOOKS"
SECRETS: Final = "HANDOFF_NOTIFY_SECRETS"
DETAILS: Final = "HANDOFF_NOTIFY_DETAILS"
INSECURE: Final = "HANDOFF_NOTIFY_INSECURE"

CONSOLE: Final = "console"
NOBODY: Final = "none"

_NAMED: Final = re.compile(r"([A-Za-z0-9_-]{1,64})=(.+)")
_SIGNED: Final = "webhook+"


@dataclass(frozen=True, slots=True)
class NotifyOptions:
    """What was said on the command line; it wins.

    Attributes:
        channels: `console` or `none`; empty: what the environment says.
        links: The names of the channels that get a link; empty: what the environment says.
        reminders: Seconds after the hold began, or, where negative, before it expires; empty: as above.
        console_fd: The descriptor of another terminal to write on; None: this process's standard output.
    """

    channels: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    reminders: tuple[float, ...] = ()
    console_fd: int | None = None

    def arguments(self) -> list[str]:
        """The same as arguments of `handoff server`."""
        found = [f"--notify={name}" for name in self.channels] + [f"--notify-link={name}" for name in self.links]
        return found + [f"--remind={seconds:g}" for seconds in self.reminders]


def without_ours(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment for a process that tells nobody."""
    return {name: value for name, value in environ.items() if not name.startswith(PREFIX)}


def notifying(
    options: NotifyOptions, base_url: Callable[[], str], environ: Mapping[str, str] = os.environ
) -> Notifying:
    """Whom this server tells, and how.

    Args:
        options: What was said on the command line.
        base_url: What people's links begin with; empty: it is not known.
        environ: The environment.

    Raises:
        Refused: ``invalid_request``: it does not fit together. No address and no secret is in the error.
    """
    settings = read_settings(options, environ)
    if any(channel.link for channel in settings.channels) and not base_url():
        _refuse("a channel gets a link, and nothing says where the gateway is: name it with --public-url")
    return Notifying(settings, base_url, say=_say(options))


def read_settings(options: NotifyOptions, environ: Mapping[str, str]) -> NotifySettings:
    """The settings alone.

    Raises:
        Refused: ``invalid_request``.
    """
    secrets = {name: text.split(",") for name, text in _pairs(environ, SECRETS, "") if name}
    links = list(options.links) or environ.get(LINKS, "").split()
    details = environ.get(DETAILS, "").split()
    channels = _channels(options, environ, secrets)
    endpoints: list[dict[str, Any]] = [
        {"name": name, "url": url, "secrets": secrets.get(name, ())}
        for name, url in _pairs(environ, WEBHOOKS, "webhook")
    ]
    _known(LINKS, links, channels)
    _known(DETAILS, details, endpoints)
    _known(SECRETS, list(secrets), [*channels, *endpoints])
    _signed([*(each for each in channels if each["kind"] == "webhook"), *endpoints])
    try:
        return NotifySettings.model_validate(
            {
                "channels": [{**each, "link": each["name"] in links} for each in channels],
                "endpoints": [{**each, "details": each["name"] in details} for each in endpoints],
                "reminders": list(options.reminders) or environ.get(REMINDERS, "").split(),
                "insecure": environ.get(INSECURE) == "1",
            }
        )
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
        _refuse(
            "; ".join(f"{_where(each['loc'])} {each['msg'].removeprefix('Value error, ')}".strip() for each in found)
        )


def _channels(
    options: NotifyOptions, environ: Mapping[str, str], secrets: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    if not set(options.channels) <= {CONSOLE, NOBODY}:
        _refuse(f"--notify takes {CONSOLE} or {NOBODY}: others read command lines, so addresses go into {CHANNELS}")
    if options.channels:
        return [] if NOBODY in options.channels else [{"name": CONSOLE, "kind": "console"}]
    found: list[dict[str, Any]] = []
    for name, target in _pairs(environ, CHANNELS, ""):
        if target == NOBODY:
            continue
        if target == CONSOLE:
            found.append({"name": name or CONSOLE, "kind": "console"})
        elif target.startswith(_SIGNED):
            name = name or "webhook"
            url = target.removeprefix(_SIGNED)
            found.append({"name": name, "kind": "webhook", "url": url, "secrets": secrets.get(name, ())})
        else:
            found.append({"name": name or _scheme(target), "kind": "apprise", "url": target})
    return found


def _scheme(url: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", url.partition("://")[0])[:64] or "apprise"


def _pairs(environ: Mapping[str, str], variable: str, default: str) -> list[tuple[str, str]]:
    """What a variable names, with spaces or lines between: `name=value`, or a value alone."""
    found = []
    for word in environ.get(variable, "").split():
        named = _NAMED.fullmatch(word)
        found.append((named[1], named[2]) if named else (default, word))
    return found


def _known(variable: str, names: Sequence[str], of: Sequence[Mapping[str, Any]]) -> None:
    if unknown := sorted(set(names) - {each["name"] for each in of}):
        _refuse(f"{variable} names {unknown[0]}, which is none of those that it is for")


def _signed(webhooks: Sequence[Mapping[str, Any]]) -> None:
    for name in (each["name"] for each in webhooks if not each["secrets"]):
        _refuse(f"the webhook {name} needs a secret to be signed with: add {name}=whsec_… to {SECRETS}")


def _where(place: Sequence[int | str]) -> str:
    """What is wrong, as whoever set it knows it: which entry of which variable."""
    variables = {"channels": CHANNELS, "endpoints": WEBHOOKS}
    if len(place) > 1 and place[0] in variables and isinstance(place[1], int):
        return f"entry {place[1] + 1} of {variables[str(place[0])]}: {'.'.join(map(str, place[2:]))}".rstrip()
    return ".".join(map(str, place))


def _say(options: NotifyOptions) -> Say:
    if options.console_fd is None:
        return say_on_terminal
    fd = options.console_fd
    return lambda text: _write(fd, f"{text}\n".encode())


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _refuse(wrong: str) -> NoReturn:
    raise make_error(
        ErrorCode.INVALID_REQUEST,
        f"Nobody can be told like this: {wrong}.",
        holds="Nothing was started.",
        do_next=f"Correct the variables that begin with {PREFIX}; docs/notifications.md explains them.",
    )
