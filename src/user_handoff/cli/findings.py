"""What `handoff doctor` prints."""

import dataclasses
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from user_handoff.cli.checks import Finding
from user_handoff.cli.exits import Exit, print_json


def show(findings: Sequence[Finding], *, as_json: bool) -> Exit:
    """Print the findings and return the exit code: `Exit.FAILED` where something would stop `handoff up`."""
    wrong = [finding for finding in findings if not finding.ok]
    if as_json:
        print_json({"ok": not wrong, "findings": [dataclasses.asdict(finding) for finding in findings]})
        return Exit.FAILED if wrong else Exit.OK
    console = Console(highlight=False, markup=False, soft_wrap=True)
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark = Text("ok     ", "green") if finding.ok else Text("WRONG  ", "bold red")
        console.print(mark + f"{finding.name:<{width}}  {finding.found}")
        if finding.mend:
            console.print(f"{'':<{width + 9}}Mend: {finding.mend}")
    many = f"{len(wrong)} thing{'s' if len(wrong) > 1 else ''} would stop `handoff up`."
    console.print(many if wrong else "Nothing stands in the way of `handoff up`.")
    return Exit.FAILED if wrong else Exit.OK
