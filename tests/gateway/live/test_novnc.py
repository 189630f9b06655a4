"""noVNC's files, as the gateway serves them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from user_handoff.gateway.live.novnc import DEBIAN, NoVnc


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("core/rfb.js", "core/util/log.js", "vendor/pako.js"):
        path = tmp_path / "novnc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// {name}")
    (tmp_path / "novnc" / "core" / "secret.txt").write_text("no")
    (tmp_path / "novnc" / "vnc.html").write_text("no")
    (tmp_path / "outside.js").write_text("no")
    return tmp_path / "novnc"


def client(novnc: NoVnc) -> TestClient:
    routes = [Route("/assets/novnc", novnc.tell), Route("/assets/novnc/{version}/{name:path}", novnc.module)]
    return TestClient(Starlette(routes=routes))


@pytest.fixture
def http(folder: Path) -> Iterator[TestClient]:
    with client(NoVnc(folder)) as http:
        yield http


def test_modules_are_kept_for_ever_under_an_address_of_their_content(http: TestClient, folder: Path) -> None:
    told = http.get("/assets/novnc").json()
    assert len(told["modules"]) == 3 and told["rfb"] in told["modules"]
    got = http.get(told["rfb"])
    assert (got.text, got.headers["content-type"]) == ("// core/rfb.js", "text/javascript; charset=utf-8")
    assert "immutable" in got.headers["cache-control"]
    (folder / "core" / "rfb.js").write_text("// another")
    with client(NoVnc(folder)) as other:
        assert other.get("/assets/novnc").json()["rfb"] != told["rfb"]
        assert other.get(told["rfb"]).status_code == 404


@pytest.mark.parametrize("name", ["core/secret.txt", "vnc.html", "../outside.js", "core/../../outside.js", "%2e%2e/x"])
def test_nothing_else_is_served(http: TestClient, name: str) -> None:
    base = http.get("/assets/novnc").json()["rfb"].removesuffix("core/rfb.js")
    assert http.get(base + name).status_code == 404


def test_without_novnc_there_is_no_view_and_no_error(tmp_path: Path) -> None:
    novnc = NoVnc(tmp_path / "nowhere")
    with client(novnc) as http:
        assert http.get("/assets/novnc").status_code == 204
    assert not novnc.there


def test_a_folder_that_is_not_novnc_is_not_served(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "rfb.js").write_bytes(b"x" * 9_000_000)
    assert not NoVnc(tmp_path).there


def test_the_environment_names_another(folder: Path) -> None:
    assert NoVnc.found(environ={"HANDOFF_NOVNC": str(folder)}).there
    assert NoVnc.found(environ={}).there == (DEBIAN / "core" / "rfb.js").exists()
