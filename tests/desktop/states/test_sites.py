"""What a saved state takes, and what it leaves out."""

from typing import Any

import pytest

from user_handoff.contract.conditions import Probe
from user_handoff.contract.states import PRE_AUTHENTICATION, PruneRule, SaveState
from user_handoff.desktop.states.sites import pick


def request(*sites: str, **fields: Any) -> SaveState:
    fields = {"sso": ("sso.example",), **fields}
    return SaveState(
        browser_id="b1", effect_id="e1", state_id="s1", sites=sites, probe=Probe(url="https://app.example/me"), **fields
    )


def cookie(name: str, domain: str) -> dict[str, Any]:
    return {"name": name, "domain": domain, "value": "x"}


def origin(url: str, *items: str) -> dict[str, Any]:
    return {"origin": url, "localStorage": [{"name": item, "value": "x"} for item in items], "indexedDB": []}


def names(picked: dict[str, Any]) -> list[str]:
    return [each["name"] for each in picked["cookies"]]


@pytest.mark.parametrize(
    ("domain", "taken"),
    [
        ("app.example", True),
        (".app.example", True),
        ("eu.app.example", True),
        ("notapp.example", False),
        ("app.example.evil", False),
        ("sso.example", True),
        ("other.example", False),
    ],
)
def test_a_cookie_is_taken_by_its_domain(domain: str, taken: bool) -> None:
    """B6."""
    picked = pick({"cookies": [cookie("sid", domain)], "origins": []}, request("app.example"))
    assert names(picked.content) == (["sid"] if taken else [])


def test_a_cookie_of_the_domain_above_is_sent_to_the_site_and_so_taken() -> None:
    found = {"cookies": [cookie("a", ".corp.example"), cookie("b", "corp.example")], "origins": []}
    assert names(pick(found, request("app.corp.example")).content) == ["a"]


def test_storage_is_taken_by_its_host() -> None:
    found = {
        "cookies": [],
        "origins": [origin("https://app.example", "a"), origin("https://other.example:8443", "b")],
    }
    picked = pick(found, request("app.example"))
    assert [each["origin"] for each in picked.content["origins"]] == ["https://app.example"]


@pytest.mark.parametrize(
    "name",
    [
        "pending",
        "Login-Pending",
        "pre_auth_token",
        "preauth",
        "mfa_pending",
        "oauth_state",
        "app.code_verifier",
        "NONCE",
    ],
)
def test_markers_of_a_sign_in_that_has_not_ended_are_left_out(name: str) -> None:
    """B6."""
    found = {"cookies": [cookie(name, "app.example")], "origins": [origin("https://app.example", name, "theme")]}
    picked = pick(found, request("app.example"))
    assert picked.content["cookies"] == []
    assert [item["name"] for item in picked.content["origins"][0]["localStorage"]] == ["theme"]
    (said,) = (each for each in picked.not_kept if each.what == "pre_authentication")
    assert said.count == 2
    assert said.where in {rule.rule_id for rule in PRE_AUTHENTICATION}


@pytest.mark.parametrize(
    "name",
    ["sid", "csrftoken", "mfa_remembered", "trusted_device", "announcement", "spending", "state", "suspending_x"],
)
def test_what_a_finished_sign_in_needs_is_kept(name: str) -> None:
    picked = pick({"cookies": [cookie(name, "app.example")], "origins": []}, request("app.example"))
    assert names(picked.content) == [name]


def test_the_rules_are_the_callers() -> None:
    found = {"cookies": [cookie("pending", "app.example"), cookie("Half", "app.example")], "origins": []}
    rules = (PruneRule(rule_id="mine", name="h?lf"),)
    assert names(pick(found, request("app.example", prune=rules)).content) == ["pending"]


def test_a_rule_of_many_stars_is_quick() -> None:
    rules = (PruneRule(rule_id="mine", name="*a" * 50),)
    found = {"cookies": [cookie("a" * 4000 + "!", "app.example")], "origins": []}
    assert names(pick(found, request("app.example", prune=rules)).content) != []


def test_it_says_what_was_not_asked_for_and_what_was_not_there() -> None:
    found = {"cookies": [cookie("sid", "app.example"), cookie("s", "sso.example"), cookie("t", "x.y")], "origins": []}
    picked = pick(found, request("app.example", "never.example"))
    assert picked.sso == ("sso.example",)
    assert {(each.what, each.where, each.count) for each in picked.not_kept} == {
        ("other_sites", "cookies", 1),
        ("nothing_found", "never.example", 0),
    }
