"""What the ledger remembers beside permits."""

from user_handoff.contract.ids import Association
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.records import STARTED


def test_an_effect_begins_once_and_then_gives_its_receipt(ledger: Ledger) -> None:
    """A17: no effect is ever replayed blindly."""
    assert ledger.see_effect("e1") is None
    assert ledger.begin_effect("e1", action="click", browser_id="b1") is None
    assert ledger.begin_effect("e1", action="click", browser_id="b1") == STARTED
    assert ledger.see_effect("e1") == STARTED
    ledger.end_effect("e1", '{"outcome": "completed"}')
    assert ledger.begin_effect("e1", action="click", browser_id="b1") == '{"outcome": "completed"}'


def test_an_effect_that_was_never_dispatched_can_be_asked_again(ledger: Ledger) -> None:
    ledger.begin_effect("e1", action="click")
    ledger.drop_effect("e1")
    assert ledger.begin_effect("e1", action="click") is None


def test_an_effect_with_a_receipt_is_not_forgotten(ledger: Ledger) -> None:
    ledger.begin_effect("e1", action="click")
    ledger.end_effect("e1", "{}")
    ledger.drop_effect("e1")
    assert ledger.see_effect("e1") == "{}"


def test_what_was_asked_for_is_kept_as_a_digest_for_as_long_as_its_effect(ledger: Ledger) -> None:
    """K24: another request under the same id is known."""
    ledger.begin_effect("e1", action="fill", sha256="a" * 64)
    assert ledger.request_of("e1") == "a" * 64
    ledger.drop_effect("e1")
    assert ledger.request_of("e1") is None
    ledger.begin_effect("e1", action="fill", sha256="b" * 64)
    ledger.prune_effects(older_than_seconds=-1)
    assert ledger.request_of("e1") is None


def test_old_effects_are_pruned_and_new_ones_kept(ledger: Ledger) -> None:
    ledger.begin_effect("e1", action="click")
    assert ledger.prune_effects() == 0
    assert ledger.prune_effects(older_than_seconds=-1) == 1


def test_a_completed_association_is_known_and_counted_once(ledger: Ledger) -> None:
    """A18."""
    used, other = Association("b1", "s1", "m1"), Association("b1", "s1", "m2")
    ledger.add_completed(used)
    ledger.add_completed(used)
    assert ledger.is_completed(used)
    assert not ledger.is_completed(other)
    assert (ledger.count_completed("b1"), ledger.count_completed("b2")) == (1, 0)


def test_a_hold_record_is_replaced_and_removed(ledger: Ledger) -> None:
    ledger.put_hold("handoff/b/s/m", "1")
    ledger.put_hold("handoff/b/s/m", "2")
    assert ledger.get_hold("handoff/b/s/m") == "2"
    assert ledger.all_holds() == {"handoff/b/s/m": "2"}
    ledger.delete_hold("handoff/b/s/m")
    ledger.delete_hold("handoff/b/s/m")
    assert ledger.get_hold("handoff/b/s/m") is None
