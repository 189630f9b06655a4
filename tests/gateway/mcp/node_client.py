"""The client of the SDK for TypeScript, installed once for each set of versions."""

import asyncio
import hashlib
import shutil
from pathlib import Path

HERE = Path(__file__).parent / "node"
FILES = ("package.json", "package-lock.json", ".npmrc", "client.mjs")


class NotInstalled(Exception):
    """It cannot be installed here; the text says why."""


async def installed_client(cache: Path) -> Path:
    """The program, with what it needs beside it.

    Args:
        cache: Where it is kept.

    Raises:
        NotInstalled: npm or node is missing, or the registry cannot be reached.
    """
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise NotInstalled("npm and node are not installed")
    digest = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:12]
    folder = cache / f"node-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(HERE / name, folder / name)
    if not (folder / "installed").exists():
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        install = await asyncio.create_subprocess_exec(
            *command, cwd=folder, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        _, said = await install.communicate()
        if install.returncode != 0:
            raise NotInstalled(f"npm could not install the SDK: {said.decode(errors='replace')[-300:]}")
        (folder / "installed").touch()
    return folder / "client.mjs"
