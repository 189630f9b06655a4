"""The policy file: what a desktop's operator forbids every agent, written before the run."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from user_handoff.contract.base import Id, Model
from user_handoff.contract.boundary import AnyRule, ControlRule, Rule
from user_handoff.contract.boundary.built_in import BUILT_IN
from user_handoff.contract.boundary.patterns import NamePattern
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.policy.lines import Path as Place
from user_handoff.desktop.policy.lines import line_of

_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds for every browser of a desktop.

    Attributes:
        rules: The stop list.
        read_only: Agents may go to pages and look, and do nothing to them.
        confirm_before_submit: A person confirms what is submitted.
        automatic_takeover: Control may change hands without a person's act. Nothing but this file sets it.
    """

    rules: tuple[AnyRule, ...] = BUILT_IN
    read_only: bool = False
    confirm_before_submit: bool = False
    automatic_takeover: bool = False


class _BuiltIn(Model):
    """What becomes of the built-in list."""

    enabled: bool = True
    off: tuple[Id, ...] = ()
    """Rules that are left out."""
    names: dict[Id, tuple[NamePattern, ...]] = Field(default_factory=dict)
    """More names for rules on controls."""


class _Limits(Model):
    read_only: bool = False
    confirm_before_submit: bool = False
    automatic_takeover: bool = False


class _File(Model):
    version: Literal[1]
    built_in: _BuiltIn = _BuiltIn()
    limits: _Limits = _Limits()
    rules: tuple[Rule, ...] = ()


class _Wrong(Exception):
    def __init__(self, place: Place, reason: str) -> None:
        super().__init__(reason)
        self.place = place


def read_policy(path: Path) -> Policy:
    """Read a policy file.

    Raises:
        SetupError: `policy_invalid`: with the line and the reason. Nothing is served by half a policy.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        text = content.decode()
    except OSError as error:
        raise _invalid(path, None, f"it cannot be read ({error.strerror or type(error).__name__})") from None
    except UnicodeDecodeError as error:
        raise _invalid(path, content[: error.start].count(b"\n") + 1, "it is not UTF-8") from None
    if len(content) > _MAX_BYTES:
        raise _invalid(path, None, f"it has more than {_MAX_BYTES} bytes")
    return _parsed(path, text)


def _parsed(path: Path, text: str) -> Policy:
    try:
        return _policy(_File.model_validate(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        last = text.count("\n") + 1
        raise _invalid(path, int(line[1]) if line else last, re.sub(r" \(at .*\)$", "", str(error))) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = tuple(first["loc"])
        what = ".".join(str(part + 1 if isinstance(part, int) else part) for part in place)
        reason = f"{what}: {first['msg'].removeprefix('Value error, ')}"
        raise _invalid(path, line_of(text, place), reason) from None
    except _Wrong as wrong:
        raise _invalid(path, line_of(text, wrong.place), str(wrong)) from None
    except (ValueError, RecursionError):
        raise _invalid(path, None, "it nests too deeply, or has a number with too many digits") from None


def _policy(file: _File) -> Policy:
    known = {rule.rule_id: rule for rule in BUILT_IN}
    for position, rule_id in enumerate(file.built_in.off):
        if rule_id not in known:
            raise _Wrong(("built_in", "off", position), f"there is no built-in rule {rule_id!r}")
    for rule_id in file.built_in.names:
        if not isinstance(known.get(rule_id), ControlRule):
            raise _Wrong(("built_in", "names", rule_id), f"there is no built-in rule on controls {rule_id!r}")
    seen: set[str] = set()
    for position, rule in enumerate(file.rules):
        if rule.rule_id in seen or rule.rule_id in known:
            owner = "a rule of this file" if rule.rule_id in seen else "a built-in rule"
            raise _Wrong(("rules", position, "rule_id"), f"{rule.rule_id!r} is the id of {owner} already")
        seen.add(rule.rule_id)
    kept = [
        _extended(rule, file) for rule in BUILT_IN if file.built_in.enabled and rule.rule_id not in file.built_in.off
    ]
    limits = file.limits
    return Policy((*file.rules, *kept), limits.read_only, limits.confirm_before_submit, limits.automatic_takeover)


def _extended(rule: AnyRule, file: _File) -> AnyRule:
    more = file.built_in.names.get(rule.rule_id, ())
    if not more or not isinstance(rule, ControlRule):
        return rule
    names = [f"(?:{name})" for name in (rule.name, *more) if name]
    # each of them was checked; together they take no longer than one after the other
    return rule.model_copy(update={"name": "|".join(names)})


def _invalid(path: Path, line: int | None, reason: str) -> SetupError:
    where = f", line {line}" if line is not None else ""
    return SetupError(
        ErrorCode.POLICY_INVALID,
        f"The policy file {path}{where}: {reason}.",
        holds="Nothing was started: no browser is served under half a policy.",
        do_next="Mend the file (docs/boundaries.md has its format), then start again.",
        line=line,
    )
