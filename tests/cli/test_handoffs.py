"""The operator's commands, against a real server and its worker."""

import asyncio
import json
import re

import httpx
import pytest

from tests.cli.conftest import Call, Handoff, on_terminal
from tests.gateway.world import World, open_site
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import Answer, HandoffState


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


async def listed(call: Call, handoff_id: str, *options: str) -> str:
    """What `list` prints once it names the handoff: what Temporal lists lags a moment behind."""
    return (await until(lambda: call("list", *options), 20, wanted=lambda listed: handoff_id in listed.stdout)).stdout


async def test_list_names_what_waits_and_for_how_long(world: World, call: Call) -> None:
    receipt = await world.held(instructions="Sign in\nto the portal")

    said = await listed(call, receipt.handoff_id)

    row = next(line for line in said.splitlines() if receipt.handoff_id in line)
    assert "held" in row
    assert ("9:5" in row) or ("10:00" in row)
    assert row.rstrip().endswith("Sign in")


async def test_list_tells_the_same_as_json(world: World, call: Call) -> None:
    receipt = await world.held()

    found = json.loads(await listed(call, receipt.handoff_id, "--json"))

    assert receipt.handoff_id in [row["handoff_id"] for row in found]


async def test_show_tells_what_is_asked_and_where(world: World, call: Call) -> None:
    receipt = await world.held(instructions="Sign in\x1b[31m, please")

    shown = (await call("show", receipt.handoff_id)).stdout

    assert "sign-in-password" in shown
    assert "Sign in\ufffd[31m, please" in shown
    assert receipt.handoff_fence not in shown


async def test_no_line_of_what_is_asked_reads_as_a_fact(world: World, call: Call) -> None:
    """D5: a text of several lines is indented."""
    receipt = await world.held(instructions="Sign in\nanswer    done (by Ada)\n\nresult    verified")

    lines = (await call("show", receipt.handoff_id)).stdout.splitlines()

    assert not [line for line in lines if line.startswith(("answer", "result"))]
    assert "          answer    done (by Ada)" in lines


@pytest.mark.parametrize("columns", [30, 160])
async def test_on_a_terminal_of_any_width_nothing_of_an_id_is_cut_off(
    world: World, call: Call, environment: dict[str, str], columns: int
) -> None:
    """D5: and a text of an agent is neither markup nor a command there."""
    receipt = await world.held(instructions="[bold]Sign in[/] :smile: \x1b]0;x\x07")
    await listed(call, receipt.handoff_id)

    said = await on_terminal("list", env=environment, columns=columns)

    assert "\x1b[" in said and "\x1b]0" not in said
    bare = without_colour(said)
    assert receipt.handoff_id in "".join(bare.split())
    assert max(map(len, bare.splitlines())) <= columns
    assert columns == 30 or "[bold]Sign in[/] :smile: \ufffd]0;x\ufffd" in bare


async def test_no_colour_where_none_is_wanted(world: World, environment: dict[str, str]) -> None:
    receipt = await world.held()

    said = await on_terminal("show", receipt.handoff_id, env=environment | {"NO_COLOR": "1"}, columns=100)

    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", said)
    assert "Sign in to the portal" in said


async def test_a_program_is_told_a_refusal_as_json(environment: dict[str, str], handoff: Handoff) -> None:
    done = await asyncio.to_thread(handoff, "show", "handoff/b/s/m", "--json", env=environment)

    assert (done.returncode, done.stdout) == (3, "")
    assert json.loads(done.stderr)["code"] == "unknown_handoff"


async def test_a_note_that_is_too_long_is_refused_in_sentences(world: World, call: Call) -> None:
    receipt = await world.held()

    done = await call("reply", receipt.handoff_id, "done", "--note", "x" * 1_001)

    assert isinstance(done.exception, HandoffError) and done.exception.code is ErrorCode.INVALID_REQUEST
    assert (await world.client.summary(receipt.handoff_id)).answer is None


async def test_the_first_answer_stands(world: World, call: Call) -> None:
    """K23."""
    receipt = await world.held()

    first = await call("reply", receipt.handoff_id, "declined", "--note", "not mine", "--by", "Ada")
    second = await call("reply", receipt.handoff_id, "done")

    assert first.stdout.startswith("Recorded: declined.")
    assert second.stdout.startswith("An earlier answer stands: declined.")
    assert (first.exit_code, second.exit_code) == (0, 3)
    summary = await world.client.summary(receipt.handoff_id)
    assert (summary.answer, summary.note, summary.answered_by) == (Answer.DECLINED, "not mine", "Ada")


async def test_finish_takes_the_browser_back_with_the_fence_of_the_hold(world: World, call: Call) -> None:
    """A12: the pages have to be looked at again."""
    receipt = await world.held(finish_on_reply=False)

    done = await call("finish", receipt.handoff_id)

    assert "fresh snapshot" in done.stdout
    await world.until(receipt.handoff_id, HandoffState.RECOVERING)


async def test_finish_with_another_fence_is_refused(world: World, call: Call) -> None:
    """A12."""
    receipt = await world.held(finish_on_reply=False)

    done = await call("finish", receipt.handoff_id, "--fence", "f_other")

    assert isinstance(done.exception, HandoffError)
    assert done.exception.code is ErrorCode.FENCE_MISMATCH
    assert (await world.client.summary(receipt.handoff_id)).state is HandoffState.HELD


async def test_close_ends_the_handoff(world: World, call: Call) -> None:
    receipt = await world.held()

    done = await call("close", receipt.handoff_id, "--json")

    assert json.loads(done.stdout)["handoff_id"] == receipt.handoff_id
    await world.until(receipt.handoff_id, HandoffState.CLOSED)


async def test_close_says_that_it_leaves_a_browser_whose_handoff_is_over(world: World, call: Call) -> None:
    receipt = await world.held()
    await call("reply", receipt.handoff_id, "declined")
    await world.until(receipt.handoff_id, HandoffState.RECOVERING)
    world.desktop.look(receipt.handoff_id)
    await world.until(receipt.handoff_id, HandoffState.COMPLETED)

    done = await call("close", receipt.handoff_id)

    assert "over before" in done.stdout
    assert "not touched" in done.stdout


async def test_a_link_opens_the_persons_page(world: World, call: Call) -> None:
    receipt = await world.held()
    async with open_site(world) as site, httpx.AsyncClient(timeout=30) as http:
        link = (await call("link", receipt.handoff_id, "--public-url", site.base_url)).stdout.strip()

        page = await http.get(await site.entered(link, http))

    assert page.status_code == 200
    assert "Sign in to the portal" in page.text
