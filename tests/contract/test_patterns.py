"""Patterns that a caller may give: none can stop a desktop."""

import time

import pytest

from user_handoff.contract.boundary import ControlRule
from user_handoff.contract.boundary.built_in import BUILT_IN
from user_handoff.contract.boundary.meeting import Seen, Shown, StopList
from user_handoff.contract.boundary.patterns import check_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*$",
        "((a{1,9}){1,9}){1,9}",
        "a*b*c*",
        "^a*b*c*d*",
        r"(a)\1",
        "(?P<x>a)",
        "(?i)a",
        "(",
        "(?:ab){11}",
        "a**",
        "^" + "a?" * 24 + "a" * 24,
        "^(?:aa|a){0,10}(?:aa|a){0,10}(?:aa|a){0,10}$",
        "^(?:(?:a|ab|b){0,10}){0,10}$",
        "^" + "(?:a|aa)" * 24 + "$",
    ],
)
def test_a_pattern_that_could_take_for_ever_or_is_none_is_refused(pattern: str) -> None:
    """B1: rules come from agents, too."""
    with pytest.raises(ValueError):
        check_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(pass ?word|kennwort)\b",
        "^delete .{1,40}$",
        "[a-z]+ (all|one)?",
        "(?=a)a",
        "|".join(f"word {n}" for n in range(50)),
    ],
)
def test_a_plain_pattern_is_taken(pattern: str) -> None:
    assert check_pattern(pattern) == pattern


def test_the_worst_pattern_that_is_taken_ends_soon() -> None:
    rule = ControlRule(rule_id="worst", role="button", name="^a*a*a*b")
    began = time.thread_time()
    assert StopList([rule]).control(Shown("button", ("a" * 100_000,))) is None
    assert time.thread_time() - began < 2


@pytest.mark.parametrize("pattern", ["^(?:aa|a){0,10}[ab]{0,9}c", "^" + "a?" * 15 + "b", "^(a|a)(a|a)(a|a)a*a*b"])
def test_no_number_of_choices_makes_a_pattern_slow(pattern: str) -> None:
    """B1: what is taken at all ends soon."""
    check_pattern(pattern)
    began = time.thread_time()
    assert (
        StopList([ControlRule(rule_id="x", role="button", name=pattern)]).control(Shown("button", ("a" * 200,))) is None
    )
    assert time.thread_time() - began < 2


def test_ten_thousand_controls_are_looked_through_soon() -> None:
    controls = tuple(Shown(("button", "link", "textbox")[n % 3], (f"Button {n} does a thing",)) for n in range(10_000))
    rules = StopList(BUILT_IN)
    began = time.thread_time()
    assert rules.boundary("p", Seen("https://a.example/", controls)) is None
    assert time.thread_time() - began < 1.5
