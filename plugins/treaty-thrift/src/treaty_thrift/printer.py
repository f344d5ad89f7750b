"""Canonical text: one statement a line, without comments; and one text with everything that is included."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from treaty.formats.format import SchemaTexts
from treaty_thrift.model import (
    Annotations,
    Constant,
    Definition,
    Document,
    Enum,
    Field,
    Named,
    Primitive,
    Record,
    Service,
    ThriftSchema,
    Type,
    Typedef,
    Value,
)

Rename = Callable[[str], str]
"""A function from a name as it is written to the name that is printed."""


def print_texts(schema: ThriftSchema, normalize: bool) -> SchemaTexts:  # noqa: FBT001 - the signature of `Format.show`
    """Canonical text, the text with everything included, the root's name, its fields, and the records of the text.

    A normalized text has fields by id and annotations by name.
    """
    document = normalize_document(schema.document) if normalize else schema.document
    canonical = print_document(document)
    resolved = print_resolved(schema) if schema.included else canonical
    root = schema.root
    names = tuple(record.name for record in schema.records())
    fields = tuple(field.name for field in root.fields) if root else ()
    return SchemaTexts(canonical, resolved, root.name if root else "", fields, names)


def normalize_document(document: Document) -> Document:
    """The same document with namespaces by scope, fields by id and annotations by name."""
    headers = (
        *(header for header in document.headers if header[0] != "namespace"),
        *sorted(header for header in document.headers if header[0] == "namespace"),
    )
    return Document(headers, tuple(_normalize(definition) for definition in document.definitions))


def _normalize(definition: Definition) -> Definition:
    normalized = replace(definition, annotations=_sort(definition.annotations))
    if isinstance(normalized, Record):
        fields = sorted(normalized.fields, key=lambda each: each.id)
        return replace(normalized, fields=tuple(replace(each, annotations=_sort(each.annotations)) for each in fields))
    return normalized


def _sort(annotations: Annotations) -> Annotations:
    return tuple(sorted(annotations, key=lambda annotation: (annotation[0], annotation[1] or "")))


def print_document(document: Document, rename: Rename = str) -> str:
    """A document as text that parses to the same document."""
    lines = [_header(*header) for header in document.headers]
    blocks = ["\n".join(lines)] if lines else []
    return "\n\n".join((*blocks, *("\n".join(_definition(definition, rename)) for definition in document.definitions)))


def _header(kind: str, scope: str, value: str) -> str:
    return f"namespace {scope} {value}" if kind == "namespace" else f"{kind} {_quote(value)}"


def _definition(definition: Definition, rename: Rename) -> Iterator[str]:
    name, after = rename(definition.name), _annotations(definition.annotations)
    match definition:
        case Typedef():
            yield f"typedef {print_type(definition.type, rename)} {name}{after}"
        case Constant():
            yield f"const {print_type(definition.type, rename)} {name} = {_value(definition.value, rename)}{after}"
        case Enum():
            yield f"enum {name} {{"
            yield from (f"  {each.name} = {each.number}{_annotations(each.annotations)}" for each in definition.symbols)
            yield f"}}{after}"
        case Record():
            yield f"{definition.kind} {name} {{"
            yield from (f"  {_field(each, rename)}" for each in definition.fields)
            yield f"}}{after}"
        case Service():
            above = f" extends {rename(definition.extends)}" if definition.extends else ""
            yield f"service {name}{above} {{"
            for each in definition.functions:
                result = "void" if each.result is None else print_type(each.result, rename)
                words = f"  {'oneway ' if each.oneway else ''}{result} {each.name}({_row(each.parameters, rename)})"
                thrown = f" throws ({_row(each.throws, rename)})" if each.throws else ""
                yield f"{words}{thrown}{_annotations(each.annotations)}"
            yield f"}}{after}"


def _row(fields: tuple[Field, ...], rename: Rename) -> str:
    return ", ".join(_field(field, rename) for field in fields)


def _field(field: Field, rename: Rename) -> str:
    needed = f"{field.requiredness} " if field.requiredness else ""
    default = "" if field.default is None else f" = {_value(field.default, rename)}"
    return (
        f"{field.id}: {needed}{print_type(field.type, rename)} {field.name}{default}{_annotations(field.annotations)}"
    )


def print_type(type_: Type, rename: Rename = str) -> str:
    """A type as it is written."""
    match type_:
        case Named(name):
            return rename(name)
        case Primitive(name):
            return f"{name}{_annotations(type_.annotations)}"
    inside = ", ".join(print_type(part, rename) for part in type_.parts)
    return f"{type_.kind}<{inside}>{_annotations(type_.annotations)}"


def _annotations(annotations: Annotations) -> str:
    if not annotations:
        return ""
    words = (name if value is None else f"{name} = {_quote(value)}" for name, value in annotations)
    return f" ({', '.join(words)})"


def _quote(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return f'"{"".join(escapes.get(character, character) for character in text)}"'


def _value(value: Value, rename: Rename) -> str:
    match value.kind, value.value:
        case "bool", held:
            return "true" if held else "false"
        case "text", str() as held:
            return _quote(held)
        case "name", str() as held:
            return rename(held)
        case "double", float() as held:
            return _print_double(held)
        case "list", tuple() as held:
            return f"[{', '.join(_value(part, rename) for part in held)}]"
        case "map", tuple() as held:
            return f"{{{', '.join(f'{_value(key, rename)}: {_value(member, rename)}' for key, member in held)}}}"
    return str(value.value)


def _print_double(held: float) -> str:
    text = repr(held)
    return text if "e" in text or "." in text else f"{text}.0"


# ------------------------------------------------------------------------------------------------------ all in one


@dataclass(frozen=True, slots=True)
class _Names:
    """How definitions of several documents are called in one: by their own name, or by prefix and name where two share it."""

    given: dict[tuple[bytes, str], str]

    def of(self, schema: ThriftSchema) -> Rename:
        """The names as they are written in a document."""

        def rename(name: str) -> str:
            entry = schema.find(name)
            if entry is None:  # a symbol of an enum, or what a service extends
                owner, mark, symbol = name.rpartition(".")
                return f"{rename(owner)}.{symbol}" if mark and schema.find(owner) else name
            outer, definition = entry
            return self.given.get((outer.digest, definition.name), definition.name)

        return rename


def print_resolved(schema: ThriftSchema) -> str:
    """One text that means the same and includes nothing: definitions of included documents stand before those that use them."""
    order = list_documents(schema)
    taken = {definition.name for definition in schema.document.definitions}
    given: dict[tuple[bytes, str], str] = {}
    for prefix, each in order[:-1]:
        for definition in each.document.definitions:
            name, number = definition.name, 1
            while name in taken:
                name, number = f"{prefix}_{definition.name}{number if number > 1 else ''}", number + 1
            taken.add(name)
            given[each.digest, definition.name] = name
    names = _Names(given)
    headers = tuple(header for header in schema.document.headers if header[0] != "include")
    parts = [print_document(Document(headers, ()))] if headers else []
    for _, each in order:
        if each.document.definitions:
            parts.append(print_document(Document((), each.document.definitions), names.of(each)))
    return "\n\n".join(parts)


def list_documents(schema: ThriftSchema) -> list[tuple[str, ThriftSchema]]:
    """All documents under their prefix, each once and after those that it includes; the schema itself is the last."""
    included: dict[bytes, tuple[str, ThriftSchema]] = {}

    def visit(prefix: str, below: ThriftSchema) -> None:
        if below.digest not in included:
            for name, each in below.included:
                visit(name, each)
            included[below.digest] = prefix, below

    visit("", schema)
    return list(included.values())


def sha256(schema: ThriftSchema) -> bytes:
    """The digest of the normalized text with everything included."""
    return hashlib.sha256(_normal(schema)).digest()


def md5(schema: ThriftSchema) -> bytes:
    """The MD5 of the normalized text with everything included."""
    return hashlib.md5(_normal(schema), usedforsecurity=False).digest()


def _normal(schema: ThriftSchema) -> bytes:
    """The normalized text with everything included."""
    known: dict[bytes, ThriftSchema] = {}

    def normalize(below: ThriftSchema) -> ThriftSchema:
        if below.digest not in known:
            included = tuple((name, normalize(each)) for name, each in below.included)
            known[below.digest] = replace(below, document=normalize_document(below.document), included=included)
        return known[below.digest]

    return print_resolved(normalize(schema)).encode("utf-8", "surrogatepass")
