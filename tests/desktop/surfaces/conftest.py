"""Displays of our own: one with a window manager, one without."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.desktop.surfaces.servers import bare_server
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.display.virtual import ensure_virtual, stop_virtual
from user_handoff.desktop.surfaces.x11 import X11Surfaces


@pytest.fixture(scope="package")
async def managed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Display]:
    """A virtual display with its window manager."""
    folder = tmp_path_factory.mktemp("display")
    yield await ensure_virtual(folder)
    await stop_virtual(folder)


@pytest.fixture(scope="package")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Display]:
    """An X server alone: no window manager."""
    with bare_server(tmp_path_factory.mktemp("bare")) as (display, _):
        yield display


@pytest.fixture
def surfaces(managed: Display) -> Iterator[X11Surfaces]:
    """The finder on the display that has a window manager."""
    finder = X11Surfaces(managed)
    yield finder
    finder.close()
