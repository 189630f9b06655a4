"""Which rule a page meets."""

from collections.abc import Sequence

from user_handoff.contract.boundary import AnyRule, Boundary, ControlRule, Seen, Shown, StopList, UrlRule
from user_handoff.contract.boundary.built_in import BUILT_IN

LOGIN = "https://portal.example/login?next=secret"


def first_boundary(
    rules: Sequence[AnyRule], page_id: str, url: str, controls: Sequence[tuple[str, str]]
) -> Boundary | None:
    seen = Seen(url, tuple(Shown(role, (name,)) for role, name in controls))
    return StopList(tuple(rules)).boundary(page_id, seen)


def test_a_page_that_meets_no_rule_has_no_boundary() -> None:
    page = "https://portal.example/settings"
    assert first_boundary(BUILT_IN, "p1", page, [("button", "Password"), ("textbox", "User name")]) is None


def test_a_control_is_found_by_its_role_and_a_part_of_its_name() -> None:
    met = first_boundary(BUILT_IN, "p1", LOGIN, [("textbox", "User name"), ("textbox", "Password for this site")])
    assert met is not None
    assert (met.rule_id, met.reason) == ("sign-in-password", 'textbox "Password for this site"')
    assert met.url == "https://portal.example/login"


def test_controls_come_before_urls() -> None:
    rules = (UrlRule(rule_id="there", glob="**/login"), ControlRule(rule_id="shown", role="button", name="^go$"))
    seen = first_boundary(rules, "p1", LOGIN, [("button", "Go")])
    unseen = first_boundary(rules, "p1", LOGIN, [])
    assert seen is not None and seen.rule_id == "shown"
    assert unseen is not None and (unseen.rule_id, unseen.reason) == ("there", "URL matches **/login")
