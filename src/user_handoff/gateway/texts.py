"""Every English sentence of the pages for people. Another language is a module of the same names: `languages`."""

from typing import Final

from user_handoff.contract.boundary import Category
from user_handoff.contract.handoff import Answer, HandoffState, Result, RevokeReason
from user_handoff.gateway.texts_takeover import BROWSER_ID as BROWSER_ID
from user_handoff.gateway.texts_takeover import GIVE_BACK as GIVE_BACK
from user_handoff.gateway.texts_takeover import NO_BROWSERS as NO_BROWSERS
from user_handoff.gateway.texts_takeover import NO_OPERATOR as NO_OPERATOR
from user_handoff.gateway.texts_takeover import NOT_TAKEN as NOT_TAKEN
from user_handoff.gateway.texts_takeover import NOT_TAKEN_BECAUSE as NOT_TAKEN_BECAUSE
from user_handoff.gateway.texts_takeover import TAKE_IT as TAKE_IT
from user_handoff.gateway.texts_takeover import TAKE_OVER as TAKE_OVER
from user_handoff.gateway.texts_takeover import TAKE_OVER_HINT as TAKE_OVER_HINT
from user_handoff.gateway.texts_takeover import TAKEN_OVER as TAKEN_OVER
from user_handoff.gateway.texts_takeover import WHY_TAKEN as WHY_TAKEN
from user_handoff.gateway.texts_takeover import WITHOUT_A_WORD as WITHOUT_A_WORD
from user_handoff.gateway.texts_takeover import YOU_HAVE_IT as YOU_HAVE_IT
from user_handoff.gateway.texts_view import VIEW_WORDS as VIEW_WORDS

LANGUAGE: Final = "en"

ASKS: Final = "asks for you"
WHAT_TO_DO: Final = "What to do"
WHERE_LABEL: Final = "Where"
WHY_LABEL: Final = "Why you"
THEN_LABEL: Final = "Then"
UNTIL: Final = "until"
LEFT: Final = "left"
SHORT: Final = "Less than a minute left"
STOPPED_AT: Final = "Stopped at"
BY_THE_RULE: Final = "by the rule"
NOW: Final = "now"
NOTE: Final = "Note"
SAW: Final = "What it saw"
ASKED: Final = "What was asked"
AT: Final = "at"
VIEW: Final = "The agent's browser window"
LOST: Final = "No connection. Trying again; the time goes on."
OTHERS: Final = "This request was opened by another link too, by you or by somebody else. The first answer counts."
CODE_RAN: Final = (
    "A program's code ran in this browser's pages before you came, and may still act in them. To be sure, reload a "
    "page before you type in it."
)

ENTRY: Final = ("Open the request", "An agent asks a person for one step. This link lets in one browser, once.")
ENTER: Final = "Open"
OPENING: Final = ("One moment", "This link is being opened in another tab. If that one was closed, it opens here soon.")
ELSEWHERE: Final = (
    "This is open in another tab",
    "You have this request open elsewhere. It can be in one tab at a time.",
)
TAKE: Final = "Use it here"
TAKEN: Final = (
    "This link was used",
    "It has let in another browser, and lets in no second one. If that was not you, tell whoever sent it, and ask for "
    "a new one.",
)
LINK_EXPIRED: Final = ("This link is too old", "Nobody opened it in time. Ask whoever sent it for a new one.")
OVER: Final = ("This request is over", "It ended before this link was opened. There is nothing left to do.")
SIGN_IN: Final = ("Sign in first", "This page asks who you are before it shows a request.")
SIGN_IN_BUTTON: Final = "Sign in"
NOT_FOR_YOU: Final = (
    "This request is for somebody else",
    "It names the one person who may open it, and you are not signed in as that person. The link was not used up.",
)

TITLES: Final = {
    Category.AUTHENTICATION: "Sign in",
    Category.FINANCIAL: "Decide about a payment or contract",
    Category.DESTRUCTIVE: "Decide about something that can't be undone",
    Category.ACCOUNT: "Decide about an account or its permissions",
    None: "A step only you can do",
}

WHY: Final = {
    Category.AUTHENTICATION: "Signing in is yours alone: no agent should have your password or codes.",
    Category.FINANCIAL: "This would spend money or bind you to something. An agent may not decide that.",
    Category.DESTRUCTIVE: "This would destroy or publish something for good. An agent may not decide that.",
    Category.ACCOUNT: "This would change an account or who may do what. An agent may not decide that.",
    None: "The agent was told to ask a person here.",
}

WHERE: Final = "In the agent's browser window, just as it left it. It can't click or type there until you answer."
NEXT: Final = "The agent takes the browser back, looks at it again, and checks for itself whether the step worked."
NOTE_LABEL: Final = "Add a note for the agent"
NOTE_HINT: Final = "Never a password or a code: those belong only in the browser window. The note is stored."

SHOW: Final = "Show me the window"
SHOWN: Final = {
    "raised": "The window is in front now.",
    "in_front": "The window is in front already.",
    "typing": "Somebody types in another window of that desktop. Nothing was moved: try again in a moment.",
    "unknown": "That desktop cannot tell whether somebody types, so nothing was moved. Find the window by hand.",
    "failed": "The window could not be shown. Find it by hand.",
}

BUTTONS: Final = {
    Answer.DONE: "Done",
    Answer.COULD_NOT: "Could not",
    Answer.DECLINED: "Decline",
}
BUTTON_HINTS: Final = {
    Answer.DONE: "I finished the step",
    Answer.COULD_NOT: "It did not work",
    Answer.DECLINED: "I don't want this",
}

PREPARING: Final = ("Getting the browser ready", "The agent is being stopped. You can start in a moment.")
WAITING: Final = "Waiting for you"
TAKING_BACK: Final = ("Thank you", "The agent is taking the browser back.")
CHECKING: Final = ("Thank you", "The agent has the browser back, looks at it again and checks.")

YOU_SAID: Final = {
    Answer.DONE: "You said that it is done",
    Answer.COULD_NOT: "You said that it could not be done",
    Answer.DECLINED: "You declined",
}
_SAID: Final = {
    Answer.DONE: "said that it is done",
    Answer.COULD_NOT: "said that it could not be done",
    Answer.DECLINED: "declined",
}
STEP_BACK: Final = ("The agent takes the browser back", "The agent took the browser back")
STEP_CHECK: Final = ("It looks again and checks", "It looked again and checked")

RESULTS: Final = {
    Result.VERIFIED: "Verified",
    Result.NOT_VERIFIED: "Not confirmed",
    Result.DECLINED: "Declined",
    Result.FAILED: "Could not",
    Result.EXPIRED: "Expired",
    Result.CLOSED: "Browser closed",
    Result.REVOKED: "Ended by itself",
    Result.RUNNER_LOST: "Desktop lost",
    Result.REFUSED: "Did not start",
}
ENDS: Final = {
    Result.VERIFIED: ("It worked", "The agent checked, and saw what it was waiting for. It goes on with its task."),
    Result.NOT_VERIFIED: (
        "Not confirmed",
        "The agent looked, and did not see what shows that the step worked. It does not treat it as done.",
    ),
    Result.DECLINED: ("Declined", "The agent was told, and leaves this step undone."),
    Result.FAILED: ("Not done", "The agent was told that the step could not be done."),
    Result.EXPIRED: (
        "The time is up",
        "Nobody answered in time. The browser stays paused where it is, and the agent counts the step as not done.",
    ),
    Result.CLOSED: ("The browser was closed", "This request ended with it. There is nothing left to do."),
    Result.REVOKED: ("This request has ended", "The browser is not held for you any more."),
    Result.RUNNER_LOST: (
        "The desktop is gone",
        "The machine with the browser stopped answering, so this request has ended.",
    ),
    Result.REFUSED: ("This request did not start", "The browser could not be handed to you. Nothing was held."),
}
EXPIRED_AND_OVER: Final = "Nobody answered in time, and the agent counts the step as not done."
NOTHING_TO_CHECK: Final = "Nothing was set that could show the step worked, so the agent does not treat it as done."

REVOKED: Final = {
    RevokeReason.IDLE: "The browser was closed because nothing used it for too long.",
    RevokeReason.LIFETIME: "The browser reached the end of its allowed lifetime and was closed.",
    RevokeReason.SHUTDOWN: "The machine with the browser was shut down.",
    RevokeReason.RUNNER_REPLACED: "The desktop with the browser was replaced by another.",
    RevokeReason.RUNNER_LOST: "The machine with the browser stopped answering.",
    RevokeReason.BROWSER_CRASHED: "The browser crashed.",
    RevokeReason.WINDOW_CLOSED: "The browser's window was closed.",
}

EARLIER: Final = "An earlier answer stands. This one was not recorded."
LATE: Final = "Your answer came too late and was not recorded."
NOTE_TOO_LONG: Final = "The note is longer than 1,000 characters. Nothing was sent yet: shorten it and answer again."
NO_ANSWER: Final = "That was not one of the three answers. Nothing was sent yet: use one of the buttons."

STATES: Final = {
    HandoffState.REQUESTED: "Getting ready",
    HandoffState.HELD: "Waits for a person",
    HandoffState.FINISHING: "Answered",
    HandoffState.RECOVERING: "Answered; the agent checks",
    HandoffState.EXPIRED: "Time is up; the browser stays paused",
}
INBOX: Final = "Requests"
WAITS: Final = "Waiting"
RECENT: Final = "Recently ended"
NOTHING_WAITS: Final = "Nothing waits for a person."
NOTHING_ENDED: Final = "Nothing has ended in the last day."
FOR_WHOM: Final = "For"
ANYBODY: Final = "whoever has a link"
DESKTOP: Final = "Desktop"
ASKED_BY: Final = "Asked by"
NEW_LINK: Final = "New link"
THE_LINK: Final = (
    "A new link",
    "It is shown this once, opens one browser, once, and for five minutes. Give it to the person it is for, and nobody "
    "else.",
)
COPY: Final = "Copy"
COPIED: Final = "Copied"
CLOSE: Final = "Close"
NO_LINK: Final = ("No link was made", "This request has ended, takes no more links, or is not yours to give away.")
INBOX_LOST: Final = "No connection. What you see may be old."

SIGN_IN_INBOX: Final = ("Requests", "Sign in to see what waits for a person.")
KEY: Final = "Your key"
KEY_HINT: Final = "It begins with hk_ and is used once: your browser keeps a sign-in of eight hours instead."
SIGN_IN_BY: Final = "Sign in by your organisation"
SIGN_OUT: Final = "Sign out"
WRONG_KEY: Final = "This key lets nobody in."
NOT_SIGNED_IN: Final = (
    "You were not signed in",
    "The sign-in was not completed, or is not one that this page can believe. Try again.",
)
NO_PROVIDER: Final = ("Sign-in does not work right now", "The service that signs people in does not answer. Try again.")

UNKNOWN_LINK: Final = (
    "This link opens nothing",
    "It may be incomplete, or made for something that is over. Ask whoever sent it for a new one.",
)
UNREACHABLE: Final = (
    "One moment",
    "The service behind this page does not answer right now. The browser is as it was. Reload this page in a minute.",
)
ASK: Final = "Send the agent something of your own"
ASK_LABEL: Final = "Your request"
ASK_HINT: Final = (
    "The agent can read it as a person's words: they order nothing and allow nothing. Never a password or a code: "
    "it is stored."
)
ASK_SEND: Final = "Send"
ASK_SENDING: Final = "Sending…"
ASK_SENT: Final = "Sent. The agent can read it now."
ASK_CHANGED: Final = "You changed it while it was being sent, so what was there before was not sent. Send it again."
ASK_FULL: Final = "The agent has too much to read already. Nothing was sent: try again later."
ASK_UNFIT: Final = "That is empty, or longer than 4,000 characters. Nothing was sent."
ASK_OVER: Final = "The agent's session is over. Nothing was sent."

LET_IN: Final = "Let an agent in"
LET_IN_HINT: Final = (
    "You get an address for an agent of yours, good for 15 minutes and for this session alone. "
    "Whoever has it can use it."
)
GRANTS: Final = {
    "look": ("Look only", "It sees the browser and can ask you, and touches nothing"),
    "all": ("Everything", "It drives the browser too"),
}
GRANTED: Final = (
    "This address lets an agent in",
    "Give it to the agent now: it is shown this once. It needs no password beside it, so give it to nobody else.",
)
GRANT_LATER: Final = (
    "Not now",
    "An agent can be let in once this request has been answered and has ended. Nothing was granted.",
)
NO_GRANT: Final = ("Not granted", "That was not one of the choices. Go back and use one of the buttons.")
SESSION_OVER: Final = ("This session is over", "No agent can be let in any more. Nothing was granted.")
TOO_MANY_GRANTS: Final = (
    "Not granted",
    "As many agents as can be were let into this session. Wait until some of their time is over.",
)
MAYBE_SENT: Final = (
    "Not sure it arrived",
    "The service behind this page did not confirm your answer. Reload this page to send it again: it counts only once.",
)
FOREIGN: Final = ("Not accepted", "This answer came from another site. Open the link itself and answer there.")
TOO_LARGE: Final = ("Too long", "That is more than this page takes. Go back and shorten the note.")
BROKEN: Final = ("Something went wrong", "That is our fault. Go back, reload the page, and try again.")
NOT_HERE: Final = ("Not that way", "This address does not take that kind of request.")


def minutes_left(seconds: float) -> str:
    """The time left in words, rounded down, for a page that cannot count."""
    if seconds < 60:
        return "less than a minute left"
    minutes = int(seconds // 60)
    return f"{minutes} minute{'s' if minutes > 1 else ''} left"


def said(who: str, answer: Answer) -> str:
    """What somebody else answered."""
    return f"{who} {_SAID[answer]}"


def title_at(title: str, host: str) -> str:
    """A step, and the site that it is for."""
    return f"{title} at {host}"
