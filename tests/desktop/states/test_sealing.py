"""Where the keys of saved states come from."""

import sys
from types import SimpleNamespace

import pytest

from user_handoff.codec.keys import KeyRing
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.states.sealing import KEYS_VARIABLE, Sealer

KEY = KeyRing.generate("k1")


def test_without_a_key_nothing_is_encrypted() -> None:
    assert Sealer.of({}).key_id is None


def test_the_environment_names_the_key() -> None:
    assert Sealer.of({KEYS_VARIABLE: KEY.text}).key_id == "k1"


def test_a_key_that_cannot_be_used_stops_the_start_and_is_never_quoted() -> None:
    with pytest.raises(SetupError) as caught:
        Sealer.of({KEYS_VARIABLE: "k1:c2hvcnQ="})
    assert caught.value.code is ErrorCode.CODEC_KEYS_INVALID
    assert KEYS_VARIABLE in caught.value.what
    assert "c2hvcnQ=" not in str(caught.value)


def test_the_keyring_can_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def get_password(service: str, user: str) -> str:
        asked.append((service, user))
        return KEY.text

    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=get_password))
    assert Sealer.of({KEYS_VARIABLE: "keyring:desk"}).key_id == "k1"
    assert asked == [("desk", KEYS_VARIABLE)]


@pytest.mark.parametrize("module", [None, SimpleNamespace(get_password=lambda *_: None), SimpleNamespace()])
def test_a_keyring_without_it_stops_the_start(monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    """None: the package is not installed."""
    monkeypatch.setitem(sys.modules, "keyring", module)
    with pytest.raises(SetupError) as caught:
        Sealer.of({KEYS_VARIABLE: "keyring:"})
    assert caught.value.code is ErrorCode.CODEC_KEYS_INVALID
