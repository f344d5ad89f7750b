"""Runners that race for leases and parts, in every interleaving of two nodes: each part has one runner, of a lease that holds."""

from collections.abc import Callable, Mapping

import pytest

from tests.simulation.judging.model.metastore.state import assignments, part_of, runners, sources
from tests.simulation.judging.model.past import Past
from tests.simulation.races.nodes import SmallLog, play, run_alone
from tests.simulation.races.test_races import Race, cascade, defined, made, reading, replay
from treaty.core.invariants import find_violations
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal


def epoch(past: Past, name: str) -> int:
    return runners(past)[name].epoch


def part(past: Past, key: str) -> r.QueryPart:
    source = sources(past)[key]
    return r.QueryPart(key, source.generation, part_of(source))


def take(past: Past, name: str, *keys: str) -> r.AssignQueries:
    return r.AssignQueries(name, epoch(past, name), tuple(part(past, key) for key in keys))


def give_back(past: Past, name: str, *keys: str) -> r.AssignQueries:
    return r.AssignQueries(name, epoch(past, name), release=tuple(part(past, key) for key in keys))


BEGIN: tuple[Callable[[Past], Request[object]], ...] = (
    lambda _: m.CreateSource(defined("x", bad_rows=True)),
    lambda past: made(past, "b", "x"),
    lambda past: made(past, "c", "x"),
    lambda past: made(past, "gone", "x"),
    lambda _: r.AcquireRunner("r1", "h1"),
    lambda _: r.AcquireRunner("r2", "h2"),
    lambda past: take(past, "r1", "b"),
    lambda past: take(past, "r1", "gone"),
    lambda _: m.DropSource("gone"),
)
"""Three queries, one of them dropped while it ran; two runners, of which the first has one part."""

RACES: Mapping[str, Race] = {
    "acquire against acquire": Race(lambda _: [r.AcquireRunner("r3", "h3")], lambda _: [r.AcquireRunner("r3", "h4")]),
    "acquire twice by one process": Race(
        lambda _: [r.AcquireRunner("r3", "h3")], lambda _: [r.AcquireRunner("r3", "h3", "http://h3")], (0, 0)
    ),
    "steal against steal": Race(
        lambda past: [r.AcquireRunner("r1", "h3", epoch=epoch(past, "r1"))],
        lambda past: [r.AcquireRunner("r1", "h4", epoch=epoch(past, "r1"))],
    ),
    "steal against assign": Race(
        lambda past: [r.AcquireRunner("r1", "h3", epoch=epoch(past, "r1"))], lambda past: [take(past, "r1", "c")], (0, 1)
    ),
    "steal against release": Race(
        lambda past: [r.AcquireRunner("r1", "h3", epoch=epoch(past, "r1"))],
        lambda past: [r.ReleaseRunner("r1", epoch(past, "r1"))],
    ),
    "assign against assign": Race(lambda past: [take(past, "r1", "c")], lambda past: [take(past, "r2", "c", "x_bad")]),
    "assign against what is given back": Race(
        lambda past: [give_back(past, "r1", "b")], lambda past: [take(past, "r2", "b")], (0, 1)
    ),
    "assign against drop": Race(lambda past: [take(past, "r2", "c")], lambda _: [m.DropSource("c")], (0, 1)),
    "assign against cascade": Race(
        lambda past: [take(past, "r2", "c", "x_bad")], lambda past: [cascade(past, "x")], (0, 1)
    ),
    "assign against undrop": Race(
        lambda past: [take(past, "r2", "c"), take(past, "r2", "b")],
        lambda past: [m.DropSource("c"), m.UndropSource("c")],
        (1, 2),
    ),
    "assign against replace": Race(
        lambda past: [take(past, "r2", "c")],
        lambda past: [m.CreateSource(defined("c", connector="delta", place="c", comment="more", query=reading(past, "x")), replace=True)],
        (0, 0),
    ),
    "assign against rename": Race(lambda past: [take(past, "r2", "c")], lambda _: [m.ChangeSource("c", rename="z")], (0, 1)),
    "release against assign": Race(
        lambda past: [r.ReleaseRunner("r1", epoch(past, "r1"))], lambda past: [take(past, "r1", "c")], (0, 1)
    ),
    "release against assign to another": Race(
        lambda past: [r.ReleaseRunner("r1", epoch(past, "r1"))], lambda past: [take(past, "r2", "b")], (0, 1)
    ),
    "release and acquire against release": Race(
        lambda past: [r.ReleaseRunner("r1", epoch(past, "r1")), r.AcquireRunner("r1", "h3")],
        lambda past: [r.ReleaseRunner("r1", epoch(past, "r1"))],
        (0, 1),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def begun() -> SmallLog:
    log = SmallLog()
    for at, request in enumerate(BEGIN):
        answer = run_alone(log, request(log.past))
        assert not isinstance(answer, Refusal), (at, answer)
    assert list(assignments(log.past)) == [("query", sources(log.past)["b"].generation)]
    return log


@pytest.mark.parametrize("name", RACES)
def test_a_race_of_runners_ends_well_in_every_interleaving(
    name: str, begun: SmallLog, figure: Callable[[str], None]
) -> None:
    race, least, most, ways = RACES[name], 99, 0, 0
    for log, answers in play(begun, [race.first(begun.past), race.second(begun.past)]):
        refused = sum(isinstance(one, Refusal) for told in answers for one in told)
        least, most, ways = min(least, refused), max(most, refused), ways + 1
        assert not [*find_violations(replay(log))]

    assert (least, most) == race.refused
    figure(f"{name}: {ways} interleavings")
