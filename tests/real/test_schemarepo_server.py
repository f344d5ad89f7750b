"""schema-repo and AVRO-1124 at a real server: requests as Java's client sends them, restarts, and connections that stay."""

import asyncio
import http.client
import json
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.facades.schemarepo.conversations import repository
from tests.real.running import serving
from treaty.assemble import connect

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
JAVA = {"Accept": "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "User-Agent": "Java/17"}
TEXT = {**JAVA, "Content-Type": "text/plain"}
FORM = {**JAVA, "Content-Type": "application/x-www-form-urlencoded"}
UMLAUTS = '{"type":"enum","name":"E","doc":"é\n€","symbols":["A"]}'
Step = tuple[str, str, dict[str, str], object, int, str]
WRITES: tuple[Step, ...] = (
    ("GET", "/schema-repo", JAVA, None, 200, ""),
    ("GET", "/schema-repo/", {"Accept": "application/json"}, None, 200, "[]"),
    ("PUT", "/schema-repo/s", FORM, b"", 200, "s"),
    ("PUT", "/schema-repo/s", {}, None, 200, "s"),
    ("GET", "/schema-repo/s", TEXT, None, 200, ""),
    ("PUT", "/schema-repo/s/register_if_latest/", TEXT, b'"int"', 200, "0"),
    ("PUT", "/schema-repo/s/register", TEXT, iter([b'"lo', b'ng"']), 200, "1"),  # in chunks
    ("PUT", "/schema-repo/s/register", TEXT, UMLAUTS.encode(), 200, "2"),
    ("PUT", "/schema-repo/s/register_if_latest/1", TEXT, b'"x"', 409, ""),
    ("POST", "/avro-1124/schemas/groups/g", FORM, b"schema=%22int%22&compatibility_model=BACKWARD", 200, "1"),
    ("POST", "/avro-1124/schemas/groups/g", FORM, b"schema=%22string%22", 403, ""),
    ("PUT", "/schema-repo/v", FORM, b"repo.validators=DOC_MISSING", 200, "v"),
)
READS: tuple[Step, ...] = (
    ("GET", "/schema-repo", JAVA, None, 200, "g\ns\nv\n"),
    ("GET", "/schema-repo/s/id/0", TEXT, None, 200, '"int"'),
    ("GET", "/schema-repo/s/id/2", {}, None, 200, UMLAUTS),
    ("GET", "/schema-repo/s/latest", JAVA, None, 200, f"2\t{UMLAUTS}"),
    ("POST", "/schema-repo/s/schema", TEXT, UMLAUTS.encode(), 200, "2"),
    ("GET", "/schema-repo/s/all", JAVA, None, 406, ""),
    ("PUT", "/schema-repo/v/register", TEXT, b'{"type":"record","name":"R","fields":[]}', 403, ""),
    ("GET", "/avro-1124/schemas/s/2", {"Accept": "*/*"}, None, 200, '"long"'),
    ("GET", "/avro-1124/schemas/g/latest", JAVA, None, 200, '"int"'),
    ("GET", "/status", {"Accept": "text/plain"}, None, 200, "OK : treaty"),
    ("GET", "/subjects", {"Accept": "application/json"}, None, 200, '["g","s"]'),
)


def talk(base: str, steps: tuple[Step, ...]) -> None:
    """Send all requests over one connection."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=30)
    for method, path, headers, body, status, text in steps:
        connection.request(method, path, body, headers)  # type: ignore[arg-type]  # bytes or chunks
        answer = connection.getresponse()
        told = answer.read().decode()
        assert answer.status == status, (method, path, told)
        assert told == text or status >= 400, (method, path, told)
        assert answer.getheader("location") is None
    connection.close()


def test_what_javas_client_sends_is_answered_also_after_a_restart(tmp_path: Path) -> None:
    log = f"sqlite:///{tmp_path / 'treaty.db'}"
    with serving(tmp_path, "--log", log) as server:
        talk(server.base, WRITES)
        talk(server.base, READS)
    with serving(tmp_path, "--log", log) as server:
        talk(server.base, READS)
        connection = http.client.HTTPConnection(urlsplit(server.base).netloc, timeout=30)
        connection.request("GET", "/schema-repo/s/all", headers={"Accept": "application/json"})
        listed = json.loads(connection.getresponse().read())
        assert [(one["id"], one["schema"]) for one in listed] == [("2", UMLAUTS), ("1", '"long"'), ("0", '"int"')]
        connection.close()


def played(table: str, member: str) -> list[list[dict[str, Any]]]:
    """The conversations of a table that need no restart."""
    rows = tomllib.loads((ROOT / "tests/cases/schemarepo" / f"{table}.toml").read_text("utf-8"))[member]
    return [row["steps"] for row in rows if not any("reopen" in step for step in row.get("steps", [{"reopen": True}]))]


@pytest.mark.parametrize(
    ("table", "member", "root", "least"),
    [("points", "point", "/schema-repo", 40), ("proposal", "case", "/avro-1124/schemas", 18)],
)
def test_all_conversations_are_held_with_a_process(
    table: str, member: str, root: str, least: int, tmp_path: Path
) -> None:
    """With the application they are `test_points.py` and `test_proposal.py`; here no subject is left of the one before."""
    held = played(table, member)
    assert len(held) >= least

    async def hold(address: str, steps: list[dict[str, Any]]) -> None:
        async with repository(root=root, address=address) as it:
            await it.play(steps)

    with serving(tmp_path, "--log", "memory:") as server, connect(server.base) as registry:
        for steps in held:
            asyncio.run(hold(server.base, steps))
            for group in registry.groups():
                registry.remove_subject(group.subject)
