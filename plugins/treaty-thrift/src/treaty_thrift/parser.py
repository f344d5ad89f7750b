"""Texts to models: the tree of a text read to a document, and bound to the documents that its references give."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError, ReferenceName
from treaty_thrift.grammar import Node, Token, place_of, read_tree
from treaty_thrift.model import (
    Annotations,
    Constant,
    Container,
    Definition,
    Document,
    Enum,
    Field,
    Function,
    Named,
    Primitive,
    Record,
    Requiredness,
    Service,
    Symbol,
    ThriftSchema,
    Type,
    Typedef,
    Value,
    prefix_of,
)
from treaty_thrift.validation import find_faults

UNKNOWN = (0, 0)


@dataclass(slots=True)
class TreeReader:
    """Reads the tree of one text; `places` are the offsets of definitions and their parts, by path."""

    text: str
    places: dict[str, int] = field(default_factory=dict)
    faults: list[Diagnostic] = field(default_factory=list)

    def read(self) -> Document:
        """The document."""
        header, definitions = read_tree(self.text).nodes()
        headers = tuple(self._header(unit) for child in header.nodes() for unit in child.nodes())
        units = (part for unit in definitions.nodes() for child in unit.nodes() for part in child.nodes())
        return Document(headers, tuple(self._definition(node) for node in units))

    def fault(self, rule: str, path: str, message: str, expected: str) -> None:
        """Note a fault at the place of a path, if there are not enough yet: each place is counted from the text's begin."""
        if len(self.faults) >= FAULTS:
            return
        offset = self.places.get(path)
        place = UNKNOWN if offset is None else place_of(self.text, offset)
        self.faults.append(Diagnostic(rule, path, message, expected, *place))

    def _header(self, unit: Node) -> tuple[str, str, str]:
        (child,) = unit.nodes()
        tokens = list(child.tokens())
        words = [token.value for token in tokens]
        if child.rule == "namespace":
            scope = child.find("namespace_scope")
            assert scope is not None
            return "namespace", next(scope.tokens()).value, words[-1]
        self.places[f"/{words[-1]}"] = tokens[-1].offset
        return child.rule, "", words[-1]

    def _definition(self, unit: Node) -> Definition:
        node = next(unit.nodes()) if unit.rule == "ttype" else unit
        match node.rule:
            case "const":
                return self._constant(node)
            case "typedef":
                name = self._name(node)
                return Typedef(name, self._type(next(node.nodes())), _read_annotations(node))
            case "enum":
                return self._enum(node)
            case "service":
                return self._service(node)
        return self._record(node)

    def _name(self, node: Node, above: str = "") -> str:
        """The name that a definition has, whose place is noted."""
        token = next(token for token in node.tokens() if token.kind == "IDENTIFIER")
        self.places.setdefault(f"{above}/{token.value}", token.offset)
        name: str = token.value
        if "." in name:
            self.fault("NAME_ILLEGAL", f"{above}/{name}", f"{name!r} has a dot", "a name without dots")
        return name

    def _constant(self, node: Node) -> Constant:
        name = self._name(node)
        type_, value = (node.find(rule) for rule in ("field_type", "const_value"))
        assert type_ is not None
        assert value is not None
        return Constant(name, self._type(type_), self._value(value), _read_annotations(node))

    def _enum(self, node: Node) -> Enum:
        name, symbols, last = self._name(node), list[Symbol](), -1
        items = node.find("enum_seq")
        assert items is not None
        for item in items.nodes():
            words = list(item.tokens()) if item.rule == "enum_item" else []
            if not words:
                continue
            last = words[-1].value if len(words) > 1 else last + 1
            symbols.append(Symbol(self._name(item, f"/{name}"), last, _read_annotations(item)))
        return Enum(name, tuple(symbols), _read_annotations(node))

    def _record(self, node: Node) -> Record:
        seen = next((child for child in node.nodes() if child.rule.startswith("seen_")), node)
        name = self._name(seen)
        kind: Any = node.rule
        return Record(kind, name, self._fields(node.find("field_seq"), f"/{name}"), _read_annotations(node))

    def _service(self, node: Node) -> Service:
        simple = node.find("simple_service")
        assert simple is not None
        names = [token.value for token in simple.tokens() if token.kind == "IDENTIFIER"]
        name = self._name(simple)
        functions = simple.find("function_seq")
        assert functions is not None
        methods = (self._function(child, f"/{name}") for child in functions.nodes() if child.rule == "function")
        return Service(name, names[1] if len(names) > 1 else "", tuple(methods), _read_annotations(node))

    def _function(self, node: Node, above: str) -> Function:
        simple = node.find("simple_function")
        assert simple is not None
        name, result = self._name(simple, above), simple.find("function_type")
        throws = simple.find("throws")
        path = f"{above}/{name}"
        kind = next(result.nodes(), None) if result is not None else None
        return Function(
            name,
            any(token.kind == "ONEWAY" for token in simple.tokens()),
            None if kind is None else self._type(kind),
            self._fields(simple.find("field_seq"), path),
            self._fields(throws.find("field_seq"), f"{path}/throws") if throws else (),
            _read_annotations(node),
        )

    def _fields(self, rows: Node | None, above: str) -> tuple[Field, ...]:
        assert rows is not None
        return tuple(self._field(row, above) for row in rows.nodes() if row.rule == "field")

    def _field(self, node: Node, above: str) -> Field:
        simple = node.find("simple_field")
        assert simple is not None
        id_, needed, type_, value = (
            simple.find(rule) for rule in ("field_id", "field_req", "field_type", "const_value")
        )
        assert id_ is not None
        assert needed is not None
        assert type_ is not None
        name = next(token for token in simple.tokens() if token.kind == "IDENTIFIER")
        number = next((token.value for token in id_.tokens()), None)
        path = f"{above}/{name.value if number is None else number}"
        self.places.setdefault(path, next((token.offset for token in id_.tokens()), name.offset))
        if number is None:
            self.fault("FIELD_ID_MISSING", path, f"the field {name.value!r} has no id", "an id before it, such as 1:")
        requiredness: Requiredness = next((token.value for token in needed.tokens()), "")
        default = self._value(value) if value else None
        return Field(number or 0, requiredness, self._type(type_), name.value, default, _read_annotations(node))

    def _type(self, node: Node) -> Type:
        while node.rule in {"field_type", "definition_type", "simple_container_type"}:
            node = next(node.nodes())
        match node.rule:
            case "ref_type":
                return Named(next(node.tokens()).value)
            case "base_type":
                word = next(next(node.nodes()).tokens()).value
                return Primitive("i8" if word == "byte" else word, _read_annotations(node))
        annotations: Annotations = ()
        if node.rule == "container_type":
            annotations = _read_annotations(node)
            node = next(node.nodes())
            if node.rule == "simple_container_type":
                node = next(node.nodes())
        kind: Any = node.rule.removesuffix("_type")
        parts = tuple(self._type(child) for child in node.nodes() if child.rule == "field_type")
        return Container(kind, parts, annotations)

    def _value(self, node: Node) -> Value:
        (part,) = node
        if isinstance(part, Token):
            kinds = {"INTCONSTANT": "int", "DUBCONSTANT": "double", "BOOLCONSTANT": "bool", "LITERAL": "text"}
            kind: Any = kinds[part.kind]
            if kind == "double" and not math.isfinite(part.value) and len(self.faults) < FAULTS:
                self.faults.append(
                    Diagnostic("NUMBER", "", "the number is too large", "a double", *place_of(self.text, part.offset))
                )
            return Value(kind, part.value)
        if part.rule == "const_ref":
            return Value("name", next(part.tokens()).value)
        rows = next(part.nodes())
        if part.rule == "const_list":
            return Value("list", tuple(self._value(row) for row in rows.nodes() if row.rule == "const_value"))
        pairs = (tuple(map(self._value, row.nodes())) for row in rows.nodes() if row.rule == "const_map_item")
        return Value("map", tuple(pairs))


def _read_annotations(node: Node) -> Annotations:
    child = node.find("type_annotations")
    rows = next(child.nodes(), None) if child else None
    if rows is None:
        return ()
    items = ([token.value for token in row.tokens()] for row in rows.nodes() if row.rule == "type_annotation")
    return tuple((words[0], words[2] if len(words) > 2 else None) for words in items)


def find_references(text: str) -> tuple[ReferenceName, ...]:
    """The paths of includes, which are the names of references."""
    header = next(read_tree(text).nodes())
    includes = (
        part for unit in header.nodes() for child in unit.nodes() for part in child.nodes() if part.rule == "include"
    )
    paths = dict.fromkeys(list(include.tokens())[-1].value for include in includes)
    return tuple(ReferenceName(path, f"/{path}") for path in paths)


def parse_schema(meaning: ResolvedSchema, strict: bool) -> ThriftSchema:  # noqa: FBT001 - the signature of `Format.parse`
    """The model of a text with its references. Includes are looked up among these, and nowhere else."""
    return _SchemaParser(strict, {}).parse(meaning)


@dataclass(slots=True)
class _SchemaParser:
    strict: bool
    known: dict[bytes, ThriftSchema]

    def parse(self, meaning: ResolvedSchema) -> ThriftSchema:
        schema = self.known.get(meaning.digest)
        if schema is None:
            schema = self.known[meaning.digest] = self._parse(meaning)
        return schema

    def _parse(self, meaning: ResolvedSchema) -> ThriftSchema:
        reader = TreeReader(meaning.text)
        document = reader.read()
        given = {binding.name: binding.meaning for binding in meaning.bindings}
        included = tuple(self._include(reader, document, given))
        named = {definition.name: definition for definition in document.definitions}
        schema = ThriftSchema(document, meaning.digest, included, named, dict(included))
        for fault in find_faults(schema, strict=self.strict):
            reader.fault(*fault)
            if len(reader.faults) >= FAULTS:
                break
        if reader.faults:
            raise InvalidSchemaError(tuple(reader.faults[:FAULTS]))
        return schema

    def _include(
        self, reader: TreeReader, document: Document, given: Mapping[str, ResolvedSchema]
    ) -> Iterator[tuple[str, ThriftSchema]]:
        prefixes: set[str] = set()
        for path in dict.fromkeys(document.includes):
            bound, prefix = given.get(path), prefix_of(path)
            if bound is None:
                reader.fault(
                    "INCLUDE_MISSING", f"/{path}", f"no reference is called {path!r}", "a reference of this name"
                )
            elif bound.format != "THRIFT":
                reader.fault("INCLUDE_FORMAT", f"/{path}", f"{path!r} is {bound.format}", "a schema of Thrift")
            elif prefix in prefixes:
                reader.fault("INCLUDE_TWICE", f"/{path}", f"two includes are called {prefix!r}", "one of each name")
            else:
                prefixes.add(prefix)
                yield prefix, self.parse(bound)


def find_position(text: str, path: str) -> tuple[int, int]:
    """Line and column of the nearest definition above a path, or zeros."""
    reader = TreeReader(text)
    try:
        reader.read()
    except InvalidSchemaError:
        return UNKNOWN
    while path and path not in reader.places:
        path = path.rpartition("/")[0]
    return place_of(text, reader.places[path]) if path else UNKNOWN
