"""The built distributions, and an environment in which the built wheel is what is imported."""

import shutil
import subprocess
import sys
import sysconfig
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("activities", "benchmarks", "deploy", "docs", "examples", "src", "tests", "worker", "workflows")
FILES = ("Dockerfile", "LICENSE", "MANIFEST.in", "README.md", "docker-compose.yml", "pyproject.toml", "run", "setup.py")


def call(*command: str | Path, cwd: Path, seconds: float = 300, env: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed.

    Raises:
        AssertionError: It failed.
    """
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=seconds, env=env)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@dataclass(frozen=True)
class Built:
    """The built distributions.

    Attributes:
        wheel: The wheel, built from the source distribution.
        sources: The unpacked source distribution.
    """

    wheel: Path
    sources: Path


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel installed.

    Attributes:
        folder: The environment.
        work: A folder with the tests and without the project's sources.
    """

    folder: Path
    work: Path

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.folder / "bin" / "python"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build from a copy, so that nothing stale is packed and nothing is left in the tree."""
    source, out = tmp_path_factory.mktemp("source") / "tree", tmp_path_factory.mktemp("dist")
    source.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*_cache")
    for name in SOURCES:
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ".", cwd=source)
    with tarfile.open(next(out.glob("*.tar.gz"))) as archive:
        archive.extractall(out, filter="data")
    return Built(wheel=next(out.glob("*.whl")), sources=next(path for path in out.iterdir() if path.is_dir()))


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A fresh environment: the wheel is installed there; what it needs is taken from the environment of the tests."""
    base = tmp_path_factory.mktemp("installed")
    folder, work = base / "venv", base / "work"
    call(sys.executable, "-m", "venv", "--without-pip", folder, cwd=base)
    # A path in a .pth file is searched last, and .pth files in it are not read: no editable install of ours works here.
    packages = Path(call(folder / "bin" / "python", "-c", _PURELIB, cwd=base).strip())
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = ("-m", "pip", "--python", folder, "install", "-q", "--no-deps", "--no-index", built.wheel)
    call(sys.executable, *install, cwd=base)
    work.mkdir()
    for name in ("tests", "examples"):
        shutil.copytree(built.sources / name, work / name)
    shutil.copy(built.sources / "pyproject.toml", work)
    return Installed(folder, work)


_PURELIB = "import sysconfig; print(sysconfig.get_path('purelib'))"
