"""Signing in by OpenID Connect: authorization code with PKCE, state and nonce, all kept in the browser's own cookie."""

import logging
from http import HTTPStatus
from typing import Any, Final

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.starlette_client import OAuth
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from user_handoff.gateway.identity import Identity
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.settings import GatewaySettings, OidcSettings

_LOG = logging.getLogger(__name__)

# It would write down the verifier of PKCE.
logging.getLogger("authlib").setLevel(logging.INFO)

_SECONDS: Final = 10
_NEXT: Final = "next"


class OidcSignIn:
    """Sends people to the provider, and believes what comes back only where it can be checked."""

    def __init__(self, oidc: OidcSettings, identity: Identity, settings: GatewaySettings, renderer: Renderer) -> None:
        self._identity = identity
        self._prefix = settings.prefix
        self._callback = f"{settings.base_url}/signin/callback"
        self._renderer = renderer
        self._provider = OAuth().register(
            "oidc",
            client_id=oidc.client_id,
            client_secret=oidc.client_secret.get_secret_value(),
            server_metadata_url=f"{oidc.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={"scope": "openid email", "code_challenge_method": "S256", "timeout": _SECONDS},
        )

    async def begin(self, request: Request) -> Response:
        """Send somebody to the provider; they come back to where they were."""
        token = request.path_params.get("token", "")
        request.session[_NEXT] = f"/j/{token}" if token else "/"
        try:
            answer: Response = await self._provider.authorize_redirect(request, self._callback)
        except (httpx2.HTTPError, OAuthError, ValueError, KeyError) as error:
            return self._failed(request, error, "NO_PROVIDER", HTTPStatus.SERVICE_UNAVAILABLE)
        return answer

    async def finish(self, request: Request) -> Response:
        """Take what the provider sends them back with."""
        onwards = str(request.session.get(_NEXT, "/"))
        try:
            token: dict[str, Any] = await self._provider.authorize_access_token(request)
            claims = dict(token.get("userinfo") or {})
        except httpx2.HTTPError as error:
            return self._failed(request, error, "NO_PROVIDER", HTTPStatus.SERVICE_UNAVAILABLE)
        except (OAuthError, JoseError, ValueError, KeyError) as error:
            return self._failed(request, error, "NOT_SIGNED_IN", HTTPStatus.FORBIDDEN)
        email = claims.get("email")
        # An address that the provider has not checked is what somebody has typed there.
        if not isinstance(email, str) or not email or claims.get("email_verified") is not True:
            return self._failed(request, ValueError(), "NOT_SIGNED_IN", HTTPStatus.FORBIDDEN)
        self._identity.sign_in(request, email=email[:200])
        return RedirectResponse(f"{self._prefix}{onwards}", HTTPStatus.SEE_OTHER)

    def _failed(self, request: Request, error: Exception, words: str, status: HTTPStatus) -> Response:
        # Its text may quote what was sent.
        _LOG.warning("a sign-in by OpenID Connect failed: %s", type(error).__name__)
        return self._renderer.notice(request, getattr(words_for(request), words), status)
