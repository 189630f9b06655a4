"""The person's link."""

import pytest

from tests.gateway.world import Site, World
from user_handoff.contract.errors import ErrorCode, Gone, HandoffError
from user_handoff.gateway.links import look_up, new_link, token_hash

ID = "handoff/b_1/s_1/m_1"


def test_a_token_has_192_random_bits_and_fits_a_path() -> None:
    """C1, C6."""
    tokens = {new_link(ID)[0][:32] for _ in range(100)}
    assert len(tokens) == 100
    assert all(c.isalnum() or c in "-_" for t in tokens for c in t)


def test_only_the_hash_of_a_token_is_handed_on() -> None:
    token, digest = new_link(ID)
    assert digest == token_hash(token) and len(digest) == 64


def test_a_link_to_something_else_cannot_be_minted() -> None:
    with pytest.raises(ValueError, match="not the id of a handoff"):
        new_link("session/s_1")


async def test_a_link_opens_its_own_handoff_only(site: Site, world: World) -> None:
    """C6, K25."""
    first, link = await site.held()
    second, _ = await site.held()
    token = link.rpartition("/")[2]
    assert (await look_up(world.client, token)).summary.handoff_id == first
    forged = new_link(second)[0]
    for bad in (forged, token[:-1], token + "A", token + "=", "", "x" * 5000, "ä", token.swapcase()):
        with pytest.raises(HandoffError) as caught:
            await look_up(world.client, bad)
        assert caught.value.code is ErrorCode.LINK_UNKNOWN


async def test_a_handoff_keeps_no_token(site: Site, world: World) -> None:
    """C1, C6: only the SHA-256 is in the history."""
    handoff_id, link = await site.held()
    token = link.rpartition("/")[2]
    assert (await world.client.summary(handoff_id)).link_hashes == (token_hash(token),)
    history = await world.temporal.get_workflow_handle(handoff_id).fetch_history()
    stored = b"".join(event.SerializeToString() for event in history.events)
    assert token_hash(token).encode() in stored
    assert token.encode() not in stored


async def test_a_link_to_an_unknown_handoff_is_refused(site: Site) -> None:
    for handoff_id in (ID, "nonsense"):
        with pytest.raises(Gone) as caught:
            await site.link(handoff_id)
        assert caught.value.code is ErrorCode.UNKNOWN_HANDOFF
