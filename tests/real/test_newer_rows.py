"""Living servers, some of which are older than what is in their log: they read on, say so, and write nothing."""

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from tests.behaviours.logs.backends import put
from tests.real.running import Running, serving
from tests.real.test_disk import ask, log_command
from tests.real.test_server import eventually
from treaty.core.state.rows import ROW_FORMAT, EncodedRow
from treaty.log.urls import open_log

NEWER = {
    "format": EncodedRow("config", '[".","s"]', json.dumps({"v": ROW_FORMAT + 1, "level": "STRANGE"})),
    "table": EncodedRow("treaties", '["x"]', json.dumps({"v": 1, "anything": 1})),
    "source": EncodedRow("source", '["later"]', json.dumps({"v": ROW_FORMAT + 1, "kind": "LAKE"})),
}
"""What only a later version can read: a row of a newer format, and one of a table that is not known here."""


STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"


def run(server: Running, sql: str) -> tuple[int, str]:
    """The status of a statement, and its message or what its result has."""
    answer = httpx2.post(f"{server.base}/metastore/v1/statements", json={"sql": sql}, timeout=60).json()
    if "results" not in answer:
        return 0, answer["message"]
    return len(answer["results"][0]["rows"]), answer["results"][0]["message"]


async def written(url: str, row: EncodedRow) -> None:
    log = await open_log(url)
    try:
        await put(log, row)
    finally:
        await log.close()


@pytest.mark.slow
@pytest.mark.parametrize("what", NEWER)
def test_r39_a_row_of_a_newer_version_makes_servers_read_only_and_they_say_so(tmp_path: Path, what: str) -> None:
    url = f"sqlite://{tmp_path}/log.db"
    with serving(tmp_path, "--log", url, "--workers", "2") as server:
        assert ask(server, "/subjects/kept/versions", '"string"')[0] == 200
        assert run(server, STREAM.format("known"))[1] == "Stream known created"
        asyncio.run(written(url, NEWER[what]))
        told = ask(server, "/readyz")
        assert (told[0], told[1]["status"]) == (200, "read-only"), "it can be read"
        assert "1 rows can't be read here" in told[1]["reason"]
        assert "upgrade this node" in told[1]["reason"]
        status, body, again = ask(server, "/subjects/more/versions", '"int"')
        assert (status, again >= 1) == (503, True)
        assert "upgrade this node" in body["message"]
        assert ask(server, "/readyz/writes")[0] == 503
        assert ask(server, "/subjects")[1] == ["kept", "known-value"]
        refuse_statements_that_write(server, what)
        assert ask(server, "/subjects/kept/versions/latest")[1]["id"] == 1
        assert ask(server, "/schemas/ids/1")[0] == 200

        def both_say_so() -> bool:
            workers = server.get("/status")["workers"].values()
            return [one["readOnly"] for one in workers] == [1.0, 1.0]

        eventually("both workers say so", both_say_so)
        node = server.get("/status")["node"]
        assert (node["quarantined"], len(node["quarantine"])) == (1, 1)
        assert 'treaty_unreadable_rows{worker="1"} 1.0' in server.text("/metrics")
    assert NEWER[what].table in log_command(1, "repair", url)
    with serving(tmp_path, "--log", url) as again_started:
        assert ask(again_started, "/subjects/more/versions", '"int"')[0] == 503
        assert ask(again_started, "/schemas/ids/1")[0] == 200
    log_command(0, "repair", url, "--quarantine", "--include-newer", "--yes")
    with serving(tmp_path, "--log", url) as mended:
        assert ask(mended, "/readyz")[1]["status"] == "ready"
        assert ask(mended, "/subjects/more/versions", '"int"')[0] == 200
        assert run(mended, STREAM.format("more"))[1] == "Stream more created"
        assert run(mended, "SHOW STREAMS")[0] == 2


def refuse_statements_that_write(server: Running, what: str) -> None:
    """R39: statements that write are refused with the remedy, and those that read are answered from what is known.

    A list or description is refused where the row may belong to it, since it would not be whole.
    """
    for sql in (
        STREAM.format("more"),
        "DROP STREAM known",
        "ALTER STREAM known SET COMMENT = 'x'",
        "CREATE TYPE t AS INT",
    ):
        assert "upgrade this node" in run(server, sql)[1]
    for sql, rows in (("DESCRIBE known", 2), ("SHOW STREAMS", 1)):
        count, message = run(server, sql)
        assert (count, "upgrade" in message) == ((0, True) if what == "source" else (rows, False)), sql
    assert run(server, "SHOW TYPES") == (0, "")
