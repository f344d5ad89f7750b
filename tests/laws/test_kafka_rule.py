"""The rule of `writers=any`, case by case: which record of a partition is the next append of the log."""

from dataclasses import replace

import pytest

from treaty.core.commit import ENVELOPE_FORMAT, NO_DIGEST, START, Position, Prefix
from treaty.log.kafka.any.rule import History, Verdict


def claim(name: str, parent: str = "", first: int = 1, length: int = 1, *, identity: str = "a") -> Prefix:
    """A claim whose attempt and digest are named alike."""
    return Prefix(
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

FOURTH: dict[str, tuple[Prefix, Verdict]] = {
    "on the tip": (claim("d", "c", 5), Verdict.VALID),
    "a chain on the tip": (claim("d", "c", 5, 7), Verdict.VALID),
    "on the tip in a newer format": (replace(claim("d", "c", 5), format=9, digest=b""), Verdict.NEWER),
    "on the tip in an older format": (replace(claim("d", "c", 5), format=1, digest=b""), Verdict.OLDER),
    "behind, in an older format": (replace(claim("d", "b", 4), format=1, digest=b""), Verdict.LOSER),
    "the third once more, with another root": (replace(THIRD, root=b"x" * 32), Verdict.LOSER),
    "behind, in a newer format": (replace(claim("d", "b", 4), format=9, digest=b""), Verdict.LOSER),
    "second to the third": (claim("d", "b", 4), Verdict.LOSER),
    "second to the first": (claim("d"), Verdict.LOSER),
    "the birth of another log": (claim("d", identity="d"), Verdict.LOSER),
    "the third once more": (THIRD, Verdict.LOSER),
    "the first once more": (BORN, Verdict.LOSER),
    "of another log": (claim("d", "c", 5, identity="z"), Verdict.LOSER),
    "of another log and beyond": (claim("d", "x", 50, identity="z"), Verdict.LOSER),
    "beyond the tip": (claim("d", "x", 6), Verdict.MISSING),
    "beyond the tip, on its digest": (claim("d", "c", 6), Verdict.MISSING),
    "on another append at the tip": (claim("d", "x", 5), Verdict.FORKED),
    "on another append in the past": (claim("d", "x", 4), Verdict.FORKED),
    "on an append that ended inside of ours": (claim("d", "x", 3), Verdict.FORKED),
    "no commit": (claim("d", "c", 5, 0), Verdict.LOSER),
    "before everything": (claim("d", "x", 0), Verdict.LOSER),
}


@pytest.mark.parametrize("case", FOURTH.values(), ids=FOURTH)
def test_the_fourth_record(case: tuple[Prefix, Verdict]) -> None:
    history = History()
    assert [history.follow(one) for one in (BORN, SECOND, THIRD)] == [Verdict.VALID] * 3
    record, verdict = case
    assert history.follow(record) is verdict
    assert history.tip == (record.position if verdict is Verdict.VALID else THIRD.position)


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        (BORN, Verdict.VALID),
        (claim("b", identity="a"), Verdict.LOSER),
        (claim("a", "x"), Verdict.LOSER),
        (SECOND, Verdict.MISSING),
        (replace(BORN, format=9, digest=b""), Verdict.NEWER),
        (replace(BORN, format=1, digest=b""), Verdict.OLDER),
    ],
    ids=["born", "of another attempt", "with a parent", "without a front", "newer", "older"],
)
def test_the_first_record(record: Prefix, verdict: Verdict) -> None:
    assert History().judge(record) is verdict


def test_memory_begins_at_a_fold_and_what_was_before_is_no_fork() -> None:
    history = History.at(SECOND.position)
    assert history.judge(claim("x", "w", 2)) is Verdict.LOSER
    assert history.judge(claim("x", "w", 4)) is Verdict.FORKED
    assert history.follow(THIRD) is Verdict.VALID
    assert history.knows(SECOND.position)
    assert not history.knows(Position(SECOND.identity, 3, b"x" * 32))
    assert not history.knows(replace(SECOND.position, root=b"x" * 32))
    assert not history.knows(START)
    history.forget(4)
    assert history.oldest == 4
    assert history.judge(claim("x", "w", 4)) is Verdict.LOSER
