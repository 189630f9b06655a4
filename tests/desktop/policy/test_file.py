"""The policy file, and what is wrong with one."""

from pathlib import Path

import pytest

from user_handoff.contract.boundary import Category, Shown, StopList, UrlRule
from user_handoff.contract.boundary.built_in import BUILT_IN
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.policy.file import Policy, read_policy

GOOD = """
version = 1

[limits]
read_only = true

[built_in]
off = ["buy"]

[built_in.names]
pay = ['^blechen$']

[[rules]]  # ours
kind = "url"
rule_id = "transfer"
category = "financial_contractual"
glob = "https://bank.example/transfer/**"

[[rules]]
kind = "control"
rule_id = "archive"
category = "destructive"
role = "button|link"
name = '^archive (all|everything)$'
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


def rule_of(policy: Policy, label: str) -> str | None:
    met = StopList(policy.rules).control(Shown("button", (label,)))
    return met[0].rule_id if met else None


def test_a_file_adds_rules_and_names_and_switches_others_off(file: Path) -> None:
    """B1."""
    file.write_text(GOOD)
    policy = read_policy(file)
    assert (policy.read_only, policy.confirm_before_submit) == (True, False)
    assert rule_of(policy, "Archive all") == "archive"
    assert rule_of(policy, "blechen") == rule_of(policy, "Pay now") == "pay"
    assert rule_of(policy, "Buy it now") is None
    assert rule_of(policy, "Delete account") == "delete-account"
    assert StopList(policy.rules).address("https://bank.example/transfer/new?x=1") is not None


def test_the_built_in_list_is_on_and_can_be_switched_off_as_a_whole(file: Path) -> None:
    """B1: in four categories, each rule with an id of its own."""
    assert Policy().rules == BUILT_IN
    assert {rule.category for rule in BUILT_IN} == set(Category)
    assert len({rule.rule_id for rule in BUILT_IN}) == len(BUILT_IN)
    file.write_text("version = 1\nbuilt_in.enabled = false\n")
    assert read_policy(file).rules == ()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("version = 1\n[limits\n", 2, "Expected"),
        ("version = 1\n\n[limits]\nread_only = 'perhaps'\n", 4, "bool"),
        ("version = 2\n", 1, "version"),
        ("# nothing\n", 1, "version: Field required"),
        ("version = 1\n[limits]\nreadonly = true\n", 3, "limits.readonly: Extra inputs"),
        ("version = 1\n[built_in]\noff = [\n  'buy',\n  'bye',\n]\n", 3, "'bye'"),
        ("version = 1\n[built_in.names]\n'sign-in-wall' = ['x']\n", 3, "sign-in-wall"),
        ("version = 1\n[built_in.names]\npay = ['(x']\n", 3, "not a regular expression"),
        (GOOD.replace("^archive (all|everything)$", "(a+)+$"), 24, "only single characters"),
        (GOOD.replace('role = "button|link"\n', ""), 19, "rules.2.control.role: Field required"),
        (GOOD.replace('kind = "control"', 'kind = "window"'), 19, "'window'"),
        (GOOD.replace('"destructive"', '"harmless"'), 22, "rules.2.control.category"),
        (GOOD.replace('"archive"', '"transfer"'), 21, "a rule of this file"),
        (GOOD.replace('"archive"', '"pay"'), 21, "a built-in rule"),
        (GOOD.replace('"archive"', '"no id!"'), 21, "rule_id"),
        ("version = 1\n[[rules]]\nkind = 'response'\nrule_id = 'r'\nstatuses = [99]\n", 5, "rules.1.response.statuses"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_line_and_reason(file: Path, text: str, line: int, reason: str) -> None:
    """B1: nothing is started under half a policy."""
    file.write_text(text)
    with pytest.raises(SetupError) as error:
        read_policy(file)
    assert error.value.code is ErrorCode.POLICY_INVALID
    assert error.value.details["line"] == line, error.value.what
    assert f"line {line}" in error.value.what and reason in error.value.what, error.value.what


def test_a_file_that_cannot_be_read_is_refused(file: Path) -> None:
    for content in (None, b"version = 1\n\xff\n", b"#" * 1_000_001):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(SetupError) as error:
            read_policy(file)
        assert error.value.code is ErrorCode.POLICY_INVALID


def test_rules_of_a_file_come_before_those_that_are_built_in(file: Path) -> None:
    file.write_text(GOOD)
    assert isinstance(read_policy(file).rules[0], UrlRule)


@pytest.mark.parametrize("value", ["[" * 100_000, "9" * 5_000])
def test_a_file_that_no_parser_takes_is_refused_like_every_other(file: Path, value: str) -> None:
    """B1: typed, and nothing is started."""
    file.write_text(f"version = 1\nlimits = {value}\n")
    with pytest.raises(SetupError) as error:
        read_policy(file)
    assert error.value.code is ErrorCode.POLICY_INVALID
