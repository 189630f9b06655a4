"""The commands of an operator: list, show, reply, link, finish and close."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from user_handoff.cli import options, tables
from user_handoff.cli.asking import ask, gateway_url
from user_handoff.cli.completing import HandoffId
from user_handoff.cli.exits import Exit, print_json
from user_handoff.cli.people import this_user
from user_handoff.client import HandoffClient
from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.handoff import LINK_SECONDS, Answer, HandoffState, Reply, ReplyReceipt, Summary
from user_handoff.contract.ids import new_id
from user_handoff.gateway.links import issue_link


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("list")(list_)
    for command in (show, reply, link, finish, close):
        app.command()(command)


def list_(
    browser: Annotated[str, typer.Option(help="Only those of this browser.")] = "",
    session: Annotated[str, typer.Option(help="Only those of this session.")] = "",
    client: Annotated[str, typer.Option(help="Only those on this desktop machine.")] = "",
    all_: Annotated[
        bool, typer.Option("--all", help="Also those that wait for nobody and still hold their browser: see `state`.")
    ] = False,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """List the handoffs that wait for a person."""
    found = ask(state, lambda asked: asked.going_on(browser_id=browser, session_id=session, client_id=client))
    listed = [summary for summary in found if all_ or summary.waits]
    screen = tables.console()
    if as_json:
        print_json([_dump(summary) for summary in listed])
        return
    if not listed:
        typer.echo("No handoff waits.")
    elif tables.is_screen(screen):
        screen.print(tables.Board(listed))
    else:
        typer.echo("\n".join(tables.lines(listed)))
    _tell_left_out(len(found) - len(listed), screen)


def show(handoff_id: HandoffId, state: options.State = None, as_json: options.Json = False) -> None:
    """Show what holds now for one handoff, also after its end."""
    summary = ask(state, lambda client: client.summary(handoff_id))
    screen = tables.console()
    if as_json:
        print_json(_dump(summary))
    elif tables.is_screen(screen):
        screen.print(tables.fact_sheet(summary))
    else:
        typer.echo("\n".join(tables.fact_lines(summary)))


def reply(
    handoff_id: HandoffId,
    answer: Annotated[Answer, typer.Argument(help="What the person says. It proves nothing: the outcome is observed.")],
    note: Annotated[str, typer.Option(help="A note for the agent. Never a password or a code.")] = "",
    by: Annotated[str | None, typer.Option(help="Who answers. Default: this system's user.")] = None,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Answer a handoff for the person who did, or could not do, what it asks.

    Where another answer stands, or it comes too late, that is told, and the exit code is 3.
    """
    words = _words(answer, note, by or this_user())

    async def answer_it(client: HandoffClient) -> tuple[ReplyReceipt, bool]:
        receipt = await client.reply(handoff_id, words, new_id("r"))
        return receipt, receipt.accepted or (await client.summary(handoff_id)).answer is not None

    receipt, stands = ask(state, answer_it)
    first = f"{'Recorded' if receipt.accepted else 'An earlier answer stands'}: {receipt.answer}."
    tells = f"show {handoff_id}` tells how" if receipt.state.ended else f"watch {handoff_id}` tells how it goes on"
    more = f"The handoff is {receipt.state}. `handoff {tells}."
    _tell(receipt, f"{first if stands else 'Too late: nothing was recorded.'} {more}", as_json)
    if not stands or receipt.answer is not answer:
        raise typer.Exit(Exit.REFUSED)


def link(
    handoff_id: HandoffId,
    public_url: options.PublicUrl = None,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Print a new link to the person's page. Anyone who has it can answer: give it to that person only."""
    base = gateway_url(state, public_url)
    found = ask(state, lambda client: issue_link(client, base, handoff_id))
    if as_json:
        print_json({"handoff_id": handoff_id, "link": found, "expires_in_seconds": LINK_SECONDS})
    else:
        typer.echo(found)


def finish(
    handoff_id: HandoffId,
    fence: Annotated[
        str | None, typer.Option(help="The exact fence of the hold. Default: the one that the handoff tells now.")
    ] = None,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Take the browser back for its agent, which has to look again before it acts."""

    async def finish_it(client: HandoffClient) -> Model:
        return await client.finish(handoff_id, fence or _fence(await client.summary(handoff_id)))

    receipt = ask(state, finish_it)
    _tell(receipt, "Taken back. Each page needs a fresh snapshot before the agent may act on it.", as_json)


def close(handoff_id: HandoffId, state: options.State = None, as_json: options.Json = False) -> None:
    """Close the browser of a handoff, and its hold with it."""
    receipt = ask(state, lambda client: client.close(handoff_id))
    if receipt.state is HandoffState.CLOSED:
        sentence = "Closed, and its browser with it."
    else:
        sentence = f"The handoff was over before ({receipt.state}). Its browser was not touched: its agent closes it."
    _tell(receipt, sentence, as_json)


def _tell_left_out(count: int, screen: Console) -> None:
    """Say beside a list that other handoffs still hold a browser: an operator has to end them."""
    what = "1 more still holds its browser" if count == 1 else f"{count} more still hold their browsers"
    said = f"{what}, and nobody is waited for: `handoff list --all`."
    if count and tables.is_screen(screen):
        screen.print(Text(said, "dim", overflow="fold"))
    elif count:
        typer.echo(said, err=True)


def _words(answer: Answer, note: str, by: str) -> Reply:
    try:
        return Reply(answer=answer, note=note, by=by, via="cli")
    except ValueError:
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            "The note is too long.",
            holds="The answer was not recorded.",
            do_next="Say it in 1,000 characters.",
        ) from None


def _fence(summary: Summary) -> str:
    if summary.receipt is None:
        raise make_error(
            ErrorCode.NOT_HELD,
            f"This handoff is {summary.state} and has no hold.",
            holds="Nothing was changed.",
            do_next="Nothing is to be taken back.",
            handoff_id=summary.handoff_id,
        )
    return summary.receipt.handoff_fence


def _dump(model: Model) -> dict[str, object]:
    return model.model_dump(mode="json")


def _tell(receipt: Model, sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(_dump(receipt))
    else:
        typer.echo(sentence)
