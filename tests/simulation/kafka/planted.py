"""Bugs planted in `writers=any`: what the simulation has to find. Each is a list of (place, name, what stands there)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from treaty.core.commit import START, Position, Prefix, as_root
from treaty.core.limits import FOLD_CHUNK_BYTES
from treaty.core.root import roots_of
from treaty.core.rows import Encoded
from treaty.log.kafka.any import chunks, folding, scan
from treaty.log.kafka.any import log as logs
from treaty.log.kafka.any.beginning import Named
from treaty.log.kafka.any.chunks import Chunk
from treaty.log.kafka.any.reading import Held, state
from treaty.log.kafka.any.rule import History, Verdict
from treaty.log.kafka.any.scan import Scanned
from treaty.log.kafka.any.tailing import Tail

_judge = History.judge
_plan = folding.plan
_cut = chunks.cut


def tail_of_a_chain(history: History, claim: Prefix) -> Verdict:
    """The head of a chain came second; its tail is taken all the same."""
    if claim.identity == history.tip.identity and claim.first <= history.tip.sequence < claim.last:
        return Verdict.VALID
    return _judge(history, claim)


def any_parent(history: History, claim: Prefix) -> Verdict:
    """Whoever has the next sequence is valid, whatever it was decided on: two nodes both win."""
    if history.tip.sequence and claim.last > history.tip.sequence:
        return Verdict.VALID
    return _judge(history, claim)


def resend(history: History, claim: Prefix) -> Verdict:
    """An append that comes again, late, is taken again."""
    return Verdict.VALID if history.tip.sequence and history.knows(claim.position) else _judge(history, claim)


def inside_a_chain(scanned: Scanned, margin: int) -> folding.Plan | None:
    """A fold of the state before the last commit of a chain, in the name of the append that ends there."""
    chosen = _plan(scanned, margin)
    if chosen is None:
        return None
    last = chosen.appends[-1]
    commits = last.commits if [*last.rows()] and last.commits else ()
    if len(commits) < 2:
        return chosen
    part = Held(last.before, last.after, last.offset, last.size, b"", commits[:-1])
    return replace(chosen, appends=(*chosen.appends[:-1], part))


def cut_to_the_chunks(scanned: Scanned, margin: int) -> folding.Plan | None:
    """Everything before the first chunk is cut away, the commits after the fold's place too."""
    chosen = _plan(scanned, max(margin, 1))
    return None if chosen is None else replace(chosen, rest=scanned.next)


def without_outcomes(folded: Sequence[Chunk], appends: Iterable[Held]) -> tuple[Encoded, ...]:
    """A fold forgets what commands came to."""
    return tuple(row for row in state(folded, appends) if row.table != "outcome")


def oldest(first: int, _: Sequence[Named], folds: Mapping[bytes, Position]) -> tuple[Position, bytes] | None:
    """The oldest fold that is whole is taken to begin with."""
    by_age = sorted((place.sequence, told) for told, place in folds.items())
    return (folds[by_age[0][1]], by_age[0][1]) if by_age else (START, b"") if first == 0 else None


def no_front(*_: object) -> tuple[Position, bytes]:
    """Whatever the partition begins with is taken for the front of the log."""
    return START, b""


def unchecked(place: Position, rows: Sequence[Encoded], *, size: int = FOLD_CHUNK_BYTES) -> tuple[Chunk, ...]:
    """A fold is made of whatever rows there are, and states their root: that they are not those of its place goes unseen."""
    return _cut(replace(place, root=as_root(roots_of(rows))), rows, size=size)


async def unnamed(*_: Any, **__: Any) -> bool:
    """The prefix is deleted though no append names the fold."""
    return True


def skipped(history: History, claim: Prefix) -> Verdict:
    """An append of a newer format is passed over."""
    verdict = _judge(history, claim)
    return Verdict.LOSER if verdict is Verdict.NEWER else verdict


def blind(history: History, claim: Prefix) -> Verdict:
    """What is not valid is always a loser, even where it speaks of another history."""
    verdict = _judge(history, claim)
    return verdict if verdict in {Verdict.VALID, Verdict.NEWER} else Verdict.LOSER


def passed_over(history: History, claim: Prefix) -> Verdict:
    """An append of an older format is passed over."""
    verdict = _judge(history, claim)
    return Verdict.LOSER if verdict is Verdict.OLDER else verdict


async def jumps(tail: Any) -> None:
    """Who finds that the next offset is gone goes on at the end, as a consumer without `auto.offset.reset=error` does."""
    tail._next = (await tail._link.ends()).end


Bug = Sequence[tuple[object, str, Callable[..., Any]]]

LIVES: Mapping[str, Bug] = {
    "the tail of a chain survives its lost head": [(History, "judge", tail_of_a_chain)],
    "an append is valid on any parent": [(History, "judge", any_parent)],
    "a late resend is taken again": [(History, "judge", resend)],
    "a fold inside a chain": [
        (folding, "plan", inside_a_chain),
        (logs, "plan", inside_a_chain),
        (folding, "cut", unchecked),
    ],
    "an outcome is lost by a fold": [(folding, "state", without_outcomes), (folding, "cut", unchecked)],
    "commits between a fold's place and its first chunk are cut away": [(logs, "plan", cut_to_the_chunks)],
    "an older fold is taken as the newest": [(scan, "beginning", oldest)],
    "a fold counts before it is named": [(folding, "_name", unnamed)],
}
"""Found by random lives of nodes."""

FAULTS: Mapping[str, Bug] = {
    "newer": [(History, "judge", skipped)],
    "older": [(History, "judge", passed_over)],
    "truncated": [(History, "judge", blind)],
    "forked": [(History, "judge", blind)],
    "front": [(scan, "beginning", no_front)],
    "again": [(Tail, "_again", jumps)],
}
"""Found by stories of faults that lives do not have: see test_any_faults.py."""
