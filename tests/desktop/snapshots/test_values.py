"""What is known to be secret, of what a page sends."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from user_handoff.desktop.snapshots.values import Secrets

BOUNDARY = "------x"
MULTIPART = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="user"\r\n\r\nrobin\r\n'
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter-2\r\n--{BOUNDARY}--\r\n'
)


def sent(url: str = "https://a.example/login", body: bytes = b"", kind: str = "") -> list[str]:
    secrets = Secrets()
    asked: Any = SimpleNamespace(url=url, post_data_buffer=body, headers={"content-type": kind})
    secrets.sent(asked)
    return list(secrets)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"user=robin&password=hunter-2", "application/x-www-form-urlencoded"),
        (json.dumps({"user": "robin", "auth": [{"passWord": "hunter-2"}]}).encode(), "application/json"),
        (MULTIPART.encode(), f"multipart/form-data; boundary={BOUNDARY}"),
    ],
)
def test_what_is_sent_from_a_secret_field_is_known(body: bytes, kind: str) -> None:
    """B7: whatever the page that follows repeats of it."""
    assert sent(body=body, kind=kind) == ["hunter-2"]


def test_a_secret_in_a_query_is_known() -> None:
    assert sent(url="https://a.example/x?page=2222&otp=424242") == ["424242"]


@pytest.mark.parametrize(
    "name", ["shipping", "description", "zipcode_region", "username", "spinner", "tangent", "decoder"]
)
def test_what_is_no_secret_is_left_alone(name: str) -> None:
    assert sent(body=f"{name}=something".encode()) == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"\xff\xfe\x00", ""),
        (b"{", "application/json"),
        (b"[" * 60_000, "application/json"),
        (b"password=x" * 9_000, ""),
    ],
)
def test_a_body_that_cannot_be_read_is_passed_over(body: bytes, kind: str) -> None:
    assert sent(body=body, kind=kind) == []


def test_the_oldest_of_too_many_are_forgotten_and_short_ones_never_kept() -> None:
    secrets = Secrets()
    secrets.add(["abc", *(f"value-{n}" for n in range(300))])
    assert len(list(secrets)) == 200
    assert "value-299" in list(secrets)
