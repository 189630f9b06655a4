import pytest

from user_handoff.contract.errors import ErrorCode, Stale
from user_handoff.desktop.snapshots.bindings import bind

RAW = """- generic [active] [ref=e1]:
  - heading "Hi [ref=e99]" [level=1] [ref=e2]
  - button "say \\"x\\"" [ref=e3] [cursor=pointer]: z
  - iframe [ref=e4]:
    - button "In" [ref=f1e2]
  - generic [ref=e5] [cursor=pointer]: click me"""


def test_refs_become_ids_of_this_snapshot_alone() -> None:
    text, ids = bind(RAW, "doc")
    assert f"[id={ids.snapshot_id}.f1e2]" in text
    assert "[ref=e3]" not in text


def test_a_name_that_looks_like_a_ref_names_nothing() -> None:
    _, ids = bind(RAW, "doc")
    assert set(ids.elements) == {"e1", "e2", "e3", "e4", "f1e2", "e5"}
    assert ids.elements["e2"].name == "Hi [ref=e99]"


def test_an_id_stands_for_role_name_and_text() -> None:
    _, ids = bind(RAW, "doc")
    assert ids.resolve(f"{ids.snapshot_id}.e3").name == 'say "x"'
    assert ids.resolve(f"{ids.snapshot_id}.e5").text == "click me"


@pytest.mark.parametrize("ref", ["e77", "", "e3.e3"])
def test_an_id_of_nothing_is_stale(ref: str) -> None:
    _, ids = bind(RAW, "doc")
    with pytest.raises(Stale) as stale:
        ids.resolve(f"{ids.snapshot_id}.{ref}")
    assert stale.value.code is ErrorCode.STALE_ELEMENT


def test_an_id_of_an_earlier_snapshot_is_stale() -> None:
    """A13, K35."""
    _, first = bind(RAW, "doc")
    _, second = bind(RAW, "doc")
    with pytest.raises(Stale):
        second.resolve(f"{first.snapshot_id}.e3")
