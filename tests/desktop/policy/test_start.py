"""A desktop that is started with a policy file."""

from pathlib import Path

import pytest

from tests.desktop.policy.pages import Pages
from tests.desktop.policy.support import refused, shown
from tests.desktop.support import Agent
from user_handoff.contract.boundary import READ_ONLY
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.start import DesktopSettings, running_desktop


def settings(folder: Path, policy: str) -> DesktopSettings:
    file = folder / "policy.toml"
    file.write_text(policy)
    return DesktopSettings(folder=folder / "desktop", virtual=True, sandbox=False, policy=file)


async def test_the_policy_of_a_desktop_holds_for_every_browser(tmp_path: Path, pages: Pages) -> None:
    """B1, B2: whatever whoever opens it asks for."""
    wanted = settings(tmp_path, "version = 1\nlimits.read_only = true\n")
    async with running_desktop(wanted) as desktop:
        agent = await Agent.open(desktop)
        look = await shown(agent, pages.put("<button>Next</button>"))
        assert (await refused(agent.click(look.find(role="button")))).rule_id == READ_ONLY


async def test_under_half_a_policy_nothing_is_started(tmp_path: Path) -> None:
    """B1."""
    with pytest.raises(SetupError) as error:
        async with running_desktop(settings(tmp_path, "version = 1\nlimits.read_only = 'perhaps'\n")):
            raise AssertionError
    assert error.value.code is ErrorCode.POLICY_INVALID
    assert not (tmp_path / "desktop" / "display.json").exists()
