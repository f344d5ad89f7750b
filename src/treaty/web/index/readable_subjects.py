"""Which subjects of an index a caller may read: found out once for each access and subject, a byte each."""

import sqlite3
from collections import OrderedDict
from dataclasses import dataclass, field

from treaty.core.access.rights import Access
from treaty.core.names import Subject

ACCESSES = 64
"""Accesses whose readable subjects are remembered; principals with the same rules share one, and another file of rights makes new ones."""
SUBJECT = "SELECT context, name, private FROM subject WHERE id = ?"
UNKNOWN, NO, YES = 0, 1, 2


@dataclass(slots=True)
class ReadableSubjects:
    """The subjects that one access may read, by their numbers in the index; without an access all of them."""

    connection: sqlite3.Connection
    access: Access | None
    known: bytearray = field(default_factory=bytearray)

    def has(self, number: int) -> bool:
        """Return whether the subject may be read."""
        if self.access is None:
            return True
        if number >= len(self.known):
            self.known.extend(bytes(number + 1 - len(self.known) + len(self.known) // 8))
        answer = self.known[number]
        if answer == UNKNOWN:
            answer = self.known[number] = YES if self._may_read(number) else NO
        return answer == YES

    def _may_read(self, number: int) -> bool:
        row = self.connection.execute(SUBJECT, (number,)).fetchone()
        if row is None or self.access is None:
            return False
        context, name, private = row
        subject = Subject(context, name)
        return self.access.may("read", subject) and (not private or self.access.may("read", subject, private=True))


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
        known = self._known.setdefault(access, bytearray())
        self._known.move_to_end(access)
        if len(self._known) > ACCESSES:
            self._known.popitem(last=False)
        return ReadableSubjects(connection, access, known)
