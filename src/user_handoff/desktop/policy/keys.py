"""What a key does in an element, as far as the stop list must know."""

_MOVES = frozenset(
    {"tab", "escape", "home", "end", "pageup", "pagedown", "arrowup", "arrowdown", "arrowleft", "arrowright"}
    | {"shift", "control", "alt", "meta", "controlormeta", "capslock"}
) | {f"f{number}" for number in range(1, 13)}


def _last(key: str) -> str:
    # "+" itself is a key, alone or at the end of a chord
    return "+" if key.endswith("+") else key.rpartition("+")[2].lower()


def is_enter(key: str) -> bool:
    """True for the key that presses a button and sends a form."""
    return _last(key) in ("enter", "numpadenter", "\n", "\r")


def is_space(key: str) -> bool:
    """True for the key that presses a button."""
    return _last(key) in ("space", " ")


def chooses(key: str) -> bool:
    """True for a key that chooses another option of a list, or another one of several radio buttons."""
    return _last(key).startswith(("arrow", "home", "end", "page"))


def leaves(key: str) -> bool:
    """True for a key that at most takes the focus elsewhere."""
    return _last(key) in ("tab", "escape")


def moves_on(key: str) -> bool:
    """True for a key that only moves the focus, the caret or the page."""
    return _last(key) in _MOVES
