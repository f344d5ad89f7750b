"""Runners that share the parts of a registry: they take, give up and take over, by the files that say who is alive."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.metastore.runners import ReleaseRunner
from treaty.core.refusals import NotLatest, NotPermitted
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.execution.assignment import PartKey
from treaty.spark.runner.service.heartbeat import STALE_SECONDS, HeartbeatWatch
from treaty.spark.runner.service.lease import LeaseLostError, OwnLease, RunnerPlace, acquire_lease
from treaty.spark.runner.service.shared_files import LocalFiles
from treaty.spark.runner.service.wanted import read_snapshot

QUERIES = 5


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def there() -> Iterator[Connection]:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry, planning=PlanningOptions(SelectPlanner()))
        metastore.run(
            "CREATE STREAM flights (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')"
        )
        for number in range(QUERIES):
            metastore.run(f"CREATE STREAM late{number} AS SELECT carrier FROM STREAM flights")
        yield connection


def start(there: Connection, root: Path, name: str, clock: Clock) -> OwnLease:
    lease = acquire_lease(
        there.registry, RunnerPlace(name, LocalFiles(root), f"http://{name}"), Event(), lambda _: None
    )
    assert lease is not None
    lease.watch = HeartbeatWatch(LocalFiles(root), clock)
    return lease


def turn(lease: OwnLease, leaving: frozenset[PartKey] = frozenset()) -> frozenset[PartKey]:
    """One look of a runner: the parts that it runs then."""
    snapshot = read_snapshot(lease.registry)
    assert snapshot is not None
    return frozenset(lease.choose_parts(snapshot, leaving))


def owners(there: Connection) -> list[str]:
    return sorted(one.runner for fed in there.ask(ListQueries()).answer.queries for one in fed.assigned)


def test_runners_share_give_up_after_draining_and_take_over(there: Connection, tmp_path: Path) -> None:
    clock = Clock()
    first = start(there, tmp_path, "a", clock)
    every = turn(first)
    assert len(every) == QUERIES
    second = start(there, tmp_path, "b", clock)
    assert turn(second) == frozenset()
    kept = turn(first)
    assert len(kept) == 3
    assert owners(there) == ["a"] * 5, "what is given up is another's once it is drained"
    assert turn(first, every - kept) == kept
    assert turn(second) == every - kept
    assert owners(there) == ["a"] * 3 + ["b"] * 2
    first.heartbeat.close()  # as if it had been killed: from now on its file says nothing new
    turn(second)
    clock.now += STALE_SECONDS + 1
    assert turn(second) == every - kept, "its lease ends first"
    assert turn(second) == every
    assert owners(there) == ["b"] * 5
    with pytest.raises(LeaseLostError, match="ended by another runner"):
        turn(first)
    second.close()
    assert owners(there) == []
    assert there.ask(ListQueries()).answer.runners == ()


def test_a_runner_that_could_not_write_its_file_runs_nothing(there: Connection, tmp_path: Path) -> None:
    lease = start(there, tmp_path, "a", Clock())
    assert len(turn(lease)) == QUERIES
    lease.heartbeat.close()
    lease.heartbeat._written -= 11
    assert turn(lease) == frozenset()
    lease.close()


def test_a_runner_that_was_silent_takes_its_lease_anew_before_it_runs_anything(
    there: Connection, tmp_path: Path
) -> None:
    lease = start(there, tmp_path, "a", Clock())
    assert len(turn(lease)) == QUERIES
    epoch = lease.epoch
    lease.heartbeat._written -= 11  # as if the process had been frozen
    lease.heartbeat._write()
    assert turn(lease) == frozenset()
    with pytest.raises(NotLatest, match="not of epoch"):  # another one decided so while it was silent
        there.ask(ReleaseRunner("a", epoch))
    assert not lease.heartbeat.is_lost
    assert len(turn(lease)) == QUERIES
    assert [one.address for one in there.ask(ListQueries()).answer.runners] == ["http://a"]
    lease.close()


def test_a_node_that_has_not_read_the_new_lease_ends_no_runner(there: Connection, tmp_path: Path) -> None:
    """Its feed has the former lease of the runner, or none yet; once the new one was in a feed, the runner that is in none is out."""
    lease = start(there, tmp_path, "a", Clock())
    assert len(turn(lease)) == QUERIES
    former = read_snapshot(lease.registry)
    assert former is not None
    lease.heartbeat._written -= 11
    lease.heartbeat._write()
    assert turn(lease) == frozenset()
    for snapshot in (former, replace(former, runners=())):
        assert len(lease.choose_parts(snapshot, frozenset())) == QUERIES
    assert len(turn(lease)) == QUERIES
    with pytest.raises(LeaseLostError, match="ended by another runner"):
        lease.choose_parts(replace(former, runners=()), frozenset())
    lease.close()


def test_a_runner_of_another_root_is_refused_and_ends_no_lease(there: Connection, tmp_path: Path) -> None:
    lease = start(there, tmp_path / "shared", "a", Clock())
    assert len(turn(lease)) == QUERIES
    for name in ("a", "b"):
        with pytest.raises(NotPermitted, match=r"Runner a has another root.*http://a") as refused:
            start(there, tmp_path / "elsewhere", name, Clock())
        assert refused.value.reason.rule == "RUNNER_ROOT"
        assert "treaty query release a" in refused.value.reason.allowed
    assert len(turn(lease)) == QUERIES
    same = start(there, tmp_path / "shared", "b", Clock())
    same.close()
    lease.close()
    start(there, tmp_path / "elsewhere", "b", Clock()).close()


def test_a_second_process_of_a_name_waits_in_reserve(there: Connection, tmp_path: Path) -> None:
    lease = start(there, tmp_path, "a", Clock())
    turn(lease)
    ending, reasons = Event(), list[str]()

    def note(reason: str) -> None:
        reasons.append(reason)
        ending.set()

    assert acquire_lease(there.registry, RunnerPlace("a", LocalFiles(tmp_path)), ending, note) is None
    assert "another --name" in reasons[0]
    lease.close()
    again = start(there, tmp_path, "a", Clock())
    assert len(turn(again)) == QUERIES
    again.close()
