"""A caller of REST."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.gateway.mcp.stage import Stage
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope
from user_handoff.testing import ScriptedPerson

STARTS = (*SCOPES_OF_A_HANDOFF, Scope.SESSIONS_OPEN)
"""What an agent has that may start first, without a person."""


@dataclass
class Caller:
    """A principal with a key, or an agent with a grant."""

    http: httpx.AsyncClient
    name: str
    bearer: str

    async def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Ask for something that is there."""
        return self.found(await self.http.get(path, params=query))

    async def post(self, path: str, body: Any = None, key: str | None = None) -> dict[str, Any]:
        """Ask for something that is done."""
        return self.found(await self.send(path, body, key))

    async def send(self, path: str, body: Any = None, key: str | None = None) -> httpx.Response:
        """Ask for something."""
        headers = {} if key is None else {"idempotency-key": key}
        return await self.http.post(path, json={} if body is None else body, headers=headers)

    async def refused(self, path: str, body: Any = None, key: str | None = None) -> tuple[int, str]:
        """Ask for something that is refused: the status and the code."""
        return self.problem(await self.send(path, body, key))

    async def not_told(self, path: str, **query: Any) -> tuple[int, str]:
        """Ask for something that is not told: the status and the code."""
        return self.problem(await self.http.get(path, params=query))

    @staticmethod
    def found(response: httpx.Response) -> dict[str, Any]:
        """The body of a success."""
        assert response.is_success, response.text
        return dict(response.json())

    @staticmethod
    def problem(response: httpx.Response) -> tuple[int, str]:
        """What a refusal says; it is problem details in any case."""
        assert response.headers["content-type"] == "application/problem+json", response.text
        said = response.json()
        assert said["status"] == response.status_code
        assert set(said) == {"type", "title", "status", "detail", "code", "holds", "do_next", "details"}
        return response.status_code, said["code"]


def nobody() -> ScriptedPerson:
    """A person who never answers, while the hold lasts."""
    return ScriptedPerson("done", waits_for=asyncio.Event())


@contextlib.asynccontextmanager
async def open_caller(
    stage: Stage, name: str | None = None, scopes: Sequence[Any] = STARTS, bearer: str | None = None
) -> AsyncIterator[Caller]:
    """A caller, with a new key unless a bearer is given."""
    name = name or f"agent:{new_id('p')}"
    bearer = bearer or await stage.key(name, scopes)
    headers = {"authorization": f"Bearer {bearer}"}
    async with httpx.AsyncClient(base_url=stage.base_url, headers=headers, timeout=60) as http:
        yield Caller(http, name, bearer)
