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
from user_handoff.contract.ids import Association


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


async def expired_one(world: World) -> str:
    """A handoff whose time is up."""
    receipt = await world.held(timeout_seconds=1)
    await world.until(receipt.handoff_id, HandoffState.EXPIRED)
    return receipt.handoff_id


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


async def test_list_names_what_waits_alone_and_counts_what_still_holds_a_browser(world: World, call: Call) -> None:
    """A14: one whose time is up waits for nobody; an operator finds it all the same."""
    waits = await world.held()
    expired = await expired_one(world)
    of_it = ("--browser", Association.parse(expired).browser_id)

    assert expired in await listed(call, expired, "--all", *of_it)
    assert expired in json.dumps(json.loads(await listed(call, expired, "--all", "--json")))
    assert expired not in await listed(call, waits.handoff_id)
    alone = await call("list", *of_it)
    assert alone.stdout == "No handoff waits.\n"
    assert "1 more still holds its browser" in alone.stderr and "`handoff list --all`" in alone.stderr
    assert json.loads((await call("list", "--json", *of_it)).stdout) == []


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
    told = json.loads(done.stderr)
    assert told["code"] == "unknown_handoff" and "`handoff list`" in told["do_next"]


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


async def test_an_answer_that_comes_after_the_time_is_up_is_not_told_as_recorded(world: World, call: Call) -> None:
    """B5: the time is not renewed, whatever somebody says."""
    expired = await expired_one(world)

    late = await call("reply", expired, "done")

    assert late.stdout.startswith("Too late: nothing was recorded. The handoff is expired.")
    assert late.exit_code == 3
    assert (await world.client.summary(expired)).answer is None


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


@pytest.mark.parametrize("command", ["link", "open"])
@pytest.mark.parametrize("url", ["handoff.example", "https://handoff.example/?q=1", "https://handoff.example:port"])
async def test_no_link_is_made_that_no_browser_opens(world: World, call: Call, command: str, url: str) -> None:
    receipt = await world.held()

    refused = await call(command, receipt.handoff_id, "--public-url", url)

    assert isinstance(refused.exception, HandoffError) and refused.exception.code is ErrorCode.INVALID_REQUEST
    assert "--public-url" in refused.exception.do_next and refused.stdout == ""
    assert (await world.client.summary(receipt.handoff_id)).link_hashes == ()


@pytest.mark.parametrize("command", ["link", "open"])
async def test_no_link_is_made_to_a_handoff_whose_time_is_up(world: World, call: Call, command: str) -> None:
    """B5: whoever opened it could only read that."""
    expired = await expired_one(world)

    done = await call(command, expired, *(["--print"] if command == "open" else []))

    refused = done.exception
    assert isinstance(refused, HandoffError) and refused.code is ErrorCode.NOT_HELD
    assert f"`handoff close {expired}`" in refused.do_next and f"`handoff finish {expired}`" in refused.do_next
    assert (done.stdout, (await world.client.summary(expired)).link_hashes) == ("", ())


async def test_no_link_is_made_to_a_handoff_that_has_ended(world: World, call: Call) -> None:
    receipt = await world.held()
    await call("close", receipt.handoff_id)

    refused = (await call("link", receipt.handoff_id)).exception

    assert isinstance(refused, HandoffError) and refused.code is ErrorCode.NOT_HELD
    assert "(closed)" in refused.what and f"`handoff show {receipt.handoff_id}`" in refused.do_next
