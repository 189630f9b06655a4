"""The OpenAPI file, made of the table of operations and of their models."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from user_handoff.gateway.rest.operations import Operation
from user_handoff.gateway.rest.shapes import Nothing, Problem

_REFS: Final = "#/components/schemas/{model}"
_PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")

_WHAT: Final = {
    "session_id": "`current`, or the id of a session of yours.",
    "message_id": "The id of a message of that session.",
    "handoff_id": "The id that begin returned; its slashes may be sent as they are or as %2F.",
    "browser_id": "The id of a browser of yours.",
    "takeover_id": "The id that the start returned; its slashes may be sent as they are or as %2F.",
}
_ID: Final = {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}
_WITH_SLASHES: Final = {
    "handoff_id": {"type": "string", "pattern": "^handoff(/[A-Za-z0-9_-]{1,64}){3}$"},
    "takeover_id": {"type": "string", "pattern": "^takeover(/[A-Za-z0-9_-]{1,64}){2}$"},
}

_REFUSALS: Final = {
    HTTPStatus.BAD_REQUEST: "The request does not fit: `invalid_request`.",
    HTTPStatus.UNAUTHORIZED: "The bearer lets nobody in: `unauthorized`, or why a grant is over.",
    HTTPStatus.FORBIDDEN: "Not with this key or grant: `forbidden`, `missing_scope`, `not_owner`.",
    HTTPStatus.NOT_FOUND: "There is no such thing.",
    HTTPStatus.METHOD_NOT_ALLOWED: "Not by this method.",
    HTTPStatus.CONFLICT: "What holds now does not allow it; the code says why.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is larger than 1 MB.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is not application/json.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too much within a time, or too many live requests: ask after `Retry-After` seconds.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Temporal, or a desktop, does not answer. The same request may be sent again.",
}

_IDEMPOTENCY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Your own name for this request, 1 to 200 visible ASCII characters. The same request under the same "
    "name is done once and returns the same receipt, at every gateway; another request is refused with `id_reused`.",
    "schema": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,200}$"},
}


def openapi_of(operations: Sequence[Operation], prefix: str) -> dict[str, Any]:
    """The OpenAPI 3.1 document.

    Args:
        operations: All of them.
        prefix: The path under which the gateway is shown.
    """
    schemas, refs = _schemas(operations)
    paths: dict[str, Any] = {}
    for each in operations:
        paths.setdefault(_PARAMETER.sub(r"{\1}", each.path), {})[each.method.lower()] = _operation(each, refs)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "User handoff",
            "version": version("user-handoff"),
            "summary": "Hand a live browser from an agent to a person, and take it back.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": prefix or "/"}],
        "security": [{"bearer": []}],
        "tags": [{"name": name} for name in dict.fromkeys(each.tag for each in operations)],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {_name(status): _refusal(status, text) for status, text in _REFUSALS.items()},
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A principal's key (`hk_…`), or an agent's grant of one session (`hg_…`).",
                }
            },
        },
    }


def _schemas(operations: Sequence[Operation]) -> tuple[dict[str, Any], dict[Any, Any]]:
    modes: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(Problem, "serialization"): None}
    for each in operations:
        modes |= {(model, "serialization"): None for model in each.returns}
        if each.takes is not Nothing:
            modes[(each.takes, "validation")] = None
    refs, schema = models_json_schema(list(modes), ref_template=_REFS)
    return schema["$defs"], refs


def _operation(each: Operation, refs: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": each.name,
        "tags": [each.tag],
        "summary": each.summary,
        "parameters": [*_path_parameters(each), *_query_parameters(each)],
        "responses": {str(int(each.status)): _success(each, refs)},
    }
    if each.scopes:
        found["description"] = f"Needs the scopes {each.scopes}."
    if each.changes:
        found["parameters"].append(_IDEMPOTENCY)
    if each.stream:
        found["responses"]["204"] = {"description": "It has ended, and `Last-Event-ID` says that you know."}
    if each.takes is not Nothing:
        content: dict[str, Any] = {"schema": refs[(each.takes, "validation")]}
        if each.example:
            content["example"] = dict(each.example)
        required = any(field.is_required() for field in each.takes.model_fields.values())
        found["requestBody"] = {"required": required, "content": {"application/json": content}}
    found["responses"] |= {
        str(int(status)): {"$ref": f"#/components/responses/{_name(status)}"} for status in _REFUSALS
    }
    return found


def _path_parameters(each: Operation) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _WHAT[name],
            "schema": _WITH_SLASHES.get(name, _ID),
        }
        for name in _PARAMETER.findall(each.path)
    ]


def _query_parameters(each: Operation) -> list[dict[str, Any]]:
    found = []
    schema = each.query.model_json_schema(ref_template=_REFS)
    for name, value in schema["properties"].items():
        shape = _inlined(value, schema.get("$defs", {}))
        said = {"description": shape.pop("description")} if "description" in shape else {}
        found.append({"name": name, "in": "query", "required": False, **said, "schema": shape})
    if each.stream:
        header = {"name": "Last-Event-ID", "in": "header", "required": False, "schema": {"type": "string"}}
        found.append({**header, "description": "The id of the last event that you have."})
    return found


def _inlined(value: dict[str, Any], models: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter: it cannot be null, it can be left out."""
    (shape,) = (shape for shape in value.get("anyOf", [value]) if shape.get("type") != "null")
    if "$ref" in shape:
        shape = models[shape["$ref"].rpartition("/")[2]]
    own = {key: value[key] for key in ("description", "default") if value.get(key) is not None}
    return {**{key: each for key, each in shape.items() if key not in ("title", "description", "default")}, **own}


def _success(each: Operation, refs: dict[Any, Any]) -> dict[str, Any]:
    shapes = [refs[(model, "serialization")] for model in each.returns]
    schema = shapes[0] if len(shapes) == 1 else {"anyOf": shapes}
    if each.stream:
        return {
            "description": "Events `state`, `end` and `refused`; the data of the first two is a summary, as JSON. "
            "A line that begins with a colon says that the stream lives.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}


def _refusal(status: HTTPStatus, text: str) -> dict[str, Any]:
    schema = {"$ref": _REFS.format(model="Problem")}
    return {"description": text, "content": {"application/problem+json": {"schema": schema}}}


def _name(status: HTTPStatus) -> str:
    return "".join(word.capitalize() for word in status.phrase.split())
