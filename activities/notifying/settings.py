"""Whom a server tells, and how. Addresses hold secrets: they stay in this process."""

import hashlib
from collections import Counter
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from user_handoff.contract.base import Id
from user_handoff.contract.notices import ChannelInfo, EndpointInfo
from user_handoff.contract.webhooks import WebhookSecret

MAX_RECEIVERS: Final = 8
"""How many channels, and how many endpoints, there can be."""

MAX_REMINDERS: Final = 10
MAX_REMINDER_SECONDS: Final = 600

_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True)


class Channel(_Closed):
    """A way to tell a person."""

    name: Id
    """What histories, summaries and logs call it."""
    kind: Literal["console", "apprise", "webhook"]
    url: SecretStr = SecretStr("")
    """Where to; nothing for the console."""
    secrets: tuple[WebhookSecret, ...] = ()
    """What a webhook is signed with, the current secret first."""
    link: bool = False
    """It gets a link to the person's page."""

    @model_validator(mode="after")
    def _has_what_it_takes(self) -> Self:
        if self.kind == "webhook" and not self.secrets:
            raise ValueError("a webhook needs a secret to be signed with")
        if self.kind == "apprise" and make_apprise(self.url) is None:
            raise ValueError("no service of Apprise's is reached by this URL")
        return self

    @property
    def info(self) -> ChannelInfo:
        """What workflows know of it."""
        return ChannelInfo(name=self.name, dedupes=self.kind == "webhook")


class Endpoint(_Closed):
    """A program that is told of every state of every handoff."""

    name: Id
    url: SecretStr
    secrets: tuple[WebhookSecret, ...]
    """What it is signed with, the current secret first."""
    details: bool = False
    """It is told the owner, the instructions and the place, too."""

    @model_validator(mode="after")
    def _is_signed(self) -> Self:
        if not self.secrets:
            raise ValueError("a webhook needs a secret to be signed with")
        return self

    @property
    def info(self) -> EndpointInfo:
        """What workflows know of it."""
        return EndpointInfo(name=self.name, details=self.details)

    @property
    def key(self) -> str:
        """Names this endpoint at this address, and does not give the address away."""
        return hashlib.sha256(f"{self.name}\0{self.url.get_secret_value()}".encode()).hexdigest()[:32]


class NotifySettings(_Closed):
    """All of it; by default nobody is told."""

    channels: Annotated[tuple[Channel, ...], Field(max_length=MAX_RECEIVERS)] = ()
    endpoints: Annotated[tuple[Endpoint, ...], Field(max_length=MAX_RECEIVERS)] = ()
    reminders: Annotated[tuple[float, ...], Field(max_length=MAX_REMINDERS)] = ()
    """When a person is told again: seconds after the hold began; negative: before it expires."""
    insecure: bool = False
    """Webhooks may go to other machines by plain http."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        receivers: list[Channel | Endpoint] = [*self.channels, *self.endpoints]
        counted = Counter(each.name for each in receivers)
        if twice := [name for name, count in counted.items() if count > 1]:
            raise ValueError(f"two have the name {twice[0]}")
        for each in receivers:
            if isinstance(each, Endpoint) or each.kind == "webhook":
                _check_address(each.name, each.url, self.insecure)
        if any(not 0 < abs(seconds) <= MAX_REMINDER_SECONDS for seconds in self.reminders):
            raise ValueError(f"a reminder is 1 to {MAX_REMINDER_SECONDS} seconds after the begin, or before the end")
        return self

    def channel(self, name: str) -> Channel | None:
        """The channel of that name."""
        return next((channel for channel in self.channels if channel.name == name), None)

    def endpoint(self, name: str) -> Endpoint | None:
        """The endpoint of that name."""
        return next((endpoint for endpoint in self.endpoints if endpoint.name == name), None)


def make_apprise(url: SecretStr) -> Any:
    """Apprise's own object for an address; None where it knows no such service."""
    import apprise  # it takes a second to load its services, which not every server needs

    # Nothing it is told is looked at for markup, files or escapes, and nothing of it is kept on disk.
    asset = apprise.AppriseAsset(app_id="user-handoff", storage_mode=apprise.PersistentStoreMode.MEMORY)
    found = apprise.Apprise(asset=asset)
    return found if found.add(url.get_secret_value()) and len(found) == 1 else None


def _check_address(name: str, url: SecretStr, insecure: bool) -> None:
    parts = urlsplit(url.get_secret_value())
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.fragment:
        raise ValueError(f"the address of {name} must be like https://example.org/path")
    if parts.scheme == "http" and parts.hostname not in _THIS_MACHINE and not insecure:
        raise ValueError(f"the address of {name} must be https, since it is on another machine")
