"""Run the watchdog of one takeover: see `watchdog`."""

from user_handoff.desktop.takeover.watchdog import main

main()
