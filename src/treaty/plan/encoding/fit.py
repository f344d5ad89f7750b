"""`ColumnConversion`: how one place of a row is brought to what the schema has there, as a frozen value that can be
stored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

CONVERSIONS: Mapping[str, str] = {
    "keep": "taken as it is",
    "cast": "cast",
    "record": "field by field",
    "items": "item by item",
    "entries": "entry by entry",
    "choose": "the one member that is set",
    "branch": "a branch of the union",
    "constant": "the schema's default",
    "nanos": "counted in nanoseconds",
    "wall_nanos": "counted in nanoseconds of its own clock",
    "instant": "split into seconds and nanoseconds",
    "day": "split into year, month and day",
    "wrap": "put into its message",
    "base64": "written in Base64",
    "embed": "put in as JSON",
    "json": "written as JSON text",
    "present": "written as null where it is null",
}
"""What may be done at a place."""

CHECKS: Mapping[str, str] = {
    "fits": "{path} does not fit into {type}",
    "exact": "{path} would lose digits as {type}",
    "digits": "{path} would lose digits as {type}",
    "clock": "{path} is another time when it is read back from {type}",
    "text": "{path} is not exactly one {type}",
    "millis": "{path} has microseconds, and the schema counts milliseconds",
    "wide": "{path} has a number of more digits than Spark keeps in JSON",
    "overflow": "{path} is too large for {type}",
    "finite": "{path} is no finite number",
    "range": "{path} is not within {args[0]} and {args[1]}",
    "symbols": "{path} is none of {shown}",
    "enum": "{path} is none of {shown}, and no number",
    "size": "{path} has not {args[0]} bytes",
    "utf8": "{path} is no UTF-8",
    "json": "{path} is no JSON",
    "keys": "two keys of {path} are the same as {type}",
    "one": "{path} has not exactly one member set",
    "oneof": "{path} has more than one of {shown} set",
}
"""What may be wrong with a value that is not null, and the sentence that a bad row gets."""
LOSSY = frozenset({"exact", "digits", "clock", "text", "millis", "wide"})
"""Checks that say something would be lost. `EncodeOptions.lossy` takes them away at the places that it names."""
SYMBOLS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class LossCheck:
    """One of `CHECKS`, with what it needs to know."""

    name: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversionPart:
    """A part of a place: what it is called there, the column that it comes from, and how it is brought over."""

    name: str
    source: str
    fit: "ColumnConversion"


@dataclass(frozen=True, slots=True)
class ColumnConversion:
    """One of `CONVERSIONS` for the place at `path`.

    `type` is the Spark type that comes out and `have` the one that goes in. `required`: a null is wrong here. `same`:
    what comes out is what goes in, so that only checks are to be run. `constant` is JSON (bytes as text of one
    character each).
    """

    path: str
    way: str
    type: str
    have: str = ""
    required: bool = False
    same: bool = False
    checks: tuple[LossCheck, ...] = ()
    parts: tuple[ConversionPart, ...] = ()
    constant: str = ""

    @property
    def clean(self) -> bool:
        """Whether no value can be wrong here or inside."""
        return not self.required and not self.checks and all(part.fit.clean for part in self.parts)

    def walk(self) -> Iterator["ColumnConversion"]:
        """This place and all inside it, from outside in."""
        yield self
        for part in self.parts:
            yield from part.fit.walk()

    def steps(self) -> tuple[str, ...]:
        """What is done here, in words; empty where nothing is."""
        actions = [] if self.way in {"keep", "record", "items", "entries"} else [self._print_way()]
        conditions = [sentence(self, check).removeprefix(self.path).strip() for check in self.checks]
        conditions = [*(["is null"] if self.required else []), *conditions]
        return (*actions, *([f"bad where it {' or '.join(conditions)}"] if conditions else []))

    def _print_way(self) -> str:
        if self.way == "cast":
            return f"cast from {self.have} to {self.type}"
        return f"{CONVERSIONS[self.way]}{f': {self.constant}' if self.constant else ''}"


def sentence(fit: ColumnConversion, check: LossCheck) -> str:
    """The message of a bad row."""
    more = "" if len(check.args) <= SYMBOLS_SHOWN else ", …"
    symbols = ", ".join(check.args[:SYMBOLS_SHOWN]) + more
    path = fit.path or "the value"
    return CHECKS[check.name].format(path=path, type=fit.type, args=check.args, shown=symbols)


def read_conversion(parts: Mapping[str, Any]) -> ColumnConversion:
    """Read the stored form."""
    checks = tuple(LossCheck(one["name"], tuple(one["args"])) for one in parts["checks"])
    inside = tuple(ConversionPart(one["name"], one["source"], read_conversion(one["fit"])) for one in parts["parts"])
    return ColumnConversion(**{**parts, "checks": checks, "parts": inside})
