"""Every code is reached by a test, and told in docs/errors.md; those that no other test reaches are reached here."""

import ast
import contextlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.client import ActivityFailureError
from temporalio.service import RPCError, RPCStatusCode

from tests.e2e.lab import Lab
from tests.e2e.stack import OWNER, Stack
from tests.waiting import until
from user_handoff.cli.temporal import require_search_attributes
from user_handoff.contract import browser as b
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import BeginHold, BeginReceipt, HandoffRequest, Outcome, Result
from user_handoff.contract.ids import Association, new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.session import PostMessage, Scope
from user_handoff.desktop.reservation.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]
HOLDS = "tests/desktop/handoff/test_holds.py::"
TAKEOVERS = "tests/desktop/takeover/test_takeovers.py::"
DESKTOP = "tests/desktop/test_desktop.py::"
HERE = "tests/e2e/test_errors.py::"
CLI = "tests/cli/test_refusals.py::"
STATES = "tests/desktop/states/"

TABLE = {
    ErrorCode.BROWSER_HELD: f"{HOLDS}test_while_held_every_page_effect_is_refused_and_looking_works",
    ErrorCode.DESKTOP_HELD: f"{HOLDS}test_while_held_the_whole_desktop_is_closed_to_native_effects",
    ErrorCode.SNAPSHOT_REQUIRED: f"{HOLDS}test_after_finish_a_page_needs_its_own_look_before_effects",
    ErrorCode.RESERVATION_CLOSED: "tests/desktop/reservation/test_store.py::"
    "test_a_ledger_that_another_process_locks_for_too_long_is_closed",
    ErrorCode.STALE_ELEMENT: f"{DESKTOP}test_an_id_of_an_earlier_snapshot_is_stale",
    ErrorCode.STALE_GENERATION: "tests/desktop/test_computer.py::test_a_generation_is_spent_by_one_effect",
    ErrorCode.FENCE_MISMATCH: f"{HOLDS}test_finish_needs_the_exact_fence",
    ErrorCode.UNKNOWN_BROWSER: f"{DESKTOP}test_an_unknown_browser_is_named_so",
    ErrorCode.BROWSER_GONE: f"{DESKTOP}test_a_closed_browser_is_gone_at_every_call",
    ErrorCode.PAGE_GONE: f"{DESKTOP}test_a_closed_page_is_gone_and_the_others_stay",
    ErrorCode.UNKNOWN_HANDOFF: "tests/test_client.py::test_an_unknown_handoff_is_gone",
    ErrorCode.UNKNOWN_TAKEOVER: f"{TAKEOVERS}test_no_takeover_has_an_id_that_nobody_minted",
    ErrorCode.HANDOFF_UNSUPPORTED: "tests/desktop/surfaces/test_listed.py::"
    "test_unproven_systems_do_not_advertise_the_capability",
    ErrorCode.SURFACE_NOT_FOUND: "tests/desktop/surfaces/test_x11.py::"
    "test_several_windows_and_none_at_the_bounds_is_not_found",
    ErrorCode.SURFACE_AMBIGUOUS: "tests/desktop/surfaces/test_x11.py::test_two_windows_at_one_place_are_ambiguous",
    ErrorCode.HANDOFF_ACTIVE: f"{HOLDS}test_another_begin_on_a_held_browser_is_refused_and_the_first_stands",
    ErrorCode.TAKEOVER_ACTIVE: f"{TAKEOVERS}test_a_handoff_is_untouched_by_a_takeover_and_a_takeover_by_a_handoff",
    ErrorCode.NOT_HANDOVERABLE: f"{HOLDS}test_a_headless_or_ephemeral_browser_cannot_be_handed_over",
    ErrorCode.ASSOCIATION_USED: f"{HOLDS}test_after_finish_the_association_cannot_begin_again",
    ErrorCode.ASSOCIATION_CAPACITY: f"{HERE}test_a_browser_that_had_its_handoffs_has_no_other",
    ErrorCode.DRAIN_TIMEOUT: f"{HOLDS}test_an_effect_that_does_not_end_in_time_fails_begin_and_leaves_nothing",
    ErrorCode.LIFETIME_EXHAUSTED: f"{HERE}test_a_browser_at_the_end_of_its_life_is_not_handed_over",
    ErrorCode.SESSION_NOT_FOUND: "tests/workflows/test_handoff.py::"
    "test_a_begin_without_authority_never_reaches_the_desktop",
    ErrorCode.SESSION_CLOSED: "tests/workflows/test_session.py::test_no_handoff_begins_in_a_session_that_is_closed",
    ErrorCode.NOT_OWNER: f"{HERE}test_each_authority_alone_refuses",
    ErrorCode.MESSAGE_NOT_OPEN: "tests/workflows/test_session.py::"
    "test_no_handoff_begins_under_a_message_that_is_resolved",
    ErrorCode.MISSING_SCOPE: f"{HERE}test_each_authority_alone_refuses",
    ErrorCode.SECRET_QUESTION: "tests/workflows/test_session_callers.py::"
    "test_a_question_that_asks_for_a_secret_is_refused_and_points_to_the_handoff",
    ErrorCode.ALREADY_DECIDED: "tests/gateway/test_webhooks.py::test_a_second_decision_is_a_conflict",
    ErrorCode.NOT_HELD: "tests/test_client.py::test_a_reply_nobody_can_use_any_more_is_refused",
    ErrorCode.BOUNDARY_REACHED: "tests/desktop/policy/test_limits.py::"
    "test_opening_a_browser_at_a_page_that_is_a_persons_is_refused",
    ErrorCode.BROWSER_LIMIT: f"{DESKTOP}test_one_browser_more_than_the_limit_is_refused",
    ErrorCode.PAGE_LIMIT: f"{DESKTOP}test_with_too_many_pages_an_agent_may_only_close_some",
    ErrorCode.URL_REFUSED: f"{DESKTOP}test_a_file_cannot_be_opened",
    ErrorCode.NAVIGATION_FAILED: f"{DESKTOP}test_a_page_that_never_answers_ends_typed_and_leaves_the_browser",
    ErrorCode.ACTION_FAILED: "tests/desktop/input/test_native.py::test_a_key_that_is_held_down_stops_the_typing",
    ErrorCode.ACTION_TIMEOUT: f"{HERE}test_a_disabled_button_is_waited_for_and_not_clicked",
    ErrorCode.LAUNCH_REFUSED: "tests/desktop/test_computer.py::test_no_program_is_launched_unless_it_is_allowed",
    ErrorCode.CLIPBOARD_WITHHELD: "tests/desktop/test_computer_in_hold.py::"
    "test_what_a_person_copied_during_the_hold_is_not_read_out",
    ErrorCode.OBSERVATION_DISCARDED: f"{HOLDS}test_a_look_across_the_begin_of_a_hold_is_thrown_away",
    ErrorCode.OUTCOME_UNKNOWN: "tests/e2e/test_receipts.py::"
    "test_an_effect_over_a_killed_runner_is_unknown_and_never_done_again",
    ErrorCode.RUNNER_UNAVAILABLE: "tests/workflows/test_handoff_ends.py::test_a_begin_that_no_desktop_takes_is_refused",
    ErrorCode.UNKNOWN_STATE: f"{STATES}test_files.py::test_what_was_never_saved_is_unknown",
    ErrorCode.STATE_UNREADABLE: f"{STATES}test_files.py::test_a_file_that_is_not_what_was_written_is_not_used",
    ErrorCode.STATE_STALE: f"{STATES}test_states.py::test_a_state_whose_login_is_over_is_refused_and_no_browser_stays",
    ErrorCode.VIEW_UNAVAILABLE: "tests/desktop/view/test_letting_in.py::test_a_real_display_is_not_shown",
    ErrorCode.LEASE_TAKEN: "tests/desktop/lease/test_leases.py::test_one_of_two_has_it",
    ErrorCode.LEASE_LOST: "tests/desktop/lease/test_leases.py::test_what_is_over_is_never_renewed",
    ErrorCode.NOT_VERIFIED: "tests/e2e/test_outcomes.py::test_done_on_an_error_page_is_not_verified",
    ErrorCode.DECLINED: "tests/e2e/test_outcomes.py::test_a_person_who_declines_is_never_read_as_done",
    ErrorCode.FAILED: "tests/workflows/test_agent.py::test_an_agent_never_waits_for_a_handoff_that_was_terminated",
    ErrorCode.EXPIRED: "tests/contract/test_handoff.py::test_expiry_names_the_boundary",
    ErrorCode.CLOSED: "tests/workflows/test_agent.py::test_an_agent_never_waits_for_a_handoff_that_was_closed",
    ErrorCode.REVOKED: f"{HERE}test_the_end_of_a_handoff_is_its_code",
    ErrorCode.RUNNER_LOST: f"{HERE}test_the_end_of_a_handoff_is_its_code",
    ErrorCode.NO_DISPLAY: f"{CLI}test_a_display_that_is_not_there_is_refused",
    ErrorCode.WAYLAND_UNSUPPORTED: f"{CLI}test_wayland_is_refused",
    ErrorCode.CHROMIUM_MISSING: f"{CLI}test_without_chromium_nothing_starts",
    ErrorCode.CHROMIUM_FAILED: f"{CLI}test_root_has_to_switch_the_sandbox_off",
    ErrorCode.PROGRAM_MISSING: "tests/desktop/display/test_virtual.py::test_a_program_that_is_missing_is_named",
    ErrorCode.PROFILE_IN_USE: "tests/desktop/host/test_life.py::test_a_profile_is_opened_once",
    ErrorCode.STATE_UNWRITABLE: "tests/desktop/host/test_launch.py::test_a_folder_that_cannot_be_written_is_refused",
    ErrorCode.ALREADY_RUNNING: "tests/cli/test_parts.py::test_a_second_part_of_the_same_name_is_refused",
    ErrorCode.PORT_TAKEN: "tests/gateway/test_serving.py::test_a_taken_port_is_said",
    ErrorCode.TEMPORAL_UNREACHABLE: "tests/test_client.py::test_an_outage_is_bounded_and_says_what_to_do",
    ErrorCode.NAMESPACE_MISSING: "tests/test_client.py::test_a_missing_namespace_is_said",
    ErrorCode.SEARCH_ATTRIBUTES_MISSING: f"{HERE}test_search_attributes_that_may_not_be_added_are_said",
    ErrorCode.START_FAILED: "tests/cli/test_parts.py::test_a_command_that_ends_at_once_is_told_with_what_it_said",
    ErrorCode.CODEC_KEYS_INVALID: "tests/test_codec.py::test_keys_that_cannot_be_used_are_refused_and_never_quoted",
    ErrorCode.POLICY_INVALID: "tests/desktop/policy/test_file.py::"
    "test_a_file_that_is_wrong_is_refused_with_line_and_reason",
    ErrorCode.CODEC_KEY_UNKNOWN: "tests/test_codec.py::test_a_key_that_is_not_there_is_named_by_its_id",
    ErrorCode.PAYLOAD_UNREADABLE: "tests/test_codec.py::test_a_payload_that_was_changed_is_refused",
    ErrorCode.PAYLOAD_TOO_LARGE: "tests/test_codec.py::test_a_payload_that_is_too_large_is_refused_in_both_directions",
    ErrorCode.INVALID_REQUEST: "tests/desktop/input/test_native.py::test_a_place_off_the_screen_is_refused",
    ErrorCode.ID_REUSED: "tests/gateway/rest/test_idempotency.py::test_a_key_that_named_another_request_is_refused",
    ErrorCode.RATE_LIMITED: "tests/gateway/rest/test_bounds.py::test_more_than_a_key_may_ask_is_refused_with_a_time",
    ErrorCode.UNAUTHORIZED: "tests/gateway/test_webhooks.py::test_what_is_not_signed_is_refused",
    ErrorCode.FORBIDDEN: "tests/gateway/mcp/test_doors.py::test_another_principals_session_cannot_be_named",
    ErrorCode.GRANT_UNKNOWN: "tests/gateway/mcp/test_doors.py::test_each_way_a_grant_ends_has_its_code",
    ErrorCode.GRANT_EXPIRED: "tests/gateway/mcp/test_doors.py::test_each_way_a_grant_ends_has_its_code",
    ErrorCode.GRANT_REVOKED: "tests/gateway/mcp/test_doors.py::test_each_way_a_grant_ends_has_its_code",
    ErrorCode.AUTH_CONTEXT_CHANGED: "tests/workflows/test_session_callers.py::"
    "test_a_grant_from_before_a_sign_in_is_refused_after_it_until_issued_again",
    ErrorCode.STALE_VERSION: "tests/gateway/mcp/test_doors.py::test_each_way_a_grant_ends_has_its_code",
    ErrorCode.UNKNOWN_REQUEST: "tests/gateway/mcp/test_requests.py::"
    "test_a_request_that_expires_while_a_stream_is_open_is_told",
    ErrorCode.REQUEST_LIMIT: "tests/gateway/mcp/test_requests.py::"
    "test_at_the_bound_the_new_one_is_refused_and_none_is_pushed_out",
    ErrorCode.LINK_UNKNOWN: "tests/gateway/test_links.py::test_a_link_opens_its_own_handoff_only",
    ErrorCode.LINK_EXPIRED: "tests/workflows/test_links.py::test_a_link_is_entered_in_time_or_not_at_all",
    ErrorCode.LINK_TAKEN: "tests/workflows/test_links.py::test_a_link_lets_in_one_browser",
}
"""The test that reaches each code."""

UNRAISED: set[ErrorCode] = set()
"""Codes of what is not built yet. The first line that raises one moves it to the table, with its test."""

SOURCES = [path for folder in ("src", "workflows", "activities", "worker") for path in (ROOT / folder).rglob("*.py")]


def _raised() -> set[ErrorCode]:
    found = set()
    for path in SOURCES:
        if path.name != "errors.py":
            found |= set(re.findall(r"\bErrorCode\.([A-Z_]+)\b", path.read_text()))
    return {ErrorCode[name] for name in found & set(ErrorCode.__members__)}


def _source(node_id: str) -> str:
    """The text of a test, its parameters and the constants of its module that it names included."""
    path, name = node_id.split("::")
    text = (ROOT / path).read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    return ""


def test_every_code_has_a_test_or_is_raised_nowhere() -> None:
    assert set(TABLE) | UNRAISED == set(ErrorCode)
    assert not set(TABLE) & UNRAISED
    assert not UNRAISED & _raised()


@pytest.mark.parametrize("code", TABLE)
def test_the_test_of_a_code_exists_and_names_it(code: ErrorCode) -> None:
    source = _source(TABLE[code])
    assert source, f"{TABLE[code]} does not exist"
    assert re.search(rf"\b(ErrorCode|Result)\.{code.name}\b|\b{code}\b", source), f"{TABLE[code]} does not name it"


def test_every_code_is_told_with_what_holds_and_what_to_do() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \| (.+) \|$", (ROOT / "docs" / "errors.md").read_text(), re.M)
    assert [row[0] for row in rows] == [str(code) for code in ErrorCode]
    assert all(cell.strip().endswith((".", "`.")) for row in rows for cell in row[1:])


# --- those that no other test reaches ---


async def _refused(stack: Stack, name: str, request: object, result: type[Any]) -> HandoffError:
    with pytest.raises(ActivityFailureError) as failed:
        await stack.ask(name, request, result)
    error = from_failure(failed.value)
    assert error is not None
    assert error.what and error.holds and error.do_next
    return error


def _hold(request: HandoffRequest, **more: Any) -> BeginHold:
    """What the workflow asks a desktop for once the server allowed it."""
    fields = request.model_dump(include={"browser_id", "session_id", "message_id", "owner", "timeout_seconds"})
    return BeginHold.model_validate({"handoff_id": request.handoff_id, **fields, **more})


async def _close(stack: Stack, browser_id: str) -> None:
    await stack.ask(Activities.CLOSE_BROWSER, b.BrowserRequest(browser_id=browser_id), type(None))


async def test_each_authority_alone_refuses(stack: Stack) -> None:
    """A5: where the other one would allow it, on real parts; nothing is held then."""
    request = await stack.request()
    weak, message = new_id("s"), PostMessage(message_id=new_id("m"), text="Sign in")
    await stack.handoffs.open_session(weak, OWNER, [Scope.BROWSER_CONTROL, Scope.RUNTIME_READ])
    await stack.handoffs.post_message(weak, message)
    lacking = request.model_copy(update={"session_id": weak, "message_id": message.message_id})
    with pytest.raises(HandoffError) as by_server:
        await stack.handoffs.begin(lacking)
    assert by_server.value.code is ErrorCode.MISSING_SCOPE
    assert by_server.value.details["missing"] == Scope.COMPUTER_READ

    other = request.model_copy(update={"owner": "agent:other"})
    with pytest.raises(HandoffError) as by_session:
        await stack.handoffs.begin(other)
    assert by_session.value.code is ErrorCode.NOT_OWNER
    by_runner = await _refused(stack, Activities.BEGIN, _hold(other), BeginReceipt)
    assert by_runner.code is ErrorCode.NOT_OWNER, "the server was not asked at all"

    ask = b.BrowserRequest(browser_id=request.browser_id)
    assert (await stack.ask(Activities.BROWSER_INFO, ask, b.BrowserInfo)).state == "open"
    receipt = await stack.ask(Activities.BEGIN, _hold(lacking), BeginReceipt)
    assert receipt.handoff_fence, "the runner alone would have allowed what the server refused"
    await _close(stack, request.browser_id)


async def test_a_session_of_ones_own_opens_no_browser_of_another(stack: Stack) -> None:
    """A5: the server allows it, and the desktop does not."""
    request = await stack.request(browser={"owner": "agent:other"})
    with pytest.raises(HandoffError) as refused:
        await stack.handoffs.begin(request)
    assert refused.value.code is ErrorCode.NOT_OWNER
    assert refused.value.details["browser_id"] == request.browser_id
    await _close(stack, request.browser_id)


async def test_a_browser_that_had_its_handoffs_has_no_other(stack: Stack) -> None:
    """A18."""
    request = await stack.request()
    ledger = Ledger(stack.state / "desktop" / f"{request.desktop_id}.ledger.db")
    for _ in range(64):
        ledger.add_completed(Association(request.browser_id, "s_before", new_id("m")))
    ledger.close()
    with pytest.raises(HandoffError) as refused:
        await stack.handoffs.begin(request)
    assert refused.value.code is ErrorCode.ASSOCIATION_CAPACITY
    await _close(stack, request.browser_id)


async def test_a_browser_at_the_end_of_its_life_is_not_handed_over(stack: Stack) -> None:
    """A8: less than a second is no hold. A busy machine may ask too late, when it is closed: then of another one."""
    codes = [await _refusal_at_the_end(stack)]
    while codes[-1] is ErrorCode.BROWSER_GONE and len(codes) < 5:
        codes.append(await _refusal_at_the_end(stack))
    assert codes[-1] is ErrorCode.LIFETIME_EXHAUSTED, codes


async def _refusal_at_the_end(stack: Stack) -> ErrorCode:
    request = await stack.request(browser={"lifetime_seconds": 4})
    ask = b.BrowserRequest(browser_id=request.browser_id)
    with contextlib.suppress(ActivityFailureError):  # it is closed already
        await until(
            lambda: stack.ask(Activities.BROWSER_INFO, ask, b.BrowserInfo),
            wanted=lambda info: info.lifetime_seconds_left <= 0.9,
        )
    return (await _refused(stack, Activities.BEGIN, _hold(request), BeginReceipt)).code


async def test_a_disabled_button_is_waited_for_and_not_clicked(stack: Stack) -> None:
    """A17: said to be not started."""
    async with Lab().serving() as lab:
        spec = b.OpenBrowser(browser_id=new_id("b"), session_id="s_lab", owner=OWNER, url=lab.url)
        await stack.ask(Activities.OPEN_BROWSER, spec, b.BrowserInfo)
        ask = b.SnapshotRequest(browser_id=spec.browser_id)
        page = await stack.ask(Activities.SNAPSHOT, ask, b.Snapshot)
        button = page.find(role="button", name="Disabled")
        click = b.Click(browser_id=spec.browser_id, effect_id=new_id("e"), element_id=button, timeout_seconds=0.5)
        error = await _refused(stack, Activities.CLICK, click, b.EffectReceipt)
        assert error.code is ErrorCode.ACTION_TIMEOUT
        assert error.details["outcome"] == b.EffectOutcome.NOT_STARTED
        await _close(stack, spec.browser_id)


@pytest.mark.parametrize("result", [Result.REVOKED, Result.RUNNER_LOST])
def test_the_end_of_a_handoff_is_its_code(result: Result) -> None:
    """A15, B4: tests/e2e/test_revocation.py shows how a handoff comes to these ends."""
    with pytest.raises(HandoffError) as raised:
        Outcome(handoff_id="handoff/b/s/m", result=result).require_verified()
    assert raised.value.code is ErrorCode(result)


async def test_search_attributes_that_may_not_be_added_are_said() -> None:
    async def listed(request: object) -> Any:
        return SimpleNamespace(custom_attributes={})

    async def refused(request: object) -> None:
        raise RPCError("no", RPCStatusCode.PERMISSION_DENIED, b"")

    service = SimpleNamespace(list_search_attributes=listed, add_search_attributes=refused)
    client: Any = SimpleNamespace(namespace="theirs", operator_service=service)
    with pytest.raises(HandoffError) as raised:
        await require_search_attributes(client)
    assert raised.value.code is ErrorCode.SEARCH_ATTRIBUTES_MISSING
    assert "search-attribute create" in raised.value.do_next
