"""Regular expressions that whoever wrote them cannot stop a desktop with."""

import math
import re
from functools import lru_cache
from importlib import import_module
from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints

# the one parser of what `re` takes; no stub knows it
_parser: Any = import_module("re._parser")
_constants: Any = import_module("re._constants")

MATCHED_CHARACTERS = 200
"""Of a name no more than this is looked at: a label is shorter, and the time a pattern takes grows with it."""

_MAX_LOOPS = 3
_MAX_TIMES = 10
_MAX_STEPS = 12_000_000
"""What a match may take at most: a part of a second."""

_ours: set[str] = set()
_BEGINNING = (_constants.AT, _constants.AT_BEGINNING)
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_ONE_CHARACTER = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY, _constants.CATEGORY)
_REFERENCES = (_constants.GROUPREF, _constants.GROUPREF_EXISTS)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, ignoring case."""
    return re.compile(pattern, re.IGNORECASE)


def ours(pattern: str) -> str:
    """The pattern, which this package has made itself and which has been measured: it is not checked."""
    _ours.add(pattern)
    return pattern


def check_pattern(pattern: str) -> str:
    """Refuse what is no regular expression, and one whose time could grow beyond every bound.

    Raises:
        ValueError: The reason.
    """
    if pattern in _ours:
        return pattern
    try:
        # as it stands among others: what speaks of the whole expression, such as (?i), is no part of one
        tree = _parser.parse(f"(?:{pattern})")
    except re.error as error:
        raise ValueError(f"not a regular expression: {error.msg}") from None
    if tree.state.groupdict:
        raise ValueError("a group must have no name")
    # what may begin anywhere is tried from each place
    most = _MAX_LOOPS if list(tree)[:1] == [_BEGINNING] else _MAX_LOOPS - 1
    loops = _loops(tree)
    if loops > most:
        raise ValueError(f"more than {most} repeats in a row{'' if most == _MAX_LOOPS else ' and no ^ before them'}")
    loops += _MAX_LOOPS - most
    if _ways(tree) * MATCHED_CHARACTERS**loops // math.factorial(loops) > _MAX_STEPS:
        raise ValueError("too many choices in a row: write fewer (…|…), (…)? and {…}")
    return pattern


def _ways(tree: Any) -> int:
    """In how many ways it can be gone through at most, repeats of one character aside."""
    return math.prod(_ways_of(kind, argument) for kind, argument in tree)


def _ways_of(kind: Any, argument: Any) -> int:
    if kind in _REPEATS:
        least, most, body = argument
        once = _ways(body)
        if len(body) == 1 and body[0][0] in _ONE_CHARACTER and most != 1:
            return once
        return sum(once**times for times in range(least, most + 1))
    if kind is _constants.BRANCH:
        return sum(_ways(branch) for branch in argument[1])
    parts = argument if isinstance(argument, (list, tuple)) else [argument]
    return math.prod(_ways(part) for part in parts if isinstance(part, _parser.SubPattern))


def _loops(tree: Any) -> int:
    """How many repeats of one character follow each other at most: what the time grows with."""
    return sum(_loops_of(kind, argument) for kind, argument in tree)


def _loops_of(kind: Any, argument: Any) -> int:
    if kind in _REFERENCES:
        raise ValueError("a pattern must not refer to its own groups")
    if kind in _REPEATS:
        return _repeated(argument)
    if kind is _constants.BRANCH:
        return max(_loops(branch) for branch in argument[1])
    parts = argument if isinstance(argument, (list, tuple)) else [argument]
    return sum(_loops(part) for part in parts if isinstance(part, _parser.SubPattern))


def _repeated(argument: Any) -> int:
    least, most, body = argument
    if len(body) == 1 and body[0][0] in _ONE_CHARACTER:
        return int(least != most and most > 1)
    loops = _loops(body)
    if most > _MAX_TIMES or (most > 1 and loops):
        raise ValueError("only single characters, such as [a-z]+ or .*, may be repeated at will")
    return loops


NamePattern = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(check_pattern)]
"""A regular expression, searched in a name, ignoring case; empty matches nothing."""
