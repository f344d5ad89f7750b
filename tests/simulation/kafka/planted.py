"""Bugs planted in `writers=any`: what the simulation has to find. Each is a list of (place, name, what stands there)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from treaty.core.limits import SNAPSHOT_CHUNK_BYTES
from treaty.core.state.commit import START, AppendPrefix, Position, as_root
from treaty.core.state.root import roots_of
from treaty.core.state.rows import EncodedRow
from treaty.log.kafka.multi_writer import chunks, compaction, scan
from treaty.log.kafka.multi_writer import log as logs
from treaty.log.kafka.multi_writer.chunks import SnapshotChunk
from treaty.log.kafka.multi_writer.reader_state import BufferedAppend, build_state
from treaty.log.kafka.multi_writer.scan import ScanResult
from treaty.log.kafka.multi_writer.tailer import LogTailer
from treaty.log.kafka.multi_writer.validity import AppendHistory, NamedAppend, RecordValidity

_judge = AppendHistory.check
_plan = compaction.plan_compaction
_cut = chunks.make_chunks


def tail_of_a_chain(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    """The head of a chain came second; its tail is taken all the same."""
    if claim.identity == history.tip.identity and claim.first <= history.tip.sequence < claim.last:
        return RecordValidity.VALID
    return _judge(history, claim)


def any_parent(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    """Whoever has the next sequence is valid, whatever it was decided on: two nodes both win."""
    if history.tip.sequence and claim.last > history.tip.sequence:
        return RecordValidity.VALID
    return _judge(history, claim)


def resend(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    """An append that comes again, late, is taken again."""
    return RecordValidity.VALID if history.tip.sequence and history.knows(claim.position) else _judge(history, claim)


def inside_a_chain(scanned: ScanResult, margin: int) -> compaction.CompactionPlan | None:
    """A fold of the state before the last commit of a chain, in the name of the append that ends there."""
    chosen = _plan(scanned, margin)
    if chosen is None:
        return None
    last = chosen.appends[-1]
    commits = last.commits if [*last.rows()] and last.commits else ()
    if len(commits) < 2:
        return chosen
    part = BufferedAppend(last.before, last.after, last.offset, last.size, b"", commits[:-1])
    return replace(chosen, appends=(*chosen.appends[:-1], part))


def cut_to_the_chunks(scanned: ScanResult, margin: int) -> compaction.CompactionPlan | None:
    """Everything before the first chunk is cut away, the commits after the fold's place too."""
    chosen = _plan(scanned, max(margin, 1))
    return None if chosen is None else replace(chosen, rest=scanned.next)


def without_outcomes(folded: Sequence[SnapshotChunk], appends: Iterable[BufferedAppend]) -> tuple[EncodedRow, ...]:
    """A fold forgets what commands came to."""
    return tuple(row for row in build_state(folded, appends) if row.table != "outcome")


def oldest(first: int, _: Sequence[NamedAppend], folds: Mapping[bytes, Position]) -> tuple[Position, bytes] | None:
    """The oldest fold that is whole is taken to begin with."""
    by_age = sorted((place.sequence, told) for told, place in folds.items())
    return (folds[by_age[0][1]], by_age[0][1]) if by_age else (START, b"") if first == 0 else None


def no_front(*_: object) -> tuple[Position, bytes]:
    """Whatever the partition begins with is taken for the front of the log."""
    return START, b""


def unchecked(
    place: Position, rows: Sequence[EncodedRow], *, size: int = SNAPSHOT_CHUNK_BYTES
) -> tuple[SnapshotChunk, ...]:
    """A fold is made of whatever rows there are, and states their root: that they are not those of its place goes unseen."""
    return _cut(replace(place, root=as_root(roots_of(rows))), rows, size=size)


async def unnamed(*_: Any, **__: Any) -> bool:
    """The prefix is deleted though no append names the fold."""
    return True


def skipped(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    """An append of a newer format is passed over."""
    verdict = _judge(history, claim)
    return RecordValidity.STALE if verdict is RecordValidity.NEWER else verdict


def blind(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    """What is not valid is always a loser, even where it speaks of another history."""
    verdict = _judge(history, claim)
    return verdict if verdict in {RecordValidity.VALID, RecordValidity.NEWER} else RecordValidity.STALE


async def jumps(tail: Any) -> None:
    """Who finds that the next offset is gone goes on at the end, as a consumer without `auto.offset.reset=error` does."""
    tail._next = (await tail._client.fetch_offset_range()).end


Bug = Sequence[tuple[object, str, Callable[..., Any]]]

LIVES: Mapping[str, Bug] = {
    "the tail of a chain survives its lost head": [(AppendHistory, "check", tail_of_a_chain)],
    "an append is valid on any parent": [(AppendHistory, "check", any_parent)],
    "a late resend is taken again": [(AppendHistory, "check", resend)],
    "a fold inside a chain": [
        (compaction, "plan_compaction", inside_a_chain),
        (logs, "plan_compaction", inside_a_chain),
        (compaction, "make_chunks", unchecked),
    ],
    "an outcome is lost by a fold": [
        (compaction, "build_state", without_outcomes),
        (compaction, "make_chunks", unchecked),
    ],
    "commits between a fold's place and its first chunk are cut away": [(logs, "plan_compaction", cut_to_the_chunks)],
    "an older fold is taken as the newest": [(scan, "choose_start", oldest)],
    "a fold counts before it is named": [(compaction, "_append_pointer", unnamed)],
}
"""Found by random lives of nodes."""

FAULTS: Mapping[str, Bug] = {
    "newer": [(AppendHistory, "check", skipped)],
    "truncated": [(AppendHistory, "check", blind)],
    "forked": [(AppendHistory, "check", blind)],
    "front": [(scan, "choose_start", no_front)],
    "again": [(LogTailer, "_rescan_if_cut", jumps)],
}
"""Found by stories of faults that lives do not have: see test_any_faults.py."""
