"""Acting on a whole desktop and observing it: what is not in a managed browser's page."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from user_handoff.contract.base import Id, Model
from user_handoff.contract.browser import EffectReceipt, Picture, Text

MAX_TEXT = 20_000
"""Characters that can be typed, set or read at once."""

Pixel = Annotated[int, Field(ge=-32_768, le=32_767)]
Button = Literal["left", "middle", "right"]
Key = Annotated[str, StringConstraints(max_length=30)]
Argument = Annotated[str, StringConstraints(max_length=4_000, pattern=r"^[^\x00]*$")]
Notches = Annotated[int, Field(ge=-100, le=100)]


# --- observing ---


class ObserveComputer(Model):
    """Look at the desktop."""

    screenshot: bool = False
    """Take a picture as well. Refused while a person has a browser of the desktop: nothing masks such a picture."""


class WindowInfo(Model):
    """One window on the desktop."""

    window_id: int
    pid: int | None
    """The process it belongs to, as the display server knows it; None: on another machine."""
    title: str
    """Chosen by the program: never trust it. Empty where it is withheld."""
    x: int
    y: int
    width: int
    height: int
    focused: bool
    title_withheld: bool = False
    """True for the windows of a browser that a person has."""


class DisplayLook(Model):
    """What was seen, and the generation that lets one effect follow."""

    generation: Id
    """Names this look. Dead after one effect, the next look, a change of control, or some minutes."""
    focused_window: int | None
    """Where keys would go; an effect of this generation is refused once that is another."""
    windows: tuple[WindowInfo, ...]
    picture: Picture | None = None


# --- acting ---


class Move(Model):
    """Move the pointer to a place on the screen, in pixels."""

    action: Literal["move"] = "move"
    x: Pixel
    y: Pixel


class ClickAt(Model):
    """Move the pointer there and click."""

    action: Literal["click"] = "click"
    x: Pixel
    y: Pixel
    button: Button = "left"
    count: int = Field(default=1, ge=1, le=3)


class TypeText(Model):
    """Type a text exactly; what is on no key of the keyboard is pasted (Ctrl+V). Never a secret: this is kept."""

    action: Literal["type"] = "type"
    text: Annotated[Text, StringConstraints(min_length=1)]


class PressKeys(Model):
    """Press keys together, such as ``ctrl`` and ``a``: single characters, or names such as ``enter`` or ``f5``."""

    action: Literal["press"] = "press"
    keys: tuple[Key, ...] = Field(min_length=1, max_length=6)


class Scroll(Model):
    """Turn the wheel at a place, by notches: down and to the right where they are positive."""

    action: Literal["scroll"] = "scroll"
    x: Pixel
    y: Pixel
    down: Notches = 0
    right: Notches = 0


class Drag(Model):
    """Press a button at one place, move, and release it at another."""

    action: Literal["drag"] = "drag"
    x: Pixel
    y: Pixel
    to_x: Pixel
    to_y: Pixel
    button: Button = "left"


class SetClipboard(Model):
    """Put a text on the clipboard."""

    action: Literal["set_clipboard"] = "set_clipboard"
    text: Text


class GetClipboard(Model):
    """Read the clipboard's text. What came there while a person had the desktop is not told."""

    action: Literal["get_clipboard"] = "get_clipboard"


class ClearClipboard(Model):
    """Empty the clipboard."""

    action: Literal["clear_clipboard"] = "clear_clipboard"


class Launch(Model):
    """Start a program that the runner's own list allows, on this desktop; no shell is involved."""

    action: Literal["launch"] = "launch"
    argv: tuple[Argument, ...] = Field(min_length=1, max_length=64)


ComputerAction = Annotated[
    Move | ClickAt | TypeText | PressKeys | Scroll | Drag | SetClipboard | GetClipboard | ClearClipboard | Launch,
    Field(discriminator="action"),
]


class ComputerEffect(Model):
    """One native effect on the whole desktop."""

    effect_id: Id
    """Minted by the caller: the same id is never done twice, and returns the same receipt."""
    generation: Id
    """Of the latest look at the desktop; it is spent by this effect."""
    action: ComputerAction


class ComputerReceipt(EffectReceipt):
    """What became of a native effect."""

    text: str | None = None
    """What `get_clipboard` read. Not kept on disk: asked again after the runner restarted, it is None."""
    pid: int | None = None
    """The process that `launch` started."""
