"""Commits, and the appends that carry them: digests, the envelope that never changes its prefix, and the state root that an append states.

The root is an order-free digest of all rows. A table adds the sum of the digests of its rows modulo 2**256 (see
`EncodedRow.digest`), and the root is the sum over all tables, as 32 bytes, big-endian (`as_root`). Adding and taking away rows
moves it, so that the root after a commit is known without a look at any other row.
"""

import hashlib
import json
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Protocol

from treaty.core.state.codec import dumps
from treaty.core.state.rows import EncodedRow, decode_key, key_text
from treaty.core.state.state_tables import UNROOTED
from treaty.core.state.table import Key
from treaty.light_dataclass import dataclass

MAGIC = b"TRTY"
ENVELOPE_FORMAT = 1
NO_DIGEST = b"\0" * 32
NO_IDENTITY = b"\0" * 16
MODULUS = 2**256
NO_ROOT = b"\0" * 32
"""The root of a state without rows."""
_PREFIX = struct.Struct(">4sH16s16s32sQI")
"""magic, format, identity, attempt, parent digest, first sequence, chain length; fixed for ever."""
_HEAD = _PREFIX.size + 64
"""Bytes before the body in this format: prefix, digest, root."""


class EnvelopeError(ValueError):
    """Bytes that are not a whole, undamaged append; `magic`: whether they begin like one."""

    def __init__(self, message: str, *, magic: bool) -> None:
        """Keep whether the magic was there."""
        super().__init__(message)
        self.magic = magic


@dataclass(frozen=True, slots=True)
class PositionToken:
    """A place in a log's history: the state right after an append. Text form ``identity.sequence.digest``.

    `identity` is hex (empty for a log without an append), `digest` the hex digest of the append that ended at
    `sequence`.
    """

    identity: str
    sequence: int
    digest: str

    def __str__(self) -> str:
        return f"{self.identity}.{self.sequence}.{self.digest}"

    @staticmethod
    def parse(text: str) -> "PositionToken | None":
        """Read the text form; None if it is not one."""
        parts = text.split(".")
        if len(parts) != 3 or not parts[1].isascii() or not parts[1].isdigit() or len(parts[1]) > 18:
            return None
        return PositionToken(parts[0], int(parts[1]), parts[2])


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the log: its identity, the last sequence of an append, that append's digest, and the state root there.

    The root is the sum of the digests of all rows modulo 2**256, big-endian (see `EncodedRow.digest`). The append's
    digest covers it, so places are equal where the digests are.
    """

    identity: bytes = NO_IDENTITY
    sequence: int = 0
    digest: bytes = NO_DIGEST
    root: bytes = field(default=NO_ROOT, compare=False)

    def agrees(self, other: "Position") -> bool:
        """Return whether the other is this place with this root too."""
        return self is other or (self.root == other.root and self == other)

    @property
    def token(self) -> PositionToken:
        """The same place in words."""
        return PositionToken(self.identity.hex() if self.sequence else "", self.sequence, self.digest.hex())


START = Position()
"""The place before the first append of a log that has none."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The rows of one decision, visible as a whole or not at all. An empty one (no rows) only takes a place."""

    sequence: int
    rows: tuple[EncodedRow, ...]
    command_id: str = ""
    time: int = 0
    """Milliseconds since the epoch, from the command."""


@dataclass(frozen=True, slots=True)
class Append:
    """A chain of commits, decided one after the other on the state at `parent`; it wins or loses as a whole.

    `attempt` is 16 random bytes, new for every try. `identity` is the log's: the attempt of its first append.
    """

    identity: bytes
    attempt: bytes
    parent: bytes
    first: int
    commits: tuple[Commit, ...]
    body: bytes = field(repr=False)
    digest: bytes = field(repr=False)
    root: bytes = field(repr=False)
    """The state root after its last commit."""
    roots: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)
    """What each table adds to it, for stores that keep this too. Empty where the append was read from a record, and
    where it repeats the root of its base.
    """

    position: Position = field(init=False, repr=False, compare=False)
    """The place right after this append."""

    def __post_init__(self) -> None:
        """Work out the place."""
        object.__setattr__(self, "position", Position(self.identity, self.last, self.digest, self.root))

    @property
    def last(self) -> int:
        """Sequence of the last commit."""
        return self.first + len(self.commits) - 1

    @property
    def rows(self) -> tuple[EncodedRow, ...]:
        """Its rows in their last state, each once."""
        return tuple({(row.table, row.key): row for commit in self.commits for row in commit.rows}.values())

    @property
    def prefix(self) -> "AppendPrefix":
        """What its record claims before its body."""
        return AppendPrefix(
            ENVELOPE_FORMAT,
            self.identity,
            self.attempt,
            self.parent,
            self.first,
            len(self.commits),
            self.digest,
            self.root,
        )

    @property
    def envelope(self) -> bytes:
        """The append as one record: prefix, digest, root, body."""
        return _prefix(self) + self.digest + self.root + self.body


@dataclass(frozen=True, slots=True)
class AppendPrefix:
    """What any record that claims to be an append says before its body, whatever its format is."""

    format: int
    identity: bytes
    attempt: bytes
    parent: bytes
    first: int
    length: int
    digest: bytes
    """As the record claims; empty where the format is another one, which may keep it elsewhere."""
    root: bytes = NO_ROOT
    """The state root after the append, as the record claims; it is not looked at before the append is known to be valid."""

    @property
    def last(self) -> int:
        """Sequence of the last commit."""
        return self.first + self.length - 1

    @property
    def position(self) -> Position:
        """The place right after this append."""
        return Position(self.identity, self.last, self.digest, self.root)


def read_prefix(envelope: bytes) -> AppendPrefix:
    """Read what a record claims, without its body and unchecked; raises `EnvelopeError` where it claims nothing."""
    if envelope[:4] != MAGIC:
        message = "no append: the magic is missing"
        raise EnvelopeError(message, magic=False)
    if len(envelope) < _PREFIX.size + 32:
        message = "an append that was cut short"
        raise EnvelopeError(message, magic=True)
    _, envelope_format, identity, attempt, parent, first, length = _PREFIX.unpack_from(envelope)
    if envelope_format != ENVELOPE_FORMAT:
        return AppendPrefix(envelope_format, identity, attempt, parent, first, length, b"")
    if len(envelope) < _HEAD:
        message = "an append that was cut short"
        raise EnvelopeError(message, magic=True)
    digest, root = envelope[_PREFIX.size : _PREFIX.size + 32], envelope[_PREFIX.size + 32 : _HEAD]
    return AppendPrefix(envelope_format, identity, attempt, parent, first, length, digest, root)


def is_undamaged(envelope: bytes) -> bool:
    """Return whether the digest of an append of a known format, as `read_prefix` took it, is that of its bytes."""
    start = _PREFIX.size
    digest = hashlib.sha256(memoryview(envelope)[:start])
    digest.update(memoryview(envelope)[start + 32 :])
    return digest.digest() == envelope[start : start + 32]


def make_append(
    base: Position,
    attempt: bytes,
    commits: tuple[Commit, ...],
    roots: Mapping[str, int] | None,
    write: Callable[[Any], str] = dumps,
) -> Append:
    """Build the append of `commits` on `base`, by `dumps` or a function like it; the first append of a log gives it its
    identity.

    `roots` is what each table adds to the state root after it (see `treaty.core.state.commit`). None repeats the root of
    the base: for commits without rows that count. Raises `ValueError` for sequences that do not follow the base, and
    for rows that count where `roots` is None.
    """
    if not commits or any(commit.sequence != base.sequence + place for place, commit in enumerate(commits, 1)):
        message = "a chain has at least one commit, and its sequences follow the base without a gap"
        raise ValueError(message)
    if roots is None and any(row.table not in UNROOTED for commit in commits for row in commit.rows):
        message = "the root of the base is not that of these rows: say what each table adds to it"
        raise ValueError(message)
    identity = base.identity if base.sequence else attempt
    body = write([_commit_form(commit) for commit in commits]).encode("utf-8", "surrogatepass")
    head = _PREFIX.pack(MAGIC, ENVELOPE_FORMAT, identity, attempt, base.digest, base.sequence + 1, len(commits))
    root = base.root if roots is None else as_root(roots)
    digest = hashlib.sha256(head + root + body).digest()
    return Append(identity, attempt, base.digest, base.sequence + 1, commits, body, digest, root, roots or {})


def read_append(envelope: bytes) -> Append:
    """Read a record back. Raises `EnvelopeError` where it is not a whole, undamaged append of a known format."""
    claim = read_prefix(envelope)
    if claim.format != ENVELOPE_FORMAT:
        message = f"envelope format {claim.format}, known is {ENVELOPE_FORMAT}: upgrade this node"
        raise EnvelopeError(message, magic=True)
    if not is_undamaged(envelope):
        message = f"the append at sequence {claim.first} is damaged: its digest does not fit"
        raise EnvelopeError(message, magic=True)
    body = envelope[_HEAD:]
    commits = tuple(_commit_from(form, claim.first + place) for place, form in enumerate(json.loads(body)))
    if len(commits) != claim.length:
        message = f"the append at sequence {claim.first} says {claim.length} commits and has {len(commits)}"
        raise EnvelopeError(message, magic=True)
    return Append(claim.identity, claim.attempt, claim.parent, claim.first, commits, body, claim.digest, claim.root)


def as_root(roots: Mapping[str, int]) -> bytes:
    """Return the state root of tables that add these numbers to it."""
    return (sum(roots.values()) % MODULUS).to_bytes(32, "big")


def _prefix(append: Append) -> bytes:
    return _PREFIX.pack(
        MAGIC, ENVELOPE_FORMAT, append.identity, append.attempt, append.parent, append.first, len(append.commits)
    )


def _commit_form(commit: Commit) -> list[object]:
    return [commit.command_id, commit.time, [[row.table, row.key, row.value] for row in commit.rows]]


def _commit_from(form: list[object], sequence: int) -> Commit:
    command_id, time, rows = form
    encoded = tuple(EncodedRow(*row) for row in rows)  # type: ignore[attr-defined]
    return Commit(sequence, encoded, str(command_id), int(time))  # type: ignore[call-overload]


# ------------------------------------------------------------------------------------------------------- the state root


class RootedTables(Protocol):
    """Tables that know what they and each of their rows add to the root."""

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root; a table that adds nothing may be missing."""
        ...

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as stored in the log; 0 where there is none."""
        ...


class RowDigests:
    """The digests of a state's rows without the rows: for who writes rows and holds no tables."""

    def __init__(self, rows: Iterable[EncodedRow] = ()) -> None:
        """Begin with the rows of a state."""
        self.roots: Mapping[str, int] = {}
        self._shares: dict[tuple[str, str], int] = {}
        self.put(rows)

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row; 0 where there is none."""
        return self._shares.get((table, key_text(key)), 0)

    def put(self, rows: Iterable[EncodedRow]) -> None:
        """Take rows into the state; tombstones take out."""
        last = {(row.table, row.key): row for row in rows}
        self.roots = roots_after(self, last.values())
        for place, row in last.items():
            if row.value is None:
                self._shares.pop(place, None)
            else:
                self._shares[place] = row.digest


def roots_after(tables: RootedTables, rows: Iterable[EncodedRow]) -> Mapping[str, int]:
    """Return what each table adds to the root after some rows were applied; of rows that change again the last state
    counts.

    A table that adds nothing is missing.
    """
    return roots_with(tables, ((row, decode_key(row.key)) for row in rows))


def roots_with(tables: RootedTables, rows: Iterable[tuple[EncodedRow, Key]]) -> dict[str, int]:
    """Return the same where the keys have been read."""
    roots, share = dict(tables.roots), tables.share
    for (table, key), row in {(row.table, key): row for row, key in rows}.items():
        add_share(roots, table, row.digest - share(table, key))
    return roots


def add_share(roots: dict[str, int], table: str, change: int) -> None:
    """Change what a table adds; one that adds nothing any more is left out."""
    if change:
        total = (roots.get(table, 0) + change) % MODULUS
        if total:
            roots[table] = total
        else:
            del roots[table]


def roots_of(rows: Iterable[EncodedRow]) -> Mapping[str, int]:
    """Return what each table adds to the root of a state that has just these rows, each once."""
    roots: dict[str, int] = {}
    for row in rows:
        add_share(roots, row.table, row.digest)
    return roots
