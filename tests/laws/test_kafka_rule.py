"""The rule of `writers=any`, case by case: which record of a partition is the next append of the log."""

from dataclasses import replace

import pytest

from treaty.core.state.commit import ENVELOPE_FORMAT, NO_DIGEST, START, AppendPrefix, Position
from treaty.log.kafka.multi_writer.validity import AppendHistory, RecordValidity


def claim(name: str, parent: str = "", first: int = 1, length: int = 1, *, identity: str = "a") -> AppendPrefix:
    """A claim whose attempt and digest are named alike."""
    return AppendPrefix(
        ENVELOPE_FORMAT,
        identity.encode() * 16,
        name.encode() * 16,
        parent.encode() * 32 if parent else NO_DIGEST,
        first,
        length,
        name.encode() * 32,
        name.upper().encode() * 32,
    )


BORN = claim("a")
SECOND = claim("b", "a", 2, 2)
THIRD = claim("c", "b", 4)

FOURTH: dict[str, tuple[AppendPrefix, RecordValidity]] = {
    "on the tip": (claim("d", "c", 5), RecordValidity.VALID),
    "a chain on the tip": (claim("d", "c", 5, 7), RecordValidity.VALID),
    "on the tip in a newer format": (replace(claim("d", "c", 5), format=9, digest=b""), RecordValidity.NEWER),
    "the third once more, with another root": (replace(THIRD, root=b"x" * 32), RecordValidity.STALE),
    "behind, in a newer format": (replace(claim("d", "b", 4), format=9, digest=b""), RecordValidity.STALE),
    "second to the third": (claim("d", "b", 4), RecordValidity.STALE),
    "second to the first": (claim("d"), RecordValidity.STALE),
    "the birth of another log": (claim("d", identity="d"), RecordValidity.STALE),
    "the third once more": (THIRD, RecordValidity.STALE),
    "the first once more": (BORN, RecordValidity.STALE),
    "of another log": (claim("d", "c", 5, identity="z"), RecordValidity.STALE),
    "of another log and beyond": (claim("d", "x", 50, identity="z"), RecordValidity.STALE),
    "beyond the tip": (claim("d", "x", 6), RecordValidity.GAP),
    "beyond the tip, on its digest": (claim("d", "c", 6), RecordValidity.GAP),
    "on another append at the tip": (claim("d", "x", 5), RecordValidity.FORKED),
    "on another append in the past": (claim("d", "x", 4), RecordValidity.FORKED),
    "on an append that ended inside of ours": (claim("d", "x", 3), RecordValidity.FORKED),
    "no commit": (claim("d", "c", 5, 0), RecordValidity.STALE),
    "before everything": (claim("d", "x", 0), RecordValidity.STALE),
}


@pytest.mark.parametrize("case", FOURTH.values(), ids=FOURTH)
def test_the_fourth_record(case: tuple[AppendPrefix, RecordValidity]) -> None:
    history = AppendHistory()
    assert [history.check_and_advance(one) for one in (BORN, SECOND, THIRD)] == [RecordValidity.VALID] * 3
    record, verdict = case
    assert history.check_and_advance(record) is verdict
    assert history.tip == (record.position if verdict is RecordValidity.VALID else THIRD.position)


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        (BORN, RecordValidity.VALID),
        (claim("b", identity="a"), RecordValidity.STALE),
        (claim("a", "x"), RecordValidity.STALE),
        (SECOND, RecordValidity.GAP),
        (replace(BORN, format=9, digest=b""), RecordValidity.NEWER),
    ],
    ids=["born", "of another attempt", "with a parent", "without a front", "newer"],
)
def test_the_first_record(record: AppendPrefix, verdict: RecordValidity) -> None:
    assert AppendHistory().check(record) is verdict


def test_memory_begins_at_a_fold_and_what_was_before_is_no_fork() -> None:
    history = AppendHistory.at(SECOND.position)
    assert history.check(claim("x", "w", 2)) is RecordValidity.STALE
    assert history.check(claim("x", "w", 4)) is RecordValidity.FORKED
    assert history.check_and_advance(THIRD) is RecordValidity.VALID
    assert history.knows(SECOND.position)
    assert not history.knows(Position(SECOND.identity, 3, b"x" * 32))
    assert not history.knows(replace(SECOND.position, root=b"x" * 32))
    assert not history.knows(START)
    history.forget(4)
    assert history.oldest == 4
    assert history.check(claim("x", "w", 4)) is RecordValidity.STALE
