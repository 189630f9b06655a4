"""What is built is complete, and works when it is all there is."""

import os
import sys
import zipfile
from pathlib import Path

from tests.packaging.conftest import ROOT, Built, Installed, call

MAPPED = {"activities": "activities", "worker": "worker", "workflows": "workflows", "": "src/user_handoff"}
DATA = (".typed", ".html", ".css", ".js", ".svg", ".toml")

ON_THE_WHEEL = (
    "tests/contract",
    "tests/gateway/test_view.py",
    "tests/desktop/host/test_hold.py",
    "tests/histories",
)
"""A fast selection: models, templates, replayed histories, and a real browser under a host of the installed package."""


def expected_files() -> set[str]:
    """Every module and data file of the project, by its place in the wheel."""
    found = set()
    for package, folder in MAPPED.items():
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", *DATA) or path.name == "py.typed":
                found.add(str(Path("user_handoff", package, path.relative_to(ROOT / folder))))
    return found


def test_the_wheel_holds_every_module_template_and_type_marker(built: Built) -> None:
    names = set(zipfile.ZipFile(built.wheel).namelist())

    assert expected_files() - names == set()
    assert "user_handoff/py.typed" in names


def test_the_wheel_holds_nothing_else(built: Built) -> None:
    names = set(zipfile.ZipFile(built.wheel).namelist())

    assert {name for name in names - expected_files() if ".dist-info/" not in name} == set()


def test_the_source_distribution_holds_tests_docs_and_examples(built: Built) -> None:
    for name in ("tests/conftest.py", "docs", "examples", "docker-compose.yml", "LICENSE", "README.md"):
        assert (built.sources / name).exists(), name
    assert not (built.sources / "typings").exists()


def test_all_packages_are_imported_from_the_wheel(installed: Installed) -> None:
    program = (
        "import user_handoff as u, user_handoff.activities, user_handoff.worker, user_handoff.workflows\n"
        "print(*[m.__file__ for m in (u, u.activities, u.worker, u.workflows)], sep='\\n')"
    )

    places = call(installed.python, "-c", program, cwd=installed.work).split()

    assert len(places) == 4
    assert all(Path(place).is_relative_to(installed.folder) for place in places)


def test_the_command_of_the_wheel_runs(installed: Installed) -> None:
    assert "doctor" in call(installed.folder / "bin" / "handoff", "--help", cwd=installed.work)


def test_a_selection_of_the_tests_passes_on_the_wheel(installed: Installed) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"  # where `temporal` is
    options = ("-q", "-p", "no:cacheprovider", f"--basetemp={installed.work / 'tmp'}")

    said = call(installed.python, "-m", "pytest", *options, *ON_THE_WHEEL, cwd=installed.work, env=env)

    assert " passed" in said.splitlines()[-1]
