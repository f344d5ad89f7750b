"""Writers that are fitted to a reader and woven into one schema: Avro's own library reads each value as the product's resolution does."""

import datetime as dt
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from fastavro._read_common import SchemaResolutionError

from tests.fitted_pairs import FittedPairs, FittedWriters, RawValues, Schema, plain_text
from treaty.client.compiled.conversions import UnmatchedError
from treaty.client.compiled.interpreter import make_interpreter
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    is_null,
)
from treaty.plan.avro.envelope import EnvelopeSchemas, encode_branch, make_envelope, make_header
from treaty.plan.avro.fitted_writer import FittedWriter, fit_writer
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.logical_types import find_logical

PAIRS, WRITERS, ROWS = 150, 3, 4
TAIL = bytes(8)
EPOCH = dt.datetime.fromisoformat("1970-01-01T00:00:00+00:00")
NANOS = {"millis": 10**6, "micros": 10**3, "nanos": 1}


def write(text: str, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(text)), value)
    return out.getvalue()


def plain(value: Any) -> Any:
    """A value of the product as it is compared: times in nanoseconds."""
    match value:
        case dt.datetime():
            return (
                (value - (EPOCH if value.tzinfo else EPOCH.replace(tzinfo=None))) // dt.timedelta(microseconds=1) * 1000
            )
        case dt.time():
            return plain(dt.datetime.combine(EPOCH.date(), value))
        case dict():
            return {name: plain(member) for name, member in value.items()}
        case list():
            return [plain(item) for item in value]
    return value


@dataclass
class Meaning:
    """What a raw value of the woven reader means; `hidden` are the fields that the writer of the row fills, by record and field."""

    schema: AvroSchema
    hidden: Mapping[tuple[str, str], str]

    def of(self, node: AvroType, value: Any) -> Any:
        solid = self.schema.resolve(node)
        match solid:
            case AvroUnion():
                return None if value is None else self.of(self.branch(solid, value), value)
            case AvroRecord():
                return self.record(solid, value)
            case AvroArray():
                return [self.of(solid.items, item) for item in value]
            case AvroMap():
                return {key: self.of(solid.values, item) for key, item in value.items()}
            case AvroPrimitive() | AvroFixed():
                return self.leaf(solid, value)
        return value

    def branch(self, union: AvroUnion, value: Any) -> AvroType:
        """The type of a choice that a value is of: no two take the same."""
        fitting = [one for one in union.branches if not is_null(one) and self.takes(self.schema.resolve(one), value)]
        assert len(fitting) == 1, (union, value)
        return fitting[0]

    def takes(self, solid: Any, value: Any) -> bool:
        match solid:
            case AvroRecord():
                return isinstance(value, dict) and solid.fields[0].name in value
            case AvroEnum():
                return value in solid.symbols
            case AvroFixed():
                return isinstance(value, bytes) and len(value) == solid.size
            case AvroArray() | AvroMap():
                return isinstance(value, list if isinstance(solid, AvroArray) else dict)
        kinds: dict[str, Any] = {"int": int, "long": int, "string": str, "bytes": bytes}
        short = solid.kind != "bytes" or (isinstance(value, bytes) and len(value) == 4)
        return isinstance(value, kinds[solid.kind]) and short and not (solid.kind == "string" and value[0] in "SU")

    def record(self, record: AvroRecord, value: dict[str, Any]) -> dict[str, Any]:
        types = {field.name: field.type for field in record.fields}
        meant = {}
        for name in types:
            if not name.startswith("_"):
                source = self.hidden.get((record.full, name), name)
                meant[name] = self.of(types[source], value[source])
        mine = {name for (full, _), name in self.hidden.items() if full == record.full}
        assert all(value[name] is None for name in types if name.startswith("_") and name not in mine)
        return meant

    def leaf(self, leaf: AvroPrimitive | AvroFixed, value: Any) -> Any:
        logical = find_logical(leaf)
        if logical is None:
            return value
        if logical.name == "decimal":
            raw = value.encode("latin-1") if isinstance(value, str) else value  # a default
            return Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(-logical.scale)
        return value * NANOS[logical.name.rpartition("-")[2]]


def parse_apart(text: str) -> Any:
    """A schema as fastavro takes it, in which all types stand by name: it reads no type by name as one that stands in a choice itself."""
    definitions: dict[str, Any] = {}

    def take(node: Any) -> Any:
        if isinstance(node, list):
            return [take(part) for part in node]
        if not isinstance(node, dict):
            return node
        inner = {name: take(node[name]) for name in ("items", "values") if name in node}
        if "fields" in node:
            inner["fields"] = [{**field, "type": take(field["type"])} for field in node["fields"]]
        if "name" not in node:
            return {**node, **inner}
        definitions[node["name"]] = {**node, **inner}
        return node["name"]

    root = take(fastavro.parse_schema(json.loads(text)))
    known = {"__fastavro_parsed": True, "__named_schemas": definitions}
    tops = [{**definitions[name], **known} for name in ([root] if isinstance(root, str) else root)]
    return tops[0] if isinstance(root, str) else tops


def read_woven(woven: EnvelopeSchemas, place: int, payload: bytes, writer: FittedWriter) -> Any:
    """What fastavro reads of a payload between head and tail; None where it refuses the value."""
    branch = encode_branch(place) if woven.union else b""
    schemas = [parse_apart(text) for text in (woven.writer, woven.reader)]
    try:
        envelope: Any = fastavro.schemaless_reader(io.BytesIO(branch + make_header(place) + payload + TAIL), *schemas)
    except SchemaResolutionError:
        return None
    assert envelope.pop(woven.tail) == 0.0
    reader = parse_avro(woven.reader)
    assert isinstance(reader.root, AvroReference)
    top = reader.names[reader.root.full]
    assert isinstance(top, AvroRecord)
    body = AvroRecord(top.full, tuple(one for one in top.fields if one.name != woven.tail))
    hidden = {("treaty.Envelope" if one.record == "Top" else one.record, one.field): one.name for one in writer.hidden}
    return Meaning(reader, hidden).of(body, envelope)


def list_unions(fitted: FittedWriter) -> Iterator[AvroUnion]:
    """All unions of a fitted writer."""
    waiting = [
        fitted.root,
        *(one.type for named in fitted.names.values() if isinstance(named, AvroRecord) for one in named.fields),
    ]
    while waiting:
        node = waiting.pop()
        match node:
            case AvroArray():
                waiting.append(node.items)
            case AvroMap():
                waiting.append(node.values)
            case AvroUnion():
                yield node
                waiting += node.branches


def check_names(fitted: FittedWriter, prefix: str) -> None:
    """What Java's library needs: in no union two types of one name, when those that have an alias have the reader's names."""
    aliases = dict(fitted.aliases)
    assert len(aliases) == len(fitted.aliases), "a type has one name for the reader"
    assert all(named.full == full and full.startswith(f"{prefix}.") for full, named in fitted.names.items())
    for union in list_unions(fitted):
        names = Counter(aliases.get(one.full, one.full) for one in union.branches if isinstance(one, AvroReference))
        assert all(count == 1 for count in names.values()), names


def fit(writer: FittedWriters, schema: Schema, reader: AvroSchema, prefix: str) -> FittedWriter:
    fitted = fit_writer(parse_avro(json.dumps(schema)), reader, prefix)
    assert not (writer.steady and fitted.findings), "a writer whose fields have one unit each is read"
    assert writer.twins or not fitted.unread
    check_names(fitted, prefix)
    return fitted


@pytest.mark.parametrize("first", range(0, PAIRS, 50))
def test_a_fitted_writer_is_read_as_its_schema_is_resolved(first: int, figure: Callable[[str], None]) -> None:
    """But for one of two types of a choice that are one type of the reader, where Java's library reads one alone."""
    counts = Counter[str]()
    for seed in range(first, first + 50):
        pairs = FittedPairs(seed)
        reader_text = json.dumps(pairs.reader())
        reader = parse_avro(reader_text)
        writers = [(writer, writer.schema()) for writer in (pairs.writer(100 * seed + at) for at in range(WRITERS))]
        fits = [(writer, schema) for writer, schema in writers if not fit(writer, schema, reader, "w").findings]
        counts["unfit writers"] += WRITERS - len(fits)
        fitted_writers = [fit(*pair, reader, f"w{place}") for place, pair in enumerate(fits)]
        woven = make_envelope(fitted_writers, reader) if fits else None
        for place, (writer, schema) in enumerate(fits):
            assert woven is not None
            resolve = make_interpreter(parse_avro(json.dumps(schema)), reader)
            values = RawValues(schema, writer.twins, seed)
            for _ in range(ROWS):
                values.has_twin = False
                value = values.make(schema)
                payload = write(plain_text(schema), value)
                try:
                    expected = None if values.has_twin else plain(resolve(payload, 0)[0])
                except UnmatchedError:
                    expected = None
                found = read_woven(woven, place, payload, fitted_writers[place])
                assert found == expected, (
                    f"seed {seed}, writer {place}: {json.dumps(schema)} read as {reader_text}: {value}"
                )
                counts["rows refused" if expected is None else "rows read"] += 1
    figure(f"pairs from {first}: {dict(counts)}")
    assert counts["rows read"] > 100
    assert counts["rows refused"] > 10
