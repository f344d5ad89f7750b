"""Wrong rules, and the smallest worlds in which they have to be found."""

from collections.abc import Mapping, Sequence

from tests.simulation.kafka.small.law import RIGHT, Law, Size
from treaty.core.state.commit import START, AppendPrefix, Position
from treaty.log.kafka.multi_writer.validity import AppendHistory, NamedAppend, RecordValidity


def _without_the_place(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    verdict = RIGHT.judge(history, claim)
    return RecordValidity.STALE if verdict is RecordValidity.FORKED else verdict


def _missing_loses(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    verdict = RIGHT.judge(history, claim)
    return RecordValidity.STALE if verdict is RecordValidity.GAP else verdict


def _by_sequence(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    fits = claim.identity == history.tip.identity and claim.first == history.tip.sequence + 1
    return RecordValidity.VALID if fits else RIGHT.judge(history, claim)


def _tails(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    late = claim.identity == history.tip.identity and claim.first <= history.tip.sequence < claim.last
    return RecordValidity.VALID if late else RIGHT.judge(history, claim)


def _by_root(history: AppendHistory, claim: AppendPrefix) -> RecordValidity:
    verdict = RIGHT.judge(history, claim)
    known = history.positions.get(claim.last)
    other = verdict is RecordValidity.STALE and known is not None and known[32:] != claim.root
    return RecordValidity.FORKED if other else verdict


def _oldest(first: int, _: Sequence[NamedAppend], folds: Mapping[bytes, Position]) -> tuple[Position, bytes] | None:
    by_age = sorted((place.sequence, told) for told, place in folds.items())
    return (folds[by_age[0][1]], by_age[0][1]) if by_age else (START, b"") if first == 0 else None


def _lowest_first(
    first: int, appends: Sequence[NamedAppend], folds: Mapping[bytes, Position]
) -> tuple[Position, bytes] | None:
    by_age = sorted(folds, key=lambda told: folds[told].sequence)
    each = (RIGHT.begin(first or 1, appends, {told: folds[told]}) for told in by_age)
    return next(filter(None, each), RIGHT.begin(first, appends, {}))


def _born_anywhere(
    first: int, appends: Sequence[NamedAppend], folds: Mapping[bytes, Position]
) -> tuple[Position, bytes]:
    return RIGHT.begin(first, appends, folds) or (START, b"")


def _named_by_whatever(
    first: int, appends: Sequence[NamedAppend], folds: Mapping[bytes, Position]
) -> tuple[Position, bytes] | None:
    given = {one.snapshot_digest for one in appends} & set(folds)
    newest = max(given, key=lambda told: folds[told].sequence, default=b"")
    return (folds[newest], newest) if newest else (START, b"") if first == 0 else None


NONE, ONE, TWO = Size(2, 2), Size(2, 2, folds=1), Size(2, 2, folds=2)
WRONG: Mapping[str, tuple[Law, Size]] = {
    "a loser whose parent's place is not looked at": (Law(judge=_without_the_place), NONE),
    "missing data is a loser": (Law(judge=_missing_loses), NONE),
    "the parent is not looked at": (Law(judge=_by_sequence), NONE),
    "the tail of a chain outlives its head": (Law(judge=_tails), NONE),
    "a stale append is judged by its root": (Law(judge=_by_root), NONE),
    "a fold inside a chain": (Law(inside=True), ONE),
    "the prefix is deleted beyond the fold's place": (Law(rest=lambda _, count: count), ONE),
    "a fold counts before it is named": (Law(named=False), ONE),
    "an older fold is taken as the newest": (Law(begin=_oldest), TWO),
    "folds are tried from the oldest one on": (Law(begin=_lowest_first), TWO),
    "an append that lost names a fold": (Law(begin=_named_by_whatever), TWO),
    "what is left of a front is taken for all": (Law(begin=_born_anywhere), NONE),
}
