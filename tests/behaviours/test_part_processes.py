"""The process of a part as its runner sees it: what it says, that it can't be started, and what others see of it."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TypeVar, cast

import pytest

from treaty.cli.metastore.queries.isolated import make_command, make_variables
from treaty.cli.metastore.queries.service_options import ServiceOptions
from treaty.core.messages.request import Request
from treaty.core.refusals import Unavailable
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.sources import Source
from treaty.spark.runner.query_start import QueryStarter
from treaty.spark.runner.service.heartbeat import HeartbeatWatch, RunnerHeartbeat
from treaty.spark.runner.service.lease import OwnLease
from treaty.spark.runner.service.part_process import BEAT, PartProcess, parse_status, print_status
from treaty.spark.runner.service.part_status import FieldReads, PartStatus
from treaty.spark.runner.service.runner import QueryRunner, RunnerEvents
from treaty.spark.runner.service.shared_files import LocalFiles
from treaty.spark.runner.service.states import RETRYING, RUNNING
from treaty.spark.runner.service.wanted import QuerySnapshot, WantedPart

WANTED = WantedPart(Source("STREAM", "late", "", (), 7))
READS = (FieldReads("flights", 3, ("delay", "id")), FieldReads("planes", 4, (), None))
SAID = PartStatus("late", "query", 7, 8, RUNNING, bad=(("UNKNOWN_ID", 2),), lag=5, reads=READS)
PATIENCE = 20.0
A = TypeVar("A")


@contextmanager
def running(command: Sequence[str], on_state: Callable[[PartStatus], None]) -> Iterator[PartProcess]:
    part = PartProcess(WANTED, command, on_state)
    try:
        yield part
    finally:
        part.end()
        assert part.join(PATIENCE)


def wait(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_status_says_to_the_runner_what_it_says_to_others() -> None:
    program = f"import sys; print('no status'); sys.stdout.write({print_status(SAID)!r}); sys.stdout.flush(); sys.stdin.readline(); sys.stdin.readline()"
    printed: list[object] = []
    with running([sys.executable, "-S", "-c", program], lambda one: printed.append(one.to_json())) as part:
        wait(lambda: printed)
        assert part.is_alive
        assert part.status == SAID
        assert part.status.to_json()["reads"] == [one.to_json() for one in READS]


@pytest.mark.parametrize("line", ["", "{}", "[]", "null", '{"name": 1}', "a word"])
def test_what_is_no_status_is_passed_over(line: str) -> None:
    assert parse_status(line) is None


def test_a_process_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    with running([str(tmp_path / "nothing")], lambda _: None) as part:
        wait(lambda: part.status.state == RETRYING)
        assert "could not be run" in part.status.reason
        assert part.is_alive


def test_a_listener_that_fails_leaves_no_process_beside_the_next_one(tmp_path: Path) -> None:
    heard = Event()

    def fail(_: PartStatus) -> None:
        if not heard.is_set():
            heard.set()
            raise ValueError(tmp_path)

    program = f"import sys, time; sys.stdout.write({print_status(SAID)!r}); sys.stdout.flush(); time.sleep(600)"
    with running([sys.executable, "-S", "-c", program], fail) as part:
        wait(lambda: part.status.state == RETRYING)
        assert part.is_alive


class AwayRegistry:
    """A registry that gives no answer."""

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        raise Unavailable(f"away: {type(request).__name__} {call}")

    def close(self) -> None:
        """Nothing is open."""


def test_a_process_hears_that_the_lease_is_alive_while_the_registry_is_away(tmp_path: Path) -> None:
    files, heard = LocalFiles(tmp_path), tmp_path / "heard"
    heartbeat = RunnerHeartbeat(files, "r1", {})
    runner = QueryRunner(cast("QueryStarter", None), RunnerEvents())  # nothing is started
    runner._lease = OwnLease(AwayRegistry(), "r1", 1, "h", heartbeat, HeartbeatWatch(files))
    program = f"import sys; file = open({str(heard)!r}, 'a', buffering=1); [file.write(line) for line in iter(sys.stdin.readline, 'end\\n')]"
    with running([sys.executable, "-S", "-c", program], lambda _: None) as part:
        runner._threads[WANTED.key] = part
        wait(heard.exists)
        for _ in range(2):
            runner._apply(runner._lease, QuerySnapshot("t", {WANTED.key: WANTED}))
        wait(lambda: heard.read_text().splitlines() == [BEAT] * 3)
    heartbeat.close()


def test_who_lists_processes_sees_no_password_of_the_registry() -> None:
    url = "http://reader:secret@registry:8081"
    options = ServiceOptions("r1", Path("shared"), Path("data"), url)
    assert "secret" not in " ".join(make_command(options, WANTED))
    assert make_variables(options)["TREATY_REGISTRY"] == url
