"""The browser's profile: its first preferences, and proof that nobody else has it open."""

import json
import logging
import socket
from pathlib import Path

import psutil

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.state import private_folder, write_private

logger = logging.getLogger(__name__)

PREFERENCES: dict[str, object] = {
    "autofill": {"credit_card_enabled": False, "profile_enabled": False},
    "browser": {"check_default_browser": False, "has_seen_welcome_page": True},
    "credentials_enable_autosignin": False,
    "credentials_enable_service": False,
    "download_bubble": {"partial_view_enabled": False},
    "password_manager": {"leak_detection": False},
    "profile": {"password_manager_enabled": False, "password_manager_leak_detection": False},
    "search": {"suggest_enabled": False},
    "signin": {"allowed": False, "allowed_on_next_startup": False},
    "translate": {"enabled": False},
}
"""Bubbles that would cover the person's step, and stores that would keep what they type, are off."""


def prepare_profile(profile: Path) -> None:
    """Make the profile folder (0700), and write its preferences before its first launch.

    Raises:
        SetupError: `state_unwritable`.
    """
    private_folder(profile)
    default = private_folder(profile / "Default")
    preferences = default / "Preferences"
    if not preferences.exists():
        write_private(preferences, json.dumps(PREFERENCES).encode())


def clear_stale_lock(profile: Path) -> None:
    """Remove what a crashed Chromium left in the profile. Call it only while you hold the profile's own lock.

    A lock made under another host name would hang the launch until its time-out, so it goes too: our own lock and the
    search for a living process are the proof that nobody uses the profile.

    Raises:
        SetupError: `profile_in_use`: a process has the profile open; the message says which.
    """
    holder = find_user(profile)
    if holder is not None:
        raise profile_in_use(profile, f"process {holder} has it open")
    lock = profile / "SingletonLock"
    if lock.is_symlink():
        logger.info("removing a stale profile lock of %s", _made_by(lock))
        for name in ("SingletonLock", "SingletonSocket", "SingletonCookie"):
            (profile / name).unlink(missing_ok=True)


def find_user(profile: Path) -> int | None:
    """The pid of a browser that runs on this profile, whoever started it; None where nobody does."""
    flag = f"--user-data-dir={profile}"
    for process in psutil.process_iter(["cmdline", "status"]):
        arguments = process.info["cmdline"] or []
        child = any(argument.startswith("--type=") for argument in arguments)
        if flag in arguments and not child and process.info["status"] != psutil.STATUS_ZOMBIE:
            return int(process.pid)
    return None


def profile_in_use(profile: Path, why: str) -> SetupError:
    """The error that says who has the profile."""
    return SetupError(
        ErrorCode.PROFILE_IN_USE,
        f"The browser profile {profile} is in use: {why}.",
        holds="No browser was started; the running one is untouched.",
        do_next="Close that browser, or open this one with another profile.",
    )


def _made_by(lock: Path) -> str:
    host = str(lock.readlink()).rpartition("-")[0]
    return "this machine" if host == socket.gethostname() else "another host name"
