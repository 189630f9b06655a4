"""A page that goes on to fill up while it is looked at says no more of its fields than one that is done."""

from tests.desktop.snapshots.test_echoes import difference
from tests.desktop.snapshots.test_privacy import NOISE, page_of, pixels
from tests.desktop.support import Agent
from tests.vault import Vault

_FILLS_UP = """secret => {
  const all = document.querySelectorAll
  document.querySelectorAll = function (what) {
    if (what.includes("contenteditable")) queueMicrotask(() => {
      if (document.getElementById("late")) return
      document.body.insertAdjacentHTML("beforeend", `<div id=late contenteditable></div><p id=said></p>`)
      document.getElementById("said").style.fontFamily = "monospace"
      for (const id of ["late", "said"]) document.getElementById(id).textContent = secret
    })
    return all.call(document, what)
  }
}"""
"""Right after its fields were read there is one more, and the page repeats what is in it."""


async def test_a_field_that_comes_after_the_fields_were_read_is_withheld(agent: Agent) -> None:
    """B7: as that of a frame that has just loaded."""
    async with Vault().serving() as vault:
        await agent.go(f"{vault.url}/frame")
        page = page_of(agent)
        await page.evaluate(_FILLS_UP, "Kanarilate")
        look = await agent.look()
        assert await page.locator("#late").inner_text() == "Kanarilate", "it came"
        assert "Kanarilate" not in look.model_dump_json()
        assert "[withheld]" in look.text


async def test_a_picture_covers_what_a_page_repeats_of_a_field_that_came_meanwhile(agent: Agent) -> None:
    """B7."""
    seen = []
    async with Vault().serving() as vault:
        for secret in ("secretvalue", "canaryvalue"):
            await agent.go(f"{vault.url}/frame")
            await page_of(agent).evaluate(_FILLS_UP, secret)
            seen.append(await pixels(agent))
            assert await page_of(agent).locator("#said").inner_text() == secret, "it came"
    assert difference(*seen) <= NOISE
