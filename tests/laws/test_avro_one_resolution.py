"""One resolution of Avro: the deserializer, a plan read by Arrow, fastavro and Java's recorded answers give the same values."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from tests.frames import header
from tests.oracle.avro_fastavro import read, written
from tests.oracle.avro_names import PAIRS, REFUSED, NamedPair
from tests.oracle.avro_treaty import model
from tests.oracle.avro_values import Question, decoded, findings, is_moved, is_swapped, kept, made, plain, unlike
from tests.shares import REST
from treaty import arrow
from treaty.client.serializers.avro_codec import read_payload
from treaty.client.serializers.errors import BadRecordError, RecordErrorCode
from treaty.core.names import DEFAULT_CONTEXT
from treaty.formats.avro.data.recursion import find_recursive_records
from treaty.formats.avro.model import AvroRecord, AvroSchema, AvroUnion
from treaty.formats.avro.resolution import AvroResolution
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.planner import compose
from treaty.plan.avro.union_pairs import list_read_unions
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema

UNPLANNED = object()
"""What a plan says that reads nothing of a writer: the verdict is asked before."""


def simplify(value: Any) -> Any:
    """A value without the names of branches, and with maps and records alike, as each of the readers has it."""
    if isinstance(value, dict):
        members = [name for name in value if name.startswith("member")]
        if members and len(members) == len(value):
            return next((simplify(each) for each in value.values() if each is not None), None)
        return sorted((key, simplify(each)) for key, each in value.items())
    if isinstance(value, list) and value and all(isinstance(each, tuple) for each in value):
        return sorted((key, simplify(each)) for key, each in value)
    return [simplify(each) for each in value] if isinstance(value, list) else value


def read_by_client(writer: Any, reader: Any, data: bytes, *, tagged: bool = False) -> Any:
    """What the deserializer reads, or the code of a bad record."""
    try:
        return read_payload(made(writer), made(reader), data, 1, tagged=tagged)
    except BadRecordError as error:
        return error.code


def read_by_plan(writer: Any, reader: Any, data: bytes) -> Any:
    """What Arrow reads by a plan, the code of a bad row, or `UNPLANNED`."""
    old, new = (parse_avro(json.dumps(side)) for side in (writer, reader))
    try:
        plan = compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", old)], new)
    except PlanError:
        return UNPLANNED
    row = arrow.decode(pa.array([header(1) + data], pa.binary()), plan).to_pylist()[0]
    return RecordErrorCode(row["error"]["code"]) if row["error"] is not None else row["record"]


def list_values(node: Any, named: dict[str, Any]) -> Any:
    """A value in JSON encoding without the names of branches: a union's value is an object of one of its branches."""
    if isinstance(node, dict):
        return list_values(next(iter(node.values())), named) if len(node) == 1 and next(iter(node)) in named else {
            name: list_values(member, named) for name, member in node.items()
        }  # fmt: skip
    return [list_values(item, named) for item in node] if isinstance(node, list) else node


BRANCHES = dict.fromkeys(("A", "B", "C", "m.A", "o.A", "n.C", "m.B", "c.R", "d.R", "c.S", "double"))
"""What the readers of `PAIRS` call the branches of their unions."""


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_in_which_names_decide_is_read_as_java_reads_it(name: str) -> None:
    pair: NamedPair = PAIRS[name]
    data = written(model(json.dumps(pair.writer)), json.dumps(pair.value))
    expected = pair.java if pair.treaty is ... else pair.treaty
    assert (pair.treaty is ...) == (not pair.difference)

    by_client, by_plan = read_by_client(pair.writer, pair.reader, data), read_by_plan(pair.writer, pair.reader, data)
    if expected is REFUSED:
        assert by_client == RecordErrorCode.RESOLUTION
        assert by_plan in {UNPLANNED, RecordErrorCode.RESOLUTION}
        return
    value = list_values(expected, BRANCHES)
    by_client = json.loads(json.dumps(by_client, default=lambda raw: raw.decode("latin-1")))
    assert by_client == value
    if by_plan is not UNPLANNED:
        assert json.loads(json.dumps(simplify(by_plan), default=lambda raw: raw.decode("latin-1"))) == json.loads(
            json.dumps(simplify(value))
        )


def read_by_fastavro(question: Question, data: bytes) -> Any:
    """What fastavro reads, where it can; it knows short names alone, and takes some types for others."""
    try:
        return read(data, model(json.dumps(plain(question.writer))), model(json.dumps(plain(question.reader))))
    except (ValueError, TypeError, LookupError, AssertionError, fastavro.read.SchemaResolutionError):
        return UNPLANNED


@pytest.mark.parametrize("start", [0, *(pytest.param(at, marks=REST) for at in range(1, 16))])
def test_values_that_java_read_are_the_same_by_client_plan_and_fastavro(
    start: int, figure: Callable[[str], None]
) -> None:
    counts = Counter[str]()
    for question, answer in kept()[start::16]:
        writer, reader = plain(question.writer), plain(question.reader)
        if answer.get("data") is None:
            continue
        data = bytes.fromhex(answer["data"])
        if isinstance(writer, dict | str) and made(writer).raw:
            continue  # the deserializer's frames of bytes have no length
        by_client, by_plan = read_by_client(writer, reader, data), read_by_plan(writer, reader, data)
        if by_plan is not UNPLANNED and not is_recursive(writer) and not is_recursive(reader):
            counts["planned"] += 1
            is_text = RecordErrorCode.MALFORMED in (by_client, by_plan)  # a string that is none, now here and now there
            assert is_text or simplify(by_client) == simplify(by_plan), (question, by_client, by_plan)
        is_java = "read" in answer and not isinstance(by_client, RecordErrorCode) and is_read_as_java(question, answer)
        counts["read as Java"] += is_java
        by_fastavro = read_by_fastavro(question, data)
        if by_fastavro is not UNPLANNED and not findings(question) and not (is_moved(question) or is_swapped(question)):
            counts["read by fastavro"] += 1
            assert is_java or simplify(by_client) == simplify(by_fastavro), (question, by_client, by_fastavro)
    figure(f"values of part {start}: {dict(counts)}")
    assert min(counts["planned"], counts["read as Java"]) >= 40
    assert counts["read by fastavro"] >= 12


def test_records_in_a_union_are_nested_in_any_depth() -> None:
    """Each record has the one before it as its field, so that the text nests no deeper than one record."""

    def make_schema(namespace: str) -> AvroSchema:
        records = [
            {"type": "record", "name": f"R{at}", "fields": [{"name": "f", "type": f"R{at - 1}" if at else "int"}]}
            for at in range(1_500)
        ]
        fields = [{"name": f"a{at}", "type": record} for at, record in enumerate(records)]
        fields.append({"name": "u", "type": ["null", "R1499"]})
        return parse_avro(json.dumps({"type": "record", "name": "Top", "namespace": namespace, "fields": fields}))

    writer, reader = make_schema("a"), make_schema("b")
    sides = (writer.names["a.Top"], writer), (reader.names["b.Top"], reader)
    (old, new) = (schema.resolve(top.fields[-1].type) for top, schema in sides if isinstance(top, AvroRecord))
    assert isinstance(new, AvroUnion)
    assert AvroResolution(writer, reader).find_places(old, new) == [0, 1]
    assert not list_read_unions(writer, reader)


def is_recursive(schema: Any) -> bool:
    """Whether a record is inside itself: a plan has columns for it up to a depth."""
    return bool(find_recursive_records(parse_avro(json.dumps(schema))))


def is_read_as_java(question: Question, answer: Mapping[str, Any]) -> bool:
    """Whether the deserializer's value is Java's."""
    writer, reader = made(plain(question.writer)), made(plain(question.reader))
    value = decoded(writer, reader, bytes.fromhex(answer["data"]))
    return not [*unlike(reader.payload, reader.named, answer["read"], value)]
