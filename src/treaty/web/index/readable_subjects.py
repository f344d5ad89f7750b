"""Which subjects of an index a caller may read: found out once for each access and subject, a byte each.

Rules are asked about a subject in Python. For a caller whose rules have few patterns SQLite leaves out the subjects that none fits,
so that who may read few of very many is known after a few searches.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import compress

from treaty.core.access.rights import Access
from treaty.core.names import Subject
from treaty.web.index.storage import subject_of

ACCESSES = 64
"""Accesses whose readable subjects are remembered; principals with the same rules share one, and another file of rights makes new ones."""
SUBJECTS = "SELECT id, context, name, private FROM subject WHERE id IN"
NO, YES, UNKNOWN = 0, 1, 2
LEARNED = 250
"""Subjects about which one search asks the rules beforehand, where SQLite leaves none of them out."""
COMPARED = 100_000
"""Comparisons of a subject with a pattern that SQLite makes for that in one search."""
PATTERNS = 200
"""Patterns of names and contexts up to which SQLite leaves out the subjects that fit none."""
PATTERN_CHARACTERS = 10_000
"""Characters of all these patterns."""


@dataclass(slots=True)
class ReadableSubjects:
    """The subjects that one access may read, by their numbers in the index; without an access all of them."""

    connection: sqlite3.Connection
    access: Access | None
    known: bytearray = field(default_factory=bytearray)
    """NO, YES or UNKNOWN of each subject."""
    patterns: tuple[str, list[str]] = field(init=False, default_factory=lambda: ("", []))
    """A condition of SQL that all readable subjects fit, with its values; empty where there are too many patterns."""
    is_learning: bool = False
    """Whether it is not known yet, after the last list of few, if few or many may be read."""

    def __post_init__(self) -> None:
        """Read the patterns of the access."""
        if self.access is not None:
            self.patterns = _read_patterns(self.access)

    def has(self, number: int) -> bool:
        """Return whether the subject may be read."""
        if self.access is None:
            return True
        self._extend(number)
        if self.known[number] == UNKNOWN:
            self.learn((number,))
        return self.known[number] == YES

    def select(self, places: list[int]) -> list[int]:
        """Return the places whose subjects may be read."""
        if self.access is None:
            return places
        numbers = [*map(subject_of, places)]
        self._extend(max(numbers, default=0))
        answers = [self.known[number] for number in numbers]
        if UNKNOWN in answers:
            self.learn(numbers)
            answers = [self.known[number] for number in numbers]
        return [*compress(places, answers)]

    def list_few(self, limit: int) -> tuple[int, ...] | None:
        """Return all subjects that may be read; None where more than `limit` may be, or that is not known yet.

        Each call finds out about some more subjects, so that a caller who may read few of very many does not wait for all at once.
        """
        if self.access is None or self.known.count(YES) > limit:
            return None
        highest = self.connection.execute("SELECT max(id) FROM subject").fetchone()[0] or 0
        self._extend(highest)
        first = self.known.find(UNKNOWN, 1)
        if first >= 0:
            self._learn_from(first, highest, limit + 1)
        self.is_learning = self.known.count(YES) <= limit and self.known.find(UNKNOWN, 1) >= 0
        if self.is_learning or self.known.count(YES) > limit:
            return None
        numbers, at = list[int](), self.known.find(YES)
        while at >= 0:
            numbers.append(at)
            at = self.known.find(YES, at + 1)
        return tuple(numbers)

    def _learn_from(self, first: int, highest: int, count: int) -> None:
        """Find out about subjects from a number on, until so many of them may be readable or enough were passed over."""
        condition, values = self.patterns
        if not condition:
            self.learn(range(first, min(first + LEARNED, highest + 1)))
            return
        last = min(first + max(LEARNED, COMPARED // len(values)) - 1, highest) if values else highest
        query = f"SELECT id FROM subject WHERE id BETWEEN ? AND ? AND ({condition}) ORDER BY id LIMIT ?"  # noqa: S608 (no text of a caller)
        fitting = [number for (number,) in self.connection.execute(query, (first, last, *values, count))]
        last = fitting[-1] if len(fitting) == count else last
        self.learn(fitting)
        self.known[first : last + 1] = self.known[first : last + 1].replace(bytes([UNKNOWN]), bytes([NO]))

    def _extend(self, number: int) -> None:
        """Make room for the answer about a subject."""
        if number >= len(self.known):
            self.known.extend(bytes([UNKNOWN]) * (number + 1 - len(self.known)))

    def learn(self, numbers: Iterable[int]) -> None:
        """Find out which of some subjects, that there is room for, may be read, with one question for all that are not known."""
        if self.access is None:
            return
        unknown = {number for number in numbers if self.known[number] == UNKNOWN}
        for number in unknown:
            self.known[number] = NO
        condition, values = self.patterns
        query = f"{SUBJECTS} ({','.join(map(str, unknown))})" + (f" AND ({condition})" if condition else "")
        for number, context, name, private in self.connection.execute(query, values):
            subject = Subject(context, name)
            is_readable = self.access.may("read", subject)
            if is_readable and (not private or self.access.may("read", subject, private=True)):
                self.known[number] = YES


def _read_patterns(access: Access) -> tuple[str, list[str]]:
    """Return a condition of SQL that all subjects fit which an access may read, with its values; empty for too many patterns."""
    rules = [rule for rule in access.rules if "read" in rule.may]
    values = [_as_glob(pattern) for rule in rules for pattern in (*rule.subjects, *rule.contexts)]
    if len(values) > PATTERNS or sum(map(len, values)) > PATTERN_CHARACTERS:
        return "", []
    parts = ["instr(name, char(0))"]  # GLOB looks no further than there
    parts += (f"{_any_pattern('name', rule.subjects)} AND {_any_pattern('context', rule.contexts)}" for rule in rules)
    return " OR ".join(f"({part})" for part in parts), values


def _any_pattern(column: str, patterns: tuple[str, ...]) -> str:
    return f"({' OR '.join([f'{column} GLOB ?'] * len(patterns)) or '0'})"


def _as_glob(pattern: str) -> str:
    """Return a pattern of rights as one of SQLite, which has sets of characters in brackets too."""
    return pattern.replace("[", "[[]")


class ReadableCache:
    """What is known of the latest ACCESSES accesses, until a subject of the index goes or becomes private or public."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: OrderedDict[Access, bytearray] = OrderedDict()
        self._stamp: object = None

    def of(self, connection: sqlite3.Connection, access: Access | None, stamp: object) -> ReadableSubjects:
        """Return the readable subjects of an access; `stamp` is another one when what is known no longer holds."""
        if stamp != self._stamp:
            self._known.clear()
            self._stamp = stamp
        if access is None:
            return ReadableSubjects(connection, None)
        answers = self._known.setdefault(access, bytearray())
        self._known.move_to_end(access)
        if len(self._known) > ACCESSES:
            self._known.popitem(last=False)
        return ReadableSubjects(connection, access, answers)
