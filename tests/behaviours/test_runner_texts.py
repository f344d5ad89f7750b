"""What a runner says of its queries: why one ended, the way out of a state, commands that a shell takes, where it is asked."""

import shlex

import pytest
from pyspark.errors import PySparkException

from treaty.cli.metastore.queries.watch import read_status
from treaty.core.refusals import NotPermitted, Unavailable
from treaty.spark.runner.service.failures import ATTEMPTS, describe_failure
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


def test_records_that_are_gone_are_no_fault_of_the_body() -> None:
    assert describe_failure(PySparkException(GONE), 1).state == RETRYING
    failure = describe_failure(PySparkException(GONE), ATTEMPTS)
    assert failure.state == FAILED
    assert "RESET CHECKPOINT" in failure.remedy


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


def test_a_runner_that_listens_everywhere_is_asked_by_the_name_of_its_machine() -> None:
    assert find_public_host("10.0.0.7") == "10.0.0.7"
    assert find_public_host("::") == find_public_host("0.0.0.0") != "0.0.0.0"


@pytest.mark.parametrize("body", [b"[]", b'{"name": "x"}', b'{"queries": []}', b"no JSON"])
def test_what_is_no_runner_is_told_from_one(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"no runner|Expecting value"):
        read_status(body)
