"""What the doors of decoding refuse: readers, engines and options that do not exist, columns of one name; and addresses as registries."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from tests.behaviours.served import served
from tests.frames import frame, header, record
from treaty.arrow import Names, PlanError, decode, extend, from_registry, make_plan
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.core.state.columns import Column, Scalar
from treaty.plan.addresses import open_registry
from treaty.plan.encoding.encode_plans import check_columns, make_encode_plan
from treaty.plan.encoding.options import EncodeOptions

ORDER = record(("id", "int"), ("note", "string", ""))
JSON = '{"type": "object", "properties": {"id": {"type": "integer"}}}'
PROTOBUF = 'syntax = "proto3"; message Order { int32 id = 1; }'


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as found:
        found.ask(SetConfig(Scope("*"), Config(level="NONE")))
        for subject, text, format_ in (("a", ORDER, "AVRO"), ("j", JSON, "JSON"), ("p", PROTOBUF, "PROTOBUF")):
            found.ask(Register(subject_of(subject), Draft(text, format_)))
        yield found


@pytest.mark.parametrize(
    ("subject", "options", "sentence"),
    [
        ("a", {"reader": "lastest"}, "reader = 'lastest' is neither a reader nor a schema; allowed are latest, union"),
        ("j", {"reader": "newest"}, "reader = 'newest' is neither"),
        ("p", {"reader": "3"}, "reader = '3' is neither"),
        ("a", {"engine": "sprak"}, "engine = 'sprak' reads no AVRO; allowed are spark, fastavro"),
        ("p", {"engine": "fastavro"}, "engine = 'fastavro' reads no PROTOBUF; allowed are ptars, upb"),
        ("a", {"validate": True}, "validate = True is for JSON, and the rows to read are AVRO"),
        ("a", {"message": "shop.Order"}, "message = 'shop.Order' is for PROTOBUF, and the rows to read are AVRO"),
        ("a", {"message": "shop.Order", "reader": "types"}, "message = 'shop.Order' is for PROTOBUF"),
        ("j", {"unknown": True}, "unknown = True is for PROTOBUF, and the rows to read are JSON"),
        ("p", {"rest": "map"}, "rest = 'map' is for JSON, and the rows to read are PROTOBUF"),
        ("a", {"schema_type": "JSON"}, "schema_type = 'JSON', and a is AVRO"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(
    registry: Connection, subject: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(PlanError) as caught:
        make_plan(registry, subject, **options)
    assert sentence in str(caught.value)
    usual: dict[str, Any] = {"validate": False, "message": "", "rest": "", "unknown": False}
    assert make_plan(registry, subject, **usual) == make_plan(registry, subject)


def test_options_of_encoding_for_another_format_are_refused(registry: Connection) -> None:
    columns = (Column("id", Scalar("int32")),)
    with pytest.raises(PlanError, match="message = 'x' is for PROTOBUF, and the rows to write are AVRO"):
        make_encode_plan(registry, "a", columns, EncodeOptions(message="x"))
    with pytest.raises(PlanError, match="schema_type = 'JSON' is for a schema's text, and none is given"):
        make_encode_plan(registry, "a", columns, EncodeOptions(schema_type="JSON"))


def test_a_schema_that_is_a_word_is_one(registry: Connection) -> None:
    """`true` is a schema of JSON, and no reader's name."""
    assert make_plan(registry, "j", reader="true").reader_name == "given"


def test_two_columns_of_one_name_are_refused_before_a_row_is_read(registry: Connection) -> None:
    plan = make_plan(registry, "a")
    value = frame(plan.writers[0].schema_id, ORDER, {"id": 7, "note": "x"})
    rows = pa.table({"value": pa.array([value], pa.binary()), "id": [1], "error": ["mine"]})
    with pytest.raises(PlanError, match="two columns would be called error"):
        decode(rows, plan)
    with pytest.raises(PlanError, match="two columns would be called id"):
        decode(rows, plan, flatten=True, names=Names(error="why"))
    found = decode(rows, plan, flatten=True, names=Names(error="why", prefix="order_"))
    assert found.drop(["value"]).to_pylist() == [
        {"id": 1, "error": "mine", "why": None, "order_id": 7, "order_note": "x"}
    ]
    assert decode(rows.drop(["error"]), plan).column_names == ["value", "id", "record", "error"]


def test_a_column_without_frames_is_named(registry: Connection) -> None:
    rows = pa.table({"value": ["text"], "n": [1]})
    with pytest.raises(PlanError, match="the column value is string, and frames are binary"):
        from_registry(rows, registry, "a")
    with pytest.raises(PlanError, match="the column n is int64, and frames are binary"):
        from_registry(rows, registry, "a", column="n")
    with pytest.raises(PlanError, match="there is no column val; there is value, n"):
        from_registry(rows, registry, "a", column="val")
    with pytest.raises(PlanError, match="part = 'values' is no half of a record; allowed are value, key"):
        decode(pa.array([b""]), make_plan(registry, "a"), part="values")


def test_a_negative_id_is_called_what_it_is(registry: Connection) -> None:
    found = from_registry(pa.array([b"\0\xff\xff\xff\xfe", header(99)]), registry, "a").to_pylist()
    assert [row["error"]["message"] for row in found] == [
        "the frame has the id -2, and no id is negative",
        "the registry has no id 99, or not for this subject",
    ]
    assert [row["error"]["schema_id"] for row in found] == [None, 99]


@pytest.mark.parametrize(
    "written",
    [str, lambda url: url.removeprefix("http://"), lambda url: url.replace("http", "HTTP")],
    ids=["url", "host and port", "capitals"],
)
def test_an_address_is_taken_wherever_a_registry_is(written: Callable[[str], str]) -> None:
    columns = (Column("id", Scalar("int32")),)
    with served("memory:") as running, connect(running.url) as far:
        schema_id = far.ask(Register(subject_of("a"), Draft(ORDER))).answer.version.schema_id
        place = written(running.url)
        plan = make_plan(place, "a")
        assert plan == make_plan(far, "a")
        assert extend(plan, place, [schema_id + 1]) == plan
        rows = pa.array([frame(schema_id, ORDER, {"id": 7, "note": ""})])
        assert from_registry(rows, place, "a").column("record").to_pylist() == [{"id": 7, "note": ""}]
        assert make_encode_plan(place, "a", columns) == make_encode_plan(far, "a", columns)
        assert check_columns(place, "a", columns) == check_columns(far, "a", columns)


def test_an_address_that_is_none_is_refused_without_its_secrets(registry: Connection) -> None:
    with pytest.raises(PlanError, match="not by one that begins with sqlite://; open the URL of a log") as caught:
        make_plan("sqlite://ann:secret@here", "a")
    assert "secret" not in str(caught.value)
    with (
        pytest.raises(PlanError, match=r"the setting 'ssl\.ca\.location' is for an address"),
        open_registry(registry, {"ssl.ca.location": "x"}),
    ):
        pass
