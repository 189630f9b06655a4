"""Test an agent without a desktop: pages that are written down, and a person who acts as told.

LOGIN = Page("https://portal.example/login", [Control("textbox", "Password")])
INVOICES = Page("https://portal.example/invoices", [Control("button", "Export")], behind=LOGIN)

async with InMemoryDesktop(client, pages=[INVOICES], person=ScriptedPerson("done")) as desktop:
    ...  # run the agent's workflow in a worker of its own
assert desktop.done("click") == ["Export"]
"""

from user_handoff.testing.desktop import InMemoryDesktop
from user_handoff.testing.pages import Control, Page
from user_handoff.testing.person import ScriptedPerson

__all__ = ["Control", "InMemoryDesktop", "Page", "ScriptedPerson"]
