"""The host process: ``python -m user_handoff.desktop.host``, its spec as JSON on standard input.

It leaves its parent behind, so that it outlives it, and answers once, on the descriptor that the spec names.
"""

import asyncio
import json
import logging
import os
import sys
from typing import Any

from user_handoff.contract.errors import ErrorCode, HandoffError, SetupError
from user_handoff.contract.redact import log_to
from user_handoff.desktop.host.host import run_host
from user_handoff.desktop.host.spec import HostSpec

logger = logging.getLogger(__name__)


def main() -> int:
    """Read the spec, leave the parent, and run the host.

    Returns:
        The exit status: 0 when the browser was served to its end.
    """
    request: dict[str, Any] = json.loads(sys.stdin.read())
    report = int(request["report"])
    os.set_inheritable(report, False)
    if os.fork():
        os._exit(0)
    log_to(names=False)
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # its errors may quote messages
    try:
        asyncio.run(
            run_host(HostSpec.from_json(request["spec"]), lambda record: _say(report, {"record": record.to_dict()}))
        )
    except HandoffError as error:
        _say(report, {"error": error.to_dict()})
        return 1
    except Exception as error:
        logger.exception("the host failed")
        _say(report, {"error": _unexpected(error).to_dict()})
        return 1
    return 0


def _say(report: int, message: dict[str, object]) -> None:
    try:
        os.write(report, json.dumps(message).encode())
        os.close(report)
    except OSError:
        logger.info("nobody waits for the report")


def _unexpected(error: Exception) -> SetupError:
    return SetupError(
        ErrorCode.CHROMIUM_FAILED,
        f"The browser's host failed ({type(error).__name__}).",
        holds="Nothing is left running.",
        do_next="Its log file says more.",
    )


sys.exit(main())
