"""Identifiers: how they are minted, and how a handoff's workflow id is made of them."""

import hashlib
import re
import secrets
from dataclasses import dataclass

ID_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"
"""Every id of ours: safe in a workflow id, a URL path, a file name and a queue name."""

_TAKEOVER = re.compile(r"^takeover/([A-Za-z0-9_-]{1,64})/([A-Za-z0-9_-]{1,64})$")
_HANDOFF = re.compile(r"^handoff/([A-Za-z0-9_-]{1,64})/([A-Za-z0-9_-]{1,64})/([A-Za-z0-9_-]{1,64})$")


def new_id(prefix: str) -> str:
    """Mint a random id such as ``b_1f0c...``: 64 random bits, not a secret.

    Args:
        prefix: What it names: ``b`` browser, ``s`` session, ``m`` message, ``d`` desktop, ``c`` client, ``e`` effect.
    """
    return f"{prefix}_{secrets.token_hex(8)}"


@dataclass(frozen=True, slots=True)
class Association:
    """What a handoff is about: one browser, one session, one message. It can be used once."""

    browser_id: str
    session_id: str
    message_id: str

    @property
    def handoff_id(self) -> str:
        """The workflow id of the one handoff that this association can ever have."""
        return f"handoff/{self.browser_id}/{self.session_id}/{self.message_id}"

    @classmethod
    def parse(cls, handoff_id: str) -> "Association":
        """Read an association back from a handoff's id.

        Raises:
            ValueError: The text is not the id of a handoff.
        """
        match = _HANDOFF.fullmatch(handoff_id)
        if match is None:
            raise ValueError(f"not the id of a handoff: {handoff_id[:80]!r}")
        return cls(*match.groups())


def session_workflow_id(session_id: str) -> str:
    """The workflow id of a session."""
    return f"session/{session_id}"


def runner_workflow_id(client_id: str) -> str:
    """The workflow id of a desktop machine's presence."""
    return f"runner/{client_id}"


def principal_workflow_id(owner: str) -> str:
    """The workflow id of what is known of a principal. It does not give the name away: ids are plain text."""
    return f"principal/{hashlib.sha256(owner.encode()).hexdigest()[:32]}"


def inbox_workflow_id(session_id: str) -> str:
    """The workflow id of what a person has sent to a session."""
    return f"inbox/{session_id}"


def claim_workflow_id(*words: str) -> str:
    """The workflow id by which a caller's own name for a request is kept. It gives none of the words away."""
    return f"claim/{hashlib.sha256(chr(0).join(words).encode()).hexdigest()[:32]}"


def takeover_workflow_id(browser_id: str, number: str) -> str:
    """The workflow id of one takeover of a browser."""
    return f"takeover/{browser_id}/{number}"


def parse_takeover(takeover_id: str) -> tuple[str, str]:
    """The browser and the number of a takeover.

    Raises:
        ValueError: The text is not the id of a takeover.
    """
    match = _TAKEOVER.fullmatch(takeover_id)
    if match is None:
        raise ValueError(f"not the id of a takeover: {takeover_id[:80]!r}")
    return match[1], match[2]


def delivery_workflow_id(handoff_id: str) -> str:
    """The workflow id of what delivers the news of a handoff to programs."""
    return f"delivery/{handoff_id.removeprefix('handoff/')}"


def gone_endpoint_id(key: str) -> str:
    """The workflow id under which it is kept that an endpoint wants nothing more."""
    return f"gone-endpoint/{key}"


def message_id(*parts: str | int) -> str:
    """The id under which a notice or a webhook goes out: the same for the same parts, none of which it gives away."""
    return f"msg_{hashlib.sha256(chr(0).join(map(str, parts)).encode()).hexdigest()[:32]}"


KEYS_WORKFLOW_ID = "keys"
"""The workflow id of what is known of all principals' keys."""
