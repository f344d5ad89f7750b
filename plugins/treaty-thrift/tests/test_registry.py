"""A registry with the plug-in and without it: Confluent's paths, serializers, Arrow, commands."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import urllib3
from click.testing import CliRunner, Result

from treaty.arrow import decode
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.client.connection import Connection
from treaty.client.groups.deserializer import GroupDeserializer
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.groups.settings import GroupReaderSettings, GroupWriterSettings, pravega_group
from treaty.client.groups.types import WithSchema
from treaty.client.records.decoder import RecordDecoder
from treaty.client.serializers.errors import BadRecordError, BadValueError
from treaty.client.serializers.payloads import PayloadDeserializer, PayloadSerializer
from treaty.client.serializers.settings import UseLatest
from treaty.core.messages.settings import Config
from treaty.core.refusals import Incompatible, InvalidSchema, Refusal
from treaty.core.schema import Draft, Reference
from treaty.node.embedded import EmbeddedRegistry
from treaty.plan.decode_plans import make_plan
from treaty.plan.value import DecodePlan
from treaty.testing import TreatyRegistry
from treaty.testing.server import start_server

MONEY = "struct Money {\n  1: required double amount\n  2: optional string currency\n}"
OLD = 'include "money.thrift"\n\nstruct Order {\n  1: required i64 id\n  2: optional money.Money price\n}'
NEW = OLD.replace("\n}", '\n  3: optional list<string> words = ["none"]\n}')
BROKEN = OLD.replace("i64 id", "string id")
MONEY_REFERENCE = (Reference("money.thrift", "money", 1),)
ROWS: list[dict[str, Any]] = [{"id": 1, "price": {"amount": 2.5, "currency": "EUR"}}, {"id": 2}]


@pytest.fixture
def registry(plugin: Path) -> Iterator[TreatyRegistry]:
    with TreatyRegistry() as made:
        made.registry.register("money", Draft(MONEY, "THRIFT"))
        yield made


def ask(url: str, method: str = "GET", body: object = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body)
    with urllib3.PoolManager() as pool:
        found = pool.request(method, url, body=data, headers={"Content-Type": "application/json"}, retries=False)
        return found.status, json.loads(found.data or b"null")


def posted(text: str) -> dict[str, object]:
    references = [{"name": "money.thrift", "subject": "money", "version": 1}]
    return {"schemaType": "THRIFT", "schema": text, "references": references}


def draft(text: str) -> Draft:
    return Draft(text, "THRIFT", MONEY_REFERENCE)


def run(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(group, words, input=stdin)


def test_confluents_paths_take_the_type_and_refuse_what_is_incompatible_with_findings(registry: TreatyRegistry) -> None:
    url, versions = registry.url, f"{registry.url}/subjects/orders-value/versions"
    assert ask(f"{url}/schemas/types") == (200, ["JSON", "PROTOBUF", "AVRO", "THRIFT"])
    status, made = ask(versions, "POST", posted(OLD))
    assert (status, made["id"]) == (200, 2)
    assert ask(versions, "POST", posted(NEW))[0] == 200
    status, refused = ask(versions, "POST", posted(BROKEN))
    assert (status, refused["error_code"]) == (409, 40901)
    assert "errorType:'FIELD_TYPE_CHANGED'" in refused["message"]
    assert "The type of the field at '/Order/1' in the new schema" in refused["message"]
    assert "', remedy:'" in refused["message"]
    status, checked = ask(
        f"{url}/compatibility/subjects/orders-value/versions/latest?verbose=true", "POST", posted(BROKEN)
    )
    assert (status, checked["is_compatible"]) == (200, False)
    status, wrong = ask(versions, "POST", {"schemaType": "THRIFT", "schema": "struct A { 1 x }"})
    assert (status, wrong["error_code"]) == (422, 42201)
    assert "'x' has no place here" in wrong["message"] or "has no place here" in wrong["message"]
    status, found = ask(f"{url}/schemas/ids/2")
    assert (status, found["schemaType"], found["schema"]) == (200, "THRIFT", OLD)
    status, resolved = ask(f"{url}/schemas/ids/2?format=resolved")
    assert "struct Money" in resolved["schema"]


def test_a_missing_reference_is_named_and_nothing_is_looked_for(registry: TreatyRegistry) -> None:
    body = {"schemaType": "THRIFT", "schema": 'include "/etc/passwd"\nstruct A { 1: i32 x }'}
    status, refused = ask(f"{registry.url}/subjects/a/versions", "POST", body)

    assert status == 422
    assert "no reference is called '/etc/passwd'" in refused["message"]


@pytest.mark.parametrize("encoding", ["", "compact"])
def test_serializers_write_both_protocols_and_read_any_version(registry: TreatyRegistry, encoding: str) -> None:
    found = registry.registry
    old = PayloadSerializer(found, draft(OLD), encoding=encoding)
    new = PayloadSerializer(found, draft(NEW), encoding=encoding)
    first, second = old(ROWS[0], "orders").data, new({"id": 3, "words": ["x"]}, "orders").data
    assert first is not None
    assert second is not None
    read = PayloadDeserializer(found, "THRIFT", encoding=encoding)
    assert read(first, "orders") == ROWS[0]
    latest = PayloadDeserializer(found, "THRIFT", UseLatest(), encoding=encoding)
    assert latest(first, "orders") == {**ROWS[0], "words": ["none"]}
    assert PayloadDeserializer(found, "THRIFT", draft(OLD), encoding=encoding)(second) == {"id": 3, "price": None}
    assert RecordDecoder(found, encoding=encoding).decode_part(first, "value").value == ROWS[0]
    with pytest.raises(BadValueError, match="at /price/amount: 'x' is no number"):
        old({"id": 1, "price": {"amount": "x"}}, "orders")
    with pytest.raises(BadRecordError, match="MALFORMED"):
        read(first[:-1], "orders")


def frames(found: Connection, encoding: str) -> list[bytes]:
    old = PayloadSerializer(found, draft(OLD), encoding=encoding)
    new = PayloadSerializer(found, draft(NEW), encoding=encoding)
    made = [*(old(row, "orders").data for row in ROWS), new({"id": 3, "words": ["x", "y"]}, "orders").data]
    return [one for one in made if one is not None]


@pytest.mark.parametrize("encoding", ["binary", "compact"])
def test_arrow_reads_all_versions_as_one_and_keeps_bad_rows_with_their_code(
    registry: TreatyRegistry, encoding: str
) -> None:
    good = frames(registry.registry, encoding)
    plan = make_plan(registry.registry, "orders-value", encoding=encoding)
    assert DecodePlan.from_json(plan.to_json()) == plan
    bad = [good[0] + b"x", good[0][:-1], good[0][:5] + b"\0", b"\0\0\0\0\x63", b"\7", None]
    table = decode(pa.array([*good, *bad], pa.binary()), plan)

    assert table["record"].type == pa.struct(
        [
            ("id", pa.int64()),
            ("price", pa.struct([("amount", pa.float64()), ("currency", pa.string())])),
            pa.field("words", pa.list_(pa.field("element", pa.string()))),
        ]
    )
    assert table["record"].to_pylist()[:3] == [
        {**ROWS[0], "words": ["none"]},
        {"id": 2, "price": None, "words": ["none"]},
        {"id": 3, "price": None, "words": ["x", "y"]},
    ]
    assert [one and one["code"] for one in table["error"].to_pylist()] == [
        *[None] * 3, "TRAILING", "MALFORMED", "INVALID", "UNKNOWN_ID", "TOO_SHORT", None,
    ]  # fmt: skip
    assert all(one["message"] for one in table["error"].to_pylist()[3:8])


def test_commands_check_print_and_decode(
    registry: TreatyRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("money", MONEY),
        ("old", OLD),
        ("new", NEW),
        ("broken", BROKEN),
        ("bad", "struct A {\n  1 x }"),
    ):
        Path(f"{name}.thrift").write_text(text)
    assert run("check", "old.thrift", "new.thrift").exit_code == 0
    refused = run("check", "old.thrift", "broken.thrift", "--json")
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)["olds"][0]["reasons"][0]["rule"] == "FIELD_TYPE_CHANGED"
    assert run("canonical", "old.thrift").stdout.rstrip("\n") == OLD
    assert json.loads(run("canonical", "-", "--json", stdin=MONEY).stdout)["format"] == "THRIFT"
    faults = json.loads(run("canonical", "bad.thrift", "--json").stdout)["error"]["faults"]
    assert (faults[0]["line"], faults[0]["column"]) == (2, 5)
    assert set(json.loads(run("fingerprint", "money.thrift", "--json").stdout)["fingerprints"]) == {
        "GUID",
        "MD5",
        "SHA-256",
    }
    examples = run("example", "old.thrift", "--count", "5", "--seed", "3").stdout
    assert run("validate", "old.thrift", "--lines", "-", stdin=examples).exit_code == 0
    assert "FIELD_REQUIRED" in run("lint", "--all", "money.thrift").output
    (first, *_) = frames(registry.registry, "compact")
    shown = run("decode", first.hex(), "--encoding", "compact", "--registry", registry.url, "--json")
    assert json.loads(json.loads(shown.stdout)["steps"][-1]["says"]) == ROWS[0]


def test_pravegas_custom_format_of_this_name_is_parsed_and_compared(registry: TreatyRegistry) -> None:
    kind = {"serializationFormat": "Custom", "fullTypeName": "thrift"}
    settings = {"serializationFormat": kind, "compatibility": {"policy": "Backward"}, "allowMultipleTypes": False}
    assert (
        ask(f"{registry.url}/v1/groups", "POST", {"groupName": "g", "groupProperties": {**settings, "properties": {}}})[
            0
        ]
        == 201
    )

    def add(text: str) -> int:
        data = base64.b64encode(text.encode()).decode()
        schema = {"type": "Money", "serializationFormat": kind, "schemaData": data, "properties": {}}
        return ask(f"{registry.url}/v1/groups/g/schemas", "POST", schema)[0]

    assert add(MONEY) == 201
    assert add(MONEY.replace("double", "i64")) == 409
    assert add("struct {") >= 400
    assert registry.registry.version("g").text == MONEY


def test_validators_see_the_named_parts_of_a_text(registry: TreatyRegistry) -> None:
    found = registry.registry
    text = "enum kind { New } struct Order { 1: i32 OrderId, 2: i32 size } service Shop { void buy_all() }"
    found.register("named", Draft(text, "THRIFT"))
    rules = ("naming(type=PascalCase,field=snake_case,symbol=UPPER_SNAKE_CASE,method=camelCase)", "no-removed-fields")
    found.set_config("named", Config(level="BACKWARD", validators=rules))
    with pytest.raises(InvalidSchema) as refused:
        found.register("named", Draft(text.replace(", 2: i32 size", ""), "THRIFT"))
    assert [(one.rule, one.path) for one in refused.value.faults] == [
        ("naming", "/kind"),
        ("naming", "/kind/New"),
        ("naming", "/Order/1"),
        ("naming", "/Shop/buy_all"),
        ("no-removed-fields", "/Order/2"),
    ]


def test_a_group_has_records_of_several_types_that_include_others(registry: TreatyRegistry) -> None:
    found = registry.registry
    line = Draft("struct Line { 1: required string sku }", "THRIFT")
    writing = GroupWriterSettings(
        pravega_group("THRIFT", many_types=True),
        register_schema=True,
        register_codec=True,
        codec="gzip",
        encoding="compact",
    )
    write = GroupSerializer(found, "shop", [draft(OLD), line], writing)
    data = [
        write(WithSchema(ROWS[0], draft(OLD))).data,
        write(WithSchema({"sku": "a"}, line)).data,
        write(WithSchema({"id": 3, "words": ["x"]}, draft(NEW))).data,
    ]
    assert [one.type_name for one in found.group_versions("shop")] == ["Order", "Line", "Order"]
    reading = GroupReaderSettings(encoding="compact")
    read = GroupDeserializer(found, "shop", [draft(NEW), line], reading)
    assert [read(one) for one in data] == [
        {**ROWS[0], "words": ["none"]},
        {"sku": "a"},
        {"id": 3, "price": None, "words": ["x"]},
    ]
    assert GroupDeserializer(found, "shop", (), reading)(data[0]) == ROWS[0]
    with pytest.raises(BadRecordError, match="RESOLUTION: its type is Line"):
        GroupDeserializer(found, "shop", [draft(OLD), draft(NEW)], reading)(data[1])


def test_without_the_plugin_schemas_are_read_and_a_write_names_the_format(
    tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = f"sqlite:///{tmp_path}/log.db"
    with connect(log) as found:
        found.register("money", Draft(MONEY, "THRIFT"))
        found.register("orders-value", draft(OLD))
    monkeypatch.undo()
    with connect(log) as found:
        inner = found.registry
        assert isinstance(inner, EmbeddedRegistry)
        server = inner.run(start_server(inner.node))
        url = server.url
        assert ask(f"{url}/schemas/types")[1] == ["JSON", "PROTOBUF", "AVRO"]
        assert ask(f"{url}/schemas/ids/2")[1]["schema"] == OLD
        assert ask(f"{url}/subjects/orders-value/versions/latest")[1]["schemaType"] == "THRIFT"
        status, refused = ask(f"{url}/subjects/orders-value/versions", "POST", posted(NEW))
        assert (status, refused["error_code"]) == (422, 42201)
        assert "THRIFT" in refused["message"]
        with pytest.raises(Refusal, match="THRIFT"):
            found.register("orders-value", draft(NEW))
        with pytest.raises(BadValueError, match="the format THRIFT is not here; install the package that offers it"):
            PayloadDeserializer(found, "THRIFT")
        inner.run(server.close())
    monkeypatch.syspath_prepend(str(plugin))
    with connect(log) as found:
        assert found.register("orders-value", draft(NEW)).version.number == 2
        with pytest.raises(Incompatible):
            found.register("orders-value", draft(BROKEN))
