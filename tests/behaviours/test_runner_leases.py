"""Leases of runners, and the parts of sources that are assigned to them: by epochs, one runner for each part."""

from collections.abc import Iterator

import pytest

from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core import limits
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.limits import ASSIGNED_PARTS, RUNNER_ADDRESS, RUNNER_NAME
from treaty.core.messages.metastore.query_feed import FedQuery, ListQueries
from treaty.core.messages.metastore.runners import (
    AcquireRunner,
    AssignQueries,
    QueriesAssigned,
    QueryPart,
    ReleaseRunner,
    RunnerLease,
    RunnerReleased,
)
from treaty.core.messages.metastore.sources import DropSource
from treaty.core.messages.request import Request
from treaty.core.refusals import Forbidden, InvalidSource, NotLatest, Refusal, SourceNotFound, TooLarge
from treaty.core.registry import CallOptions
from treaty.metastore import Metastore, PlanningOptions

FLIGHTS = (
    "CREATE STREAM flights (id BIGINT KEY, carrier STRING) "
    "WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO', BAD_ROWS = true)"
)
QUERY = "CREATE STREAM {0} AS SELECT carrier FROM STREAM flights"


@pytest.fixture
def there() -> Iterator[Connection]:
    with connect("memory:") as connection:
        run(connection, FLIGHTS, QUERY.format("late"), QUERY.format("lost"))
        yield connection


def run(it: Connection, *statements: str) -> None:
    Metastore(it.registry, planning=PlanningOptions(SelectPlanner())).run("; ".join(statements))


def fed(it: Connection) -> dict[str, FedQuery]:
    return {one.source.name: one for one in it.ask(ListQueries()).answer.queries}


def owners(it: Connection) -> dict[str, list[tuple[str, str]]]:
    """The parts of each source with the runners that have them."""
    return {name: [(one.part, one.runner) for one in query.assigned] for name, query in fed(it).items()}


def part(it: Connection, name: str, of: str = "query") -> QueryPart:
    return QueryPart(name, fed(it)[name].source.generation, of)


def lease(it: Connection, name: str, holder: str = "", epoch: int = 0, address: str = "") -> RunnerLease:
    return it.ask(AcquireRunner(name, holder or f"process of {name}", address, epoch)).answer


def take(it: Connection, of: RunnerLease, *parts: QueryPart) -> QueriesAssigned:
    return it.ask(AssignQueries(of.name, of.epoch, parts)).answer


def held(it: Connection, name: str) -> int:
    """How many parts a runner has."""
    return sum(runner == name for parts in owners(it).values() for _, runner in parts)


def refused(it: Connection, request: Request[object], call: CallOptions | None = None) -> tuple[type[Refusal], str]:
    with pytest.raises(Refusal) as refusal:
        it.ask(request, call or CallOptions())
    return type(refusal.value), refusal.value.reason.rule


# ---------------------------------------------------------------------------------------------------------- leases


def test_the_holder_of_a_lease_keeps_its_epoch_and_may_change_its_address(there: Connection) -> None:
    first = lease(there, "r1")
    again = lease(there, "r1", address="http://r1:9090")
    assert again == RunnerLease("r1", first.epoch, "process of r1", "http://r1:9090")
    assert lease(there, "r1", address="http://r1:9090", epoch=first.epoch) == again
    assert [one.address for one in there.ask(ListQueries()).answer.runners] == ["http://r1:9090"]


def test_a_lease_that_is_held_is_taken_by_its_epoch_alone(there: Connection) -> None:
    first = lease(there, "r1")
    assert refused(there, AcquireRunner("r1", "another")) == (NotLatest, "RUNNER_HELD")
    assert refused(there, AcquireRunner("r1", "another", epoch=first.epoch + 1)) == (NotLatest, "RUNNER_LOST")
    assert refused(there, AcquireRunner("r2", "another", epoch=first.epoch)) == (NotLatest, "RUNNER_LOST")
    second = lease(there, "r1", "another", first.epoch)
    assert second.epoch > first.epoch
    assert refused(there, AssignQueries("r1", first.epoch)) == (NotLatest, "RUNNER_LOST")
    assert refused(there, ReleaseRunner("r1", first.epoch)) == (NotLatest, "RUNNER_LOST")
    assert refused(there, AcquireRunner("r1", "process of r1", epoch=first.epoch)) == (NotLatest, "RUNNER_LOST")


def test_a_lease_that_was_taken_keeps_what_is_assigned(there: Connection) -> None:
    first = lease(there, "r1")
    take(there, first, part(there, "late"))
    second = lease(there, "r1", "another", first.epoch)
    assert owners(there)["late"] == [("query", "r1")]
    take(there, second, part(there, "lost"))
    assert held(there, "r1") == 2
    assert [one.epoch for query in fed(there).values() for one in query.assigned] == [first.epoch, second.epoch]


def test_a_lease_ends_with_its_assignments(there: Connection) -> None:
    one, other = lease(there, "r1"), lease(there, "r2")
    take(there, one, part(there, "late"), part(there, "lost"))
    take(there, other, part(there, "flights_bad", "bad"))
    assert there.ask(ReleaseRunner("r1", one.epoch)).answer == RunnerReleased("r1", 2)
    assert owners(there) == {"flights_bad": [("bad", "r2")], "late": [], "lost": []}
    assert there.ask(ReleaseRunner("r1", one.epoch)).answer == RunnerReleased("r1")
    assert lease(there, "r1").epoch > one.epoch


@pytest.mark.parametrize(("most", "released"), [(1, [1, 1, 1]), (2, [2, 1]), (3, [3]), (4, [3])])
def test_a_lease_lasts_until_the_last_of_its_assignments_has_ended(
    there: Connection, monkeypatch: pytest.MonkeyPatch, most: int, released: list[int]
) -> None:
    """One command ends so many of them at most."""
    lease_of_all = lease(there, "r1")
    take(there, lease_of_all, part(there, "late"), part(there, "lost"), part(there, "flights_bad", "bad"))
    monkeypatch.setattr(limits, "ASSIGNED_PARTS", most)
    for place, count in enumerate(released, 1):
        more = place < len(released)
        assert there.ask(ReleaseRunner("r1", lease_of_all.epoch)).answer == RunnerReleased("r1", count, more)
        assert held(there, "r1") == 3 - sum(released[:place])
        assert [runner.name for runner in there.ask(ListQueries()).answer.runners] == ["r1"] * more


def test_names_and_addresses_are_printable_and_short(there: Connection) -> None:
    wrong = {
        AcquireRunner("", "h"): "RUNNER_NAME",
        AcquireRunner("r" * (RUNNER_NAME + 1), "h"): "RUNNER_NAME",
        AcquireRunner("r\n", "h"): "RUNNER_NAME",
        AcquireRunner("r", ""): "RUNNER_NAME",
        AcquireRunner("r", "h", "h" * (RUNNER_ADDRESS + 1)): "RUNNER_ADDRESS",
        AcquireRunner("r", "h", "http://\x07"): "RUNNER_ADDRESS",
    }
    for asked, rule in wrong.items():
        assert refused(there, asked) == (InvalidSource, rule)
    longest = "r" * RUNNER_NAME
    assert there.ask(AcquireRunner(longest, longest, "h" * RUNNER_ADDRESS, root=longest)).answer.epoch


# ----------------------------------------------------------------------------------------------------- assignments


def test_a_part_has_one_runner(there: Connection) -> None:
    one, other = lease(there, "r1"), lease(there, "r2")
    late, lost = part(there, "late"), part(there, "lost")
    assert take(there, one, late) == QueriesAssigned("r1", one.epoch, (late,))
    assert refused(there, AssignQueries("r2", other.epoch, (lost, late))) == (NotLatest, "QUERY_ASSIGNED")
    assert owners(there)["lost"] == [], "a command assigns all of its parts or none"
    moved = there.ask(AssignQueries("r1", one.epoch, (lost,), (late, part(there, "flights_bad", "bad")))).answer
    assert moved == QueriesAssigned("r1", one.epoch, (lost,))
    take(there, other, late)
    assert (held(there, "r1"), held(there, "r2")) == (1, 1)


def test_a_refusal_says_of_each_part_why_it_can_not_be_taken(there: Connection) -> None:
    one, other = lease(there, "r1"), lease(there, "r2")
    late, lost = part(there, "late"), part(there, "lost")
    take(there, one, late)
    gone = QueryPart("nowhere", 1)
    with pytest.raises(NotLatest) as refusal:
        there.ask(AssignQueries("r2", other.epoch, (lost, late, gone)))
    reason = refusal.value.reason
    assert (reason.rule, reason.path) == ("QUERY_ASSIGNED", "/take/1")
    assert [line.partition(": ")[0] for line in reason.details] == ["/take/1", "/take/2/source"]
    assert "assigned to runner r1" in reason.details[0]
    assert "nowhere" in reason.details[1]
    assert owners(there)["lost"] == []
    assert take(there, other, lost).parts == (lost,)


def test_a_part_that_is_released_and_taken_by_one_command_stays(there: Connection) -> None:
    one, late = lease(there, "r1"), part(there, "late")
    take(there, one, late)
    assert there.ask(AssignQueries("r1", one.epoch, (late, late), (late,))).answer.parts == (late,)
    assert owners(there)["late"] == [("query", "r1")]


def test_a_part_is_one_of_a_source_that_is_there(there: Connection) -> None:
    one, late = lease(there, "r1"), part(there, "late")
    wrong = {
        QueryPart("nowhere", 1): (SourceNotFound, "SOURCE_NOT_FOUND"),
        QueryPart("late", late.generation + 1): (NotLatest, "SOURCE_GENERATION"),
        QueryPart("late", late.generation, "bad"): (InvalidSource, "QUERY_NONE"),
        QueryPart("flights", fed(there)["flights_bad"].source.generation): (InvalidSource, "QUERY_NONE"),
        QueryPart("late", late.generation, "half"): (InvalidSource, "QUERY_PART"),
    }
    for asked, refusal in wrong.items():
        assert refused(there, AssignQueries("r1", one.epoch, (asked,))) == refusal
    many = (late,) * ASSIGNED_PARTS
    assert refused(there, AssignQueries("r1", one.epoch, many, (late,))) == (TooLarge, "ASSIGNED_PARTS")


@pytest.mark.parametrize("sql", ["DROP STREAM late", "DROP STREAM flights CASCADE DIGEST '{0}'"])
def test_what_is_dropped_is_assigned_to_nobody(there: Connection, sql: str) -> None:
    one = lease(there, "r1")
    take(there, one, part(there, "late"), part(there, "flights_bad", "bad"))
    if "CASCADE" in sql:
        sql = sql.format(there.ask(DropSource("flights", cascade=True)).answer.digest)
    run(there, sql)
    assert held(there, "r1") == (0 if "CASCADE" in sql else 1)
    assert ("query", "r1") not in owners(there).get("late", [])
    run(there, "UNDROP STREAM flights" if "CASCADE" in sql else "UNDROP STREAM late")
    assert owners(there).get("late", []) == []
    assert owners(there)["flights_bad"] == ([] if "CASCADE" in sql else [("bad", "r1")])
    assert there.ask(ReleaseRunner("r1", one.epoch)).answer.released == (0 if "CASCADE" in sql else 1)


def test_a_stream_of_bad_rows_that_is_dropped_alone_is_assigned_to_nobody(there: Connection) -> None:
    one = lease(there, "r1")
    take(there, one, part(there, "flights_bad", "bad"))
    run(there, "DROP STREAM flights_bad")
    run(there, "UNDROP STREAM flights_bad")
    assert owners(there)["flights_bad"] == []
    assert there.ask(ReleaseRunner("r1", one.epoch)).answer.released == 0


def test_the_table_of_queries_says_who_has_each(there: Connection) -> None:
    first = lease(there, "r1")
    take(there, first, part(there, "late"))
    second = lease(there, "r1", "another", first.epoch)
    (result,) = Metastore(there.registry).run("SELECT source, runner, epoch FROM treaty.queries ORDER BY source")
    assert result.rows == (("late", "r1", second.epoch), ("lost", None, None))


def test_a_replaced_or_renamed_source_keeps_its_runner(there: Connection) -> None:
    one = lease(there, "r1")
    take(there, one, part(there, "late"))
    run(there, "ALTER STREAM late RENAME TO later")
    assert owners(there)["later"] == [("query", "r1")]
    there.ask(AssignQueries("r1", one.epoch, (), (part(there, "later"),)))
    assert owners(there)["later"] == []


# ---------------------------------------------------------------------------------------------------------- rights


def test_runners_need_the_right_to_plan(there: Connection) -> None:
    late, lost = part(there, "late"), part(there, "lost")
    rule = AccessRule(("user:r",), with_included(("plan",)), (), (), sources=("late",))
    planner = CallOptions(principal="user:r", access=Access((rule,)))
    reading = AccessRule(("user:q",), with_included(("read", "query", "register")), ("*",), ("*",))
    reader = CallOptions(principal="user:q", access=Access((reading,)))
    assert refused(there, AcquireRunner("r1", "h"), reader) == (Forbidden, "RIGHTS")
    one = there.ask(AcquireRunner("r1", "h"), planner).answer
    assert refused(there, ReleaseRunner("r1", one.epoch), reader) == (Forbidden, "RIGHTS")
    assert there.ask(AssignQueries("r1", one.epoch, (late,)), planner).answer.parts == (late,)
    assert refused(there, AssignQueries("r1", one.epoch, (lost,)), planner) == (Forbidden, "RIGHTS")
    assert refused(there, AssignQueries("r1", one.epoch, (), (lost,)), planner) == (Forbidden, "RIGHTS")
    assert refused(there, AssignQueries("r1", one.epoch), reader) == (Forbidden, "RIGHTS")


def test_a_lease_is_ended_by_its_own_principal_or_by_who_may_plan_everything(there: Connection) -> None:
    """Its epoch is no secret: whoever may plan one source reads it in the feed."""
    late = part(there, "late")

    def caller(name: str, may: Permission = "plan", sources: tuple[str, ...] | None = None) -> CallOptions:
        rule = AccessRule((name,), with_included((may,)), ("*",), (".",), sources=sources)
        return CallOptions(principal=name, access=Access((rule,)))

    own, stranger = (caller(name, sources=("late",)) for name in ("user:r", "user:s"))
    one = there.ask(AcquireRunner("r1", "h"), own).answer
    strange = (
        ReleaseRunner("r1", one.epoch),
        AcquireRunner("r1", "other", epoch=one.epoch),
        AcquireRunner("r1", "h", "http://elsewhere"),
        AssignQueries("r1", one.epoch, (late,)),
    )
    for request in strange:
        assert refused(there, request, stranger) == (Forbidden, "RUNNER_OF_ANOTHER")
    assert there.ask(AssignQueries("r1", one.epoch, (late,)), own).answer.parts == (late,)
    for request in strange[:1]:
        assert refused(there, request, stranger) == (Forbidden, "RUNNER_OF_ANOTHER")
    assert there.ask(ReleaseRunner("r1", one.epoch), own).answer == RunnerReleased("r1", 1)
    for place, ends in enumerate((own, caller("user:a", "admin"), caller("user:p"), caller("user:q", sources=("*",)))):
        lease_of = there.ask(AcquireRunner("r1", f"h{place}"), own).answer
        assert there.ask(ReleaseRunner("r1", lease_of.epoch), ends).answer == RunnerReleased("r1")
    assert there.ask(ReleaseRunner("r1", one.epoch), stranger).answer == RunnerReleased("r1")
    taken = there.ask(AcquireRunner("r1", "h"), own).answer
    again = there.ask(AcquireRunner("r1", "h2", epoch=taken.epoch), caller("user:p")).answer
    assert refused(there, ReleaseRunner("r1", again.epoch), own) == (Forbidden, "RUNNER_OF_ANOTHER")


def test_queries_are_shown_with_their_runners(there: Connection) -> None:
    held = lease(there, "r1", address="http://127.0.0.1:9465")
    there.ask(AssignQueries("r1", held.epoch, (part(there, "late"),)))
    listing = Metastore(there.registry).run_one("SHOW QUERIES EXTENDED")
    rows = [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]
    found = {row["source"]: (row["part"], row["reads"], row["runner"], row["address"]) for row in rows}
    assert found == {
        "flights_bad": ("bad", "flights", "", ""),
        "late": ("query", "flights", "r1", "http://127.0.0.1:9465"),
        "lost": ("query", "flights", "", ""),
    }


def test_a_drop_says_which_queries_go_along(there: Connection) -> None:
    listing = Metastore(there.registry).run_one("DROP STREAM flights CASCADE", dry_run=True)
    rows = [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]
    along = {str(row["name"]): row["effect"] for row in rows}
    assert along == dict.fromkeys(("flights_bad", "late", "lost"), "goes along")


def test_a_query_that_no_runner_has_is_shown_as_such(there: Connection) -> None:
    metastore = Metastore(there.registry)

    def states() -> dict[str, str]:
        listing = metastore.run_one("SHOW QUERIES")
        rows = [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]
        return {str(row["source"]): str(row["state"]) for row in rows}

    assert states() == {"late": "NO RUNNER", "lost": "NO RUNNER"}
    held = lease(there, "r1")
    there.ask(AssignQueries("r1", held.epoch, (part(there, "late"),)))
    metastore.run_one("PAUSE lost")
    assert states() == {"late": "RUNNING", "lost": "PAUSED"}
    metastore.run_one("RESUME lost")
    there.ask(ReleaseRunner("r1", held.epoch))
    assert states() == {"late": "NO RUNNER", "lost": "NO RUNNER"}
