"""Statements that race for the same sources, in every interleaving of two nodes: nothing is left without what it needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.simulation.judging.model.metastore.dropping import closure, digest_of
from tests.simulation.judging.model.metastore.state import planning, sources, types
from tests.simulation.judging.model.past import Past
from tests.simulation.races.nodes import SmallLog, SmallNode, play, run_alone
from treaty.core.invariants import find_violations
from treaty.core.messages.metastore import plans as w
from treaty.core.messages.metastore import scripts as t
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.schema import Draft
from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead
from treaty.core.state.tables import DictTables

Program = Sequence[Request[Any]]
S = Subject(".", "s")
COLUMNS = (SourceColumn("id", "INT"), SourceColumn("v", "STRING"))


def defined(name: str, **members: Any) -> m.SourceDefinition:
    return replace(m.SourceDefinition(name, "STREAM", f"CREATE {name}", COLUMNS, place="t1"), **members)


def bound(past: Past) -> SourcePart:
    """By the first version of a subject."""
    one = past.of(S)[0]
    return SourcePart("AVRO", pin=SchemaPin(*S, one.generation, one.ordinal, one.schema_id))


def reading(past: Past, *keys: str, columns: tuple[str, ...] = ()) -> QueryPlan:
    """A query over the changes of the first source and the rows of the others."""
    reads = tuple(
        SourceRead(
            key, sources(past)[key].generation, mode="table" if place else "changes", columns=columns,
            revision=sources(past)[key].revision,
        )
        for place, key in enumerate(keys)
    )  # fmt: skip
    return QueryPlan(f"SELECT * FROM {' JOIN '.join(keys)}", reads)


def after_a_change(past: Past, key: str) -> SourceRead:
    """As somebody reads it who has seen the next revision."""
    there = sources(past)[key]
    return SourceRead(key, there.generation, mode="table", revision=there.revision + 1)


def made(past: Past, name: str, *keys: str, **members: Any) -> m.CreateSource:
    return m.CreateSource(defined(name, connector="delta", place=name, query=reading(past, *keys)), **members)


def other(past: Past, name: str, *keys: str) -> m.CreateSource:
    """The same source with another body in its place."""
    query = reading(past, *keys)
    query = replace(query, body=f"{query.body} WHERE 1")
    return m.CreateSource(defined(name, connector="delta", place=name, query=query), replace=True)


def point(past: Past) -> tuple[m.ExpectedType, ...]:
    return (m.ExpectedType("point", types(past)["point"].generation),)


def cascade(past: Past, key: str) -> m.DropSource:
    return m.DropSource(key, cascade=True, digest=digest_of(past, closure(past, key, along=True)))


BEGIN: tuple[Callable[[Past], Request[Any]], ...] = (
    lambda _: Register(S, Draft('["a"]', "TOY")),
    lambda _: m.CreateType("Point", "INT"),
    lambda past: m.CreateSource(defined("a", value=bound(past), bad_rows=True)),
    lambda _: m.CreateSource(defined("x", connector="delta")),
    lambda past: made(past, "b", "x"),
    lambda past: made(past, "c", "x"),
    lambda past: made(past, "top", "b"),
    lambda _: m.CreateSource(defined("gone", place="t2")),
    lambda past: made(past, "reader", "gone"),
    lambda _: m.DropSource("reader"),
    lambda past: m.CreateSource(
        defined("picky", connector="delta", place="picky", query=reading(past, "gone", columns=("id",)))
    ),
    lambda _: m.DropSource("picky"),
    lambda _: m.CreateSource(defined("typed", connector="delta", columns=(SourceColumn("p", "Point"),))),
    lambda _: m.DropSource("typed"),
    lambda _: w.RequestPlan("late", "CREATE STREAM late AS SELECT 1"),
    lambda _: w.TakePlanningJob("late", "p"),
)
"""A subject, a type, sources over topics and lakes, two queries, and two queries and a source that were dropped; a statement that a planner works on."""


ASKED = f"alone {len(BEGIN) - 2}/0"
"""The command by which the statement was sent."""


def finished(past: Past, *keys: str) -> w.FinishPlanningJob:
    """The planner answers with a query that reads these sources."""
    return w.FinishPlanningJob("late", "p", planning(past)["late"].epoch, made(past, "late", *keys))


def script(*commands: Any) -> t.RunScript:
    names = {
        m.CreateSource: "create",
        m.ChangeSource: "change",
        m.DropSource: "drop",
        m.DropType: "drop_type",
        m.CreateType: "create_type",
        t.SchemaAssertion: "assertion",
    }
    return t.RunScript(tuple(t.ScriptMember(**{names[type(one)]: one}) for one in commands))


@dataclass(frozen=True, slots=True)
class Race:
    """What two nodes are asked for, and how many of their last commands may be refused at least and at most."""

    first: Callable[[Past], Program]
    second: Callable[[Past], Program]
    refused: tuple[int, int] = (1, 1)


RACES: Mapping[str, Race] = {
    "create as against drop": Race(lambda past: [made(past, "d", "a")], lambda _: [m.DropSource("a")]),
    "create as against cascade": Race(lambda past: [made(past, "d", "a")], lambda past: [cascade(past, "a")]),
    "create as against a source of the same name": Race(
        lambda past: [made(past, "d", "a")], lambda _: [m.DropSource("a"), m.CreateSource(defined("a"))], (1, 2)
    ),
    "create as against rename": Race(lambda past: [made(past, "d", "a")], lambda _: [m.ChangeSource("a", rename="z")], (0, 1)),
    "create as against a swap": Race(lambda past: [made(past, "d", "a")], lambda _: [m.ChangeSource("a", swap="b")], (0, 1)),
    "a replaced reader against rename": Race(
        lambda past: [made(past, "d", "a"), other(past, "d", "a")], lambda _: [m.ChangeSource("a", rename="z")], (0, 2)
    ),
    "two renames of a source that is read": Race(
        lambda past: [made(past, "d", "a"), m.ChangeSource("a", rename="y")], lambda _: [m.ChangeSource("a", rename="z")], (1, 2)
    ),
    "create as against a lost column": Race(
        lambda past: [m.CreateSource(defined("d", place="d", query=reading(past, "a", columns=("v",))))],
        lambda past: [
            m.CreateSource(defined("a", value=bound(past), columns=COLUMNS[:1], bad_rows=True), replace=True)
        ],
    ),
    "create as against a changed type of a column": Race(
        lambda past: [m.CreateSource(defined("d", place="d", query=reading(past, "a", columns=("v",))))],
        lambda _: [m.ChangeSource("a", columns=(m.SourceColumnChange("set", SourceColumn("v", "INT")),))],
    ),
    "create by a type against another type of its name": Race(
        lambda past: [m.CreateSource(defined("d", columns=(SourceColumn("p", "Point"),)), types=point(past))],
        lambda _: [m.DropType("Point"), m.CreateType("Point", "STRING")],
        (1, 2),
    ),
    "add a column by a type against another type of its name": Race(
        lambda past: [m.ChangeSource("x", columns=(m.SourceColumnChange("add", SourceColumn("p", "Point")),), types=point(past))],
        lambda _: [m.DropType("Point"), m.CreateType("Point", "STRING")],
        (1, 2),
    ),
    "undrop against a lost column": Race(
        lambda _: [m.UndropSource("reader")],
        lambda _: [m.ChangeSource("gone", columns=(m.SourceColumnChange("drop", COLUMNS[1]),))],
    ),
    "undrop against another type of a name": Race(
        lambda _: [m.UndropSource("typed")], lambda _: [m.DropType("Point"), m.CreateType("Point", "STRING")], (1, 2)
    ),
    "undrop against a column more": Race(
        lambda _: [m.UndropSource("picky")],
        lambda _: [m.ChangeSource("gone", columns=(m.SourceColumnChange("add", SourceColumn("w", "INT")),))],
        (0, 0),
    ),
    "replace against replace": Race(
        lambda past: [made(past, "b", "x", "a", replace=True, expected=m.ExpectedSource(sources(past)["b"].generation, 1))],
        lambda past: [made(past, "b", "x", "gone", replace=True, expected=m.ExpectedSource(sources(past)["b"].generation, 1))],
    ),
    "replace in a circle": Race(
        lambda past: [made(past, "b", "x", "c", replace=True)],
        lambda past: [
            m.CreateSource(
                defined("c", connector="delta", place="c", query=QueryPlan("SELECT 1", (*reading(past, "x").reads, after_a_change(past, "b")))),
                replace=True,
            )
        ],
    ),
    "drop type against create": Race(
        lambda _: [m.DropType("point")],
        lambda _: [m.CreateSource(defined("d", columns=(SourceColumn("p", "ARRAY<Point>"),)))],
    ),
    "drop type against type": Race(lambda _: [m.DropType("point")], lambda _: [m.CreateType("Line", "ARRAY<point>")]),
    "permanent delete against a pin": Race(
        lambda _: [m.DropSource("a"), DeleteSubject(S), DeleteSubject(S, permanent=True)],
        lambda past: [m.CreateSource(defined("d", value=bound(past)))],
        (1, 1),
    ),
    "permanent delete against undrop": Race(
        lambda _: [DeleteSubject(S), DeleteSubject(S, permanent=True)],
        lambda _: [m.DropSource("a"), m.UndropSource("a")],
        (1, 2),
    ),
    "undrop against create": Race(lambda _: [m.UndropSource("reader")], lambda _: [m.CreateSource(defined("Reader"))]),
    "undrop against drop": Race(lambda _: [m.UndropSource("reader")], lambda _: [m.DropSource("gone")]),
    "create against create": Race(lambda _: [m.CreateSource(defined("\u00e9"))], lambda _: [m.CreateSource(defined("\u00c9"))]),
    "create where missing twice": Race(
        lambda _: [m.CreateSource(defined("d"), if_not_exists=True)],
        lambda _: [m.CreateSource(defined("D", columns=COLUMNS[:1]), if_not_exists=True)],
        (0, 0),
    ),
    "protect against cascade": Race(
        lambda _: [m.ChangeSource("b", protect=True)], lambda past: [cascade(past, "x")], (1, 1)
    ),
    "delete of a topic against create": Race(
        lambda _: [m.DropSource("a", delete_topic=True)], lambda _: [m.CreateSource(defined("d"))], (0, 1)
    ),
    "script against drop": Race(
        lambda _: [script(m.CreateSource(defined("d")), m.ChangeSource("a", comment="seen"))], lambda _: [m.DropSource("a")], (0, 1)
    ),
    "script that drops against create as": Race(
        lambda _: [script(m.DropSource("gone"), m.CreateSource(defined("gone", place="t3")))], lambda past: [made(past, "d", "gone")]
    ),
    "script against the type that it uses": Race(
        lambda _: [script(m.CreateSource(defined("d", columns=(SourceColumn("p", "Point"),))), m.ChangeSource("d", comment="new"))],
        lambda _: [m.DropType("point")],
    ),
    "script against script": Race(
        lambda _: [script(m.DropType("Point"), m.CreateType("Point", "STRING"), m.CreateSource(defined("d")))],
        lambda _: [script(m.CreateSource(defined("D")), m.CreateSource(defined("e", columns=(SourceColumn("p", "Point"),))))],
    ),
    "script that asserts against a deletion": Race(
        lambda _: [script(m.CreateType("Line", "INT"), t.SchemaAssertion(str(S)))], lambda _: [DeleteSubject(S)], (0, 1)
    ),
    "request of a plan against create": Race(
        lambda _: [w.RequestPlan("d", "CREATE STREAM d AS SELECT 1")], lambda _: [m.CreateSource(defined("D"))], (0, 1)
    ),
    "request of a plan against another": Race(
        lambda _: [w.RequestPlan("d", "CREATE STREAM d AS SELECT 1")], lambda _: [w.RequestPlan("D", "CREATE STREAM D AS SELECT 2")]
    ),
    "plan against drop": Race(lambda past: [finished(past, "a")], lambda _: [m.DropSource("a")], (0, 1)),
    "plan against a replaced source": Race(
        lambda past: [finished(past, "b")], lambda past: [made(past, "b", "x", "a", replace=True)], (0, 0)
    ),
    "plan against a source of its name": Race(
        lambda past: [finished(past, "a")], lambda _: [m.CreateSource(defined("LATE"))], (0, 1)
    ),
    "plan against its withdrawal": Race(
        lambda past: [finished(past, "a")], lambda _: [w.WithdrawPlan("late", ASKED)], (0, 1)
    ),
    "plan against a planner that takes the job": Race(
        lambda past: [finished(past, "a")], lambda _: [w.TakePlanningJob("late", "other")]
    ),
    "plan against a script": Race(
        lambda past: [finished(past, "gone")], lambda _: [script(m.CreateType("Line", "INT"), m.DropSource("gone"))], (0, 1)
    ),
    "cascade against cascade": Race(lambda past: [cascade(past, "x")], lambda past: [cascade(past, "x")]),
}  # fmt: skip


@pytest.fixture(scope="module")
def begun() -> SmallLog:
    log = SmallLog()
    for at, request in enumerate(BEGIN):
        answer = run_alone(log, request(log.past))
        assert not isinstance(answer, Refusal), (at, answer)
    return log


LONG = "permanent delete against undrop"
"""Has the most interleavings."""


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.soak) if one == LONG else one for one in RACES])
def test_a_race_ends_well_in_every_interleaving(name: str, begun: SmallLog, figure: Callable[[str], None]) -> None:
    race, least, most, ways = RACES[name], 99, 0, 0
    for log, answers in play(begun, [race.first(begun.past), race.second(begun.past)]):
        refused = sum(isinstance(one, Refusal) for told in answers for one in told)
        least, most, ways = min(least, refused), max(most, refused), ways + 1
        assert not [*find_violations(replay(log))]

    assert (least, most) == race.refused
    figure(f"{name}: {ways} interleavings")


def replay(log: SmallLog) -> DictTables:
    """The tables of a node that reads the log from its beginning."""
    node = SmallNode("last", log, ())
    node.catch_up()
    return node.tables
