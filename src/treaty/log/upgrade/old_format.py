"""Format 1: rows as texts, positions, appends as records, and the interface of its stores for an upgrade."""

import hashlib
import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

MAGIC = b"TRTY"
FORMAT = 1
NO_DIGEST = b"\0" * 32
_PREFIX = struct.Struct(">4sH16s16s32sQI")
"""magic, format, identity, attempt, parent digest, first sequence, number of commits; a digest and the body follow."""
MODULUS = 2**256
SEAL_KEY = '["successor"]'
"""Key of the row in table ``lineage`` with the target of a migration; nodes of format 1 do not write to a log that has
it.
"""


class OldLogError(Exception):
    """A log of format 1 that can't be carried over; the message says why and what to do."""


class OldRow(NamedTuple):
    """A row as its texts; a value of None takes the row away."""

    table: str
    key: str
    value: str | None

    @property
    def digest_share(self) -> int:
        """What it added to the state digest of format 1, in which every table counted."""
        if self.value is None:
            return 0
        parts = f"{len(self.table)}:{self.table}{len(self.key)}:{self.key}{self.value}"
        return int.from_bytes(hashlib.sha256(parts.encode("utf-8", "surrogatepass")).digest(), "big")


@dataclass(frozen=True, slots=True)
class OldPosition:
    """A position in the log: its identity, the last sequence of an append, and that append's digest."""

    identity: bytes = b"\0" * 16
    sequence: int = 0
    digest: bytes = NO_DIGEST


EMPTY = OldPosition()
"""The place of a log that has no appends."""


@dataclass(frozen=True, slots=True)
class OldState:
    """All live rows at the end of a log of format 1."""

    url: str
    position: OldPosition
    rows: tuple[OldRow, ...]

    @property
    def seal(self) -> "OldSeal | None":
        """Where the log went, if it was moved."""
        for row in self.rows:
            if row.table == "lineage" and row.key == SEAL_KEY and row.value is not None:
                members = json.loads(row.value)
                position = OldPosition(
                    bytes.fromhex(members["identity"]), members["sequence"], bytes.fromhex(members["digest"])
                )
                return OldSeal(position, str(members.get("place", "")))
        return None


@dataclass(frozen=True, slots=True)
class OldSeal:
    """The position at which a log was sealed, and where it went."""

    position: OldPosition
    url: str

    def row(self, time: int) -> OldRow:
        """The row that seals; `time` is in milliseconds since the epoch."""
        members = {
            "digest": self.position.digest.hex(), "identity": self.position.identity.hex(), "place": self.url,
            "sequence": self.position.sequence, "time": time, "v": FORMAT,
        }  # fmt: skip
        return OldRow("lineage", SEAL_KEY, to_canonical_json(members))


class OldLog(Protocol):
    """A store that holds a log of format 1. All methods raise `OldLogError`, `LogUnavailableError` or `LogDamagedError`."""

    @property
    def url(self) -> str:
        """Its name, without secrets."""
        ...

    @property
    def living(self) -> bool:
        """Whether nodes may write to it: a dump and a backup are copies, which is not written to."""
        ...

    async def read(self) -> OldState:
        """Return the state at the end, in one consistent cut."""
        ...

    async def write(self, base: OldPosition, row: OldRow, time: int) -> None:
        """Append one row if the log still ends at `base`; raises `OldLogError` where somebody else has written."""
        ...

    async def close(self) -> None:
        """Give back files and connections."""
        ...


def make_concurrent_write_error(url: str) -> OldLogError:
    """Return what to raise where a log of format 1 is still written to."""
    return OldLogError(f"somebody writes to {url}: stop all its nodes, then try again")


def to_canonical_json(value: Any) -> str:
    """Return the canonical JSON text of format 1, which is that of today."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


# ---------------------------------------------------------------------------------------------------------- appends


@dataclass(frozen=True, slots=True)
class OldPrefix:
    """What a record that claims to be an append says before its body."""

    format: int
    identity: bytes
    attempt: bytes
    parent: bytes
    first: int
    length: int
    digest: bytes

    @property
    def position(self) -> OldPosition:
        """The position right after it."""
        return OldPosition(self.identity, self.first + self.length - 1, self.digest)


@dataclass(frozen=True, slots=True)
class OldAppend:
    """An append of one commit, as it is written."""

    attempt: bytes
    position: OldPosition
    record: bytes


def read_prefix(record: bytes) -> OldPrefix | None:
    """Read what a record claims, unchecked; None where it is no append, or was cut short."""
    if record[:4] != MAGIC or len(record) < _PREFIX.size + 32:
        return None
    _, form, identity, attempt, parent, first, length = _PREFIX.unpack_from(record)
    return OldPrefix(form, identity, attempt, parent, first, length, record[_PREFIX.size : _PREFIX.size + 32])


def read_rows(record: bytes) -> list[OldRow]:
    """Return the rows of an append in their order. Raises `OldLogError` where it is damaged."""
    head, digest, body = record[: _PREFIX.size], record[_PREFIX.size : _PREFIX.size + 32], record[_PREFIX.size + 32 :]
    if hashlib.sha256(head + body).digest() != digest:
        raise OldLogError(
            "an append is damaged: its digest does not fit; restore the log from a dump with the old version"
        )
    return [OldRow(*row) for _, _, rows in json.loads(body) for row in rows]


def make_old_append(base: OldPosition, attempt: bytes, rows: Iterable[OldRow], time: int) -> OldAppend:
    """Build an append of one commit."""
    body = to_canonical_json([["", time, [[*row] for row in rows]]]).encode("utf-8", "surrogatepass")
    identity = base.identity if base.sequence else attempt
    head = _PREFIX.pack(MAGIC, FORMAT, identity, attempt, base.digest, base.sequence + 1, 1)
    digest = hashlib.sha256(head + body).digest()
    return OldAppend(attempt, OldPosition(identity, base.sequence + 1, digest), head + digest + body)
