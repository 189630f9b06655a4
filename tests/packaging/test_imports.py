"""The import direction is checked, and the check sees all packages."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT


def check(tree: Path) -> subprocess.CompletedProcess[str]:
    """Check the import direction of a tree that holds `user_handoff` as one folder."""
    program = Path(sys.executable).with_name("lint-imports")
    env = {"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin"}
    command = [str(program), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The packages as links, in one folder as they are imported."""
    package = tmp_path / "user_handoff"
    package.mkdir()
    for path in (
        *(ROOT / "src" / "user_handoff").iterdir(),
        *(ROOT / n for n in ("activities", "worker", "workflows")),
    ):
        (package / path.name).symlink_to(path)
    return tmp_path


def test_imports_point_one_way(tree: Path) -> None:
    done = check(tree)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("workflows", "import user_handoff.desktop.state"),
        ("contract", "import user_handoff.workflows"),
        ("desktop", "import user_handoff.activities.desktop"),
        ("gateway", "import user_handoff.desktop.identity"),
        ("activities", "import user_handoff.worker.server"),
        ("testing", "import user_handoff.desktop.identity"),
        ("codec", "import user_handoff.client"),
    ],
)
def test_an_import_against_the_direction_is_found(tree: Path, package: str, line: str) -> None:
    folder = tree / "user_handoff" / package
    target = folder.resolve()
    folder.unlink()
    folder.mkdir()
    for path in target.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "wrong.py").write_text(f"{line}\n")

    done = check(tree)

    assert done.returncode != 0
    assert f"user_handoff.{package}.wrong" in done.stdout


def test_a_module_that_no_layer_names_is_found(tree: Path) -> None:
    (tree / "user_handoff" / "elsewhere.py").touch()

    done = check(tree)

    assert done.returncode != 0
    assert "elsewhere" in done.stdout
