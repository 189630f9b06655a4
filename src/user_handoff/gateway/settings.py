"""How the gateway is reached, and which webhooks it believes."""

from typing import Annotated, Any, Final, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from user_handoff.contract.webhooks import WebhookSecret

DEFAULT_PORT: Final = 8700

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def _base_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError("must be like https://handoff.example or https://example/prefix")
    return url.rstrip("/")


def public_url(url: str) -> str:
    """What people's links begin with, its origin as browsers write it: forms are compared with that.

    Raises:
        ValueError: It makes no link.
    """
    parts = urlsplit(_base_url(url))
    host = (parts.hostname or "").encode("idna").decode()
    if host.encode().decode("idna") != parts.hostname:
        raise ValueError("must have its host as browsers write it, like https://xn--bro-hoa.example")
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return parts._replace(netloc=f"{host}{port}").geturl()


def _origin(origin: str) -> str:
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.hostname or origin != f"{parts.scheme}://{parts.netloc}":
        raise ValueError("must be like http://127.0.0.1:8233: scheme, host and port, and nothing behind")
    return origin


def is_this_machine(host: str | None) -> bool:
    """True for the names by which a machine calls itself."""
    return host in ("localhost", "127.0.0.1", "::1")


class OidcSettings(BaseModel):
    """An OpenID Connect provider, at which the gateway is a confidential client."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True)

    issuer: Annotated[str, AfterValidator(_base_url)]
    """Its address; its configuration is at ``/.well-known/openid-configuration`` below."""
    client_id: Annotated[str, Field(min_length=1)]
    client_secret: Annotated[SecretStr, Field(min_length=1)]


class GatewaySettings(BaseModel):
    """Settings of one gateway process."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True)

    host: str = "127.0.0.1"
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65535)
    base_url: Annotated[str, AfterValidator(public_url)]
    """What people's links begin with, a reverse proxy's path prefix included. The default is ``http://host:port``."""
    webhook_secrets: tuple[WebhookSecret, ...] = ()
    """Standard Webhooks secrets (``whsec_...``); several while one is replaced by another. None: no webhooks."""
    patience_seconds: float = Field(default=8, gt=0, le=60)
    """How long a person or a webhook waits at most for Temporal."""
    requests_per_second: float = Field(default=50, gt=0, le=100_000)
    """How many requests of one key or grant are taken by REST, twice as many in a burst."""
    person_grants: bool = False
    """A person who has answered may let an agent into the session, from their page."""

    person_requests: bool = False
    """A person may send the agent's session a request of their own, from their page."""
    session_secret: Annotated[SecretStr, Field(min_length=24)] | None = None
    """Signs the cookies of those who have signed in; the same for all gateways. None: one of this process's own."""
    operators: tuple[str, ...] = ()
    """The e-mail addresses of those who see every handoff in the inbox, where people sign in by OpenID Connect."""
    oidc: OidcSettings | None = None
    """Where people sign in. None: with keys alone, and people's pages ask nobody who they are."""

    codec_origins: tuple[Annotated[str, AfterValidator(_origin)], ...] = ()
    """The origins of the Temporal web UI whose pages may ask to decode payloads. None: there is no codec endpoint."""
    codec_token: Annotated[SecretStr, Field(min_length=24)] | None = None
    """What else a caller of the codec endpoint must show, as a bearer token. None: it must be on this machine."""

    @model_validator(mode="before")
    @classmethod
    def _default_base_url(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("base_url"):
            host = str(data.get("host") or "127.0.0.1")
            host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
            return {**data, "base_url": f"http://{host}:{data.get('port', DEFAULT_PORT)}"}
        return data

    @model_validator(mode="after")
    def _codec_for_whom(self) -> Self:
        here = is_this_machine(self.host) and is_this_machine(urlsplit(self.base_url).hostname)
        if self.codec_origins and self.codec_token is None and not here:
            raise ValueError("a gateway that is reached from elsewhere needs a codec_token for its codec endpoint")
        return self

    def on(self, port: int) -> Self:
        """The same once its port is known: where any was free to choose, its own address has that one."""
        parts = urlsplit(self.base_url)
        if parts.port != 0:
            return self.model_copy(update={"port": port})
        netloc = f"{parts.netloc.removesuffix(':0')}:{port}"
        return self.model_copy(update={"port": port, "base_url": parts._replace(netloc=netloc).geturl()})

    @property
    def prefix(self) -> str:
        """The path under which a reverse proxy shows the gateway; empty at the root."""
        return urlsplit(self.base_url).path
