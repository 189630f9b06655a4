"""What the clients are made of, installed once for each set of versions into the user's cache."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

NPM: Final = (
    "playwright-core@1.65.1",
    "puppeteer-core@24.43.0",
    "@playwright/mcp@0.0.83",
    "chrome-devtools-mcp@1.11.0",
)
BROWSER_USE: Final = "browser-use==0.13.14"


def node_modules() -> Path | None:
    """The folder with the packages of npm beside our own steps; None where npm is missing or cannot install them."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return None
    folder = _folder("clients", *NPM)
    if not (folder / "installed").exists():
        (folder / "package.json").write_text('{"private": true, "type": "module"}')
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *NPM]
        if subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL).returncode != 0:
            return None
        (folder / "installed").touch()
    for script in Path(__file__).parent.glob("*.mjs"):
        shutil.copy(script, folder)
    return folder


def browser_use_python() -> Path | None:
    """A Python that has browser-use; None where it cannot be installed."""
    folder = _folder("browser-use", BROWSER_USE)
    python = folder / "venv" / "bin" / "python"
    if not (folder / "installed").exists():
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder / "venv")]).returncode == 0
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", BROWSER_USE]
        if not made or subprocess.run(command).returncode != 0:
            return None
        (folder / "installed").touch()
    return python


def _folder(name: str, *packages: str) -> Path:
    digest = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:12]
    folder = user_cache_path("user-handoff") / f"{name}-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
