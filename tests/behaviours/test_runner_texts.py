"""What a runner says of its queries: why one ended, the way out of a state, commands that a shell takes, where it is asked."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from treaty.cli.metastore.queries.watch import read_status
from treaty.client.settings import ClientSettings
from treaty.core.refusals import NotPermitted, Unavailable
from treaty.core.sources import CHANGES, Source, SourceColumn, SourcePart, SourceRead
from treaty.metastore.sql.script import parse_script
from treaty.spark.planner.leaf_columns import list_needed, names_its_columns
from treaty.spark.planner.service import jobs
from treaty.spark.runner.kafka_source import SourceMissingError, SourceNotRunnableError
from treaty.spark.runner.replays.readers import name_batch
from treaty.spark.runner.row_order import FILE, ID, ORDER, list_used_parts
from treaty.spark.runner.service.failures import ATTEMPTS, describe_failure
from treaty.spark.runner.service.follower import FEED_SECONDS
from treaty.spark.runner.service.http_status import find_public_host
from treaty.spark.runner.service.states import FAILED, PAUSED, RETRYING, STATES, WAITING
from treaty.spark.runner.source_frames import UNKNOWN

GONE = "[KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE] Some data may have been lost because they are not available in Kafka any more; SQLSTATE: 22000"
RAISED = f"[USER_RAISED_EXCEPTION] {UNKNOWN} {{}} SQLSTATE: P0001"


def test_a_command_names_a_source_as_a_shell_takes_it() -> None:
    assert STATES[PAUSED].print_command("late") == 'treaty sql -e "RESUME late"'
    name = 'a"; `$(b)'
    quoted = '`a"; ``$(b)`'
    words = shlex.split(STATES[FAILED].print_command(name))
    assert words == ["treaty", "sql", "-e", f"PAUSE {quoted}; RESUME {quoted}"]


def test_a_wait_for_news_ends_before_a_client_gives_the_registry_up() -> None:
    longest = ClientSettings(("http://127.0.0.1",)).attempt_timeout
    assert max(FEED_SECONDS, jobs.WAIT_SECONDS) <= longest / 2, "else a quiet registry counts as unreachable"


def test_records_that_are_gone_are_no_fault_of_the_body() -> None:
    assert describe_failure(PySparkException(GONE), 1).state == RETRYING
    failure = describe_failure(PySparkException(GONE), ATTEMPTS)
    assert failure.state == FAILED
    assert "RESET CHECKPOINT" in failure.remedy


def test_replays_of_two_sources_have_no_batch_in_common() -> None:
    batches = [name_batch(generation, number) for generation in (7, 8) for number in (1, 2)]
    assert len({*batches}) == 4
    assert max(batches) < 0


def test_a_registry_that_refuses_has_answered() -> None:
    refused = describe_failure(NotPermitted.of("X", "No right to read late", path="/name", allowed="a right"), 1)
    assert refused.state == RETRYING
    assert "the registry refuses" in refused.reason
    assert describe_failure(Unavailable("away"), 1).state == WAITING


@pytest.mark.parametrize("words", ["77", "of another form"])
def test_an_unknown_id_is_known_as_such_whatever_names_it(words: str) -> None:
    failure = describe_failure(PySparkException(RAISED.format(words)), 1)
    assert failure.is_unknown_id
    assert failure.reason.endswith(f": {words}")


def test_a_reason_is_what_ended_a_query_and_no_line_of_its_plan() -> None:
    text = (
        "[STREAM_FAILED] Query late [id = 1, runId = 2] terminated with exception: no space is left SQLSTATE: XXKST\n"
        "=== Streaming Query ===\nIdentifier: late\nLogical Plan:\n~Write: x\n+- ~StreamingExecutionRelation Files[a: b]"
    )
    assert describe_failure(PySparkException(text), 1).reason == "no space is left"


def test_a_runner_that_listens_everywhere_is_asked_by_the_name_of_its_machine() -> None:
    assert find_public_host("10.0.0.7") == "10.0.0.7"
    assert find_public_host("::") == find_public_host("0.0.0.0") != "0.0.0.0"


@pytest.mark.parametrize("body", [b"[]", b'{"name": "x"}', b'{"queries": []}', b"no JSON"])
def test_what_is_no_runner_is_told_from_one(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"no runner|Expecting value"):
        read_status(body)


def test_what_nobody_reads_of_a_record_is_not_carried_through_its_decoding() -> None:
    flights = Source("STREAM", "flights", "", (SourceColumn("id", "BIGINT"),), 7, value=SourcePart("AVRO"))
    assert list_used_parts(flights, (), keeps_order=False) == frozenset()
    assert list_used_parts(flights, ("_topic", "_schema_id"), keeps_order=True) == {FILE, ID, ORDER}
    keyed = replace(flights, key=SourcePart("KAFKA"), value=SourcePart("AVRO", framing="header"))
    assert list_used_parts(keyed, (), keeps_order=False) == {"key", "headers"}
    traced = replace(
        flights, columns=(*flights.columns, SourceColumn("trace", "BINARY", role="header", header="trace"))
    )
    assert list_used_parts(traced, ("_timestamp",), keeps_order=False) == {"headers", "timestamp"}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("SELECT id, upper(carrier) FROM STREAM flights WHERE delay > 10", True),
        ("SELECT carrier, count(*), COUNT ( * ) FROM STREAM flights GROUP BY carrier -- * of all", True),
        ("SELECT '*' AS star, `natural` FROM STREAM flights", True),
        ("SELECT * FROM STREAM flights", False),
        ("SELECT f.*, 1 FROM STREAM flights f", False),
        ("SELECT to_json(struct(*)) FROM STREAM flights", False),
        ("SELECT count(struct(*)) FROM STREAM flights", False),
        ("SELECT id FROM STREAM flights natural JOIN airports", False),
        ("FROM STREAM flights |> WHERE delay > 10", False),
        ("TABLE flights", False),
        ("FROM STREAM flights", False),
        ("WITH f AS (FROM STREAM flights) SELECT id FROM f", False),
        ("SELECT id, delay * 2 FROM STREAM flights", False),
    ],
)
def test_a_body_that_may_read_columns_without_their_names_is_given_all(body: str, names: bool) -> None:  # noqa: FBT001 (a parameter)
    assert names_its_columns(body) is names


def test_rows_hold_the_columns_that_a_body_reads_and_those_that_are_never_null() -> None:
    columns = [SourceColumn(name, "BIGINT") for name in ("id", "Delay", "origin", "ts")]
    columns += [SourceColumn("sure", "BIGINT", nullable=False), SourceColumn("k", "BIGINT", role="key")]
    flights = Source("STREAM", "Flights", "", tuple(columns), 7, value=SourcePart("AVRO"))
    reads = (_read_columns("flights", "delay", "origin.city"), _read_columns("other", "id"))
    assert list_needed(flights, reads, {"ts"}) == ["Delay", "origin", "ts", "sure", "k"]


def _read_columns(source: str, *paths: str) -> SourceRead:
    return SourceRead(source, 7, source, CHANGES, paths, None, None)


STATE_ROWS = re.compile(r"^\| `([A-Z]+)` \| (.+?) \| (.+?) \| `(.+)` \|$", re.MULTILINE)


@pytest.mark.parametrize("name", STATES)
def test_a_state_has_a_meaning_a_way_out_and_one_command(name: str) -> None:
    """The page has the same words, and the command is one of this program, whose statements are parsed."""
    state = STATES[name]
    page = Path(__file__).parents[2] / "docs" / "howto" / "run-queries.md"
    rows = {found[0]: found[1:] for found in STATE_ROWS.findall(page.read_text("utf-8"))}
    assert rows[name] == (state.meaning, state.way_out, state.print_command("delays"))
    assert rows.keys() == STATES.keys()
    program, verb, *words = shlex.split(state.print_command("delays"))
    assert program == "treaty"
    if verb == "sql":
        assert not parse_script(words[-1]).diagnostics
    else:
        assert [verb, *words] == ["query", "watch"]


FAILURES: dict[str, tuple[BaseException, int, str, str]] = {
    "a folder that is not there": (SourceMissingError("no folder"), 1, WAITING, ""),
    "a registry that is away": (Unavailable("away"), 1, WAITING, ""),
    "a table that is being made": (PySparkException("[DELTA_TABLE_NOT_FOUND] no table"), 1, WAITING, ""),
    "a source that is not run here": (SourceNotRunnableError("on iceberg"), 1, FAILED, ""),
    "a batch that failed": (PySparkException("a disk is full"), 50, RETRYING, ""),
    "a row, at first": (PySparkException("[DIVIDE_BY_ZERO] x. SQLSTATE: 22012"), 1, RETRYING, ""),
    "a row, again": (PySparkException("[DIVIDE_BY_ZERO] x. SQLSTATE: 22012"), ATTEMPTS, FAILED, "try_cast"),
    "a body": (PySparkException("[UNRESOLVED_COLUMN] x. SQLSTATE: 42703"), ATTEMPTS, FAILED, "another body"),
    "an Iceberg table whose snapshots went": (PySparkException("Cannot load current offset at snapshot 7, the snapshot was expired or removed"), ATTEMPTS, FAILED, "RESET CHECKPOINT"),
    "a checkpoint of another body": (PySparkException("STREAMING_STATEFUL_OPERATOR_NOT_MATCH"), 1, FAILED, "create it"),
    "an unknown id": (PySparkException(RAISED.format("7")), 1, RETRYING, ""),
}  # fmt: skip
"""What ends a query, at which attempt, with the state that follows and a word of the remedy."""


@pytest.mark.parametrize("cause", FAILURES)
def test_what_ends_a_query_leads_to_a_state_with_a_reason(cause: str) -> None:
    error, attempts, state, remedy = FAILURES[cause]
    failure = describe_failure(error, attempts)
    assert (failure.state, remedy in failure.remedy) == (state, True)
    assert failure.reason
