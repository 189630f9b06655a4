"""The commands of an auditor: show, verify and export what happened on this machine's desktop. Nothing need run."""

import zipfile
from collections import deque
from pathlib import Path
from typing import Annotated, Any

import typer

from user_handoff.cli import options
from user_handoff.cli.exits import Exit, plain, print_json
from user_handoff.cli.state_files import DESKTOP
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.evidence.export import export as copy_to
from user_handoff.desktop.evidence.export import read_records
from user_handoff.desktop.evidence.folder import FOLDER, Place
from user_handoff.desktop.evidence.lanes import Record
from user_handoff.desktop.evidence.page import facts_of, timeline
from user_handoff.desktop.evidence.verify import Verdict, Verifier
from user_handoff.desktop.state import write_private

evidence = typer.Typer(
    name="evidence",
    help="Show, verify and export what happened on this machine's desktop.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

About = Annotated[str | None, typer.Option(metavar="ID", help="Of one handoff or takeover alone.")]
Browser = Annotated[str | None, typer.Option(metavar="ID", help="Of one browser alone.")]
Pictures = Annotated[bool, typer.Option(help="With the pictures that were kept.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.add_typer(evidence)


@evidence.command()
def show(
    about: About = None,
    browser: Browser = None,
    last: Annotated[int, typer.Option(min=1, help="So many at most, the last ones.")] = 50,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """List what happened, oldest first."""
    found = deque((record for record in read_records(_folder(state)) if _wanted(record, about, browser)), maxlen=last)
    if as_json:
        print_json(list(found))
        return
    for record in found:
        typer.echo(_line(record))
    if not found:
        typer.echo("There are no such records.")


@evidence.command()
def verify(
    place: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER|FILE]", help="An export, or one segment. Default: this machine's own evidence."
        ),
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="HASH", help="The head that was kept elsewhere: it must be in the chain.")
    ] = None,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Say whether no record was changed, left out or put elsewhere. Exit code 0 only then."""
    verdict = Verifier(_folder(state) if place is None else _opened(place), head).verify()
    if as_json:
        print_json(_told(verdict))
    else:
        for line in _lines(verdict):
            typer.echo(plain(line))
    raise typer.Exit(Exit.OK if verdict.good else Exit.FAILED)


@evidence.command()
def export(
    to: Annotated[Path, typer.Option(metavar="FILE.zip|DIR", help="A new file that ends in .zip, or a new folder.")],
    pictures: Pictures = True,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Copy records, pictures and the timeline, and print the head: keep that elsewhere."""
    verdict = copy_to(_folder(state), to.expanduser().absolute(), pictures=pictures)
    if as_json:
        print_json({"to": str(to), **_told(verdict)})
    else:
        typer.echo(f"Written: {to}")
        for line in _lines(verdict):
            typer.echo(plain(line))
    raise typer.Exit(Exit.OK if verdict.good else Exit.FAILED)


@evidence.command("timeline")
def timeline_(
    to: Annotated[Path, typer.Option(metavar="FILE.html", help="The file to write, or to write anew.")],
    about: About = None,
    browser: Browser = None,
    pictures: Pictures = False,
    place: Annotated[
        Path | None, typer.Option("--from", help="An export. Default: this machine's own evidence.")
    ] = None,
    state: options.State = None,
) -> None:
    """Write one HTML file that shows who had control, and what was let through and refused meanwhile."""
    found = _folder(state) if place is None else _opened(place)
    verdict = Verifier(found).verify()
    records = [record for record in read_records(found) if _shown(record, about, browser)]
    page = timeline(records, verdict, found if pictures else None)
    try:
        write_private(to.expanduser().absolute(), page.encode())
    except OSError as error:
        raise make_error(
            ErrorCode.STATE_UNWRITABLE,
            f"{to} cannot be written: {error.strerror}.",
            holds="Nothing was written.",
            do_next="Name a file in a folder of yours.",
        ) from None
    typer.echo(f"Written: {to}")


def _folder(state: Path | None) -> Path:
    """The evidence of a state folder.

    Raises:
        Refused: `invalid_request`: there is none.
    """
    return _there(options.state_folder(state) / DESKTOP / FOLDER)


def _opened(place: Path) -> Place:
    """What was named: a folder, a segment, or a packed export."""
    place = _there(place.expanduser().absolute())
    return zipfile.Path(place) if place.is_file() and zipfile.is_zipfile(place) else place


def _there(place: Path) -> Path:
    if not place.exists():
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"There is no evidence in {place}.",
            holds="Nothing was read.",
            do_next="Name the state folder of the runner with --state, or an export.",
        )
    return place


def _wanted(record: Record, about: str | None, browser: str | None) -> bool:
    return (about is None or record.get("about") == about) and (browser is None or record.get("browser_id") == browser)


def _shown(record: Record, about: str | None, browser: str | None) -> bool:
    """For a timeline the effects around are wanted too."""
    effect = str(record["event"]).startswith("effect_")
    return _wanted(record, None if effect else about, browser)


def _line(record: Record) -> str:
    who = " ".join(str(record[key]) for key in ("about", "browser_id") if key in record)
    picture = f" picture {record['picture'][:12]}" if "picture" in record else ""
    return plain(f"{record['n']:>6}  {record['at']}  {record['event']:<18} {who}{picture}  {facts_of(record)}".rstrip())


def _lines(verdict: Verdict) -> list[str]:
    if verdict.good:
        said = [f"The chain holds: {verdict.records} records."]
    else:
        said = [f"The chain does not hold: {verdict.problem}{f' ({verdict.where})' if verdict.where else ''}."]
    if verdict.lost:
        said.append(f"{verdict.lost} records could not be kept, as the records themselves say.")
    if verdict.head is not None:
        which = "Head" if verdict.good else "The last record that fits"
        said.append(f"{which}: {verdict.head.n} {verdict.head.hash}")
    return [*said, *verdict.remarks]


def _told(verdict: Verdict) -> dict[str, Any]:
    head = None if verdict.head is None else {"n": verdict.head.n, "hash": verdict.head.hash}
    return {
        "good": verdict.good,
        "problem": verdict.problem,
        "where": verdict.where or None,
        "records": verdict.records,
        "first": verdict.first,
        "head": head,
        "lost": verdict.lost,
        "remarks": verdict.remarks,
    }
