"""`treaty query`: what runners say of queries, printed for people and as JSON."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.planning import SelectPlanner
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.client.connection import Connection
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart
from treaty.metastore import Metastore, PlanningOptions
from treaty.spark.runner.file_records import TABLE, QueryFileRecord
from treaty.spark.runner.leftovers import LeavingFiles
from treaty.spark.runner.service.http_status import StatusServer
from treaty.spark.runner.service.part_status import PartStatus
from treaty.spark.runner.service.runner import RunnerStatus
from treaty.spark.runner.service.states import FAILED, RUNNING

FLIGHTS = "CREATE STREAM flights (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')"
WATCHED = """\
query   part   state      runner  in     out    bad  lag  batch  seconds  reason
failed  query  FAILED     r1      7      0      0         3      0.1      [DIVIDE_BY_ZERO] a row
late    query  RUNNING    r1      1,000  1,234  2    5    41     2.5
lost    query  NO RUNNER                                                  no runner has it: `treaty runner` runs it
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path / 'registry.db'}"


@pytest.fixture
def there(url: str) -> Iterator[Connection]:
    with connect(url) as connection:
        metastore = Metastore(connection.registry, planning=PlanningOptions(SelectPlanner()))
        metastore.run(FLIGHTS)
        for name in ("failed", "late", "lost"):
            metastore.run(f"CREATE STREAM {name} AS SELECT carrier FROM STREAM flights")
        yield connection


@pytest.fixture
def runner(there: Connection) -> Iterator[StatusServer]:
    """A runner that has two of the queries."""
    numbers = {one.source.name: one.source.generation for one in there.ask(ListQueries()).answer.queries}
    parts = (
        PartStatus("failed", "query", numbers["failed"], 1, FAILED, 1, "[DIVIDE_BY_ZERO] a row", rows_in=7, batches=1, batch=3, batch_ms=99,
                   last_error="[DIVIDE_BY_ZERO] a row", last_error_time=1_000),
        PartStatus("late", "query", numbers["late"], 1, RUNNING, 1, rows_in=1_000, rows_out=1_234, bad=(("MALFORMED", 2),), batches=9,
                   batch=41, batch_ms=2_500, lag=5),
    )  # fmt: skip
    leaving = (LeavingFiles(QueryFileRecord(TABLE, 9, "gone", "/data/gone", "gone"), 86_400_000, returns=True),)
    status = RunnerStatus("r1", 1, 0, parts=parts, leaving=leaving)
    with closing(StatusServer(lambda: status, "127.0.0.1", 0)) as server:
        lease = there.ask(AcquireRunner("r1", "h", server.address, root="x")).answer
        taken = tuple(QueryPart(name, numbers[name]) for name in ("failed", "late"))
        there.ask(AssignQueries("r1", lease.epoch, taken))
        yield server


def call(*words: str) -> Result:
    return CliRunner().invoke(group, ["query", *words])


def test_watch_shows_each_query_with_its_runner_and_figures(url: str, runner: StatusServer) -> None:
    shown = call("watch", "--once", "--registry", url)
    assert (shown.exit_code, "\n".join(line.rstrip() for line in shown.output.splitlines())) == (0, WATCHED.rstrip())
    (line,) = call("watch", "--once", "--json", "--registry", url).output.splitlines()
    by_name = {one["name"]: one for one in json.loads(line)["queries"]}
    assert by_name["late"]["bad"] == {"MALFORMED": 2}
    assert by_name["lost"]["state"] == "NO RUNNER"


def test_errors_says_what_is_wrong_and_what_leads_out_of_it(url: str, runner: StatusServer) -> None:
    failed = call("errors", "failed", "--registry", url)
    assert failed.exit_code == 1
    assert "[DIVIDE_BY_ZERO] a row" in failed.output
    assert 'treaty sql -e "PAUSE failed; RESUME failed"' in failed.output
    fine = call("errors", "late", "--registry", url)
    assert (fine.exit_code, "MALFORMED" in fine.output) == (0, True)


def test_files_that_are_leaving_are_listed_with_their_time(url: str, runner: StatusServer) -> None:
    shown = call("files", "--registry", url)
    assert shown.exit_code == 0
    assert shown.output.splitlines()[1].split() == [
        "gone",
        "table",
        "9",
        "1970-01-02T00:00:00+00:00",
        "yes",
        "/data/gone",
    ]
    (listed,) = json.loads(call("files", "--registry", url, "--json").output)["leaving"]
    assert (listed["due"], listed["returns"]) == (86_400_000, True)


def test_it_is_not_said_that_no_files_are_leaving_where_the_look_at_them_failed(url: str, there: Connection) -> None:
    status = RunnerStatus("r1", 1, 0, sweep_error="OSError: no")
    with closing(StatusServer(lambda: status, "127.0.0.1", 0)) as server:
        shown = call("files", "--runner", server.address, "--registry", url)
    assert (shown.exit_code, "could not remove all: OSError: no" in shown.output) == (0, True)
    assert "no files are leaving" not in shown.output


def test_release_ends_the_lease_of_a_runner_that_is_gone(url: str, there: Connection, runner: StatusServer) -> None:
    missing = call("release", "r2", "--registry", url)
    assert missing.exit_code == 2
    assert "no runner r2 has a lease" in missing.output
    released = call("release", "r1", "--registry", url, "--json")
    assert (released.exit_code, json.loads(released.output)["released"]) == (0, 2)
    assert there.ask(ListQueries()).answer.runners == ()
    assert there.ask(AcquireRunner("r1", "h", root="y")).answer.epoch
