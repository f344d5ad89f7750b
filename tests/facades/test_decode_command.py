"""`treaty decode` as a person uses it."""

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from treaty.assemble import connect
from treaty.cli.main import group
from treaty.client.serializers.avro import AvroSerializer
from treaty.client.serializers.settings import SerializerSettings

SCHEMA = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string"}]}'


@pytest.fixture
def registry(tmp_path: Path) -> str:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as found:
        found.register("orders-value", SCHEMA)
    return url


def run(registry: str, *words: str, stdin: bytes | None = None, code: int = 0) -> Result:
    done = CliRunner().invoke(group, ["decode", *words, "--registry", registry], input=stdin)
    assert done.exit_code == code, done.output
    return done


RECORD = bytes.fromhex("00000000010e046869")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        ((RECORD.hex(),), None),
        (("0x" + RECORD.hex(":"),), None),
        ((base64.b64encode(RECORD).decode(),), None),
        ((), RECORD),
        ((), RECORD.hex(" ").encode() + b"\n"),
    ],
    ids=["hex", "hex with colons", "base64", "bytes", "hex on standard input"],
)
def test_a_record_in_any_spelling(registry: str, words: tuple[str, ...], stdin: bytes | None) -> None:
    told = run(registry, *words, stdin=stdin).output

    assert "written with id 1, orders-value version 1 (AVRO" in told
    assert "/note" in told
    assert "hi" in told


def test_json_and_headers(registry: str) -> None:
    with connect(registry) as found:
        framed = AvroSerializer(found, SCHEMA, SerializerSettings(framing="header"))({"id": 7, "note": "hi"}, "orders")
    assert framed.data is not None
    told = json.loads(run(registry, framed.data.hex(), "--header", framed.headers[0][1].hex(), "--json").stdout)

    assert told["fine"] is True
    assert told["schema"]["guid"] == framed.guid
    assert [(one["path"], one["says"]) for one in told["steps"][1:]] == [("/id", "7"), ("/note", "hi")]


def test_what_is_wrong_is_told_with_exit_code_1_and_what_is_no_record_with_2(registry: str) -> None:
    assert "has 2 bytes, 1 are left" in run(registry, RECORD[:-1].hex(), code=1).output
    assert "BAD_MAGIC" in run(registry, stdin=b"\xff\x00", code=1).output
    assert "neither hex nor base64" in run(registry, "what?", code=2).output
