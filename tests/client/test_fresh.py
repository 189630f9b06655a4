"""What is kept for a moment."""

import asyncio
from typing import Any

import pytest

from user_handoff.client.fresh import Fresh


async def test_many_who_ask_at_once_put_one_question() -> None:
    asked: list[str] = []
    go = asyncio.Event()

    async def ask(name: str) -> str:
        asked.append(name)
        await go.wait()
        return name.upper()

    fresh = Fresh(ask)
    waiting = [asyncio.create_task(fresh.get("a")) for _ in range(50)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    go.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert asked == ["a"] and answers[1:] == ["A"] * 49


async def test_what_did_not_help_is_asked_anew_and_shared_by_all_whom_it_did_not_help() -> None:
    answers = ["old"]
    asked: list[str] = []

    async def ask(name: str) -> str:
        asked.append(name)
        return answers[-1]

    fresh = Fresh(ask)
    assert await fresh.get("a") == "old"
    answers.append("new")
    assert await fresh.get("a") == "old"
    assert await asyncio.gather(*(fresh.get("a", lambda kept: kept == "new") for _ in range(50))) == ["new"] * 50
    assert len(asked) == 2


async def test_a_failure_is_kept_for_nobody() -> None:
    answers: list[Any] = [RuntimeError("down"), "up"]

    async def ask(name: str) -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    fresh = Fresh(ask)
    with pytest.raises(RuntimeError):
        await fresh.get("a")
    assert await fresh.get("a") == "up"


async def test_made_up_names_fill_no_memory() -> None:
    """K83."""

    async def ask(name: str) -> None:
        return None

    fresh = Fresh(ask, limit=10)
    for number in range(300):
        await fresh.get(str(number))
    assert len(fresh) == 10
