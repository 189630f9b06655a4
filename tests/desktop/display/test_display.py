"""Which display, and whether it can serve."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.display import display as module
from user_handoff.desktop.display.display import Display, desktop_id, real_display
from user_handoff.desktop.display.virtual import ensure_virtual, stop_virtual

UNUSED = ":987"


def refusal(environ: dict[str, str]) -> SetupError:
    with pytest.raises(SetupError) as error:
        real_display(environ)
    assert error.value.do_next
    return error.value


def test_a_session_without_a_display_says_what_to_do() -> None:
    """A2."""
    error = refusal({})
    assert error.code is ErrorCode.NO_DISPLAY
    assert "--virtual" in error.do_next


def test_a_display_that_cannot_be_opened_is_named() -> None:
    error = refusal({"DISPLAY": UNUSED})
    assert error.code is ErrorCode.NO_DISPLAY
    assert UNUSED in error.what


@pytest.mark.parametrize("environ", [{}, {"DISPLAY": UNUSED}])
def test_a_wayland_session_is_refused_as_such(environ: dict[str, str]) -> None:
    """A2, K61."""
    assert refusal({"WAYLAND_DISPLAY": "wayland-0", **environ}).code is ErrorCode.WAYLAND_UNSUPPORTED


def test_an_x_display_beside_a_wayland_session_serves(shared: Display) -> None:
    found = real_display({"WAYLAND_DISPLAY": "wayland-0", **named(shared)})
    assert (found.name, found.virtual, found.keeper) == (shared.name, False, None)
    assert found.environment()["WAYLAND_DISPLAY"] == ""


@pytest.mark.parametrize("by", ["extension", "output"])
def test_xwayland_counts_as_wayland(shared: Display, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """A2: there, only some windows are seen, and input goes to them alone."""
    seen = module._is_xwayland

    def nested(x: Any) -> bool:
        if by == "extension":
            return seen(SimpleNamespace(list_extensions=lambda: ["XWAYLAND", "RANDR"]))
        root = SimpleNamespace(xrandr_get_screen_resources=lambda: SimpleNamespace(outputs=[1], config_timestamp=0))
        return seen(
            SimpleNamespace(
                list_extensions=lambda: ["RANDR"],
                screen=lambda: SimpleNamespace(root=root),
                xrandr_get_output_info=lambda output, stamp: SimpleNamespace(name="XWAYLAND0"),
            )
        )

    monkeypatch.setattr(module, "_is_xwayland", nested)
    assert refusal(named(shared)).code is ErrorCode.WAYLAND_UNSUPPORTED


def test_the_old_xlib_is_refused_with_the_command_that_mends_it(
    shared: Display, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("Xlib.__version__", (0, 15))
    error = refusal(named(shared))
    assert error.code is ErrorCode.PROGRAM_MISSING
    assert "pip install" in error.do_next
    assert "python-xlib==0.33" in error.do_next


def test_nothing_of_the_desktop_needs_a_display_to_be_imported() -> None:
    """K61: no crash on import."""
    packages = ("display", "surfaces", "reservation", "input")
    root = Path(module.__file__).parents[1]
    names = [
        f"user_handoff.desktop.{path.parent.name}.{path.stem}"
        for package in packages
        for path in (root / package).glob("*.py")
        if path.stem != "__main__"
    ]
    environ = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    code = f"import importlib; [importlib.import_module(name) for name in {names!r}]"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


async def test_a_desktop_id_lasts_as_long_as_its_display(shared: Display, folder: Path) -> None:
    """A restarted runner finds the same desktop; a new display is a new one."""
    found = {desktop_id(shared), desktop_id(shared), desktop_id_of_another_process(shared)}
    assert len(found) == 1
    first = desktop_id(await ensure_virtual(folder))
    await stop_virtual(folder)
    second = desktop_id(await ensure_virtual(folder))
    assert len({first, second, *found}) == 3


def desktop_id_of_another_process(display: Display) -> str:
    code = "import os; from user_handoff.desktop.display.display import *; print(desktop_id(real_display(os.environ)))"
    environ = {**os.environ, **display.environment()}
    return subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    ).stdout.strip()


def named(display: Display) -> dict[str, str]:
    return {"DISPLAY": display.name, "XAUTHORITY": str(display.xauthority)}
