"""Signing in to the inbox, with a key or by OpenID Connect. What is kept is in the browser's own cookie."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response

from user_handoff.client.keys import KeyAccess
from user_handoff.contract.entering import as_email
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import Summary
from user_handoff.contract.session import Scope
from user_handoff.gateway.bodies import read_body, read_form, same_origin
from user_handoff.gateway.identity import Identity
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.settings import GatewaySettings


@dataclass(frozen=True, slots=True)
class Operator:
    """Somebody who has signed in.

    Attributes:
        name: A principal's name, or an e-mail address.
        sees: Which handoffs they may know of, and make links to.
        operates: True where they see everybody's, and may take any browser over.
    """

    name: str
    sees: Callable[[Summary], bool]
    operates: bool = False


class SignIn:
    """Knows who somebody is, and whether that still holds."""

    def __init__(self, keys: KeyAccess, identity: Identity, settings: GatewaySettings, renderer: Renderer) -> None:
        self._keys = keys
        self._identity = identity
        self._operators = {as_email(email) for email in settings.operators}
        self._prefix = settings.prefix
        self._base_url = settings.base_url
        self._renderer = renderer

    async def who(self, request: HTTPConnection) -> Operator | None:
        """Who has signed in; None: nobody, or their key was revoked.

        Raises:
            SetupError: ``temporal_unreachable``: it cannot be told now.
        """
        email = as_email(self._identity.email(request))
        if email:
            everything = email in self._operators
            return Operator(email, lambda summary: everything or as_email(summary.person) == email, everything)
        key_id = self._identity.key_id(request)
        if not key_id:
            return None
        try:
            principal = await self._keys.principal_of(key_id)
        except HandoffError as error:
            if error.code is ErrorCode.UNAUTHORIZED:
                return None
            raise
        everything = Scope.HANDOFFS_OPERATE in principal.scopes
        return Operator(principal.name, lambda summary: everything or summary.owner == principal.name, everything)

    def page(self, request: Request, wrong: bool = False) -> Response:
        """The page that asks."""
        status = HTTPStatus.UNAUTHORIZED if wrong else HTTPStatus.OK
        title, text = words_for(request).SIGN_IN_INBOX
        return self._renderer.page(
            request, "signin.html", status, title=title, text=text, wrong=wrong, provider=self._identity.asks
        )

    async def sign_in(self, request: Request) -> Response:
        """Take the form with a key. The key itself is kept nowhere."""
        words = words_for(request)
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words.FOREIGN, HTTPStatus.FORBIDDEN)
        key = read_form(await read_body(request)).get("key", "").strip()
        try:
            principal = await self._keys.principal(key)
        except HandoffError as error:
            if error.code is ErrorCode.UNAUTHORIZED:
                return self.page(request, wrong=True)
            return self._renderer.notice(request, words.UNREACHABLE, HTTPStatus.SERVICE_UNAVAILABLE)
        self._identity.sign_in(request, key_id=principal.key_id)
        return RedirectResponse(f"{self._prefix}/", HTTPStatus.SEE_OTHER)

    async def sign_out(self, request: Request) -> Response:
        """Forget who it was."""
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words_for(request).FOREIGN, HTTPStatus.FORBIDDEN)
        self._identity.sign_out(request)
        return RedirectResponse(f"{self._prefix}/", HTTPStatus.SEE_OTHER)
