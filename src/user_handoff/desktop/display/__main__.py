"""``python -m user_handoff.desktop.display``: the keeper of a virtual display."""

from user_handoff.desktop.display.keeper import main

main()
