"""What a plug-in's format gets from its record alone: registration, comparing, serializers, Arrow and commands."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from tests.commands import run
from tests.csv_format import offer
from treaty.arrow import decode, from_registry
from treaty.arrow.encoding.payloads import make_payload_writer
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.explain.record import explain_record
from treaty.client.groups.deserializer import GroupDeserializer, UnreadableGroupError
from treaty.client.groups.explanation import explain_group_record
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.groups.settings import GroupReaderSettings, GroupWriterSettings, pravega_group
from treaty.client.groups.types import WithSchema
from treaty.client.records.decoder import RecordDecoder
from treaty.client.records.encoder import make_encoder
from treaty.client.serializers.errors import BadRecordError, BadValueError
from treaty.client.serializers.payloads import PayloadDeserializer, PayloadSerializer
from treaty.client.serializers.schema_heads import Framing
from treaty.client.serializers.schema_selection import SchemaText
from treaty.client.serializers.settings import DeserializerSettings, SerializerSettings, UseLatest
from treaty.core.messages.settings import Config
from treaty.core.names import Subject
from treaty.core.refusals import Incompatible, InvalidSchema
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.core.state.columns import Column, Scalar
from treaty.formats.positions import find_position
from treaty.formats.registry import find_formats
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.encoding.encode_plans import make_encode_plan
from treaty.plan.encoding.options import DeriveOptions, EncodeOptions
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import PayloadFormatPlan
from treaty.plan.value import DecodePlan
from treaty.testing import TreatyRegistry

OLD = "columns\nid int\nname text"
NEW = "columns\nid int\nname text\nprice int"
ROWS = [{"id": 1, "name": "tea"}, {"id": 2, "name": "oat"}]


@pytest.fixture(autouse=True)
def _offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "packages"
    folder.mkdir()
    offer(folder)
    monkeypatch.syspath_prepend(str(folder))


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as made:
        yield made


def frames(registry: Connection, encoding: str = "") -> list[bytes]:
    """Two rows of the first version and one of the second."""
    old = PayloadSerializer(registry, Draft(OLD, "CSV"), encoding=encoding)
    made = [old(row, "orders").data for row in ROWS]
    new = PayloadSerializer(registry, Draft(NEW, "CSV"), encoding=encoding)
    made.append(new({"id": 3, "name": "rye", "price": 7}, "orders").data)
    return [one for one in made if one is not None]


def test_versions_are_compared_and_refused_with_a_finding(registry: Connection) -> None:
    registry.register("orders", Draft(NEW, "CSV"))
    with pytest.raises(Incompatible) as refused:
        registry.register("orders", Draft(OLD, "CSV"))
    assert [(one.rule, one.path) for one in refused.value.findings] == [("COLUMN_GONE", "/price")]
    sentence = "COLUMN_GONE: The column price is gone at /price; allowed: keep it"
    assert str(refused.value) == f"the schema is incompatible with orders: {sentence}"
    details = refused.value.reason.details
    assert details[:2] == ("COLUMN_GONE at /price: The column price is gone [keep it]", "{oldSchemaVersion: 1}")
    assert registry.check("orders", Draft(OLD, "CSV")).messages[0].startswith("COLUMN_GONE at /price: ")


def test_a_validator_about_fields_refuses_a_format_that_lists_none(registry: Connection) -> None:
    registry.set_config("orders", Config(validators=("naming(field=snake_case)", "max-size(1000)")))
    with pytest.raises(InvalidSchema) as refused:
        registry.register("orders", Draft(OLD, "CSV"))
    assert [one.rule for one in refused.value.faults] == ["naming"]
    assert "the record of the format has no `elements`" in refused.value.faults[0].message


def test_values_are_serialized_and_read_as_they_were_written_or_by_another_version(registry: Connection) -> None:
    first, _, last = frames(registry)
    read = PayloadDeserializer(registry, "CSV")
    assert first == b"\0\0\0\0\1" + b"1,tea"
    assert read(first, "orders") == ROWS[0]
    assert read(last, "orders") == {"id": 3, "name": "rye", "price": 7}
    assert PayloadDeserializer(registry, "CSV", UseLatest())(first, "orders") == {**ROWS[0], "price": None}
    assert PayloadDeserializer(registry, "CSV", Draft(OLD, "CSV"))(last, "orders") == {"id": 3, "name": "rye"}
    assert read(None) is None
    with pytest.raises(BadRecordError, match="TRAILING: 3 cells"):
        read(first + b",x", "orders")


@pytest.mark.parametrize(("framing", "head"), [("prefix", b"\0\0\0\0\1"), ("version", b"\2"), ("header", b"")])
def test_records_of_every_framing_are_read(registry: Connection, framing: Framing, head: bytes) -> None:
    part = PayloadSerializer(registry, Draft(OLD, "CSV"), SerializerSettings(framing=framing))(ROWS[0], "orders")
    assert part.data == head + b"1,tea"
    read = PayloadDeserializer(registry, "CSV", None, DeserializerSettings(framing=framing))
    assert read(part.data, "orders", headers=part.headers) == ROWS[0]


def test_a_schema_of_the_registry_is_written_with_and_what_does_not_fit_is_refused(registry: Connection) -> None:
    frames(registry)
    latest = PayloadSerializer(registry, None, SerializerSettings(choice=UseLatest()), format_="CSV", encoding="tab")
    assert latest({"id": 1, "name": "a", "price": 2}, "orders").data == b"\0\0\0\0\2" + b"1\ta\t2"
    with pytest.raises(BadValueError, match="'zip' is no encoding of CSV; there are comma, tab"):
        PayloadSerializer(registry, Draft(OLD, "CSV"), encoding="zip")
    with pytest.raises(BadValueError, match="the format TSV is not here; install the package that offers it"):
        PayloadDeserializer(registry, "TSV")


@pytest.mark.parametrize("encoding", ["", "tab"])
def test_arrow_reads_rows_of_all_versions_and_keeps_bad_ones(registry: Connection, encoding: str) -> None:
    good = frames(registry, encoding)
    plan = make_plan(registry, "orders-value", encoding=encoding)
    bad = [
        good[0] + b"\t,9\t,9",
        good[0][:5] + b"x,x".replace(b",", b"\t" if encoding else b","),
        b"\0\0\0\0\x09x",
        b"\1",
        None,
    ]
    table = decode(pa.array([*good, *bad], pa.binary()), plan)
    assert table["record"].to_pylist()[:3] == [{**row, "price": None} for row in ROWS] + [
        {"id": 3, "name": "rye", "price": 7}
    ]
    assert [one and one["code"] for one in table["error"].to_pylist()[3:]] == [
        "TRAILING",
        "INVALID",
        "UNKNOWN_ID",
        "TOO_SHORT",
        None,
    ]
    assert table["record"].to_pylist()[3:] == [None] * 5
    assert f"  encoding {encoding or 'comma'}" in plan.explain()
    assert DecodePlan.from_json(plan.to_json()) == plan


def test_a_plan_has_a_union_is_extended_and_rejects_a_writer_that_its_reader_cannot_read(registry: Connection) -> None:
    good = frames(registry)
    union = from_registry(pa.array(good, pa.binary()), registry, "orders-value", reader="union")
    assert union["record"].to_pylist()[2] == {"id": 3, "name": "rye", "price": 7}
    first = make_plan(registry, "orders-value", reader=1)
    assert [(one.schema_id, one.code) for one in first.rejected] == [(2, "RESOLUTION")]
    assert "The column price is gone" in first.rejected[0].message
    third = registry.register("orders-value", Draft(NEW + "\nnote text", "CSV")).version.schema_id
    assert third in extend(first, registry, [third]).known


@pytest.mark.parametrize("reader", ["union", "latest", "types", 2])
def test_a_plan_that_is_extended_keeps_its_encoding(registry: Connection, reader: str | int) -> None:
    good = frames(registry, "tab")
    plan = make_plan(registry, "orders-value", reader=reader, encoding="tab")
    third = registry.register("orders-value", Draft(NEW + "\nnote text", "CSV")).version.schema_id
    longer = extend(plan, registry, [third])
    assert longer == make_plan(registry, "orders-value", reader=reader, encoding="tab")
    assert decode(pa.array(good, pa.binary()), longer)["error"].null_count >= 1


def test_what_a_plan_cannot_do_is_said(registry: Connection) -> None:
    frames(registry)
    for choice, said in (
        ({"encoding": "zip"}, "encoding = 'zip' is none of CSV; there are comma, tab"),
        ({"lossy": "allow"}, "lossy = 'allow' is for AVRO, and the rows to read are CSV"),
        ({"depth": 9}, "depth = 9 is for AVRO, JSON, PROTOBUF, and the rows to read are CSV"),
        ({"engine": "spark"}, "engine = 'spark' reads no CSV; allowed are rows"),
    ):
        with pytest.raises(PlanError, match=said):
            make_plan(registry, "orders-value", **choice)
    registry.register("other", '"int"')
    with pytest.raises(PlanError, match="encoding = 'tab' is for formats of plug-ins, and the rows to read are AVRO"):
        make_plan(registry, "other", encoding="tab")


def test_several_record_types_are_read_as_columns_of_their_own(registry: Connection) -> None:
    good = frames(registry)
    item = PayloadSerializer(registry, Draft("columns\nsku text", "CSV"))({"sku": "x7"}, "items").data
    values = pa.array([*good[1:], item, good[0] + b",9"], pa.binary())
    plan = make_plan(registry, "*", reader="types")
    assert DecodePlan.from_json(plan.to_json()) == plan
    table = decode(values, plan)
    assert table["record"].to_pylist() == [
        {"record_type": "orders", "orders": {**ROWS[1], "price": None}, "items": None},
        {"record_type": "orders", "orders": {"id": 3, "name": "rye", "price": 7}, "items": None},
        {"record_type": "items", "orders": None, "items": {"sku": "x7"}},
        None,
    ]
    assert [one and one["code"] for one in table["error"].to_pylist()] == [None, None, None, "TRAILING"]
    wide = decode(values, make_plan(registry, "*", reader="wide"))
    assert wide["record"].to_pylist()[2] == {
        "record_type": "items",
        "id": None,
        "name": None,
        "price": None,
        "sku": "x7",
    }
    third = registry.register("items-value", Draft("columns\nsku text\nsize int", "CSV")).version.schema_id
    assert third in extend(plan, registry, [third]).known


@pytest.mark.parametrize("encoding", ["", "tab"])
@pytest.mark.parametrize("codec", ["", "gzip"])
def test_groups_have_records_of_the_format_as_of_any_other(registry: Connection, encoding: str, codec: str) -> None:
    old, new = Draft(OLD, "CSV"), Draft(NEW, "CSV")
    writing = GroupWriterSettings(
        pravega_group("CSV", "BACKWARD"), register_schema=True, register_codec=True, codec=codec, encoding=encoding
    )
    data = [
        GroupSerializer(registry, "orders", one, writing)(row).data
        for one, row in ((old, ROWS[0]), (new, {"id": 3, "name": "rye", "price": 7}))
    ]
    assert all(data)
    reading = GroupReaderSettings(encoding=encoding)
    assert [GroupDeserializer(registry, "orders", (), reading)(one) for one in data] == [
        ROWS[0],
        {"id": 3, "name": "rye", "price": 7},
    ]
    assert GroupDeserializer(registry, "orders", new, reading)(data[0]) == {**ROWS[0], "price": None}
    texts = GroupDeserializer(registry, "orders", (), replace(reading, as_json=True))
    assert texts(data[0]) == '{"id":1,"name":"tea"}'
    with pytest.raises(UnreadableGroupError, match="The column price is gone"):
        GroupDeserializer(registry, "orders", old, reading)
    with pytest.raises(BadRecordError, match="INVALID"):
        GroupDeserializer(registry, "orders", (), reading)(
            GroupSerializer(registry, "orders", new, writing)({"id": "x", "name": "a", "price": 1}).data
        )
    explained = explain_group_record(registry, "orders", data[0] or b"", encoding=encoding)
    assert explained.pieces[-1].says == '{"id": 1, "name": "tea"}'
    plan = make_plan(registry, "orders", framing="pravega", encoding=encoding)
    assert decode(pa.array(data, pa.binary()), plan)["record"].to_pylist()[0] == {**ROWS[0], "price": None}


def test_a_group_of_any_format_has_them_beside_others_and_says_what_a_format_lacks(registry: Connection) -> None:
    settings = GroupWriterSettings(pravega_group(many_types=True), register_schema=True)
    write = GroupSerializer(registry, "all", (), settings)
    data = [write(WithSchema(ROWS[0], Draft(OLD, "CSV"))).data, write(WithSchema(7, Draft('"int"'))).data]
    assert [GroupDeserializer(registry, "all")(one) for one in data] == [ROWS[0], 7]
    bare = GroupWriterSettings(pravega_group("CSV"), register_schema=True, header=False)
    headless = GroupSerializer(registry, "bare", Draft(OLD, "CSV"), bare)(ROWS[0]).data
    assert headless == b"1,tea"
    reading = GroupReaderSettings(header=False)
    assert GroupDeserializer(registry, "bare", Draft(OLD, "CSV"), reading)(headless) == ROWS[0]
    with pytest.raises(BadValueError, match="the format XML need a package whose record of the format has `payloads`"):
        write(WithSchema(1, Draft("", "XML", type_name="a", data=b"<a/>")))
    with pytest.raises(BadValueError, match="no schema of CSV is made of a class"):
        GroupSerializer(registry, "bare", Counter, format_="CSV")


def test_rows_are_encoded_by_the_columns_and_the_writer_of_the_format(
    registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.register("orders-value", Draft(OLD, "CSV"))
    columns = [Column("name", Scalar("string")), Column("id", Scalar("int32"))]
    plan = make_encode_plan(registry, "orders-value", columns, EncodeOptions(encoding="tab"))
    assert EncodePlan.from_json(plan.to_json()) == plan
    assert "row by row in Python workers" in plan.explain()
    assert "  encoding tab" in plan.explain()
    rows = pa.array([{"id": 1, "name": "tea"}, None], pa.struct([("id", pa.int64()), ("name", pa.string())]))
    made = make_payload_writer(plan)(rows).to_pylist()
    assert made == [{"payload": b"1\ttea", "said": None}, {"payload": None, "said": None}]
    for wrong, options, said in (
        (columns[:1], EncodeOptions(encoding="zip"), "encoding = 'zip' is none of CSV; there are comma, tab"),
        ([*columns, Column("x", Scalar("string"))], EncodeOptions(), "the schema has no field for /x"),
        (columns, EncodeOptions(derive=DeriveOptions("CSV")), "no schema of CSV is derived"),
    ):
        with pytest.raises(PlanError, match=said):
            make_encode_plan(registry, "orders-value", wrong, options)
    monkeypatch.setitem(find_formats().table._loaded, "CSV", replace(find_formats()["CSV"], payloads={}, columns=None))
    with pytest.raises(PlanError, match="as CSV: the record of the format has no payloads and no columns"):
        make_encode_plan(registry, "orders-value", columns)
    registry.register("other", '"int"')
    with pytest.raises(PlanError, match="encoding = 'tab' is for formats of plug-ins"):
        make_encode_plan(registry, "other", columns[1:], EncodeOptions(encoding="tab"))


def test_records_become_json_and_back_and_are_explained(registry: Connection) -> None:
    first, *_ = frames(registry)
    assert RecordDecoder(registry).decode_part(first, "value").value == ROWS[0]
    text = SchemaText(OLD, (), Subject(".", "orders-value"))
    assert make_encoder(registry, "CSV", text).encode(ROWS[0]).payload == first[5:]
    assert make_encoder(registry, "CSV", text, encoding="tab").encode(ROWS[0]).payload == b"1\ttea"
    explained = explain_record(registry, first)
    assert explained.pieces[-1].says == '{"id": 1, "name": "tea"}'
    assert explain_record(registry, first + b",1").problem.endswith("TRAILING: 3 cells")


def test_commands_know_the_format_by_name_and_by_content_and_say_where_a_finding_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.columns").write_text(NEW)
    Path("new.columns").write_text(OLD)
    assert run("check", "new.columns", "old.columns").exit_code == 0
    broken = run("check", "old.columns", "new.columns", "--json")
    assert broken.exit_code == 1
    assert json.loads(broken.stdout)["olds"][0]["reasons"][0]["rule"] == "COLUMN_GONE"
    assert find_position("CSV", "/name", NEW) == (3, 1)
    assert json.loads(run("canonical", "-", "--json", stdin=OLD).stdout)["format"] == "CSV"


def test_a_server_s_record_is_decoded_by_the_command_in_the_encoding_that_is_named(tmp_path: Path) -> None:
    with TreatyRegistry() as made:
        Path(tmp_path, "orders.columns").write_text(OLD)
        assert made.register_file(tmp_path / "orders.columns", "orders-value").format == "CSV"
        framed = PayloadSerializer(made.registry, Draft(OLD, "CSV"), encoding="tab")(ROWS[0], "orders").data
        assert framed is not None
        shown = run("decode", framed.hex(), "--registry", made.url, "--encoding", "tab", "--json")
        assert json.loads(shown.stdout)["steps"][-1]["says"] == '{"id": 1, "name": "tea"}'
        assert run("decode", framed.hex(), "--registry", made.url).exit_code == 1


def test_a_plan_keeps_a_text_that_many_share_once() -> None:
    lowest = ResolvedSchema("CSV", "columns\nid int")
    for level in range(40):
        lowest = ResolvedSchema(
            "CSV", f"columns\nn{level} int", tuple(ResolvedReference(name, name, 1, lowest) for name in "ab")
        )
    plan = PayloadFormatPlan.make("comma", lowest, [(1, lowest)])

    assert len(plan.schemas) == 41
    assert plan.resolve("CSV")[plan.reader] == lowest


def test_a_group_s_record_is_decoded_by_the_command_in_the_encoding_that_is_named() -> None:
    with TreatyRegistry() as made:
        writing = GroupWriterSettings(
            pravega_group("CSV"), register_schema=True, register_codec=True, codec="gzip", encoding="tab"
        )
        framed = GroupSerializer(made.registry, "orders", Draft(OLD, "CSV"), writing)(ROWS[0]).data
        assert framed is not None
        words = ("decode", framed.hex(), "--group", "orders", "--registry", made.url)
        shown = run(*words, "--encoding", "tab", "--json")
        assert json.loads(shown.stdout)["steps"][-1]["says"] == '{"id": 1, "name": "tea"}'
        assert run(*words).exit_code == 1
