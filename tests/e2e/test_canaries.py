"""What a person typed and what a site put into its address stays where it is."""

import asyncio
import os
from collections.abc import Mapping, Sequence

from examples.demo.leaks import Leak, search_files, search_text
from tests.e2e.notes import Notes
from tests.e2e.stack import Stack
from tests.waiting import until
from user_handoff.contract.conditions import Url
from user_handoff.contract.handoff import Result

SECRET = {"query": ("canaryofthequery",), "fragment": ("canaryofthefragment",), "field": ("canaryofthefield",)}
BY_DESIGN = {"instructions": ("canaryoftheinstructions",)}


async def test_only_the_instructions_are_found_of_what_was_typed_and_shown(stack: Stack) -> None:
    """K42, B7: in Temporal's own database, the ledger, evidence and every log, after a whole handoff."""
    async with Notes(back=f"/back?code={SECRET['query'][0]}#{SECRET['fragment'][0]}").serving() as notes:
        request, _ = await stack.begin(
            {"url": notes.url},
            instructions=f"Type it: {BY_DESIGN['instructions'][0]}",
            verify=Url(f"{notes.url}/back*"),
        )
        held = await stack.handoffs.summary(request.handoff_id)
        assert held.receipt is not None
        await typed(stack, held.receipt.surface.window_id, SECRET["field"][0])
        await until(lambda: notes.text.strip() == SECRET["field"][0])
        told = [await stack.look(held)]
        await stack.answer(held)
        told.append(await stack.look(held))
        await stack.handoffs.result(request.handoff_id)
        summary = await stack.handoffs.summary(request.handoff_id)
        assert summary.result is Result.VERIFIED
        assert summary.observation is not None
        text = summary.model_dump_json() + "".join(page.model_dump_json() for page in told)
        assert f"{notes.url}/back" in text
        assert search_text(SECRET, "what was told", text) == []
        await stack.close(held)
    assert outside_profiles(stack, SECRET) == []
    assert outside_profiles(stack, BY_DESIGN), "or this search finds nothing at all"


async def typed(stack: Stack, window_id: int, text: str) -> None:
    """The person clicks into the page, and types."""
    env = {"PATH": os.environ["PATH"]} | stack.display
    words = ("mousemove", "--window", str(window_id), "400", "400", "click", "1", "type", "--delay", "20", text)
    hands = await asyncio.create_subprocess_exec("xdotool", *words, env=env)
    assert await hands.wait() == 0


def outside_profiles(stack: Stack, wanted: Mapping[str, Sequence[str]]) -> list[Leak]:
    """A browser's own history names the pages that its person visited, as any does."""
    return [leak for leak in search_files(wanted, [stack.state]) if "/profile/" not in leak.where]
