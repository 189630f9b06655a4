"""Which CDP commands do what: the lists by which the gate decides. What is in none of them counts as an effect.

What the supervisor needs in order to observe was read off what Playwright sends to connect, to snapshot, evaluate, take
a screenshot, read cookies, and to take in a page that appears.
"""


def words(text: str) -> frozenset[str]:
    """A list as it is written here."""
    return frozenset(text.split())


NEVER = words(
    """
    Target.sendMessageToTarget Target.exposeDevToolsProtocol Target.setRemoteLocations Target.openDevTools
    Browser.crash Browser.crashGpuProcess Browser.executeBrowserCommand Browser.setDockTile Page.crash
    Tethering.bind Tethering.unbind Extensions.loadUnpacked Extensions.uninstall Extensions.setStorageItems
    PWA.install PWA.uninstall PWA.launch PWA.launchFilesInApp PWA.openCurrentPageInApp PWA.changeAppUserSettings
    """
)
"""They tunnel around the gate, or crash the browser."""

NEVER_FOR_AGENTS = words(
    """
    Target.createBrowserContext Target.disposeBrowserContext Browser.getBrowserCommandLine
    Browser.getHistograms Browser.getHistogram SystemInfo.getInfo SystemInfo.getProcessInfo SystemInfo.getFeatureState
    Extensions.getExtensions Extensions.triggerAction Extensions.getStorageItems Extensions.removeStorageItems
    Extensions.clearStorageItems DeviceAccess.enable DeviceAccess.disable DeviceAccess.selectPrompt
    DeviceAccess.cancelPrompt Network.loadNetworkResource Network.configureDurableMessages
    Network.takeResponseBodyForInterceptionAsStream Network.streamResourceContent Emulation.setVirtualTimePolicy
    Page.addScriptToEvaluateOnLoad Page.removeScriptToEvaluateOnLoad
    Input.synthesizePinchGesture Input.synthesizeTapGesture
    Tracing.start Tracing.end Tracing.requestMemoryDump Tracing.recordClockSyncMarker Tracing.getCategories
    """
)
"""They leave the browser, tell of the machine, record in a hold what could be fetched after it, put code into
documents that a person opens, or go on by themselves."""

LIFECYCLE = words(
    """
    Target.setAutoAttach Target.autoAttachRelated Target.setDiscoverTargets Target.attachToTarget
    Target.attachToBrowserTarget Target.detachFromTarget
    Page.enable Page.disable Page.setLifecycleEventsEnabled Page.createIsolatedWorld Page.screencastFrameAck
    Runtime.enable Runtime.disable Runtime.runIfWaitingForDebugger Runtime.releaseObject Runtime.releaseObjectGroup
    Runtime.discardConsoleEntries Network.enable Network.disable DOM.enable DOM.disable
    DOMSnapshot.enable DOMSnapshot.disable Accessibility.enable Accessibility.disable CSS.enable CSS.disable
    Log.enable Log.disable Log.startViolationsReport Log.stopViolationsReport Console.enable Console.disable
    Inspector.enable Inspector.disable Performance.enable Performance.disable
    ServiceWorker.enable ServiceWorker.disable Security.enable Security.disable Audits.enable Audits.disable
    """
)
"""To connect, to follow and to leave."""

STRUCTURE = words(
    """
    Browser.getVersion Browser.getWindowForTarget Browser.getWindowBounds
    Target.getTargets Target.getTargetInfo Target.getBrowserContexts
    Page.getFrameTree Page.getLayoutMetrics Page.getNavigationHistory Runtime.getIsolateId
    """
)
"""Which pages, frames and windows there are."""

CONTENT = words(
    """
    Page.captureScreenshot Page.getResourceTree Page.getAppManifest Emulation.setDefaultBackgroundColorOverride
    Runtime.getProperties Runtime.getHeapUsage
    Network.getCookies Network.getAllCookies Network.getResponseBody Network.getRequestPostData
    Storage.getCookies Storage.getStorageKey Storage.getStorageKeyForFrame Storage.getUsageAndQuota
    DOM.getDocument DOM.getFlattenedDocument DOM.describeNode DOM.getBoxModel
    DOM.getContentQuads DOM.getFrameOwner DOM.getNodeForLocation DOM.querySelector DOM.querySelectorAll
    DOM.requestChildNodes DOM.resolveNode DOM.requestNode DOM.pushNodesByBackendIdsToFrontend DOM.getOuterHTML
    DOM.getAttributes DOM.getFileInfo DOMSnapshot.captureSnapshot
    Accessibility.getFullAXTree Accessibility.getPartialAXTree
    Accessibility.queryAXTree Accessibility.getRootAXNode Accessibility.getChildAXNodes
    Accessibility.getAXNodeAndAncestors CSS.getComputedStyleForNode
    Performance.getMetrics IO.read IO.close SystemInfo.getInfo SystemInfo.getProcessInfo
    """
)
"""What is in a page."""

EVALUATE = frozenset({"Runtime.evaluate", "Runtime.callFunctionOn"})

ANSWERS = words(
    """
    Fetch.continueRequest Fetch.continueWithAuth Fetch.continueResponse Fetch.fulfillRequest Fetch.failRequest
    Fetch.getResponseBody Fetch.takeResponseBodyAsStream
    """
)
"""Answers to a request that waits for the client: an effect in flight may need them to end."""

RAISING = words(
    """
    Target.activateTarget Target.createTarget Page.bringToFront Browser.setWindowBounds Browser.setContentsSize
    Page.setWindowBounds Inspector.toggleDevTools
    """
)
"""They may bring a window to the front, and take the keyboard from whoever types in another."""
