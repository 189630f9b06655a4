"""The sentences of the pages on which browsers are taken over, in English: a part of `texts`."""

from typing import Final

from user_handoff.contract.errors import ErrorCode

TAKE_OVER: Final = "Take a browser over"
TAKE_OVER_HINT: Final = (
    "You interrupt the agent. It waits until you give the browser back, and until it has looked. "
    "Ten minutes are the most."
)
BROWSER_ID: Final = "The browser's id"
NO_BROWSERS: Final = "No desktop with a live view has a browser open."
WHY_TAKEN: Final = "Why, for the agent"
TAKE_IT: Final = "Take over"
GIVE_BACK: Final = "Give it back"
WITHOUT_A_WORD: Final = "Cancel"
YOU_HAVE_IT: Final = (
    "You have the browser",
    "Take control in the picture below. Never write a password into the note.",
)
TAKEN_OVER: Final = ("The browser is the agent's again", "It has to look before it acts.")
NOT_TAKEN: Final = (
    "You do not have the browser",
    "It could not be taken over. Somebody else may have it, or it is gone.",
)
NOT_TAKEN_BECAUSE: Final = {
    ErrorCode.HANDOFF_ACTIVE: "A request of its agent for a person holds it. Answer or close that one first.",
    ErrorCode.TAKEOVER_ACTIVE: "It was taken over already, by you or by somebody else, and has to be given back first.",
    ErrorCode.LEASE_TAKEN: "A person has control of the desktop that it is on. Try again when that has ended.",
    ErrorCode.DRAIN_TIMEOUT: "Its agent was doing something that did not end in five seconds, and goes on. Try again.",
    ErrorCode.UNKNOWN_BROWSER: "No desktop that is online has a browser of that id.",
    ErrorCode.BROWSER_GONE: "That browser has ended.",
    ErrorCode.RUNNER_UNAVAILABLE: "Its desktop does not answer right now. Try again in a moment.",
    ErrorCode.INVALID_REQUEST: "That is no browser's id.",
}
"""Where the code says more than that it was refused."""
NO_OPERATOR: Final = ("Not for you", "Only an operator may take a browser over.")
