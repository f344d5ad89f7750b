"""Commits, and the appends that carry them: digests, and the envelope that never changes its prefix."""

import hashlib
import json
import struct
from dataclasses import dataclass, field

from treaty.core.codec import dumps
from treaty.core.registry import Token
from treaty.core.rows import Encoded

MAGIC = b"TRTY"
ENVELOPE_FORMAT = 1
NO_DIGEST = b"\0" * 32
NO_IDENTITY = b"\0" * 16
_PREFIX = struct.Struct(">4sH16s16s32sQI")
"""magic, format, identity, attempt, parent digest, first sequence, chain length; fixed for ever."""


class EnvelopeError(ValueError):
    """Bytes that are not a whole, undamaged append; `magic` tells whether they at least claim to be one."""

    def __init__(self, message: str, *, magic: bool) -> None:
        """Keep whether the magic was there."""
        super().__init__(message)
        self.magic = magic


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the log: its identity, the last sequence of an append, and that append's digest."""

    identity: bytes = NO_IDENTITY
    sequence: int = 0
    digest: bytes = NO_DIGEST

    @property
    def token(self) -> Token:
        """The same place in words."""
        return Token(self.identity.hex() if self.sequence else "", self.sequence, self.digest.hex())


START = Position()
"""The place before the first append of a log that has none."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The rows of one decision, visible as a whole or not at all. An empty one (no rows) only takes a place."""

    sequence: int
    rows: tuple[Encoded, ...]
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

    @property
    def last(self) -> int:
        """Sequence of the last commit."""
        return self.first + len(self.commits) - 1

    @property
    def rows(self) -> tuple[Encoded, ...]:
        """Its rows in their last state, each once."""
        return tuple({(row.table, row.key): row for commit in self.commits for row in commit.rows}.values())

    @property
    def position(self) -> Position:
        """The place right after this append."""
        return Position(self.identity, self.last, self.digest)

    @property
    def prefix(self) -> "Prefix":
        """What its record claims before its body."""
        return Prefix(
            ENVELOPE_FORMAT, self.identity, self.attempt, self.parent, self.first, len(self.commits), self.digest
        )

    @property
    def envelope(self) -> bytes:
        """The append as one record: prefix, digest, body."""
        return _prefix(self) + self.digest + self.body


@dataclass(frozen=True, slots=True)
class Prefix:
    """What any record that claims to be an append says before its body, whatever its format is."""

    format: int
    identity: bytes
    attempt: bytes
    parent: bytes
    first: int
    length: int
    digest: bytes
    """As the record claims; empty where the format is a newer one, which may keep it elsewhere."""

    @property
    def last(self) -> int:
        """Sequence of the last commit."""
        return self.first + self.length - 1

    @property
    def position(self) -> Position:
        """The place right after this append."""
        return Position(self.identity, self.last, self.digest)


def read_prefix(envelope: bytes) -> Prefix:
    """Read what a record claims, without its body and unchecked; raises `EnvelopeError` where it claims nothing."""
    if envelope[:4] != MAGIC:
        message = "no append: the magic is missing"
        raise EnvelopeError(message, magic=False)
    if len(envelope) < _PREFIX.size + 32:
        message = "an append that was cut short"
        raise EnvelopeError(message, magic=True)
    _, envelope_format, identity, attempt, parent, first, length = _PREFIX.unpack_from(envelope)
    digest = envelope[_PREFIX.size : _PREFIX.size + 32] if envelope_format == ENVELOPE_FORMAT else b""
    return Prefix(envelope_format, identity, attempt, parent, first, length, digest)


def undamaged(envelope: bytes) -> bool:
    """Tell whether the digest of an append of a known format, as `read_prefix` took it, is that of its bytes."""
    start = _PREFIX.size
    digest = hashlib.sha256(memoryview(envelope)[:start])
    digest.update(memoryview(envelope)[start + 32 :])
    return digest.digest() == envelope[start : start + 32]


def make_append(base: Position, attempt: bytes, commits: tuple[Commit, ...]) -> Append:
    """Build the append of `commits` on `base`; the first append of a log gives it its identity."""
    if not commits or any(one.sequence != base.sequence + place for place, one in enumerate(commits, 1)):
        message = "a chain has at least one commit, and its sequences follow the base without a gap"
        raise ValueError(message)
    identity = base.identity if base.sequence else attempt
    body = dumps([_commit_form(one) for one in commits]).encode("utf-8", "surrogatepass")
    head = _PREFIX.pack(MAGIC, ENVELOPE_FORMAT, identity, attempt, base.digest, base.sequence + 1, len(commits))
    digest = hashlib.sha256(head + body).digest()
    return Append(identity, attempt, base.digest, base.sequence + 1, commits, body, digest)


def read_append(envelope: bytes) -> Append:
    """Read a record back. Raises `EnvelopeError` where it is not a whole, undamaged append of a known format."""
    if envelope[:4] != MAGIC:
        message = "no append: the magic is missing"
        raise EnvelopeError(message, magic=False)
    if len(envelope) < _PREFIX.size + 32:
        message = "an append that was cut short"
        raise EnvelopeError(message, magic=True)
    head, digest, body = (
        envelope[: _PREFIX.size],
        envelope[_PREFIX.size : _PREFIX.size + 32],
        envelope[_PREFIX.size + 32 :],
    )
    _, envelope_format, identity, attempt, parent, first, length = _PREFIX.unpack(head)
    if envelope_format != ENVELOPE_FORMAT:
        message = f"envelope format {envelope_format}, known is {ENVELOPE_FORMAT}: upgrade this node"
        raise EnvelopeError(message, magic=True)
    if hashlib.sha256(head + body).digest() != digest:
        message = f"the append at sequence {first} is damaged: its digest does not fit"
        raise EnvelopeError(message, magic=True)
    commits = tuple(_commit_from(form, first + place) for place, form in enumerate(json.loads(body)))
    if len(commits) != length:
        message = f"the append at sequence {first} says {length} commits and has {len(commits)}"
        raise EnvelopeError(message, magic=True)
    return Append(identity, attempt, parent, first, commits, body, digest)


def _prefix(one: Append) -> bytes:
    return _PREFIX.pack(MAGIC, ENVELOPE_FORMAT, one.identity, one.attempt, one.parent, one.first, len(one.commits))


def _commit_form(one: Commit) -> list[object]:
    return [one.command_id, one.time, [[row.table, row.key, row.value] for row in one.rows]]


def _commit_from(form: list[object], sequence: int) -> Commit:
    command_id, time, rows = form
    encoded = tuple(Encoded(*row) for row in rows)  # type: ignore[attr-defined]
    return Commit(sequence, encoded, str(command_id), int(time))  # type: ignore[call-overload]
