"""The fields of a schema as rows of a tree: names, docs, tags, and types in the schema's format, in SQL and in Spark."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from treaty.core.refusals import RegistryError
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, ColumnLoss, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import Format, InvalidSchemaError
from treaty.metastore.columns.from_schema import columns_of_schema
from treaty.plan.ddl import type_ddl

TYPE_CHARACTERS = 60
"""Characters of a type in a row."""
SPARK: Mapping[str, str] = {
    "null": "NullType()",
    "boolean": "BooleanType()",
    "int32": "IntegerType()",
    "int64": "LongType()",
    "float32": "FloatType()",
    "float64": "DoubleType()",
    "string": "StringType()",
    "binary": "BinaryType()",
    "date": "DateType()",
    "timestamp": "TimestampType()",
    "timestamp_ntz": "TimestampNTZType()",
    "variant": "StringType()",
}
"""PySpark's types by scalar."""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A row of the tree: a field at its depth, or what is inside a list or map."""

    name: str
    depth: int
    type: str
    """In the format of the schema; empty where it does not say one."""
    sql: str
    spark: str
    is_nullable: bool
    doc: str
    tags: tuple[str, ...]
    path: tuple[str, ...] = ()
    """Names that lead to it; what is in a list or map has none."""


@dataclass(frozen=True, slots=True)
class FieldTree:
    """The rows of a schema, and what a table does not keep of it. `trouble` says why there are none."""

    rows: tuple[FieldRow, ...] = ()
    losses: tuple[ColumnLoss, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class FieldNotes:
    """What the schema's own text says of its fields, by dotted way: type, doc, tags."""

    types: Mapping[str, str]
    tags: Mapping[str, tuple[str, ...]]


def list_fields(form: Format[Any], resolved: ResolvedSchema) -> FieldTree:
    """Return the fields of a schema; for one that makes no table with the reason."""
    try:
        columns = columns_of_schema(resolved)
        notes = read_notes(form, resolved)
    except (RegistryError, InvalidSchemaError, ValueError, RecursionError) as reason:
        return FieldTree(trouble=str(reason)[:500])
    rows = tuple(_list_rows(columns.columns, (), notes))
    return FieldTree(rows, columns.losses[:100])


def _list_rows(columns: tuple[Column, ...], way: tuple[str, ...], notes: FieldNotes) -> Iterator[FieldRow]:
    for column in columns:
        path = (*way, column.name)
        noted = ".".join(path)
        yield FieldRow(
            column.name, len(way), notes.types.get(noted, ""), _print_short(type_ddl(column.type), column.type),
            spark_type(column.type), column.nullable, column.doc, notes.tags.get(noted, ()), path,
        )  # fmt: skip
        inner = column.type
        while isinstance(inner, List | Map):
            inner = inner.element if isinstance(inner, List) else inner.value
        if isinstance(inner, Struct):
            yield from _list_rows(inner.columns, path, notes)


def _print_short(text: str, kind: ColumnType) -> str:
    """Return a type for a row: the fields of a struct have rows of their own."""
    match kind:
        case Struct():
            return "STRUCT"
        case List(element):
            return f"ARRAY<{_print_short('', element)}>"
        case Map(key, value):
            return f"MAP<{_print_short('', key)}, {_print_short('', value)}>"
    return text or type_ddl(kind)


def spark_type(kind: ColumnType) -> str:
    """Return a type as PySpark writes it; the fields of a struct are left out."""
    match kind:
        case Scalar(name):
            return SPARK[name]
        case Decimal(precision, scale):
            return f"DecimalType({precision}, {scale})"
        case List(element):
            return f"ArrayType({spark_type(element)})"
        case Map(key, value):
            return f"MapType({spark_type(key)}, {spark_type(value)})"
    return "StructType(…)"


# ------------------------------------------------------------------------------------------ the text's own words


Noted = tuple[str, str, tuple[str, ...]]
"""The dotted way to a field, its type, its tags."""
NOTED = 20_000
"""Fields of one schema whose types and tags are read."""


def read_notes(form: Format[Any], resolved: ResolvedSchema) -> FieldNotes:
    """Return types and tags of the fields of a text, by the dotted way to them."""
    if resolved.format == "AVRO":
        return _notes_of(_walk_avro(json.loads(resolved.text), _referred_texts(resolved)))
    if resolved.format == "JSON":
        return _notes_of(_walk_json(json.loads(resolved.text), "", 0))
    if form.elements is None:
        return FieldNotes({}, {})
    lines = resolved.text.split("\n")
    elements = list(form.elements(form.parse(resolved, False)))
    fields: dict[str, dict[str, str]] = {}
    for element in elements:
        if element.kind == "field" and 0 < element.line <= len(lines):
            declared = lines[element.line - 1][max(0, element.column - 1) :].partition(f" {element.name}")[0].strip()
            fields.setdefault(element.full.rpartition(".")[0], {})[element.name] = declared[:TYPE_CHARACTERS]
    root = next((one.full for one in elements if one.kind == "type"), "")
    return _notes_of(_walk_declared(root, "", fields, 0))


def _walk_declared(message: str, way: str, fields: Mapping[str, Mapping[str, str]], depth: int) -> Iterator[Noted]:
    """Walk through the fields of a message; `fields` are declared types by the full names of messages and the names of fields."""
    if depth > DEPTH:
        return
    for name, declared in fields.get(message, {}).items():
        path = f"{way}.{name}" if way else name
        yield path, declared, ()
        kind = declared.removesuffix(">").replace(",", " ").split()[-1:]  # the value of a map, what a list repeats
        inner = _find_message(message, "".join(kind), fields)
        if inner:
            yield from _walk_declared(inner, path, fields, depth + 1)


def _find_message(around: str, name: str, fields: Mapping[str, Mapping[str, str]]) -> str:
    """Return the full name of a message that is named inside another one: the innermost of that name; empty without one."""
    if name.startswith("."):
        return name[1:] if name[1:] in fields else ""
    while around:
        if f"{around}.{name}" in fields:
            return f"{around}.{name}"
        around = around.rpartition(".")[0]
    return name if name in fields else ""


def _referred_texts(resolved: ResolvedSchema) -> Iterator[Any]:
    """Yield the texts that a schema refers to, each once, with those that they refer to."""
    waiting, texts = [*resolved.bindings], set[str]()
    while waiting and len(texts) < REFERRED:
        meaning = waiting.pop().meaning
        if meaning.text not in texts:
            texts.add(meaning.text)
            waiting += meaning.bindings
            with suppress(ValueError, RecursionError):
                yield json.loads(meaning.text)


REFERRED = 200
"""Texts that a schema refers to, directly or not, in which the types of its fields are looked for."""


def _notes_of(noted: Iterator[Noted]) -> FieldNotes:
    rows = list(islice(noted, NOTED))
    return FieldNotes({way: kind for way, kind, _ in rows}, {way: tags for way, _, tags in rows if tags})


def _walk_avro(schema: Any, referred: Iterable[Any] = ()) -> Iterator[Noted]:
    """Walk through the fields of a schema; `referred` are texts that it refers to, whose named types it uses."""
    names: dict[str, Any] = {}
    for text in (*referred, schema):
        _collect_avro(text, "", names)
    yield from _walk_avro_fields(schema, "", names, ())


def _collect_avro(node: Any, space: str, names: dict[str, Any]) -> None:
    """Find the named records of a text, by the name without a namespace and by the one with it."""
    if isinstance(node, list):
        for branch in node:
            _collect_avro(branch, space, names)
    elif isinstance(node, dict):
        if node.get("type") in {"record", "error"}:
            space = node.get("namespace", space)
            names[str(node.get("name"))] = names[f"{space}.{node.get('name')}"] = node
            for field in node.get("fields", ()):
                _collect_avro(field.get("type"), space, names)
        else:
            for member in ("type", "items", "values"):
                if isinstance(node.get(member), dict | list):
                    _collect_avro(node[member], space, names)


def _walk_avro_fields(node: Any, way: str, names: dict[str, Any], around: tuple[int, ...]) -> Iterator[Noted]:
    if isinstance(node, str):
        node = names.get(node)
    if isinstance(node, list):
        inner = [one for one in node if one != "null"]
        if len(inner) == 1:
            yield from _walk_avro_fields(inner[0], way, names, around)
        return
    if not isinstance(node, dict) or id(node) in around or len(around) > DEPTH:
        return
    if node.get("type") in {"record", "error"}:
        for field in node.get("fields", ()):
            path = f"{way}.{field['name']}" if way else str(field["name"])
            tags = field.get("confluent:tags", ())
            yield path, avro_type(field["type"]), tuple(map(str, tags)) if isinstance(tags, list) else ()
            yield from _walk_avro_fields(field["type"], path, names, (*around, id(node)))
        return
    for member in ("items", "values", "type"):
        if member in node:
            yield from _walk_avro_fields(node[member], way, names, around)
            return


DEPTH = 12
"""Records inside each other whose fields are walked through."""


def avro_type(kind: Any) -> str:
    """Return an Avro type in short: names of named types, items of arrays, branches of unions."""
    if isinstance(kind, list):
        return " | ".join(map(avro_type, kind))[:TYPE_CHARACTERS]
    if not isinstance(kind, dict):
        return str(kind)[:TYPE_CHARACTERS]
    name = kind.get("type")
    if kind.get("logicalType"):
        return f"{avro_type(name)} ({kind['logicalType']})"[:TYPE_CHARACTERS]
    match name:
        case "array":
            return f"array of {avro_type(kind.get('items'))}"[:TYPE_CHARACTERS]
        case "map":
            return f"map of {avro_type(kind.get('values'))}"[:TYPE_CHARACTERS]
        case "record" | "enum" | "fixed" | "error":
            return f"{name} {kind.get('name')}"[:TYPE_CHARACTERS]
    return avro_type(name)


def _walk_json(node: Any, way: str, depth: int) -> Iterator[Noted]:
    if not isinstance(node, dict) or depth > DEPTH:
        return
    properties = node.get("properties")
    for name, inner in (properties if isinstance(properties, dict) else {}).items():
        path = f"{way}.{name}" if way else name
        tags = inner.get("confluent:tags", ()) if isinstance(inner, dict) else ()
        yield path, json_type(inner), tuple(map(str, tags)) if isinstance(tags, list) else ()
        yield from _walk_json(inner, path, depth + 1)
    items = node.get("items")
    if isinstance(items, dict):
        yield from _walk_json(items, way, depth + 1)


def json_type(node: Any) -> str:
    """Return the type that a JSON Schema states, in short."""
    if not isinstance(node, dict):
        return "any" if node is True else "nothing" if node is False else ""
    kind = node.get("type")
    text = " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind) if kind else ""
    if kind == "array" and isinstance(node.get("items"), dict):
        text = f"array of {json_type(node['items']) or 'any'}"
    beside = node.get("format") or ("enum" if "enum" in node else "") or ("const" if "const" in node else "")
    if not text:
        text = str(node.get("$ref", "")) or next((word for word in ("oneOf", "anyOf", "allOf") if word in node), "")
    return (f"{text} ({beside})" if beside and text else text or str(beside))[:TYPE_CHARACTERS]
