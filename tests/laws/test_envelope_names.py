"""Envelopes around records whose fields and types have the names of the envelope's own: every value comes out as its schema is resolved."""

import io
import json
from collections import Counter
from typing import Any

import fastavro
import pytest

from treaty.client.compiled.interpreter import make_interpreter
from treaty.formats.avro.schema_parser import SchemaParser
from treaty.plan.avro.envelope import HEAD, WHOLE, encode_branch, make_envelope, make_header
from treaty.plan.avro.fitted_writer import fit_writer
from treaty.plan.avro.flat import parse_avro

TAIL = "_treaty_tail"
MILLIS, MICROS = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros"))
HIDDEN = "_at_timestamp_millis_timestamp_micros_0_0"


def record(*fields: Any, name: str = "R", **more: Any) -> Any:
    return {"type": "record", "name": name, "fields": [{"name": one, "type": kind} for one, kind in fields], **more}


PLAIN = record(("n", "int"))
CASES: dict[str, tuple[list[tuple[Any, Any]], Any]] = {
    "fields of the envelope's names": (
        [(record((TAIL, "int"), (HEAD, "int"), (WHOLE, "int")), {TAIL: 1, HEAD: 2, WHOLE: 3})],
        record((TAIL, "long"), (HEAD, "int"), (WHOLE, "int")),
    ),
    "a field of the writer's alone": ([(record(("n", "int"), (TAIL, "double")), {"n": 1, TAIL: 2.0})], PLAIN),
    "a field of the reader's alone": (
        [(PLAIN, {"n": 1})],
        {**PLAIN, "fields": [*PLAIN["fields"], {"name": TAIL, "type": "double", "default": 2.0}]},
    ),
    "a head beside another version": (
        [(record((HEAD, "int"), ("n", "int")), {HEAD: 2, "n": 1}), (PLAIN, {"n": 1})],
        {**PLAIN, "fields": [*PLAIN["fields"], {"name": HEAD, "type": "int", "default": 7}]},
    ),
    "types of the envelope's names": (
        [
            (
                record(
                    ("a", record(("n", "int"), name="w0.Envelope")), ("b", record(("n", "int"), name="treaty.Frame"))
                ),
                {"a": {"n": 1}, "b": {"n": 2}},
            )
        ],
        record(("a", record(("n", "int"), name="treaty.Envelope")), ("b", record(("n", "int"), name="treaty.Frame"))),
    ),
    "a type without a namespace": (
        [(record(("a", record(("n", "int"), name="Envelope"))), {"a": {"n": 1}})],
        record(("a", record(("n", "int"), name="Envelope"))),
    ),
    "no record": ([("int", 5), ("long", 6)], "long"),
    "a record and a choice of it": ([(PLAIN, {"n": 1}), (["null", PLAIN], {"n": 1})], PLAIN),
    "a record in a choice": ([(PLAIN, {"n": 1}), ("string", "text")], ["string", "null", PLAIN]),
    "a default behind a null": (
        [(PLAIN, {"n": 1})],
        {**PLAIN, "fields": [*PLAIN["fields"], {"name": "m", "type": ["int", "null"], "default": 7}]},
    ),
    "fields under former names": (
        [(record(("m", "int"), ("n", "int")), {"m": 1, "n": 2})],
        {**PLAIN, "fields": [{"name": "m", "type": "int", "aliases": ["k"]}, {"name": "n", "type": "int"}]},
    ),
}
"""By name: writers with a value of each, and the reader."""


@pytest.mark.parametrize("name", CASES)
def test_a_value_comes_out_of_its_envelope_whatever_its_fields_and_types_are_called(name: str) -> None:
    writers, reader_json = CASES[name]
    reader = parse_avro(json.dumps(reader_json))
    schemas = [parse_avro(json.dumps(schema)) for schema, _ in writers]
    woven = make_envelope([fit_writer(schema, reader, f"w{at}") for at, schema in enumerate(schemas)], reader)
    writer: Any = fastavro.parse_schema(json.loads(woven.writer))
    names = [one["name"] for one in (writer if isinstance(writer, list) else [writer])]
    # Java's library looks at no name of two records that stand alone, and fastavro does.
    envelope_reader = fastavro.parse_schema({**json.loads(woven.reader), "aliases": names})
    for text in (woven.writer, woven.reader):
        SchemaParser({}, strict=True).parse(json.loads(text))
    for place, (schema, value) in enumerate(writers):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
        branch = encode_branch(place) if woven.union else b""
        framed = io.BytesIO(branch + make_header(7) + out.getvalue() + b"\x03" * 8)
        envelope: Any = fastavro.schemaless_reader(framed, writer, envelope_reader)
        assert envelope.pop(woven.tail) != 0, "the tail is that of the bytes"
        found = envelope[woven.whole] if woven.whole else envelope
        assert found == make_interpreter(schemas[place], reader)(out.getvalue(), 0)[0]


@pytest.mark.parametrize("taken", [(), (HIDDEN,), (HIDDEN, f"{HIDDEN}_")])
def test_a_hidden_field_has_a_name_that_no_field_has(taken: tuple[str, ...]) -> None:
    sides = [record(("at", unit), *((name, "int") for name in taken)) for unit in (MILLIS, MICROS)]
    old, new = (parse_avro(json.dumps(side)) for side in sides)
    woven = make_envelope([fit_writer(old, new, "w0")], new)
    names = Counter(field["name"] for field in json.loads(woven.reader)["fields"])
    assert max(names.values()) == 1
    assert set(names) == {"at", *taken, HIDDEN + "_" * len(taken), woven.tail}
