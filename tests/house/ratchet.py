"""The ratchet: how many offenders of a rule each room may still have. The numbers may only fall."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

FILE = Path(__file__).with_name("ratchet.toml")


@dataclass(frozen=True)
class Ratchet:
    """For each rule the offenders allowed by room, and the rooms that are being worked on."""

    allowed: Mapping[str, Mapping[str, int]]
    in_work: frozenset[str]


def read_ratchet() -> Ratchet:
    """Read the numbers of the project."""
    parsed = tomllib.loads(FILE.read_text("utf-8"))
    return Ratchet(parsed["allowed"], frozenset(parsed["in_work"]))


def room_of(offender: str) -> str:
    """Return the room of an offender, which begins with its path: `core`, `spark`, or `docs` for all documents."""
    parts = PurePosixPath(offender.split(":", maxsplit=1)[0]).parts
    return PurePosixPath(parts[2]).stem if parts[:2] == ("src", "treaty") and len(parts) > 2 else "docs"


def broken(ratchet: Ratchet, rule: str, offenders: Iterable[str]) -> Iterator[str]:
    """Say where a room has more offenders than it may, or may have more than it has.

    A room in work may have fewer: two people who deliver to it on one day need not meet in the file of numbers.
    """
    allowed = ratchet.allowed.get(rule, {})
    found: dict[str, list[str]] = {room: [] for room in allowed}
    for offender in offenders:
        found.setdefault(room_of(offender), []).append(offender)
    for room, names in sorted(found.items()):
        limit = allowed.get(room, 0)
        if len(names) > limit:
            yield f"{room} has {len(names)} of {rule}, allowed are {limit}: {', '.join(sorted(names))}"
        elif len(names) < limit and room not in ratchet.in_work:
            yield f"{room} has {len(names)} of {rule}, allowed are {limit}: lower it to {len(names)} in {FILE.name}"
