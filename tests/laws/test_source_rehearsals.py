"""Rehearsals of commands about sources: what is only asked for is never written; and what comes back needs permissions of its own."""

from dataclasses import replace

import pytest

from tests.laws.test_source_edges import CHANGES, as_dry_run, define, make_bench, select
from tests.laws.timed import TimedBench
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.command import Decision
from treaty.core.messages.metastore.sources import DropSource, UndropSource
from treaty.core.refusals import Forbidden, Refusal


@pytest.mark.parametrize("stored", ["", "table", "query"])
@pytest.mark.parametrize("asked", ["table", "query"])
def test_an_assessment_says_whether_a_definition_is_that_of_the_source_and_writes_nothing(
    stored: str, asked: str
) -> None:
    bench = TimedBench()
    bench.do(define("a"))
    made = {"table": define("s", connector="delta"), "query": select("s", "a", bench.tables.sequence)}
    if stored:
        bench.do(made[stored])
    request = replace(made[asked], assess=True)
    verdict = bench.verdict(request, "asked")
    if stored not in {"", asked}:
        assert isinstance(verdict, Refusal)
        return
    assert isinstance(verdict, Decision)
    assert verdict.rehearsal
    assert verdict.answer.assessment is not None
    assert verdict.answer.assessment.kind == ("same" if stored else "new")


@pytest.mark.parametrize(
    "what", [what for what, (_, _, accepted) in CHANGES.items() if as_dry_run(accepted) is not None]
)
def test_a_dry_run_with_rows_is_a_rehearsal_and_nothing_else_is(what: str) -> None:
    bench, request = make_bench(), CHANGES[what][2]
    for asked, rehearsal in ((request, False), (as_dry_run(request), True)):
        assert asked is not None
        verdict = bench.verdict(asked, "asked")
        assert isinstance(verdict, Decision)
        if verdict.rows or not rehearsal:
            assert verdict.rehearsal is (rehearsal or getattr(request, "assess", False))


@pytest.mark.parametrize("left_out", ["a", "a_bad"])
def test_what_comes_back_with_a_source_needs_a_permission_of_its_own(left_out: str) -> None:
    bench = TimedBench()
    bench.do(define("a", bad_rows=True))
    asked = bench.do(DropSource("a", cascade=True))
    assert bench.do(DropSource("a", cascade=True, digest=asked.digest)).names == ("a_bad", "a")
    names = tuple(name for name in ("a", "a_bad") if name != left_out)
    may = with_included(["register"])
    for sources, refused in ((("a", "a_bad"), False), (names, True)):
        bench.access = Access((AccessRule(("user:a",), may, (), (".",), ("*",), sources=sources),))
        verdict = bench.verdict(UndropSource("a"), "asked")
        assert isinstance(verdict, Forbidden) is refused
        if isinstance(verdict, Refusal):
            assert (verdict.reason.rule, verdict.reason.path) == ("RIGHTS", "/name")
