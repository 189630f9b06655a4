"""A virtual display that the tests of this folder share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from user_handoff.desktop.display.display import Display
from user_handoff.desktop.display.virtual import ensure_virtual, stop_virtual


@pytest.fixture(scope="package")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("display")


@pytest.fixture(scope="package")
async def shared(shared_folder: Path) -> AsyncIterator[Display]:
    yield await ensure_virtual(shared_folder)
    await stop_virtual(shared_folder)


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Path]:
    """A folder whose display, if any is started, ends with the test."""
    yield tmp_path / "display"
    await stop_virtual(tmp_path / "display")
