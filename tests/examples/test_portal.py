"""The fixture portal behaves as a portal with a second factor does."""

import asyncio
import csv
import socket

import httpx
import pytest

from examples.portal import CONTROL_HEADER, Portal
from examples.portal_pages import INVOICES


async def sign_in(client: httpx.AsyncClient, portal: Portal) -> httpx.Response:
    await client.post("/login", data={"username": portal.username, "password": portal.password})
    return await client.post("/login/code", data={"code": portal.code})


async def test_the_dashboard_leads_a_stranger_to_the_login(client: httpx.AsyncClient) -> None:
    answer = await client.get("/invoices")
    assert answer.url.path == "/login"
    assert "Password <input" in answer.text


async def test_the_password_gives_a_pending_cookie_and_no_entry(client: httpx.AsyncClient, portal: Portal) -> None:
    await client.post("/login", data={"username": portal.username, "password": portal.password})
    assert list(client.cookies) == ["pending"]
    assert portal.stage == "code"
    assert (await client.get("/invoices")).url.path == "/login"


async def test_the_code_swaps_the_pending_cookie_for_an_http_only_one(
    client: httpx.AsyncClient, portal: Portal
) -> None:
    answer = await sign_in(client, portal)
    assert answer.url.path == "/invoices"
    assert list(client.cookies) == ["sid"]
    set_cookie = " ".join(answer.history[0].headers.get_list("set-cookie"))
    assert "httponly" in set_cookie.lower().split("sid=")[1]
    assert portal.state()["logins"] == 1


async def test_the_code_page_is_closed_without_the_first_factor(client: httpx.AsyncClient, portal: Portal) -> None:
    answer = await client.post("/login/code", data={"code": portal.code})
    assert answer.url.path == "/login"
    assert portal.stage == "out"


async def test_a_pending_cookie_is_good_for_one_sign_in(client: httpx.AsyncClient, portal: Portal) -> None:
    await client.post("/login", data={"username": portal.username, "password": portal.password})
    kept = client.cookies["pending"]
    await client.post("/login/code", data={"code": portal.code})
    client.cookies.set("pending", kept)
    await client.post("/login/code", data={"code": portal.code})
    assert portal.state()["logins"] == 1


async def test_a_minted_cookie_is_signed_in(client: httpx.AsyncClient, portal: Portal) -> None:
    client.cookies.set("sid", portal.sign_in_cookie())
    assert (await client.get("/invoices")).url.path == "/invoices"


@pytest.mark.parametrize("step", ["password", "code"])
async def test_a_wrong_secret_ends_on_an_error_page_of_status_200(
    step: str, client: httpx.AsyncClient, portal: Portal
) -> None:
    """K20."""
    answer = await client.post("/login", data={"username": portal.username, "password": "wrong"})
    if step == "code":
        await client.post("/login", data={"username": portal.username, "password": portal.password})
        answer = await client.post("/login/code", data={"code": "00000000"})
    assert (answer.status_code, answer.url.path.rsplit("/", 1)[1]) == (200, "failed")
    assert "Sign-in failed" in answer.text
    assert portal.state()[f"wrong_{step}s"] == 1


async def test_the_export_holds_the_rows_of_the_dashboard(client: httpx.AsyncClient, portal: Portal) -> None:
    await sign_in(client, portal)
    answer = await client.get("/invoices/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="invoices.csv"'
    rows = list(csv.reader(answer.text.splitlines()))
    assert len(rows) == 1 + len(INVOICES)
    assert portal.state()["exports"] == 1


@pytest.mark.parametrize("path", ["/invoices/export", "/account"])
async def test_what_is_behind_the_login_is_closed_again_after_signing_out(
    path: str, client: httpx.AsyncClient, portal: Portal
) -> None:
    await sign_in(client, portal)
    assert (await client.get(path)).url.path == path
    kept = client.cookies["sid"]
    await client.get("/logout")
    client.cookies.set("sid", kept)
    assert (await client.get(path)).url.path == "/login"


async def test_the_servers_truth_is_for_holders_of_the_key_and_holds_no_secret(
    client: httpx.AsyncClient, portal: Portal
) -> None:
    await sign_in(client, portal)
    assert (await client.get("/control/state")).status_code == 404
    answer = await client.get("/control/state", headers={CONTROL_HEADER: portal.control_key})
    assert answer.json()["stage"] == "in"
    for kind, values in portal.planted.items():
        assert values, kind
        assert not [value for value in values if value in answer.text], kind


async def test_touches_and_requests_are_counted(client: httpx.AsyncClient, portal: Portal) -> None:
    await client.post("/api/touch")
    await client.get("/login", params={"token": "value-of-a-query"})
    state = await portal.wait_for(lambda state: state["touches"] == 1)
    assert state["requests"] == {"POST /api/touch": 1, "GET /login": 1}


async def test_a_login_in_session_storage_needs_its_token(client: httpx.AsyncClient, portal: Portal) -> None:
    """K44."""
    assert (await client.get("/api/app/me")).status_code == 401
    token = (await client.post("/api/app/login", data={"password": portal.password})).json()["token"]
    assert (await client.get("/api/app/me", headers={"Authorization": f"Bearer {token}"})).status_code == 204


@pytest.mark.parametrize("path", ["/", "/consent", "/windows", "/popup", "/app", "/relabel", "/slow", "/big?n=40"])
async def test_every_page_is_there(path: str, client: httpx.AsyncClient) -> None:
    answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"


async def test_a_page_title_is_escaped(client: httpx.AsyncClient) -> None:
    assert "<script>" not in (await client.get("/titled", params={"t": "</title><script>x"})).text


async def test_an_endless_page_never_ends_until_the_portal_stops() -> None:
    async with (
        Portal.start() as portal,
        httpx.AsyncClient(base_url=portal.url, trust_env=False, timeout=30) as client,
        client.stream("GET", "/endless") as answer,
    ):
        chunks = answer.aiter_text()
        assert "Endless" in await anext(chunks)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(chunks), 0.2)


async def test_a_taken_port_is_an_error_before_anything_is_served() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        async with Portal.start(port=taken.getsockname()[1]):
            pass


async def test_two_portals_share_no_secret() -> None:
    async with Portal.start() as one, Portal.start() as other:
        assert one.password != other.password
        assert len(one.password) >= 20
        assert one.code != other.code
        assert len(one.code) == 8
