"""What a desktop is made of."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from user_handoff.contract.names import desktop_queue
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.browsers import Browsers
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.effects import Effects
from user_handoff.desktop.evidence.noting import Notes
from user_handoff.desktop.evidence.pictures import ControlPictures
from user_handoff.desktop.granted_doors import GrantedDoors
from user_handoff.desktop.handoff.holds import Holds
from user_handoff.desktop.input.computer import Computer
from user_handoff.desktop.policy.guard import Guard
from user_handoff.desktop.showing import Showing
from user_handoff.desktop.states.states import States
from user_handoff.desktop.takeover.takeovers import Takeovers
from user_handoff.desktop.view.view import View


@dataclass(frozen=True, slots=True)
class DesktopIdentity:
    """Which desktop this is.

    Attributes:
        client_id: The machine: stays.
        desktop_id: Minted when the display and its state folder start: lives as long as they do.
    """

    client_id: str
    desktop_id: str

    @property
    def queue(self) -> str:
        """The queue that only this desktop's runner polls."""
        return desktop_queue(self.client_id, self.desktop_id)


class Parts:
    """The parts of one desktop; its verbs are in `Desktop`.

    Attributes:
        identity: Which desktop this is.
        display: Where its browsers are shown.
        capability: Whether a browser can be handed over here, and why not.
        browsers: Who lives here.
        holds: Which browsers a person has.
        view: What a person elsewhere sees of them.
        takeovers: Which browsers a person took.
        notes: Takes what happens.
        granted_doors: The doors that close with a grant.
        lost: Set when the display is gone, and every browser with it.
    """

    def __init__(
        self,
        identity: DesktopIdentity,
        display: Display,
        browsers: Browsers,
        holds: Holds,
        effects: Effects,
        computer: Computer,
        pictures: Path,
        capability: tuple[bool, str],
        view: View,
        showing: Showing,
        states: States,
        guard: Guard,
        notes: Notes,
        control_pictures: ControlPictures,
        takeovers: Takeovers,
    ) -> None:
        self.takeovers = takeovers
        self.notes = notes
        self._control_pictures = control_pictures
        self._states = states
        self._guard = guard
        self._showing = showing
        self.identity = identity
        self.display = display
        self.capability = capability
        self.browsers = browsers
        self.holds = holds
        self.view = view
        self.lost = asyncio.Event()
        self._effects = effects
        self._computer = computer
        self._pictures = pictures
        self.granted_doors = GrantedDoors(browsers, notes)

    def _usable(self, browser_id: str) -> ManagedBrowser:
        browser = self.browsers.get(browser_id)
        browser.use()
        return browser
