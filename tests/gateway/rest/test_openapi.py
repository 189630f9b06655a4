"""The OpenAPI file: valid, whole, closed, and made of what is served."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.routing import Route

from tests.gateway.mcp.stage import Stage
from user_handoff.client import HandoffClient
from user_handoff.gateway.app import create_app
from user_handoff.gateway.settings import GatewaySettings


@pytest.fixture
async def document(stage: Stage) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=stage.base_url, timeout=30) as http:
        found: dict[str, Any] = (await http.get("/openapi.json")).raise_for_status().json()
    return found


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(method, path, each) for path, methods in document["paths"].items() for method, each in methods.items()]


async def test_it_is_valid(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(document).validate()


async def test_every_operation_that_is_served_is_in_it_and_no_other(stage: Stage, document: dict[str, Any]) -> None:
    app = create_app(HandoffClient(stage.temporal), GatewaySettings.model_validate({}))
    routes = [route for route in app.routes if isinstance(route, Route) and route.path.startswith("/v1/")]
    served = {
        (method.lower(), re.sub(r":\w+}", "}", route.path))
        for route in routes
        for method in route.methods or ()
        if method != "HEAD"
    }
    assert len(served) > 20
    assert {(method, path) for method, path, _ in operations(document)} == served


async def test_every_object_that_is_sent_is_closed(document: dict[str, Any]) -> None:
    def open_ones(where: str, schema: Any) -> list[str]:
        if isinstance(schema, list):
            return [found for each in schema for found in open_ones(where, each)]
        if not isinstance(schema, dict):
            return []
        here = [where] if "properties" in schema and schema.get("additionalProperties") is not False else []
        return [*here, *(found for name, each in schema.items() for found in open_ones(f"{where}.{name}", each))]

    assert open_ones("", document["components"]["schemas"]) == []


async def test_every_operation_tells_its_refusals_and_wants_a_bearer(document: dict[str, Any]) -> None:
    assert document["security"] == [{"bearer": []}]
    for method, path, each in operations(document):
        assert {"400", "401", "403", "404", "409", "429", "503"} <= set(each["responses"]), (method, path)
    refusal = document["components"]["responses"]["Conflict"]["content"]
    assert list(refusal) == ["application/problem+json"]


async def test_everything_that_changes_something_takes_an_idempotency_key(document: dict[str, Any]) -> None:
    without = {
        each["operationId"]
        for method, _, each in operations(document)
        if method == "post" and "Idempotency-Key" not in [p["name"] for p in each["parameters"]]
    }
    looks = {"takeSnapshot", "takeScreenshot", "lookAtDesktop"}
    assert without == {*looks, "renewTakeover"}, "each is a new one"


async def test_every_example_fits_its_schema(document: dict[str, Any]) -> None:
    examples = 0
    for _, path, each in operations(document):
        content = each.get("requestBody", {}).get("content", {}).get("application/json", {})
        if "example" in content:
            schema = {**content["schema"], "components": document["components"]}
            Draft202012Validator(schema).validate(content["example"])
            examples += 1
        elif content and each["requestBody"]["required"]:
            pytest.fail(f"{path} has no example")
    assert examples >= 8


async def test_the_documentation_has_a_line_for_every_operation(document: dict[str, Any]) -> None:
    told = (Path(__file__).parents[3] / "docs" / "rest.md").read_text()
    named = {f"{method.upper()} {re.sub(r'_id}', '}', path)}" for method, path, _ in operations(document)}
    assert set(re.findall(r"^\| `((?:GET|POST) /v1/[^`]+)` \|", told, re.MULTILINE)) == named


async def test_behind_a_prefix_its_server_is_the_prefix(stage: Stage) -> None:
    settings = GatewaySettings(base_url="https://handoff.example/agents")
    app = create_app(HandoffClient(stage.temporal), settings)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x", timeout=30) as http:
        assert (await http.get("/openapi.json")).json()["servers"] == [{"url": "/agents"}]
