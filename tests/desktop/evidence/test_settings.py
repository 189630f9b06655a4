"""What the operator may say of evidence."""

import pytest

from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.evidence.settings import EvidenceSettings


def test_pictures_are_off_and_the_size_is_bounded_unless_it_is_said() -> None:
    """B7, B10."""
    assert EvidenceSettings.of({}) == EvidenceSettings(pictures=False, most_bytes=256_000_000)


@pytest.mark.parametrize(("text", "size"), [("64MB", 64_000_000), ("2gb", 2_000_000_000), ("unlimited", None)])
def test_a_size_is_a_number_and_a_unit(text: str, size: int | None) -> None:
    """B10."""
    found = EvidenceSettings.of({"HANDOFF_EVIDENCE_SIZE": text, "HANDOFF_EVIDENCE_PICTURES": "1"})
    assert found == EvidenceSettings(pictures=True, most_bytes=size)


@pytest.mark.parametrize(
    ("variable", "text"),
    [("HANDOFF_EVIDENCE_SIZE", "64"), ("HANDOFF_EVIDENCE_SIZE", "-1MB"), ("HANDOFF_EVIDENCE_PICTURES", "yes")],
)
def test_what_says_nothing_known_is_refused_by_its_name(variable: str, text: str) -> None:
    with pytest.raises(HandoffError) as caught:
        EvidenceSettings.of({variable: text})
    assert caught.value.code is ErrorCode.INVALID_REQUEST and variable in caught.value.what
