"""A person's link stays out of every log."""

import logging

import httpx
import pytest

from tests.gateway.world import Site
from user_handoff.gateway.links import new_link


async def test_no_log_record_holds_a_token(
    site: Site, http: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C6, K41: whatever is asked with a token, by whatever method, and whatever goes wrong."""
    # The test's own client logs its URLs; it is not what is tested.
    for name in ("httpx", "httpcore"):
        monkeypatch.setattr(logging.getLogger(name), "propagate", False)
    caplog.set_level(logging.DEBUG)
    # As a program does that configures logging after us.
    monkeypatch.setattr(logging.getLogger("uvicorn.access"), "propagate", True)
    _, link = await site.held(http)
    seats = [cookie.value or "" for cookie in http.cookies.jar]
    tokens = [link.rpartition("/")[2], new_link("handoff/b/s/m")[0]]
    for token in tokens:
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
            for path in (
                f"/j/{token}",
                f"/j/{token}/state",
                f"/j/{token}/reply",
                f"/j/{token}/enter",
                f"/j/{token}/",
                f"/x/{token}?t={token}",
            ):
                await http.request(method, path, headers={"Origin": site.base_url})
        await http.post(f"/j/{token}/enter", data={"step": "enter", "entry": "x", "tab": "y"})
        await http.post(f"/j/{token}/reply", data={"answer": "done"})
        await http.post(f"/j/{token}/reply", content=b"x" * 20_000)
    written = "\n".join(f"{r.name} {r.getMessage()} {r.args} {r.exc_text}" for r in caplog.records)
    assert "GET /j/{token} 200" in written and "POST /j/{token}/reply 303" in written
    for token in tokens:
        assert token not in written and token[:32] not in written
    assert seats and not any(seat in written for seat in seats)


async def test_a_failure_inside_is_logged_without_the_token(
    site: Site, http: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that breaks says so in a sentence, with the same strict headers."""
    _, link = await site.held()

    async def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("user_handoff.gateway.seats.look_up", broken)
    page = await http.get(link)
    assert page.status_code == 500 and "our fault" in page.text and "boom" not in page.text
    assert page.headers["cache-control"] == "no-store"
    records = [r for r in caplog.records if r.name != "httpx"]
    assert any(r.exc_info for r in records)
    formatter = logging.Formatter()
    assert all(link.rpartition("/")[2] not in formatter.format(r) for r in records)
