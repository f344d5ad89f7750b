"""fastavro as a second opinion on data: values in Avro's JSON encoding are written with one schema and read with another."""

import io
import json
from typing import Any

import fastavro

from treaty.formats.avro.data.value import branch_name
from treaty.formats.avro.format import FORMAT
from treaty.formats.avro.model import (
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
)


def datum(schema: AvroSchema, node: AvroType, value: Any) -> Any:
    """A value as fastavro takes it: branches of unions as pairs of name and value, bytes as bytes."""
    match schema.resolve(node):
        case AvroUnion(branches):
            if value is None:
                return None
            ((name, inside),) = value.items()
            (branch,) = (one for one in map(schema.resolve, branches) if branch_name(one) == name)
            return name, datum(schema, branch, inside)
        case AvroRecord(_, fields):
            return {field.name: datum(schema, field.type, value[field.name]) for field in fields}
        case AvroArray(items):
            return [datum(schema, items, item) for item in value]
        case AvroMap(values):
            return {key: datum(schema, values, member) for key, member in value.items()}
        case AvroFixed() | AvroPrimitive("bytes"):
            return value.encode("latin-1")
    return value


def plain(schema: AvroSchema) -> Any:
    """A schema as JSON values without logical types, which fastavro would turn into Python's own types."""
    return _plain(json.loads(FORMAT.show(schema, False).resolved))


def _plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _plain(member) for name, member in node.items() if name != "logicalType"}
    return [_plain(member) for member in node] if isinstance(node, list) else node


def parsed(schema: AvroSchema) -> Any:
    """A schema as fastavro knows it; raises what fastavro raises for the schemas that it refuses."""
    return fastavro.parse_schema(plain(schema))


def written(schema: AvroSchema, value: str) -> bytes:
    """A value in JSON encoding as Avro binary data."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, parsed(schema), datum(schema, schema.root, json.loads(value)))
    return out.getvalue()


def read(data: bytes, writer: AvroSchema, reader: AvroSchema) -> Any:
    """Data read with another schema; raises if anything is left over."""
    source = io.BytesIO(data)
    found = fastavro.schemaless_reader(source, parsed(writer), parsed(reader))
    rest = source.read()
    assert not rest, f"{len(rest)} bytes are left"
    return found


def refused(schema: AvroSchema) -> bool:
    """Whether fastavro can't work with a schema that Java reads."""
    try:
        parsed(schema)
    except (fastavro.schema.SchemaParseException, fastavro.schema.UnknownType):
        return True
    return False
