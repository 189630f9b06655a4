"""``python -m examples.demo [--me] [--json]``: exit code 0 only where everything was as it should be."""

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from pathlib import Path

from examples.demo.engine import EngineFailed
from examples.demo.processes import Run
from examples.demo.report import Report
from examples.demo.story import Story
from user_handoff.contract.failures import from_failure


async def _play(story: Story) -> None:
    """Tell the story; Ctrl-C and SIGTERM end it in order, as any failure does."""
    telling = asyncio.create_task(story.tell())
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, lambda: None)  # the end takes its time, and is not to be cut short
        telling.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        await telling
    except asyncio.CancelledError:
        story.report.problems.append("It was interrupted.")
    except Exception as error:
        story.report.problems.append(_sentence(error))


def _sentence(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    typed = from_failure(error)
    return str(typed or error) if typed or isinstance(error, EngineFailed) else f"{type(error).__name__}: {error}"


def main() -> int:
    """Run the demo and say what it came to."""
    parser = argparse.ArgumentParser(prog="./run demo", description=__doc__)
    parser.add_argument("--me", action="store_true", help="you are the person")
    parser.add_argument("--json", action="store_true", help="the last line of standard output is one JSON object")
    options = parser.parse_args()
    report = Report()
    pictures = Path(tempfile.mkdtemp(prefix="handoff-demo-"))
    with tempfile.TemporaryDirectory(prefix="handoff-demo-state-") as folder:
        run = Run(Path(folder) / "state")
        run.begin()
        story = Story(run, pictures, options.me, report)
        asyncio.run(_play(story))
    report.judge(timed=not options.me)
    for problem in report.problems:
        story.show(f"Not as it should be: {problem}")
    story.show(
        f"{report.seconds:.0f} s. Outcome {report.outcome}, {report.effects_refused_while_held} effects refused, "
        f"{report.exported_rows} invoices, {report.secrets_found} secrets found, "
        f"{len(report.left_running)} processes left."
    )
    if options.json:
        print(json.dumps(report.to_dict()), flush=True)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
