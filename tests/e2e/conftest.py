"""One stack for all end-to-end tests: each leaves it as it was."""

import os
from collections.abc import AsyncIterator

import pytest

from tests.e2e.stack import Stack, running_stack
from user_handoff.codec.keys import KeyRing
from user_handoff.desktop.states.sealing import KEYS_VARIABLE


@pytest.fixture(scope="package")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    os.environ[KEYS_VARIABLE] = KeyRing.generate("e2e").text  # so that saved states are encrypted
    async with running_stack(tmp_path_factory.mktemp("e2e")) as stack:
        yield stack
