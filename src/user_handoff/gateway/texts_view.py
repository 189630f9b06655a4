"""The sentences of the live view, in English: a part of `texts`."""

from typing import Final

VIEW_WORDS: Final[dict[str, str]] = {
    "connecting": "Connecting to the browser…",
    "watching": "You are watching. Nothing you do here reaches the browser yet.",
    "watching_other": "Somebody else, or another tab of yours, has control. You are watching.",
    "control": "You have control. Click into a field before you type.",
    "frozen": "The picture stands still. Nothing is typed until it moves again.",
    "lost": "The connection is lost. Trying again…",
    "unreachable": "The browser's window cannot be shown here at the moment. Trying again… You can answer without it.",
    "busy": "Another person acts on this desktop right now. Trying again…",
    "ended": "The view has ended.",
    "ended_expired": "The time is up. The view has ended.",
    "ended_over": "The agent has the browser back. The view has ended.",
    "ended_link_taken": "The page is open in another tab. The view has ended here.",
    "lost_taken": "Somebody else took control.",
    "lost_silent": "Control ended: this page was silent for too long.",
    "lost_expired": "Control ended: the time is up.",
    "unsure": "The service does not answer; control ends soon unless it does.",
    "take": "Take control",
    "take_over": "Take control from them",
    "give": "Stop controlling",
    "keyboard": "Keyboard",
    "paste": "Paste text",
    "paste_label": "Text to paste into the browser",
    "paste_send": "Paste",
    "cancel": "Cancel",
    "whole": "Whole window",
    "picture": "The browser's window",
    "keys": "Typing here goes to the browser. Control, Alt and O leave it.",
    "locked": "The agent has stopped your input for a moment. Nothing you type arrives.",
    "override": "Let me type",
    "not_typed": "Something was not typed. Check the field before you go on.",
}
"""By the names under which `view.js` says them."""
