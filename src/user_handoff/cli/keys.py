"""The commands of an operator for principals' keys: create, list and revoke."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from user_handoff.cli import options, tables
from user_handoff.cli.exits import plain, print_json
from user_handoff.cli.temporal import connect
from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.contract.access import KeyView
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope

T = TypeVar("T")

keys = typer.Typer(
    name="keys",
    help="Make, list and revoke the keys by which principals call. Whoever reaches Temporal may.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_SCOPES = ", ".join(SCOPES_OF_A_HANDOFF)


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.add_typer(keys)


@keys.command()
def create(
    name: Annotated[str, typer.Option(help="The principal: the owner of what is made with the key.")],
    scope: Annotated[
        list[Scope] | None,
        typer.Option(help=f"What it may do; may be given several times. Default: what a handoff needs ({_SCOPES})."),
    ] = None,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Make a key and print it, once: it is kept as a hash alone, and cannot be asked for again."""
    key = _ask(state, lambda access: access.create_key(name, scope or SCOPES_OF_A_HANDOFF))
    if as_json:
        print_json({"key": key, "key_id": key.partition(".")[0].removeprefix("hk_"), "name": name})
    else:
        typer.echo(key)


@keys.command("list")
def list_(state: options.State = None, as_json: options.Json = False) -> None:
    """List keys, without what would let anyone in."""
    found = _ask(state, lambda access: access.list_keys())
    if as_json:
        print_json([view.model_dump(mode="json") for view in found])
    elif not found:
        typer.echo("There are no keys.")
    else:
        typer.echo("\n".join(tables.columns([("key", "name", "scopes", "made", "revoked"), *map(_row, found)])))


@keys.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="The key's id, as it is listed.")],
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Let nobody in with a key any more, from within a second on. Its sessions and browsers stay."""
    view = _ask(state, lambda access: access.revoke_key(key_id))
    if as_json:
        print_json(view.model_dump(mode="json"))
    else:
        typer.echo(f"Revoked: {view.key_id} of {plain(view.name)}.")


def _row(view: KeyView) -> tuple[str, ...]:
    revoked = f"{view.revoked_at:%Y-%m-%d %H:%M}" if view.revoked_at else ""
    scopes = " ".join(view.scopes)
    return view.key_id, plain(view.name), scopes, f"{view.created_at:%Y-%m-%d %H:%M}", revoked


def _ask(state: Path | None, call: Callable[[Access], Awaitable[T]]) -> T:
    async def body() -> T:
        client = HandoffClient(await connect(options.state_folder(state)))
        return await call(Access(client, patience_seconds=30))

    return asyncio.run(body())
