"""What came back, in a line: the same words whichever door it came through."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

Fields = Mapping[str, Any]
_EXPORT = re.compile(r'button "Export" \[id=([^\]]+)\]')


def tell(came: Any) -> str:
    """A line about an answer: a model of ours, or the same as JSON."""
    if isinstance(came, BaseModel):
        came = came.model_dump(mode="json")
    if not isinstance(came, Mapping):
        return str(came)
    for field, say in _BY_FIELD.items():
        if field in came:
            return say(came)
    return short(came)


def short(arguments: Fields) -> str:
    """Arguments as JSON, without what is inside of a boundary or a condition."""
    flat = {name: _flat(value) for name, value in arguments.items() if value is not None}
    return json.dumps(flat, ensure_ascii=False).replace('"{…}"', "{…}")


def export_of(text: str) -> str:
    """The id of the Export button in a snapshot's text."""
    found = _EXPORT.search(text)
    assert found is not None, "the page has no Export button"
    return found[1]


def _flat(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _flat(inner) for name, inner in value.items()} if len(value) < 4 else "{…}"
    return value


def _refusal(error: Fields) -> str:
    return f"refused, `{error['code']}`: {error['what']} {error['holds']} {error['do_next']}"


def _snapshot(seen: Fields) -> str:
    page = f"page {seen['page']['page_id']} at {seen['page']['url']}"
    if wall := seen["boundary"]:
        return f"{page}; {_boundary(wall)}"
    said = re.findall(r'(?:heading|button) "[^"]+"', seen["text"])
    return f"{page}; no boundary; {', '.join(dict.fromkeys(said[:3]))}"


def _boundary(wall: Fields) -> str:
    return f"boundary `{wall['rule_id']}` ({wall['category']}): {wall['reason']}"


def _begun(receipt: Fields) -> str:
    window = receipt["window_id"] if "window_id" in receipt else receipt["surface"]["window_id"]
    return f"held: window {window:#x}, {receipt['expires_in_seconds']:.0f} s, and the fence"


def _browser(info: Fields) -> str:
    pages = ", ".join(f"{page['page_id']} at {page['url']}" for page in info["pages"])
    return f"{info['browser_id']}, {info['state']}, process {info['pid']}; {pages}"


def _waited(waited: Fields) -> str:
    if waited.get("summary") and waited["summary"]["result"]:
        return f"{waited['state']}: `{waited['summary']['result']}`"
    return f"{waited['state']}. {waited['do_next']}"


def _state(now: Fields) -> str:
    return f"{now['state']}: `{now['result']}`" if now["result"] else str(now["state"])


def _outcome(end: Fields) -> str:
    seen = "was" if end["observation"] and end["observation"]["met"] else "was not"
    return f"`{end['result']}`: the person said {end['answer']}, and the condition {seen} observed afterwards"


def _file(receipt: Fields) -> str:
    return f"{receipt['outcome']}: {receipt['bytes']} bytes, which stay on the desktop"


def _request(read: Fields) -> str:
    asked = read["request"]
    return f'"{asked["text"]}", untrusted: {str(asked["untrusted"]).lower()}; unread: {read["unread"]}'


_BY_FIELD: dict[str, Callable[[Fields], str]] = {
    "holds": _refusal,
    "snapshot_id": _snapshot,
    "handoff_fence": _begun,
    "pid": _browser,
    "waiting": _waited,
    "requested_at": _state,
    "result": _outcome,
    "bytes": _file,
    "accepted": lambda said: f"{'accepted' if said['accepted'] else 'refused'}, while it is {said['state']}",
    "outcome": lambda receipt: str(receipt["outcome"]),
    "message_id": lambda posted: f"{posted['message_id']}, {posted['state']}",
    "scopes": lambda session: str(session["session_id"]),
    "closed": lambda _: "closed",
    "request": _request,
    "rule_id": _boundary,
    "url": lambda link: str(link["url"]),
}
"""How to tell an answer that has a field; the first one that it has counts."""
