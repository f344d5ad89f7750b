"""Members of queries, and versions in paths, read as the original reads them: generous with booleans, strict with integers."""

import re
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from treaty.api.errors import HttpError
from treaty.core.limits import COUNTER
from treaty.core.messages.request import LATEST, NO_VERSION_ID_IN_RANGE, Visible
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import InvalidVersion

_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


class PathNotFoundError(HttpError):
    """A number or a word in the path or query is not valid: Confluent's registry has no such address then."""

    def __init__(self, why: str) -> None:
        """Keep why."""
        super().__init__(404, f"HTTP 404 Not Found: {why}")


def integer(text: str) -> int:
    """Read a 32-bit integer; raises `PathNotFoundError`."""
    if not _INTEGER.fullmatch(text) or not -COUNTER - 1 <= int(text) <= COUNTER:
        raise PathNotFoundError(f"{text[:100]!r} is not a 32-bit integer")
    return int(text)


def version_of(text: str, subject: Subject) -> int:
    """Read a version of a subject in a path: 1 and up, ``latest`` or -1; raises `InvalidVersion`."""
    word = text.strip()
    if word.lower() == "latest" or word == "-1":
        return LATEST
    if _INTEGER.fullmatch(word) and 1 <= int(word) <= COUNTER:
        return int(word)
    short_text = text[:100]
    raise InvalidVersion.of(
        "VERSION_ID",
        NO_VERSION_ID_IN_RANGE.format(version=short_text),
        subject=str(subject),
        version=short_text,
        new=short_text,
        allowed="1 to 2^31-1, latest",
    )


@dataclass(frozen=True, slots=True)
class Query:
    """The members of a query string, in order."""

    members: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(raw: bytes) -> "Query":
        """Read a raw query string; empty pairs are skipped, a member without a value is empty."""
        if not raw:
            return NONE
        return Query(tuple(parse_qsl(raw.decode("latin-1"), keep_blank_values=True)))

    def get(self, *names: str) -> str | None:
        """Return the first value under any of these names, or None."""
        return next((value for name, value in self.members if name in names), None)

    def get_all(self, name: str) -> list[str]:
        """Return every value under a name."""
        return [value for member, value in self.members if member == name]

    def flag(self, *names: str) -> bool:
        """Return whether a member is ``true``, in any letter case."""
        return (self.get(*names) or "").lower() == "true"

    def with_member(self, name: str, value: str) -> "Query":
        """Return the query with one member set."""
        return replace(self, members=(*(pair for pair in self.members if pair[0] != name), (name, value)))

    def subject(self, name: str = "subject") -> Subject | None:
        """Return the subject under a name; None where it is absent or empty."""
        text = self.get(name)
        return subject_of(text) if text else None

    def is_exact(self) -> bool:
        """Return whether a subject itself is meant, even where it is an alias."""
        return self.get("alias") == "false"

    def tags(self) -> tuple[str, ...]:
        """Return the tags that are looked for inside a schema."""
        return tuple(dict.fromkeys(tag for tag in self.get_all("findTags") if tag))

    def read_visible(self) -> Visible:
        """Which versions a list shows; `deletedOnly` wins (Python's client spells it `deleted_only`)."""
        if self.flag("deletedOnly", "deleted_only"):
            return "deleted"
        return "all" if self.flag("deleted") else "live"

    def offset(self) -> int:
        """Entries to skip."""
        return max(0, integer(self.get("offset") or "0"))

    def limit(self, default: int = COUNTER) -> int:
        """Entries to show at most; out of its range it means the default, as in the original."""
        limit = integer(self.get("limit") or "-1")
        return limit if 1 <= limit <= default else default

    def page(self) -> slice:
        """The part of a list that is asked for; raises `PathNotFoundError`, so take it before the list is asked for."""
        offset = self.offset()
        return slice(offset, offset + self.limit())


NONE = Query()
