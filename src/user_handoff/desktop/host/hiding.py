"""What an agent is told while a person has the browser: which pages and frames there are, nothing of what is in them.

Only what is named here passes, field by field: a field that Chromium adds one day is left out until it is known.
"""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from user_handoff.desktop.host.wire import Json

_TARGET: Final = ("targetId", "type", "attached", "openerId", "canAccessOpener", "openerFrameId", "parentFrameId")
_TARGET_MORE: Final = ("browserContextId", "subtype")
_FRAME: Final = ("id", "parentId", "loaderId", "mimeType", "secureContextType", "crossOriginIsolatedContextType")
_FRAME_MORE: Final = ("gatedAPIFeatures", "adFrameStatus")
_CONTEXT: Final = ("id", "uniqueId", "name", "auxData")

_EVENTS: Final[dict[str, tuple[str, ...]]] = {
    "Target.attachedToTarget": ("sessionId", "targetInfo", "waitingForDebugger"),
    "Target.detachedFromTarget": ("sessionId", "targetId"),
    "Target.targetCreated": ("targetInfo",),
    "Target.targetInfoChanged": ("targetInfo",),
    "Target.targetDestroyed": ("targetId",),
    "Target.targetCrashed": ("targetId", "status", "errorCode"),
    "Inspector.detached": ("reason",),
    "Inspector.targetCrashed": (),
    "Inspector.targetReloadedAfterCrash": (),
    "Page.frameAttached": ("frameId", "parentFrameId"),
    "Page.frameDetached": ("frameId", "reason"),
    "Page.frameNavigated": ("frame", "type"),
    "Page.frameStartedLoading": ("frameId",),
    "Page.frameStoppedLoading": ("frameId",),
    "Page.frameStartedNavigating": ("frameId", "url", "loaderId", "navigationType"),
    "Page.frameRequestedNavigation": ("frameId", "reason", "url", "disposition"),
    "Page.frameScheduledNavigation": ("frameId", "delay", "reason", "url"),
    "Page.frameClearedScheduledNavigation": ("frameId",),
    "Page.navigatedWithinDocument": ("frameId", "url", "navigationType"),
    "Page.lifecycleEvent": ("frameId", "loaderId", "name", "timestamp"),
    "Page.domContentEventFired": ("timestamp",),
    "Page.loadEventFired": ("timestamp",),
    "Page.javascriptDialogClosed": ("frameId", "result"),
    "Runtime.executionContextCreated": ("context",),
    "Runtime.executionContextDestroyed": ("executionContextId", "executionContextUniqueId"),
    "Runtime.executionContextsCleared": (),
}


def passes(method: str) -> bool:
    """True for an event of which an agent is told in a hold."""
    return method in _EVENTS


def hide_event(event: Json) -> Json:
    """An event that passes, without what a person may have typed."""
    params = event["params"]
    kept = {name: params[name] for name in _EVENTS[event["method"]] if name in params}
    if "url" in kept:
        kept["url"] = origin_of(kept["url"])
    if "targetInfo" in kept:
        kept["targetInfo"] = hide_target(kept["targetInfo"])
    if "frame" in kept:
        kept["frame"] = _hide_frame(kept["frame"])
    if "context" in kept:
        context = kept["context"]
        origin = origin_of(context.get("origin", ""))
        kept["context"] = {"origin": origin, **{name: context[name] for name in _CONTEXT if name in context}}
    return {**event, "params": kept}


def hide_result(method: str, result: Json) -> Json:
    """The result of a command that asks for structure, without what a person may have typed."""
    if method == "Target.getTargets":
        return {"targetInfos": [hide_target(info) for info in result["targetInfos"]]}
    if method == "Target.getTargetInfo":
        return {"targetInfo": hide_target(result["targetInfo"])}
    if method == "Page.getFrameTree":
        return {"frameTree": _hide_tree(result["frameTree"])}
    if method == "Page.getNavigationHistory":
        return hide_history(result, origin_of)
    return result


def hide_target(info: Json) -> Json:
    """What may be said of a target."""
    kept: Json = {name: info[name] for name in _TARGET + _TARGET_MORE if name in info}
    return {**kept, "title": "", "url": origin_of(info.get("url", ""))}


def hide_history(result: Json, shown: Callable[[str], str]) -> Json:
    """The entries of a history by number; of their addresses only what `shown` leaves."""
    entries = [
        {**entry, "title": "", "url": shown(entry["url"]), "userTypedURL": shown(entry["userTypedURL"])}
        for entry in result["entries"]
    ]
    return {**result, "entries": entries}


def origin_of(url: str) -> str:
    """The origin of an address, or its scheme: a path may repeat what was typed, as a query does."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "about:blank"
    if parts.scheme in ("http", "https", "ws", "wss") and host:
        return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}/"
    return url if url in ("", "about:blank", "://") else f"{parts.scheme or 'about'}:"


def _hide_tree(tree: Json) -> Json:
    found: Json = {"frame": _hide_frame(tree["frame"])}
    if "childFrames" in tree:
        found["childFrames"] = [_hide_tree(child) for child in tree["childFrames"]]
    return found


def _hide_frame(frame: Json) -> Json:
    kept: Json = {name: frame[name] for name in _FRAME + _FRAME_MORE if name in frame}
    origin = origin_of(frame.get("url", ""))
    security = {"securityOrigin": origin.rstrip("/"), "securityOriginDetails": {"isLocalhost": False}}
    return {**kept, "url": origin, "domainAndRegistry": "", **security}
