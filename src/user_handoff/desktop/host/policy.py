"""Who may do what: the class of a command, and what a hold lets each role do of it."""

import re
from enum import Enum, auto

from user_handoff.desktop.host import commands
from user_handoff.desktop.host.settings import Params, setting_of

_SCROLL_SPEED = 800
"""Pixels a second, unless a client says otherwise."""
_SCROLL_SECONDS = 1.0


class Kind(Enum):
    """What a command does."""

    NEVER = auto()
    """Refused always: it tunnels around the gate, crashes the browser, or leaves it."""
    LIFECYCLE = auto()
    """Connects, subscribes, or lets go."""
    STRUCTURE = auto()
    """Asks which pages, frames and windows there are."""
    CONTENT = auto()
    """Asks what is in a page."""
    EVALUATE = auto()
    """Runs code in a page: it looks, or acts."""
    SETTING = auto()
    """A setting of a session: in a hold it is noted down, and applied at the release."""
    EFFECT = auto()
    """Everything else."""


_ALWAYS = (Kind.LIFECYCLE, Kind.STRUCTURE, Kind.SETTING)
_LOOKS = (Kind.CONTENT, Kind.EVALUATE)


class Role(Enum):
    """Who a client is."""

    SUPERVISOR = auto()
    """The runner: it may look at everything in a hold, and do nothing."""
    AGENT = auto()
    """Any other program, through a door: in a hold it learns which pages there are, and nothing of what is in them."""

    def may_in_hold(self, kind: Kind) -> bool:
        """True where a hold does not refuse this client's command."""
        return kind in _ALWAYS or (self is Role.SUPERVISOR and kind in _LOOKS)

    def drains(self, kind: Kind) -> bool:
        """True where a hold waits for the end of this client's command."""
        return kind is Kind.EFFECT or (self is Role.AGENT and kind in _LOOKS)


# Frameworks make their isolated world in every new document by a script that does nothing.
_EMPTY_SCRIPT = re.compile(r"\s*(?://[^\n\r\u2028\u2029]*)?\s*\Z")

_ALLOWED_URL = re.compile(r"(?:about:blank|https?://[^\x00-\x20]+)\Z", re.IGNORECASE)


def classify(method: str, params: Params, role: Role = Role.SUPERVISOR) -> Kind:
    """What a command does; unknown ones are effects."""
    if method in commands.NEVER or _is_tunnel(method, params):
        return Kind.NEVER
    if role is Role.AGENT and (
        method in commands.NEVER_FOR_AGENTS or _arms_next_document(method, params) or _goes_on_long(method, params)
    ):
        return Kind.NEVER
    if method in commands.LIFECYCLE or is_empty_script(method, params):
        return Kind.LIFECYCLE
    if method in commands.STRUCTURE:
        return Kind.STRUCTURE
    if method in commands.CONTENT:
        return Kind.CONTENT
    if method in commands.EVALUATE:
        return Kind.EVALUATE
    if setting_of(method) is not None:
        return Kind.SETTING
    return Kind.EFFECT


def is_answer(method: str) -> bool:
    """True for an answer to a request that waits for the client: an effect in flight may need it to end."""
    return method in commands.ANSWERS


def is_empty_script(method: str, params: Params) -> bool:
    """True for the making of an isolated world, by a script that does nothing."""
    source = params.get("source")
    return (
        method == "Page.addScriptToEvaluateOnNewDocument"
        and isinstance(source, str)
        and _EMPTY_SCRIPT.match(source) is not None
    )


def refused_url(method: str, params: Params) -> bool:
    """True where a command would open what is neither a web page nor blank: local files and the browser's own pages."""
    url = params.get("url")
    if method == "Target.createTarget" and url == "":
        return False
    if method == "Fetch.continueRequest" and url is None:
        return False
    if method not in ("Page.navigate", "Target.createTarget", "Fetch.continueRequest"):
        return False
    return not (isinstance(url, str) and _ALLOWED_URL.match(url))


def _arms_next_document(method: str, params: Params) -> bool:
    # the document may come only when a person has the browser, and nobody could take the code out of it
    return method == "Page.reload" and bool(params.get("scriptToEvaluateOnLoad"))


def _goes_on_long(method: str, params: Params) -> bool:
    # a gesture that the browser itself makes cannot be stopped for a person
    if method != "Input.synthesizeScrollGesture":
        return False
    given = [params.get("speed", _SCROLL_SPEED), params.get("xDistance", 0), params.get("yDistance", 0)]
    if params.get("repeatCount") or not all(isinstance(number, int | float) for number in given):
        return True
    speed, across, down = (abs(float(number)) for number in given)
    return max(across, down) > speed * _SCROLL_SECONDS


def _is_tunnel(method: str, params: Params) -> bool:
    # without `flatten` a session's messages travel inside other messages, where the gate does not look
    if method == "Target.attachToTarget":
        return params.get("flatten") is not True
    return method == "Target.setAutoAttach" and bool(params.get("autoAttach")) and params.get("flatten") is not True
