"""How a runner is told where its view is reached."""

import pytest

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.view.settings import ViewSettings


@pytest.mark.parametrize("listen", ["0.0.0.0:8710", "[::]:8710", "0:8710"])
def test_every_address_of_a_machine_is_none_that_a_gateway_can_be_told(listen: str) -> None:
    """It would look for the view on its own machine, and show a ticket to whoever is there."""
    with pytest.raises(SetupError) as refused:
        ViewSettings.of({"HANDOFF_VIEW_LISTEN": listen})
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert "HANDOFF_VIEW_ADDRESS" in refused.value.do_next


@pytest.mark.parametrize("listen", ["0.0.0.0:8710", "[::]:8710"])
def test_a_runner_listens_on_every_address_where_it_says_at_which_it_is_found(listen: str) -> None:
    settings = ViewSettings.of({"HANDOFF_VIEW_LISTEN": listen, "HANDOFF_VIEW_ADDRESS": "ws://desktop-1:8710"})
    assert settings.listen is not None and settings.listen[1] == 8710
    assert settings.address == "ws://desktop-1:8710"


@pytest.mark.parametrize("listen", ["10.0.0.7", "10.0.0.7:port", ":8710", "10.0.0.7:8710/view"])
def test_a_place_that_cannot_be_understood_is_refused(listen: str) -> None:
    with pytest.raises(SetupError, match="HANDOFF_VIEW_LISTEN cannot be understood"):
        ViewSettings.of({"HANDOFF_VIEW_LISTEN": listen})
