"""A small OpenID Connect provider, on a port of its own, that can be told to misbehave."""

import asyncio
import base64
import contextlib
import hashlib
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from user_handoff.gateway.serving import serve

CLIENT_ID, CLIENT_SECRET = "gateway", "not-a-secret-of-anybody"


@dataclass
class Provider:
    """Signs everybody in as whoever it is told.

    `user` are the claims about them, `lies` replace the right ones, `strange_key` signs with a key that nobody knows,
    `refuses` sends people back with an error.
    """

    issuer: str = ""
    user: dict[str, Any] = field(default_factory=lambda: {"email": "ada@example.org", "email_verified": True})
    lies: dict[str, Any] = field(default_factory=dict)
    strange_key: bool = False
    refuses: bool = False
    asked: list[dict[str, str]] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)
    _key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))

    def settings(self) -> dict[str, str]:
        """What the gateway needs."""
        return {"issuer": self.issuer, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}

    async def configuration(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    async def keys(self, request: Request) -> Response:
        return JSONResponse(KeySet([self._key]).as_dict(private=False))

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.asked.append(asked)
        if self.refuses:
            back = {"error": "access_denied", "state": asked["state"]}
        else:
            back = {"code": secrets.token_urlsafe(16), "state": asked["state"]}
            self._codes[back["code"]] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}")

    async def token(self, request: Request) -> Response:
        async with request.form() as form:
            asked = self._codes.pop(str(form["code"]), None)
            verifier = str(form.get("code_verifier", ""))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        client = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        if asked is None or asked["code_challenge"] != challenge or client != f"{CLIENT_ID}:{CLIENT_SECRET}":
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        right = {"iss": self.issuer, "aud": CLIENT_ID, "sub": "1", "iat": now, "exp": now + 60, "nonce": asked["nonce"]}
        key = RSAKey.generate_key(2048, {"kid": "one"}) if self.strange_key else self._key
        token = jwt.encode({"alg": "RS256", "kid": "one"}, {**right, **self.user, **self.lies}, key)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": token, "expires_in": 60})


@contextlib.asynccontextmanager
async def running_provider() -> AsyncIterator[Provider]:
    """Serve one, under a name that is another site than the gateway's."""
    provider = Provider()
    routes = [
        Route("/.well-known/openid-configuration", provider.configuration),
        Route("/keys", provider.keys),
        Route("/authorize", provider.authorize),
        Route("/token", provider.token, methods=["POST"]),
    ]
    stop, port = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(Starlette(routes=routes), "127.0.0.1", 0, stop, ready=port.set_result))
    provider.issuer = f"http://localhost:{await port}"
    try:
        yield provider
    finally:
        stop.set()
        await serving
