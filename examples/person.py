"""A scripted person: native input at one exact window, and a look at the portal's truth in place of eyes.

``python -m examples.person --window 0x400001 --behaviour sign-in`` with DISPLAY and XAUTHORITY set, and one JSON object
on standard input: ``{"url", "control_key", "username", "password", "code"}``. No secret is in the arguments, in the
environment or in what is printed. Exit code 0: it saw what it wanted; 3: it did not.
"""

import argparse
import asyncio
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from examples.keyboard import Hands
from examples.portal import CONTROL_HEADER, Portal, is_beside

Behaviour = Literal["sign-in", "wrong-password", "wrong-code", "only-type", "decline", "keys"]
BEHAVIOURS: tuple[Behaviour, ...] = ("sign-in", "wrong-password", "wrong-code", "only-type", "decline", "keys")
_POLL_SECONDS = 0.03
_ROOT = Path(__file__).resolve().parent.parent


class NotSeen(Exception):
    """What the person waited for did not show up."""


class Person:
    """Someone at the desk, with a sheet of credentials.

    Args:
        window_id: The native window to work in.
        sheet: `url`, `control_key`, `username`, `password` and `code`.
    """

    def __init__(self, window_id: int, sheet: Mapping[str, str]) -> None:
        self._hands = Hands()
        self._window = window_id
        self._sheet = sheet

    def act(self, behaviour: Behaviour, keys: Sequence[str] = ()) -> None:
        """Behave in one of the ways.

        Raises:
            NotSeen: The portal did not show what it should.
            LookupError: The window or a key does not exist.
        """
        self._hands.raise_window(self._window)
        if behaviour == "decline":
            return  # looks at it, and touches nothing: the answer is given elsewhere
        if behaviour == "keys":
            for key in keys:
                self._hands.press(key)
            return
        self._first_factor(behaviour)
        if behaviour in ("sign-in", "wrong-code"):
            self._wait("the page of the code", lambda state: state["stage"] == "code")
            self._second_factor(behaviour)

    def _first_factor(self, behaviour: Behaviour) -> None:
        before = self._look()["wrong_passwords"]
        self._go_to("username")
        self._hands.type(self._sheet["username"])
        self._hands.press("Tab")
        self._wait("the password field", lambda state: state["focus"]["field"] == "password")
        self._hands.type(self._sheet["password"] + ("x" if behaviour == "wrong-password" else ""))
        if behaviour == "only-type":
            return
        self._hands.press("Return")
        if behaviour == "wrong-password":
            self._wait("the refusal", lambda state: state["wrong_passwords"] > before)

    def _second_factor(self, behaviour: Behaviour) -> None:
        before = self._look()["wrong_codes"]
        # The page of the code takes the focus by itself; a click and a Tab while it loads would lead past it.
        self._wait_briefly(lambda state: state["focus"]["field"] == "code", seconds=8)
        if self._look()["focus"]["field"] != "code":
            self._go_to("code")
        self._hands.type("00000000" if behaviour == "wrong-code" else self._sheet["code"])
        self._hands.press("Return")
        if behaviour == "wrong-code":
            self._wait("the refusal", lambda state: state["wrong_codes"] > before)
        else:
            self._wait("the dashboard", lambda state: state["stage"] == "in")

    def _go_to(self, field: str) -> None:
        """Click beside the form, see that the page has it, and press Tab, which reaches its first field; else again."""
        for attempt in range(8):
            self._hands.raise_window(self._window)
            place = self._hands.geometry(self._window)
            seen = self._look()["focus"]["count"]
            left, down = ((0.5, 0.97), (0.04, 0.7), (0.94, 0.6), (0.04, 0.95))[attempt % 4]
            self._hands.click(place.x + int(place.width * left), place.y + int(place.height * down))
            # until the page has the click, keys go to the browser's own parts
            if self._wait_briefly(lambda state, n=seen: is_beside(state, n)):  # type: ignore[misc]
                self._hands.press("Tab")
                if self._wait_briefly(lambda state: state["focus"]["field"] == field):
                    return
        raise NotSeen(f"the field {field!r} never had the focus; the last was {self._look()['focus']}")

    def _wait_briefly(self, check: Callable[[dict[str, Any]], bool], seconds: float = 3) -> bool:
        try:
            self._wait("it", check, seconds)
        except NotSeen:
            return False
        return True

    def _wait(self, what: str, check: Callable[[dict[str, Any]], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not check(self._look()):
            if time.monotonic() > end:
                raise NotSeen(f"{what} did not show up within {seconds:g} s; the focus was {self._look()['focus']}")
            time.sleep(_POLL_SECONDS)

    def _look(self) -> dict[str, Any]:
        request = urllib.request.Request(
            self._sheet["url"] + "/control/state", headers={CONTROL_HEADER: self._sheet["control_key"]}
        )
        with urllib.request.urlopen(request, timeout=5) as answer:
            state: dict[str, Any] = json.load(answer)
        return state


async def act(
    behaviour: Behaviour,
    display_env: Mapping[str, str],
    window_id: int,
    portal: Portal,
    *,
    keys: Sequence[str] = (),
    seconds: float = 45,
) -> None:
    """Run a person as a process of its own, at the window, until they have done their part.

    Args:
        behaviour: What they do. `keys` presses `keys`, by their X names, at the window.
        display_env: DISPLAY and XAUTHORITY of the desktop.
        window_id: The native window: `Surface.window_id` of a handoff's receipt.
        portal: Where they sign in, and what tells them how far they came.
        keys: For `keys` alone.
        seconds: How long they have.

    Raises:
        NotSeen: They could not do it, or not in time.
    """
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | dict(display_env)
    arguments = ["--window", hex(window_id), "--behaviour", behaviour, *(f"--key={key}" for key in keys)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "examples.person",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=env,
        cwd=_ROOT,
    )
    sheet = {name: getattr(portal, name) for name in ("url", "control_key", "username", "password", "code")}
    try:
        async with asyncio.timeout(seconds):
            _, errors = await process.communicate(json.dumps(sheet).encode())
    except TimeoutError:
        raise NotSeen(f"the person was not done within {seconds:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise NotSeen(errors.decode(errors="replace").strip()[-500:])


async def sign_in(display_env: Mapping[str, str], window_id: int, portal: Portal) -> None:
    """Sign in to the portal at a window, with the password and the code, by native input only.

    Raises:
        NotSeen: The portal did not let the person in.
    """
    await act("sign-in", display_env, window_id, portal)


def main() -> int:
    """Read the sheet from standard input, and act."""
    parser = argparse.ArgumentParser(description="A scripted person who uses native input only.")
    parser.add_argument("--window", required=True, type=lambda text: int(text, 0))
    parser.add_argument("--behaviour", choices=BEHAVIOURS, default="sign-in")
    parser.add_argument("--key", action="append", default=[])
    options = parser.parse_args()
    try:
        Person(options.window, json.load(sys.stdin)).act(options.behaviour, options.key)
    except (NotSeen, LookupError, OSError) as error:
        print(f"The person stopped: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
