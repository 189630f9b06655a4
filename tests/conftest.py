"""In which order, and on which process, tests run. Fixtures that are shared lie with those that share them."""

from typing import Any

import pytest
from playwright.async_api import expect

_FIRST = "tests/e2e/"
"""These share one stack of real parts: one process runs them all, from the start, while another does the rest."""

_LONG = pytest.mark.timeout(300)
"""Several of their waits may run out one after the other; the limit is for what hangs."""

expect.set_options(timeout=30_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(_FIRST))
    for item in items:
        if item.nodeid.startswith(_FIRST):
            item.add_marker(_LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class Folders(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _FIRST if nodeid.startswith(_FIRST) else str(super()._split_scope(nodeid))

    return Folders(config, log)
