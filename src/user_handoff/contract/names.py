"""Names that two sides must agree on: queues, activities, messages and search attributes."""

from typing import Final

SERVER_QUEUE: Final = "user-handoff"
"""Where our workflows, and the activities that need no desktop, run."""

DESKTOPS_QUEUE: Final = "desktops"
"""The shared queue on which any free desktop answers with its own queue."""


def desktop_queue(client_id: str, desktop_id: str) -> str:
    """The queue that one desktop alone polls, under the same name after its runner restarts."""
    return f"desktop.{client_id}.{desktop_id}"


class Activities:
    """Activity names. A workflow calls by name, so that it imports no desktop code."""

    # on the server queue
    AUTHORIZE: Final = "handoff_authorize"
    NOTIFY: Final = "handoff_notify"
    TELL_PERSON: Final = "handoff_tell_person"
    DELIVER: Final = "handoff_deliver"
    REVOKE_DESKTOP: Final = "handoff_revoke_desktop"
    TELL_PRINCIPAL: Final = "session_tell_principal"
    CURRENT_SESSION: Final = "session_current"
    # on the shared queue of desktops
    CLAIM_DESKTOP: Final = "desktop_claim"
    # on one desktop's queue: the handoff
    BEGIN: Final = "desktop_begin_handoff"
    GUARD: Final = "desktop_guard_handoff"
    FINISH: Final = "desktop_finish_handoff"
    CLOSE: Final = "desktop_close_handoff"
    CHECK: Final = "desktop_check_condition"
    # on one desktop's queue: a takeover
    BEGIN_TAKEOVER: Final = "desktop_begin_takeover"
    GUARD_TAKEOVER: Final = "desktop_guard_takeover"
    RETURN_TAKEOVER: Final = "desktop_return_takeover"
    RENEW_TAKEOVER: Final = "desktop_renew_takeover"
    LOCK_UI: Final = "desktop_lock_ui"
    # on one desktop's queue: a person's view
    ADMIT_VIEWER: Final = "desktop_admit_viewer"
    # on one desktop's queue: doors for other programs
    OPEN_DOOR: Final = "browser_open_door"
    CLOSE_DOOR: Final = "browser_close_door"
    LIST_DOORS: Final = "browser_list_doors"
    # on one desktop's queue: observing
    SNAPSHOT: Final = "browser_snapshot"
    SCREENSHOT: Final = "browser_screenshot"
    BROWSER_INFO: Final = "browser_info"
    OBSERVE_COMPUTER: Final = "computer_observe"
    # on one desktop's queue: what a person asks for
    SHOW_WINDOW: Final = "desktop_show_window"
    # on one desktop's queue: effects
    OPEN_BROWSER: Final = "browser_open"
    CLICK: Final = "browser_click"
    FILL: Final = "browser_fill"
    PRESS: Final = "browser_press"
    SELECT: Final = "browser_select"
    NAVIGATE: Final = "browser_navigate"
    BACK: Final = "browser_back"
    DOWNLOAD: Final = "browser_download"
    CLOSE_PAGE: Final = "browser_close_page"
    SAVE_STATE: Final = "browser_save_state"
    CLOSE_BROWSER: Final = "browser_close"
    COMPUTER: Final = "computer_effect"


class SearchAttributes:
    """Search attributes (all of type Keyword), registered by the embedded engine. Plain text: ids and states only."""

    STATE: Final = "HandoffState"
    BROWSER: Final = "HandoffBrowser"
    SESSION: Final = "HandoffSession"
    CLIENT: Final = "HandoffClient"
    ALL: Final = (STATE, BROWSER, SESSION, CLIENT)


EVENT_SIGNAL: Final = "user_handoff.event"
"""The signal by which a handoff tells its parent workflow that its state changed."""


class Workflows:
    """Workflow types and the names of their messages."""

    HANDOFF: Final = "Handoff"
    TAKEOVER: Final = "Takeover"
    SESSION: Final = "Session"
    RUNNER: Final = "Runner"
    PRINCIPAL: Final = "Principal"
    INBOX: Final = "Inbox"
    KEYS: Final = "Keys"
    DELIVERY: Final = "Delivery"
    GONE_ENDPOINT: Final = "GoneEndpoint"
    CLAIM: Final = "Claim"
    # of a handoff: each a signal and an update
    BEGIN: Final = "begin"
    REPLY: Final = "reply"
    FINISH: Final = "finish"
    CLOSE: Final = "close"
    # of a handoff
    ADD_LINK: Final = "add_link"
    USE_LINK: Final = "use_link"
    OPEN_LINK: Final = "open_link"
    REVOKE: Final = "revoke"
    SUMMARY: Final = "summary"
    # of a takeover: each a signal and an update
    GIVE_BACK: Final = "give_back"
    CANCEL: Final = "cancel"
    # of a session
    OPEN: Final = "open"
    POST: Final = "post"
    RESOLVE: Final = "resolve"
    VIEW: Final = "view"
    GRANT: Final = "grant"
    REVOKE_GRANT: Final = "revoke_grant"
    SIGNED_IN: Final = "signed_in"
    ACCESS: Final = "access"
    AUDIT: Final = "audit"
    # of the keys
    CREATE_KEY: Final = "create"
    REVOKE_KEY: Final = "revoke"
    # of what programs are told
    NEWS: Final = "news"
    ENABLE: Final = "enable"
    # of a principal
    TELL: Final = "tell"
    CURRENT: Final = "current"
    # of a runner
    HEARTBEAT: Final = "heartbeat"
    RETIRE: Final = "retire"
    # of what a person has sent to a session
    ADMIT: Final = "admit"
    WRITE: Final = "write"
    READ: Final = "read"
    RECEIPT: Final = "receipt"
    EXPECT: Final = "expect"
    SEEN: Final = "seen"
    REPLIED: Final = "replied"
