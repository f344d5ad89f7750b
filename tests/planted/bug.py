"""A planted bug: what it does, the code that it changes, and the test or simulation that has to find it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Edit:
    """Other text inside one function. White space counts as one space.

    `target` is `module:qualified.name`. Code that imported the function by name is changed too. Where the module has no
    such function, the only one of that name in Treaty that has the old text once is taken: files may be renamed.
    """

    target: str
    old: str
    """Text of the function; it must be there exactly once."""
    new: str


@dataclass(frozen=True, slots=True)
class Swap:
    """Another function, method or property in the place of one; it takes the same arguments.

    The attribute is replaced: who imported the function by name keeps the good one.
    """

    target: str
    new: Any


Change = Edit | Swap


@dataclass(frozen=True, slots=True)
class ByLives:
    """Found by the simulation: in one of these lives a law breaks, one of `laws` first."""

    log: str
    """Kind of log: rows, appends, any, owner; empty where the seed chooses one of the first two."""
    seeds: range
    laws: frozenset[str]
    events: frozenset[str] = frozenset()
    """Events that each life has."""

    @property
    def kind(self) -> str:
        """Word for the table."""
        return f"simulation {self.log}".rstrip()


@dataclass(frozen=True, slots=True)
class ByTests:
    """Found by tests: each of them fails, by an assertion of its own."""

    tests: tuple[str, ...]
    """Node ids of pytest."""
    error: str = ""
    """What the failure begins with where it is no assertion of the test: an error of the code that the test meets."""

    @property
    def kind(self) -> str:
        """Word for the table: a law, or a suite."""
        return "law" if all(one.startswith("tests/laws/") for one in self.tests) else "suite"


Finder = ByLives | ByTests


@dataclass(frozen=True, slots=True)
class Bug:
    """One planted bug."""

    name: str
    does: str
    """A sentence."""
    changes: tuple[Change, ...]
    finder: Finder | None
    """None where no test finds it yet."""
    also: ByLives | None = None
    """The simulation finds it too, in these lives."""


ANY = "1 2 3 4 5 6 log root"
"""For bugs whose traces are many: whichever law breaks first is theirs."""
