"""`handoff watch`, as a person at a terminal and as a program in a pipe."""

import asyncio
import contextlib
import json
import re
import signal
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.cli.conftest import SECONDS, Handoff, command, terminal
from tests.gateway.world import World
from tests.waiting import until
from tests.workflows.fake_takeovers import FakeTakeovers
from user_handoff.cli.changes import Change, says
from user_handoff.cli.watching import follow
from user_handoff.client import HandoffClient
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import Answer, HandoffState, Reply, Summary
from user_handoff.contract.ids import new_id
from user_handoff.contract.takeover import TakeoverEnd, TakeoverState, TakeoverSummary

FIELDS = {
    "at",
    "handoff_id",
    "state",
    "ended",
    "answer",
    "answered_by",
    "note",
    "result",
    "reason",
    "code",
    "message",
    "owner",
    "instructions",
    "left_seconds",
}


@contextlib.asynccontextmanager
async def watching(env: dict[str, str], *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`handoff watch` in a pipe."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command("watch", *arguments), env=env, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), SECONDS)).decode().rstrip("\n")


async def answer(world: World, handoff_id: str, said: Answer) -> None:
    await world.client.reply(handoff_id, Reply(answer=said, by="Ada\x1b[2J"), new_id("r"))


async def test_a_program_gets_one_json_object_for_each_change_and_the_end(
    world: World, environment: dict[str, str]
) -> None:
    """F8, B4: the exit code is 0 for a verified outcome alone."""
    receipt = await world.held()
    async with watching(environment, receipt.handoff_id, "--json") as process:
        changes = [json.loads(await line(process))]
        await answer(world, receipt.handoff_id, Answer.DONE)
        await world.until(receipt.handoff_id, HandoffState.RECOVERING)
        while changes[-1]["state"] != "recovering":
            changes.append(json.loads(await line(process)))
        world.desktop.look(receipt.handoff_id)
        while not changes[-1]["ended"]:
            changes.append(json.loads(await line(process)))
        assert await asyncio.wait_for(process.wait(), SECONDS) == 0
    assert all(set(change) == FIELDS for change in changes)
    assert (changes[0]["state"], changes[0]["answer"], changes[-1]["result"]) == ("held", None, "verified")
    assert 0 < changes[0]["left_seconds"] <= 600
    assert receipt.handoff_fence not in json.dumps(changes)


async def test_in_a_pipe_each_change_is_a_plain_line_and_an_end_that_is_not_verified_is_no_success(
    world: World, environment: dict[str, str]
) -> None:
    """K21."""
    receipt = await world.held()
    async with watching(environment, receipt.handoff_id) as process:
        first = await line(process)
        assert f"{receipt.handoff_id}  held" in first and "left" in first and "Sign in to the portal" in first
        await world.client.close(receipt.handoff_id)
        last = await line(process)
        assert last.endswith("closed  the browser is closed") and "\x1b" not in last
        assert await asyncio.wait_for(process.wait(), SECONDS) == 1


async def test_it_ends_when_the_time_is_up_and_tells_that_as_the_outcome(
    world: World, environment: dict[str, str], handoff: Handoff
) -> None:
    """B5, K21: the browser is held all the same, which `ended` and the words say."""
    receipt = await world.held(timeout_seconds=1)
    async with watching(environment, receipt.handoff_id, "--json") as process:
        changes = [json.loads(await line(process))]
        while changes[-1]["state"] != "expired":
            changes.append(json.loads(await line(process)))
        assert await asyncio.wait_for(process.wait(), SECONDS) == 1
    assert (changes[-1]["result"], changes[-1]["ended"]) == ("expired", False)

    again = await asyncio.to_thread(handoff, "watch", receipt.handoff_id, env=environment)

    assert again.returncode == 1 and "`handoff finish` or `handoff close`" in again.stdout
    await world.client.close(receipt.handoff_id)


async def test_without_an_id_what_begins_and_ends_meanwhile_is_told_until_it_is_interrupted(
    world: World, environment: dict[str, str]
) -> None:
    """F8."""
    async with watching(environment, "--json") as process:
        receipt = await world.held()
        seen = []
        while "held" not in seen:
            change = json.loads(await line(process))
            seen += [change["state"]] if change["handoff_id"] == receipt.handoff_id else []
        await world.client.close(receipt.handoff_id)
        while "closed" not in seen:
            change = json.loads(await line(process))
            seen += [change["state"]] if change["handoff_id"] == receipt.handoff_id else []
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), SECONDS) == 130


@pytest.mark.parametrize("as_json", [True, False])
async def test_without_an_id_takeovers_are_told_too(world: World, environment: dict[str, str], as_json: bool) -> None:
    """E9: from their begin to their end; what a person wrote moves nothing on a terminal."""
    desk, client = FakeTakeovers(), TakeoverClient(world.temporal)
    request = desk.request(why="wrong\x1b[2J account")
    async with desk.serving(world.temporal), watching(environment, *(["--json"] if as_json else [])) as process:

        async def told() -> str:
            while request.takeover_id not in (said := await line(process)):
                pass  # other tests of this world
            return said

        await client.take_over(request)
        lines = [await told()]
        await client.give_back(request.takeover_id, "done")
        lines.append(await told())
        await desk.move(request.takeover_id, TakeoverState.ENDED, TakeoverEnd.RETURNED)
        lines.append(await told())
    if as_json:
        changes = [json.loads(each) for each in lines]
        assert [(each["state"], each["how"], each["ended"]) for each in changes] == [
            ("held", None, False),
            ("recovering", "returned", False),
            ("ended", "returned", True),
        ]
        assert 0 < changes[0]["left_seconds"] <= 600 and changes[1]["left_seconds"] is None
        assert {each["handoff_id"] for each in changes} == {None}
    else:
        assert "held" in lines[0] and " left  ada (operator): wrong" in lines[0] and "\x1b" not in lines[0]
        assert lines[2].endswith("ended  returned")


async def test_on_a_terminal_the_time_counts_down_and_the_cursor_comes_back(
    world: World, environment: dict[str, str]
) -> None:
    """D5: and what an agent or a person wrote moves nothing there."""
    receipt = await world.held(instructions="Sign in\x1b[2J")
    async with terminal("watch", receipt.handoff_id, env=environment, columns=100) as shown:
        await until(
            lambda: len(set(re.findall(r", (\d+:\d\d) left", shown.said))) >= 2, SECONDS, what="the time counts down"
        )
        assert "\x1b[?25l" in shown.said
        await answer(world, receipt.handoff_id, Answer.DECLINED)
        await until(lambda: "answered declined by Ada" in shown.said, SECONDS, what="the answer is told")
        world.desktop.look(receipt.handoff_id)
        await until(shown.over.is_set, SECONDS, what="it ends with the handoff")
        assert await shown.process.wait() == 1
    assert "\x1b[2J" not in shown.said
    assert shown.said.rindex("\x1b[?25h") > shown.said.rindex("\x1b[?25l")
    assert "completed  declined" in shown.said


async def test_an_unknown_handoff_is_refused(environment: dict[str, str], handoff: Handoff) -> None:
    done = await asyncio.to_thread(handoff, "watch", "handoff/b/s/m", env=environment)

    assert (done.returncode, done.stdout) == (3, "")
    assert "[unknown_handoff]" in done.stderr


class Noted:
    """A view that keeps what it was told."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.troubles: list[str] = []

    def change(self, summary: Summary) -> None:
        self.states.append(summary.state)

    def takeover(self, summary: TakeoverSummary) -> None:
        raise AssertionError("nobody has taken over")

    def now(self, summaries: Sequence[Summary], trouble: str) -> None:
        self.troubles.append(trouble)


async def test_an_outage_is_told_and_outlived(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """F3."""
    receipt = await world.held()
    real, view = HandoffClient.summary, Noted()
    looks = iter([None, ErrorCode.TEMPORAL_UNREACHABLE, ErrorCode.TEMPORAL_UNREACHABLE])

    async def failing(self: HandoffClient, handoff_id: str) -> Summary:
        code = next(looks, None)
        if code is not None:
            raise make_error(code, "It is away.")
        return await real(self, handoff_id)

    monkeypatch.setattr(HandoffClient, "summary", failing)
    following = asyncio.create_task(follow(TakeoverClient(world.temporal), receipt.handoff_id, view))
    await until(lambda: len(view.troubles) >= 4, SECONDS, what="it looks again")
    await world.client.close(receipt.handoff_id)
    last = await asyncio.wait_for(following, SECONDS)

    assert [bool(trouble) for trouble in view.troubles[:4]] == [False, True, True, False]
    assert (view.states, last.state) == (["held", "closed"], HandoffState.CLOSED)


async def test_where_the_first_look_gets_no_answer_it_ends(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(self: HandoffClient, handoff_id: str) -> Summary:
        raise make_error(ErrorCode.TEMPORAL_UNREACHABLE, "It is away.")

    monkeypatch.setattr(HandoffClient, "summary", away)
    with pytest.raises(HandoffError, match="It is away"):
        await follow(TakeoverClient(world.temporal), "handoff/b/s/m", Noted())


@pytest.mark.parametrize("state", list(HandoffState))
async def test_every_state_has_words(world: World, state: HandoffState) -> None:
    receipt = await world.held()
    summary = (await world.client.summary(receipt.handoff_id)).model_copy(
        update={"state": state, "answer": Answer.DONE}
    )

    assert says(summary) or state is HandoffState.COMPLETED
    assert Change.of(summary).ended is state.ended
    await world.client.close(receipt.handoff_id)
