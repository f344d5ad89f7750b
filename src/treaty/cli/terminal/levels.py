"""Compatibility levels as words of a command line: a name, `deny`, or a range for each direction."""

import re
from typing import Any

import click
import msgspec

from treaty.core.messages.settings import Config
from treaty.core.policy import LEVELS, NONE, Level, VersionRange, nameless_level, word_of
from treaty.wire.confluent.policies import policy_body

RANGE = re.compile(r"(none|latest|all)|till:([0-9]{1,10})", re.IGNORECASE)
RANGES = "none, latest, all, till:ORDINAL"
DENY = "deny"
DIRECTIONS = ("backward", "forward")
LEVEL_HELP = "A level: a name such as FULL, deny, or ranges such as backward=till:3,forward=latest."


def parse_range(_context: click.Context, _option: click.Parameter, value: str | None) -> VersionRange | None:
    """Parse a range: ``none``, ``latest``, ``all``, or ``till:3`` for the versions from ordinal 3 on."""
    return None if value is None else range_of(value)


def range_of(word: str) -> VersionRange:
    """Return the range that a word names. Raises `BadParameter` for another word."""
    matched = RANGE.fullmatch(word)
    if matched is None:
        raise click.BadParameter(f"{word!r} is not one of {RANGES}")
    return VersionRange(matched[1].lower()) if matched[1] else VersionRange("till", int(matched[2]))


class LevelType(click.ParamType[Level]):
    """A level: one of the seven names, ``deny``, or ``backward=RANGE,forward=RANGE`` with one range or both."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Level:
        """Return the level that a word names."""
        if isinstance(value, Level):
            return value
        word = str(value).strip()
        if word.upper() in LEVELS:
            return LEVELS[word.upper()]
        if word.lower() == DENY:
            return Level(deny=True)
        parts = [part.partition("=") for part in word.split(",")]
        names = [name.strip().lower() for name, _, _ in parts]
        if not all(mark for _, mark, _ in parts) or len(set(names)) < len(names) or not set(names) <= set(DIRECTIONS):
            allowed = f"{', '.join(LEVELS)}, {DENY}, or ranges such as backward=till:3,forward=latest"
            self.fail(f"{word!r} is no level; known are {allowed}", param, ctx)
        ranges = {name: range_of(text.strip()) for name, (_, _, text) in zip(names, parts, strict=True)}
        return Level(ranges.get("backward", NONE), ranges.get("forward", NONE))


LEVEL = LevelType()
previous_ = click.option(
    "--previous",
    type=LEVEL,
    metavar="LEVEL",
    help="Level that must be in force; with another one nothing changes. Written like LEVEL.",
)


def format_level(level: Level) -> str:
    """Return a level as a command line takes it."""
    if level.deny:
        return DENY
    if nameless_level(level) is None:
        return word_of(level)
    ranges = ((name, getattr(level, name)) for name in DIRECTIONS)
    return ",".join(f"{name}={_format_range(one)}" for name, one in ranges if one != NONE)


def _format_range(range_: VersionRange) -> str:
    return f"till:{range_.ordinal}" if range_.kind == "till" else range_.kind


def level_members(level: Level) -> dict[str, Any]:
    """Return a level as JSON members: `level` as a command line takes it, `ranges` as the HTTP API writes them."""
    ranges: dict[str, Any] = msgspec.to_builtins(policy_body(Config(exact_level=level)))
    return {"level": format_level(level), "ranges": ranges}
