"""The classes of CDP commands."""

import pytest

from user_handoff.desktop.host.policy import Kind, Role, classify, refused_url
from user_handoff.desktop.host.settings import setting_of

EFFECTS = (
    "Input.dispatchMouseEvent",
    "Input.dispatchKeyEvent",
    "Input.insertText",
    "Input.dispatchTouchEvent",
    "Input.synthesizeTapGesture",
    "Page.navigate",
    "Page.reload",
    "Page.navigateToHistoryEntry",
    "Page.close",
    "Page.bringToFront",
    "Page.handleJavaScriptDialog",
    "Page.setDocumentContent",
    "Page.printToPDF",
    "Page.stopLoading",
    "Target.createTarget",
    "Target.closeTarget",
    "Target.activateTarget",
    "Target.createBrowserContext",
    "Browser.close",
    "Browser.setWindowBounds",
    "Browser.grantPermissions",
    "Browser.setDownloadBehavior",
    "Browser.cancelDownload",
    "DOM.setFileInputFiles",
    "DOM.focus",
    "DOM.scrollIntoViewIfNeeded",
    "DOM.setAttributeValue",
    "Storage.setCookies",
    "Storage.clearCookies",
    "Storage.clearDataForOrigin",
    "Network.setCookie",
    "Network.setCookies",
    "Network.deleteCookies",
    "Network.clearBrowserCookies",
    "Network.clearBrowserCache",
    "Fetch.continueRequest",
    "Fetch.fulfillRequest",
    "Debugger.pause",
    "Runtime.compileScript",
    "Runtime.runScript",
    "WebAuthn.addCredential",
    "Unknown.method",
)


@pytest.mark.parametrize("method", EFFECTS)
def test_a_hold_refuses_the_supervisor_every_effect(method: str) -> None:
    """A9."""
    assert classify(method, {}) is Kind.EFFECT
    assert not Role.SUPERVISOR.may_in_hold(Kind.EFFECT)


@pytest.mark.parametrize("method", ["Runtime.evaluate", "Page.captureScreenshot", "DOM.describeNode", "Network.enable"])
def test_a_hold_lets_the_supervisor_observe(method: str) -> None:
    assert Role.SUPERVISOR.may_in_hold(classify(method, {}))


def test_only_an_empty_script_may_be_installed_in_a_hold() -> None:
    """Playwright needs its isolated world in a page that appears."""
    method = "Page.addScriptToEvaluateOnNewDocument"
    assert classify(method, {"source": "", "worldName": "utility"}) is Kind.LIFECYCLE
    assert classify(method, {"source": "steal()"}) is Kind.EFFECT


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Target.sendMessageToTarget", {}),
        ("Target.exposeDevToolsProtocol", {}),
        ("Target.attachToTarget", {"targetId": "x"}),
        ("Target.attachToTarget", {"targetId": "x", "flatten": False}),
        ("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False}),
        ("Browser.crash", {}),
    ],
)
def test_tunnels_around_the_gate_are_never_open(method: str, params: dict[str, object]) -> None:
    assert classify(method, params) is Kind.NEVER


@pytest.mark.parametrize("url", ["about:blank", "http://x", "https://x/y?z#a", "HTTPS://x"])
def test_web_pages_may_be_opened(url: str) -> None:
    assert not refused_url("Page.navigate", {"url": url})


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", " file:///etc/passwd", "fi\nle:///etc/passwd", "FILE:///x", "view-source:http://x"),
        *("chrome://settings", "devtools://devtools", "data:text/html,x", "javascript:1", "blob:http://x/y"),
        *("about:blank#x", "about:version", "", "http://", "http://x\n", "/relative", None, 7, ["http://x"]),
    ],
)
def test_nothing_else_may_be_opened(url: object) -> None:
    assert refused_url("Page.navigate", {"url": url})


def test_a_setting_and_what_switches_it_off_share_a_name() -> None:
    on, off = setting_of("Fetch.enable"), setting_of("Fetch.disable")
    assert on is not None
    assert off is not None
    assert on.name == off.name
    assert not on.is_off({})
    assert off.is_off({})
