"""The runner as a service: queries start from rows alone, follow the registry, and fail one by one."""

import json
import shlex
import urllib.request
from typing import Any

import pytest

from tests.real.query_places import FLIGHTS, MORE, ROWS, Place, running, status_of, until
from treaty.metastore.sql.script import parse_script
from treaty.spark.runner.service.http_status import StatusServer
from treaty.spark.runner.service.part_status import PartStatus
from treaty.spark.runner.service.runner import QueryRunner
from treaty.spark.runner.service.states import STATES

pytestmark = pytest.mark.jvm
LATE = "SELECT id, delay FROM STREAM flights WHERE delay > 15"
TRIGGER = (("TRIGGER", "1 second"),)


def state_of(runner: QueryRunner, name: str) -> str:
    return next((one.state for one in runner.status().parts if one.name == name), "")


def get(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


def test_r31_queries_run_from_rows_alone_and_follow_statements(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.create("late", "STREAM", LATE, "flights", properties=TRIGGER)
    place.create("delays", "TABLE", "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier", "flights")
    place.create("counts", "TABLE", "SELECT delay, count(*) AS n FROM STREAM late GROUP BY delay", "late")
    place.create("broken", "STREAM", "SELECT 100 div (delay - 20) AS x FROM STREAM flights", "flights")
    seen: list[PartStatus] = []
    with running(place, seen) as runner:
        until(lambda: state_of(runner, "late") == "WAITING", runner)
        assert "folder of flights is not there yet" in status_of(runner, "late").reason
        place.insert("flights", ROWS)
        until(lambda: place.has("counts", [(20, 1), (30, 1)]), runner)
        until(lambda: place.has("delays", [("AA", 2), ("DL", 1)]), runner)
        assert place.rows("late") == [(2, 20), (3, 30)]
        until(lambda: state_of(runner, "broken") == "FAILED", runner)  # and it stopped no other
        failed = status_of(runner, "broken")
        assert failed.reason.startswith("[DIVIDE_BY_ZERO]"), failed
        assert "CREATE OR REPLACE" in failed.remedy
        assert failed.command == 'treaty sql -e "PAUSE broken; RESUME broken"'
        place.metastore.run("PAUSE late")
        until(lambda: state_of(runner, "late") == "PAUSED", runner)
        place.insert("flights", MORE)
        until(lambda: place.has("delays", [("AA", 3), ("DL", 1), ("UA", 1)]), runner)
        assert place.rows("late") == [(2, 20), (3, 30)]
        place.metastore.run("RESUME late")
        until(lambda: place.has("late", [(2, 20), (3, 30), (5, 50)]), runner)
        place.metastore.run("DROP TABLE counts; DROP STREAM broken")
        until(lambda: {state_of(runner, "counts"), state_of(runner, "broken")} <= {"", "ENDED"}, runner)
        place.create("late", "STREAM", LATE.replace("15", "40"), "flights", properties=TRIGGER, replace=True)
        place.insert("flights", "(6, 'AA', 30, NULL), (7, 'AA', 45, NULL)")
        until(lambda: place.has("late", [(2, 20), (3, 30), (5, 50), (7, 45)]), runner)
        check_status(runner)
        place.metastore.run("ALTER STREAM late RENAME TO later")
        until(lambda: state_of(runner, "later") == "RUNNING", runner)
    assert {one.state for one in runner.status().parts} == {"ENDED"}
    assert {one.state for one in seen} <= STATES.keys()


def check_status(runner: QueryRunner) -> None:
    """What the runner says of itself over HTTP."""
    server = StatusServer(runner.status, "127.0.0.1", 0)
    try:
        status = json.loads(get(f"{server.address}/status"))
        late = next(one for one in status["queries"] if one["name"] == "late")
        assert (late["state"], late["command"]) == ("RUNNING", 'treaty sql -e "PAUSE late"')
        assert late["rows_in"] >= 5
        assert late["rows_out"] >= 4
        assert late["bad_rows"] == 0
        assert 'treaty_query_rows_out_total{part="query",query="late"}' in get(f"{server.address}/metrics")
        assert get(f"{server.address}/healthz") == "ok\n"
    finally:
        server.close()


def test_a_shell_and_sql_read_the_command_of_a_state_as_it_is_meant_whatever_the_name_is() -> None:
    name = "x; DROP STREAM y $(id) 'z'"
    for state in STATES.values():
        program, *_, text = shlex.split(state.print_command(name))
        script = parse_script(text if "{name}" in state.command else "SHOW STREAMS")
        assert (program, script.diagnostics) == ("treaty", ())
        assert {getattr(one.value, "name", name) for one in script.statements} == {name}
