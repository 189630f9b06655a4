"""The settings that a session holds: off while a person works where they would be in the way, and on again after."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Params = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """A setting that a session holds.

    Attributes:
        name: Under which it is noted: a later command of the same name replaces it.
        off: The command that switches it off while a person works; None where it does not touch them.
        is_off: True for parameters that switch it off.
    """

    name: str
    off: tuple[str, Params] | None = None
    is_off: Callable[[Params], bool] = lambda params: False


def setting_of(method: str) -> Setting | None:
    """The setting that a command changes; None for every other command."""
    return _SETTINGS.get(method)


def _always(params: Params) -> bool:
    return True


def _switch(method: str, key: str = "enabled", off: object = False) -> dict[str, Setting]:
    return {method: Setting(method, (method, {key: off}), lambda params: params.get(key) == off)}


def _pair(on: str, off: str) -> dict[str, Setting]:
    command = (off, dict[str, Any]())
    return {on: Setting(on, command), off: Setting(on, command, _always)}


_NO_THROTTLE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

_SETTINGS: dict[str, Setting] = {
    # these stand between the person and the page, or look over their shoulder: off in a hold
    **_pair("Fetch.enable", "Fetch.disable"),
    **_pair("Debugger.enable", "Debugger.disable"),
    **_pair("Overlay.enable", "Overlay.disable"),
    **_pair("WebAuthn.enable", "WebAuthn.disable"),
    **_pair("Page.startScreencast", "Page.stopScreencast"),
    **_pair("Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"),
    **_switch("Page.setInterceptFileChooserDialog"),
    **_switch("Page.setWebLifecycleState", "state", "active"),
    **_switch("Input.setInterceptDrags"),
    **_switch("Input.setIgnoreInputEvents", "ignore"),
    **_switch("Emulation.setTouchEmulationEnabled"),
    **_switch("Emulation.setEmitTouchEventsForMouse"),
    **_switch("Emulation.setFocusEmulationEnabled"),
    **_switch("Emulation.setScriptExecutionDisabled", "value"),
    **_switch("Emulation.setCPUThrottlingRate", "rate", 1),
    **_switch("Emulation.setScrollbarsHidden", "hidden"),
    **_switch("Emulation.setEmulatedVisionDeficiency", "type", "none"),
    **_pair("FedCm.enable", "FedCm.disable"),
    **_switch("Animation.setPlaybackRate", "playbackRate", 1),
    **_switch("Emulation.setDocumentCookieDisabled", "disabled"),
    **_switch("Emulation.setDisabledImageTypes", "imageTypes", []),
    **_switch("Emulation.setPageScaleFactor", "pageScaleFactor", 1),
    **_switch("Page.setSPCTransactionMode", "mode", "none"),
    **_switch("Page.setRPHRegistrationMode", "mode", "none"),
    **_switch("Network.setCacheDisabled", "cacheDisabled"),
    **_switch("Network.setBypassServiceWorker", "bypass"),
    **_switch("Network.setRequestInterception", "patterns", []),
    "Emulation.setEmulatedMedia": Setting(
        "Emulation.setEmulatedMedia", ("Emulation.setEmulatedMedia", {"media": "", "features": []})
    ),
    "Network.setBlockedURLs": Setting(
        "Network.setBlockedURLs", ("Network.setBlockedURLs", {"urls": []}), lambda params: not any(params.values())
    ),
    "Network.emulateNetworkConditions": Setting(
        "Network.emulateNetworkConditions", ("Network.emulateNetworkConditions", _NO_THROTTLE)
    ),
    "Network.emulateNetworkConditionsByRule": Setting(
        "Network.emulateNetworkConditionsByRule",
        ("Network.emulateNetworkConditionsByRule", {"offline": False, "matchedNetworkConditions": []}),
    ),
    "Network.overrideNetworkState": Setting(
        "Network.overrideNetworkState", ("Network.overrideNetworkState", _NO_THROTTLE)
    ),
    # these are what the site takes the browser for: changing them in the middle of a login would end it
    **{
        method: Setting(method)
        for method in (
            "Emulation.setUserAgentOverride",
            "Network.setUserAgentOverride",
            "Network.setExtraHTTPHeaders",
            "Emulation.setGeolocationOverride",
            "Emulation.clearGeolocationOverride",
            "Emulation.setLocaleOverride",
            "Emulation.setTimezoneOverride",
            "Page.setBypassCSP",
            "Security.setIgnoreCertificateErrors",
            "Runtime.addBinding",
        )
    },
}
