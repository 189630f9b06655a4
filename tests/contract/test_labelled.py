"""The built-in list on the labelled set, by the labels alone: `./run bench --only boundaries` does it in a browser."""

from examples.boundaries.labelled import NOTHING, Control, controls, pages
from user_handoff.contract.boundary import Shown, StopList
from user_handoff.contract.boundary.built_in import BUILT_IN

RULES = StopList(BUILT_IN)
ROLES = {"link": "link", "menuitem": "menuitem", "checkbox": "checkbox", "field": "textbox"}
BY_TYPE = ("pw", "otp", "cc", "pwform")


def is_refused(control: Control) -> bool:
    return RULES.control(Shown(ROLES.get(control.kind, "button"), (control.label,))) is not None


def test_the_set_is_large_and_in_four_categories() -> None:
    """B1."""
    assert len(controls()) >= 200
    assert len({control.category for control in controls()}) == len({page.category for page in pages()}) == 5
    assert {control.half for control in controls()} == {"tuned", "held_out"}


def test_what_is_a_persons_is_refused_and_little_else() -> None:
    """B1: on the half that nothing was tuned on, too."""
    for half in ("tuned", "held_out"):
        some = [control for control in controls() if control.half == half and control.kind not in BY_TYPE]
        theirs = [control for control in some if control.category != NOTHING]
        missed = [control for control in theirs if not is_refused(control)]
        wrong = [control for control in some if control.category == NOTHING and is_refused(control)]
        assert len(missed) <= 0.06 * len(theirs), half
        assert len(wrong) <= 0.03 * len(some), half
