"""Java's own HTTP client against every dialect: by default it asks for HTTP/2 with each new connection (`Upgrade: h2c`)."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.real.running import serving
from tests.servers.jars import java

pytestmark = pytest.mark.jvm
PROGRAM = Path(__file__).with_name("JavaHttpClient.java")
JSON, TEXT, FORM = "application/json", "text/plain", "application/x-www-form-urlencoded"
LONG = json.dumps({"type": "record", "name": "R", "doc": "x" * 70_000, "fields": []})
POLICY = {"serializationFormat": {"serializationFormat": "Avro", "fullTypeName": "Avro"}, "allowMultipleTypes": False}
GROUP = {"groupName": "g", "groupProperties": {**POLICY, "compatibility": {"policy": "AllowAny"}, "properties": {}}}
SELF = {"vendor": "com.acme", "name": "click", "format": "jsonschema"}
IGLU = {
    "$schema": "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/jsonschema/1-0-0#",
    "type": "object",
}
KEK = {"name": "k", "kmsType": "local-kms", "kmsKeyId": "x"}

REQUESTS: list[tuple[str, str, str, str, tuple[int, int], str]] = [
    ("POST", "/subjects/s/versions", JSON, json.dumps({"schema": '"string"'}), (200, 200), '"id":1,'),
    ("POST", "/subjects/long/versions", JSON, json.dumps({"schema": LONG}), (200, 200), '"id":2,'),
    ("POST", "/subjects/s", JSON, json.dumps({"schema": '"string"'}), (200, 200), '"version":1'),
    ("PUT", "/config/s", JSON, json.dumps({"compatibility": "FULL"}), (200, 200), '"FULL"'),
    ("GET", "/schemas/ids/1", JSON, "", (200, 200), "string"),
    ("DELETE", "/config/s", JSON, "", (200, 404), "FULL"),
    ("POST", "/dek-registry/v1/keks", JSON, json.dumps(KEK), (404, 404), "404"),
    ("PUT", "/dek-registry/v1/keks/k", JSON, json.dumps(KEK), (404, 404), "404"),
    ("POST", "/v1/groups", JSON, json.dumps(GROUP), (201, 409), ""),
    ("PUT", "/v1/groups/g/compatibility", JSON, json.dumps({"compatibility": {"policy": "DenyAll"}}), (200, 200), ""),
    ("PUT", "/schema-repo/clicks", FORM, "repo.validators=", (200, 200), "clicks"),
    ("PUT", "/schema-repo/clicks/register", TEXT, '"int"', (200, 200), "0"),
    ("POST", "/schema-repo/clicks/schema", TEXT, '"int"', (200, 200), "0"),
    ("POST", "/avro-1124/schemas/clicks", FORM, "schema=%22long%22", (200, 200), ""),
    ("POST", "/api/schemas", JSON, json.dumps({**IGLU, "self": {**SELF, "version": "1-0-0"}}), (201, 200), "1-0-0"),
    ("PUT", "/api/schemas/com.acme/click/jsonschema/2-0-0", JSON, json.dumps({**IGLU, "self": {**SELF, "version": "2-0-0"}}), (201, 200), "2-0-0"),
    ("POST", "/treaty/v1/ask", JSON, json.dumps({"operation": "list-subjects"}), (200, 200), "clicks"),
]  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--access-log",)], ids=["cached", "logged"])
def test_javas_client_is_answered_by_every_dialect(options: tuple[str, ...], tmp_path: Path) -> None:
    """Each request comes with a length and in chunks, and each of these again on the connection of the one before."""
    lines = []
    for method, path, media, body, _, _ in REQUESTS:
        for way in ("fixed", "chunked") if body else ("fixed",):
            lines += [f"{method}\t{path}\t{media}\t{way}\t{body}", "again"]
    with serving(tmp_path, "--log", "memory:", "--iglu-patches", *options) as server:
        done = subprocess.run(
            [java(), "-XX:+UseSerialGC", str(PROGRAM), server.base],
            input="\n".join(lines) + "\n", capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
    answers = iter(done.stdout.splitlines())
    for method, path, _, body, (first, repeated), part in REQUESTS:
        for turn in range(4 if body else 2):
            protocol, status, text = next(answers).split("\t")
            assert (protocol, int(status)) == ("HTTP_1_1", repeated if turn else first), (
                method,
                path,
                turn,
                text[:300],
            )
            assert turn or part in text, (method, path, text[:300])
    assert not list(answers)
