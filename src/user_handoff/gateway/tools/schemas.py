"""JSON Schemas of tools from their models: closed, and with the root an object as every client wants it."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from user_handoff.contract.base import Model

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

ERROR_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": "A refusal or failure: what happened, what holds now, what to do next.",
    "properties": {
        "code": {"type": "string"},
        "what": {"type": "string"},
        "holds": {"type": "string"},
        "do_next": {"type": "string"},
        "details": {"type": "object"},
    },
    "required": ["code", "what", "holds", "do_next", "details"],
    "additionalProperties": False,
}


def input_schema(model: type[Model]) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    schema: dict[str, Any] = _tight(model.model_json_schema(mode="validation"))
    return {"$schema": _DIALECT, **schema}


def output_schema(returns: type[Model] | Mapping[str, type[Model]]) -> dict[str, Any]:
    """The schema of a tool's structured content: ``{result}``, with ``action`` where it has several, or an error."""
    models = dict(returns) if isinstance(returns, Mapping) else {"": returns}
    refs, schemas = models_json_schema([(m, "serialization") for m in dict.fromkeys(models.values())], by_alias=True)
    shapes = [_shape(action, refs[(model, "serialization")]) for action, model in models.items()]
    found: dict[str, Any] = _tight({"$defs": schemas["$defs"], "anyOf": [*shapes, ERROR_SCHEMA]})
    return {"$schema": _DIALECT, "type": "object", **found}


def without_required(schema: Any) -> Any:
    """The same schema for results from which fields may be left out."""
    if isinstance(schema, dict):
        return {
            key: without_required(value)
            for key, value in schema.items()
            if not (key == "required" and isinstance(value, list))
        }
    return [without_required(value) for value in schema] if isinstance(schema, list) else schema


def _shape(action: str, result: Any) -> dict[str, Any]:
    properties = {"result": result}
    if action:
        properties = {"action": {"const": action, "type": "string"}, **properties}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _tight(schema: Any) -> Any:
    """Leave out what only pydantic reads, and require each constant, so that one alternative alone can match."""
    if isinstance(schema, list):
        return [_tight(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    properties = schema.get("properties")
    found = {
        key: {name: _tight(value) for name, value in entry.items()} if key == "properties" else _tight(entry)
        for key, entry in schema.items()
        if key != "discriminator" and not (key == "title" and isinstance(entry, str))
    }
    if isinstance(properties, dict):
        constants = [name for name, value in properties.items() if isinstance(value, dict) and "const" in value]
        required = dict.fromkeys([*schema.get("required", ()), *constants])
        if required:
            found["required"] = list(required)
    return found
