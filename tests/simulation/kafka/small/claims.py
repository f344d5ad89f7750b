"""What the records of a small world claim. A digest is made of the sequence where its append ends, so it needs no names."""

from functools import cache

from tests.simulation.kafka.small.law import Law
from treaty.core.state.commit import ENVELOPE_FORMAT, NO_DIGEST, NO_ROOT, START, AppendPrefix, Position
from treaty.log.kafka.multi_writer.validity import AppendHistory, NamedAppend, RecordValidity

IDENTITY = bytes([1]) * 16
LATE = bytes([254]) * 16
STRANGER = bytes([255]) * 16


def digest(sequence: int) -> bytes:
    """Of the valid append that ends there."""
    return bytes([sequence]) * 32 if sequence else NO_DIGEST


def _root(sequence: int) -> bytes:
    """What the valid append that ends there states for the tables after it."""
    return bytes([sequence, 7]) * 16 if sequence else NO_ROOT


@cache
def valid(first: int, length: int) -> AppendPrefix:
    """The append that is valid there."""
    last = first + length - 1
    attempt = IDENTITY if first == 1 else bytes([last]) * 16
    return AppendPrefix(ENVELOPE_FORMAT, IDENTITY, attempt, digest(first - 1), first, length, digest(last), _root(last))


@cache
def second(first: int, length: int) -> AppendPrefix:
    """An append that somebody else decided on the same place, and that came second: of another root."""
    identity = LATE if first == 1 else IDENTITY
    return AppendPrefix(ENVELOPE_FORMAT, identity, LATE, digest(first - 1), first, length, LATE * 2, LATE * 2)


@cache
def stranger(first: int) -> AppendPrefix:
    """An append that was decided on another history."""
    return AppendPrefix(ENVELOPE_FORMAT, IDENTITY, STRANGER, STRANGER * 2, first, 1, STRANGER * 2, STRANGER * 2)


@cache
def named(claim: AppendPrefix, fold: int) -> NamedAppend:
    """An append that names a fold, or none (-1)."""
    return NamedAppend(claim, b"" if fold < 0 else told(fold))


def told(fold: int) -> bytes:
    """The digest of a fold."""
    return bytes([fold + 1])


def ends(lengths: bytes) -> list[int]:
    """The sequence after so many appends, for each number of them."""
    at = [0]
    for length in lengths:
        at.append(at[-1] + length)
    return at


def spot(sequence: int, *, root: bytes = b"") -> Position:
    """The place after the valid append that ends there; with another root, if one is given."""
    return Position(IDENTITY, sequence, digest(sequence), root or _root(sequence)) if sequence else START


def place(at: list[int], lengths: bytes, folded: int, *, inside: bool) -> Position:
    """The place of a fold of so many appends; `inside` a chain for a planted bug."""
    part = inside and lengths[folded - 1] > 1
    return Position(IDENTITY, at[folded] - part, digest(at[folded]), _root(at[folded]))


def follow(law: Law, history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    """Read a record as the law says."""
    verdict = law.judge(history, claim)
    if verdict is RecordValidity.VALID:
        history.advance(claim)
    return verdict
