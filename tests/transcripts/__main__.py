"""Runs every door's client on one real stack and writes the page; `--only rest` prints that section alone."""

import argparse
import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.stack import Stack, running_stack, secrets_left
from tests.transcripts.names import leaks
from tests.transcripts.page import DOORS, PAGE, Door, page, versions
from tests.transcripts.steps import Step
from user_handoff.codec.keys import KeyRing
from user_handoff.desktop.states.sealing import KEYS_VARIABLE


async def write(only: Sequence[str] | None) -> str:
    """Run the doors, one after the other; the page.

    Raises:
        AssertionError: A secret or an address is on the page, or a secret is left behind by the run.
    """
    logging.getLogger("temporalio.activity").setLevel(logging.CRITICAL)  # what is refused is on the page
    os.environ[KEYS_VARIABLE] = KeyRing.generate("transcripts").text
    with tempfile.TemporaryDirectory(prefix="handoff-") as folder:
        async with running_stack(Path(folder)) as stack:
            sections = [await _run(stack, door) for door in DOORS if not only or door.name in only]
            places = {stack.portal.url: "http://portal", str(stack.server.facts()["gateway_url"]): "http://gateway"}
            text = page(await versions(stack), sections, places)
            planted = [secret for kind in stack.portal.planted.values() for secret in kind]
            assert not (found := leaks(text, planted)), found
            assert not (left := secrets_left(stack)), left
    return text


async def _run(stack: Stack, door: Door) -> tuple[Door, Sequence[Step] | str]:
    print(f"{door.title} …", file=sys.stderr)
    return door, await door.job(stack)


def main() -> None:
    """Write the page, or print some sections."""
    parser = argparse.ArgumentParser(prog="python -m tests.transcripts", description=__doc__)
    parser.add_argument("--only", action="append", choices=[door.name for door in DOORS])
    only = parser.parse_args().only
    text = asyncio.run(write(only))
    if only is None:
        PAGE.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
