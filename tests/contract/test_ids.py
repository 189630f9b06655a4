import pytest

from user_handoff.contract.ids import Association, new_id


def test_an_association_is_read_back_from_its_handoff_id() -> None:
    association = Association(new_id("b"), new_id("s"), new_id("m"))
    assert Association.parse(association.handoff_id) == association


@pytest.mark.parametrize(
    "text", ["", "handoff/a/b", "handoff/a/b/c/d", "handoff/a/../c", "session/a", "handoff/a/b/c\n"]
)
def test_another_text_is_no_handoff_id(text: str) -> None:
    with pytest.raises(ValueError, match="not the id of a handoff"):
        Association.parse(text)


def test_ids_are_not_repeated() -> None:
    assert len({new_id("e") for _ in range(1000)}) == 1000
