"""A saved state, as one is written."""

from datetime import UTC, datetime
from typing import Any

import pytest

from user_handoff.contract.conditions import Probe
from user_handoff.contract.states import SavedState

OWNER = "agent:test"
CONTENT: dict[str, Any] = {"cookies": [{"name": "sid", "value": "very-secret-cookie"}], "origins": []}


def manifest_of(state_id: str = "portal", **fields: Any) -> SavedState:
    return SavedState.model_validate(
        {
            "state_id": state_id,
            "saved_at": datetime.now(UTC),
            "sites": ["portal.example"],
            "cookies": 1,
            "session_cookies": 0,
            "local_storage": 0,
            "indexed_db": 0,
            "encrypted": False,
            "probe": Probe(url="https://portal.example/account"),
            "probe_seconds": 1,
            "probe_met": True,
            **fields,
        }
    )


@pytest.fixture
def manifest() -> SavedState:
    return manifest_of()
