"""How people sign in at the gateway, as the environment and the state folder say, and who runs a command."""

import getpass
import os
import secrets
from pathlib import Path
from typing import Any, Final

from user_handoff.cli.state_files import kept_secret

SESSION_VARIABLE: Final = "HANDOFF_SESSION_SECRET"
"""Signs the cookies of those who have signed in. Gateways that stand in for each other need the same."""

_OIDC: Final = {
    "issuer": "HANDOFF_OIDC_ISSUER",
    "client_id": "HANDOFF_OIDC_CLIENT_ID",
    "client_secret": "HANDOFF_OIDC_CLIENT_SECRET",
}


def this_user() -> str:
    """Who runs this command: by name, or by number where this system has no name for it, as in many containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def sign_in_settings(state: Path) -> dict[str, Any]:
    """Fields of `GatewaySettings`.

    Args:
        state: Where the secret of the cookies is kept, unless the environment has one.
    """
    oidc = {field: value for field, variable in _OIDC.items() if (value := os.environ.get(variable, "").strip())}
    operators = os.environ.get("HANDOFF_OPERATORS", "").split(",")
    return {
        "session_secret": os.environ.get(SESSION_VARIABLE) or kept_secret(state, "session", secrets.token_urlsafe),
        "operators": tuple(email.strip() for email in operators if email.strip()),
        "oidc": oidc or None,
        "person_requests": os.environ.get("HANDOFF_PERSON_REQUESTS") == "1",
    }
