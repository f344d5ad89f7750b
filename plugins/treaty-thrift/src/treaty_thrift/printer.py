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
    names = tuple(one.name for one in schema.records())
    fields = tuple(one.name for one in root.fields) if root else ()
    return SchemaTexts(canonical, resolved, root.name if root else "", fields, names)


def normalize_document(document: Document) -> Document:
    """The same document with namespaces by scope, fields by id and annotations by name."""
    headers = (
        *(one for one in document.headers if one[0] != "namespace"),
        *sorted(one for one in document.headers if one[0] == "namespace"),
    )
    return Document(headers, tuple(_normalize(one) for one in document.definitions))


def _normalize(one: Definition) -> Definition:
    made = replace(one, annotations=_sort(one.annotations))
    if isinstance(made, Record):
        fields = sorted(made.fields, key=lambda each: each.id)
        return replace(made, fields=tuple(replace(each, annotations=_sort(each.annotations)) for each in fields))
    return made


def _sort(annotations: Annotations) -> Annotations:
    return tuple(sorted(annotations, key=lambda one: (one[0], one[1] or "")))


def print_document(document: Document, rename: Rename = str) -> str:
    """A document as text that parses to the same document."""
    lines = [_header(*one) for one in document.headers]
    blocks = ["\n".join(lines)] if lines else []
    return "\n\n".join((*blocks, *("\n".join(_definition(one, rename)) for one in document.definitions)))


def _header(kind: str, scope: str, value: str) -> str:
    return f"namespace {scope} {value}" if kind == "namespace" else f"{kind} {_quote(value)}"


def _definition(one: Definition, rename: Rename) -> Iterator[str]:
    name, after = rename(one.name), _annotations(one.annotations)
    match one:
        case Typedef():
            yield f"typedef {print_type(one.type, rename)} {name}{after}"
        case Constant():
            yield f"const {print_type(one.type, rename)} {name} = {_value(one.value, rename)}{after}"
        case Enum():
            yield f"enum {name} {{"
            yield from (f"  {each.name} = {each.number}{_annotations(each.annotations)}" for each in one.symbols)
            yield f"}}{after}"
        case Record():
            yield f"{one.kind} {name} {{"
            yield from (f"  {_field(each, rename)}" for each in one.fields)
            yield f"}}{after}"
        case Service():
            above = f" extends {rename(one.extends)}" if one.extends else ""
            yield f"service {name}{above} {{"
            for each in one.functions:
                result = "void" if each.result is None else print_type(each.result, rename)
                words = f"  {'oneway ' if each.oneway else ''}{result} {each.name}({_row(each.parameters, rename)})"
                thrown = f" throws ({_row(each.throws, rename)})" if each.throws else ""
                yield f"{words}{thrown}{_annotations(each.annotations)}"
            yield f"}}{after}"


def _row(fields: tuple[Field, ...], rename: Rename) -> str:
    return ", ".join(_field(one, rename) for one in fields)


def _field(one: Field, rename: Rename) -> str:
    needed = f"{one.requiredness} " if one.requiredness else ""
    default = "" if one.default is None else f" = {_value(one.default, rename)}"
    return f"{one.id}: {needed}{print_type(one.type, rename)} {one.name}{default}{_annotations(one.annotations)}"


def print_type(type_: Type, rename: Rename = str) -> str:
    """A type as it is written."""
    match type_:
        case Named(name):
            return rename(name)
        case Primitive(name):
            return f"{name}{_annotations(type_.annotations)}"
    inside = ", ".join(print_type(one, rename) for one in type_.parts)
    return f"{type_.kind}<{inside}>{_annotations(type_.annotations)}"


def _annotations(annotations: Annotations) -> str:
    if not annotations:
        return ""
    words = (name if value is None else f"{name} = {_quote(value)}" for name, value in annotations)
    return f" ({', '.join(words)})"


def _quote(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return f'"{"".join(escapes.get(one, one) for one in text)}"'


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
            return f"[{', '.join(_value(one, rename) for one in held)}]"
        case "map", tuple() as held:
            return f"{{{', '.join(f'{_value(one, rename)}: {_value(two, rename)}' for one, two in held)}}}"
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
            found = schema.find(name)
            if found is None:  # a symbol of an enum, or what a service extends
                owner, mark, symbol = name.rpartition(".")
                return f"{rename(owner)}.{symbol}" if mark and schema.find(owner) else name
            outer, definition = found
            return self.given.get((outer.digest, definition.name), definition.name)

        return rename


def print_resolved(schema: ThriftSchema) -> str:
    """One text that means the same and includes nothing: definitions of included documents stand before those that use them."""
    order = list_documents(schema)
    taken = {one.name for one in schema.document.definitions}
    given: dict[tuple[bytes, str], str] = {}
    for prefix, each in order[:-1]:
        for one in each.document.definitions:
            name, number = one.name, 1
            while name in taken:
                name, number = f"{prefix}_{one.name}{number if number > 1 else ''}", number + 1
            taken.add(name)
            given[each.digest, one.name] = name
    names = _Names(given)
    headers = tuple(one for one in schema.document.headers if one[0] != "include")
    parts = [print_document(Document(headers, ()))] if headers else []
    for _, each in order:
        if each.document.definitions:
            parts.append(print_document(Document((), each.document.definitions), names.of(each)))
    return "\n\n".join(parts)


def list_documents(schema: ThriftSchema) -> list[tuple[str, ThriftSchema]]:
    """All documents under their prefix, each once and after those that it includes; the schema itself is the last."""
    found: dict[bytes, tuple[str, ThriftSchema]] = {}

    def visit(prefix: str, one: ThriftSchema) -> None:
        if one.digest not in found:
            for name, each in one.included:
                visit(name, each)
            found[one.digest] = prefix, one

    visit("", schema)
    return list(found.values())


def sha256(schema: ThriftSchema) -> bytes:
    """The digest of the normalized text with everything included."""
    return hashlib.sha256(_normal(schema)).digest()


def md5(schema: ThriftSchema) -> bytes:
    """The MD5 of the normalized text with everything included."""
    return hashlib.md5(_normal(schema), usedforsecurity=False).digest()


def _normal(schema: ThriftSchema) -> bytes:
    """The normalized text with everything included."""
    known: dict[bytes, ThriftSchema] = {}

    def normalize(one: ThriftSchema) -> ThriftSchema:
        if one.digest not in known:
            included = tuple((name, normalize(each)) for name, each in one.included)
            known[one.digest] = replace(one, document=normalize_document(one.document), included=included)
        return known[one.digest]

    return print_resolved(normalize(schema)).encode("utf-8", "surrogatepass")
