"""One schema text read into types, as strict as the Java library and with every fault's place."""

from itertools import permutations

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS, SCHEMA_MEMBERS, SCHEMA_NAMES
from treaty.formats.avro.defaults import DefaultChecker, parse_double
from treaty.formats.avro.model import (
    ABSENT,
    PRIMITIVES,
    AbsentDefault,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    Props,
    full_name,
    illegal_part,
    is_name,
    simple_of,
    space_of,
)
from treaty.formats.avro.rules import EXPECTED
from treaty.formats.avro.same_definition import is_same_type
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_pointer import ValuePath, format_pointer
from treaty.formats.json_text import Json, print_json

_RESERVED = frozenset({"doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"})
_RESERVED_ENUM = _RESERVED | {"default"}
_RESERVED_FIELD = frozenset({"default", "doc", "name", "order", "type", "aliases"})
_ORDERS = frozenset({"ascending", "descending", "ignore"})
_PAIRS = {(one.kind, other.kind): (one, other) for one, other in permutations(PRIMITIVES.values(), 2)}
"""Branches of the unions of two primitives, by their kinds."""
_LARGEST_FIXED = 2_147_483_639
"""The longest array that the Java library makes."""


class _ParseError(Exception):
    """One fault, on its way to the next place from which parsing can continue."""

    def __init__(self, rule: str, path: ValuePath, message: str) -> None:
        super().__init__(message)
        self.fault = Diagnostic(rule, format_pointer(path), message, EXPECTED[rule])


def _text(node: dict[str, Json], member: str) -> str | None:
    value = node.get(member)
    return value if type(value) is str else None


def _props(node: dict[str, Json], reserved: frozenset[str]) -> Props:
    if node.keys() <= reserved:
        return ()
    return tuple((name, value) for name, value in node.items() if name not in reserved)


class SchemaParser:
    """Reads one text; what it learns goes into `names`, which it shares with the texts read before."""

    __slots__ = ("_again", "_enclosing", "_faults", "_late", "_names", "_strict", "_unions", "forward")

    def __init__(self, names: dict[str, NamedType], strict: bool) -> None:  # noqa: FBT001
        self._names = names
        self._strict = strict
        self._faults: list[Diagnostic] = []
        self._enclosing: list[str] = []
        self._late: dict[str, ValuePath] = {}
        self._unions: list[tuple[AvroUnion, ValuePath]] = []
        self._again: list[tuple[Field, ValuePath]] = []
        self.forward = False
        """Whether a type was used before its definition began."""

    def parse(self, node: Json) -> AvroType:
        """The type that the text stands for; raises when there was any fault."""
        root: AvroType = PRIMITIVES["null"]
        try:
            root = self._type(node, None, None)
        except _ParseError as refused:
            self._note(refused.fault)
        self._settle()
        if self._faults:
            raise InvalidSchemaError(tuple(self._faults))
        return root

    def _note(self, diagnostic: Diagnostic) -> None:
        self._faults.append(diagnostic)
        if len(self._faults) >= FAULTS:
            raise InvalidSchemaError(tuple(self._faults))

    def _settle(self) -> None:
        """Look again at all that had to wait for definitions further down; not after other faults, which may be why."""
        if self._faults:
            return
        for full, path in self._late.items():
            if full not in self._names:
                self._note(_ParseError("NAME_UNDEFINED", path, f"the type {_shorten_value(full)} is not defined").fault)
        if self._faults:
            return
        for union, path in self._unions:
            try:
                self._check_branches(union, path)
            except _ParseError as refused:
                self._note(refused.fault)
        for field, path in self._again:
            if not DefaultChecker(self._names, ()).allows(field.type, field.default):  # type: ignore[arg-type]
                self._note(self._bad_default(field, path).fault)

    # ------------------------------------------------------------------------------------------------- types

    def _type(self, node: Json, space: str | None, path: ValuePath) -> AvroType:
        # One frame of Python's stack a level, and one more for what is inside: SCHEMA_DEPTH levels must fit.
        if type(node) is str:
            return PRIMITIVES.get(node) or self._use(node, space, path)
        if type(node) is list:
            return self._union(node, space, path)
        if type(node) is not dict:
            raise _ParseError("TYPE_NOT_READABLE", path, f"{_shorten_value(node)} is not a type")
        kind = node.get("type")
        if type(kind) is not str:
            raise _ParseError("TYPE_MISSING", path, "the object has no type")
        if kind in PRIMITIVES:
            props = _props(node, _RESERVED)
            return AvroPrimitive(kind, props) if props else PRIMITIVES[kind]
        match kind:
            case "record" | "error":
                return self._record(node, space, path)
            case "enum":
                return self._enum(node, space, path)
            case "array":
                return self._array(node, space, path)
            case "map":
                return self._map(node, space, path)
            case "fixed":
                return self._fixed(node, space, path)
        return self._use(kind, space, (path, "type"))

    def _use(self, name: str, space: str | None, path: ValuePath) -> AvroReference:
        """A use of a name: in the namespace in force, else without one, else of a type that comes later."""
        full = f"{space}.{name}" if space and "." not in name else name
        if full in self._names:
            return AvroReference(full)
        if name in self._names:
            return AvroReference(name)
        if full not in self._late:
            self._late[full] = path
            self.forward = self.forward or full not in self._enclosing
        return AvroReference(full)

    def _union(self, node: list[Json], space: str | None, path: ValuePath) -> AvroUnion:
        if len(node) == 2 and type(node[0]) is type(node[1]) is str and (pair := _PAIRS.get((node[0], node[1]))):
            return AvroUnion(pair)  # what most unions are
        self._count(node, "branches", path)
        branches: list[AvroType] = []
        for at, branch in enumerate(node):
            branches.append(self._type(branch, space, (path, at)))
        union = AvroUnion(tuple(branches))
        if self._check_branches(union, path):
            self._unions.append((union, path))
        return union

    def _check_branches(self, union: AvroUnion, path: ValuePath) -> bool:
        """Refuse unions and repetitions among the branches; True if some branch is not known yet."""
        words: set[str] = set()
        waiting = False
        for at, branch in enumerate(union.branches):
            if type(branch) is AvroUnion:
                raise _ParseError("UNION_NESTED", (path, at), "a branch of a union is a union")
            if type(branch) is AvroReference or type(branch) in {AvroRecord, AvroEnum, AvroFixed}:
                word = branch.full  # type: ignore[union-attr]
                if word not in self._names:
                    waiting = True
                    continue
            else:
                word = branch.kind  # type: ignore[union-attr]
            if word in words:
                raise _ParseError("UNION_DUPLICATE", (path, at), f"the union has two branches {_shorten_value(word)}")
            words.add(word)
        return waiting

    def _array(self, node: dict[str, Json], space: str | None, path: ValuePath) -> AvroArray:
        if "items" not in node:
            raise _ParseError("ITEMS_MISSING", path, "the array has no items")
        return AvroArray(self._type(node["items"], space, (path, "items")), _props(node, _RESERVED))

    def _map(self, node: dict[str, Json], space: str | None, path: ValuePath) -> AvroMap:
        if "values" not in node:
            raise _ParseError("VALUES_MISSING", path, "the map has no values")
        return AvroMap(self._type(node["values"], space, (path, "values")), _props(node, _RESERVED))

    # ------------------------------------------------------------------------------------------- named types

    def _name(self, node: dict[str, Json], space: str | None, path: ValuePath) -> str:
        name = _text(node, "name")
        if name is None:
            raise _ParseError("NAME_MISSING", path, "the named type has no name")
        namespace = _text(node, "namespace")
        full = full_name(name, space if namespace is None else namespace)
        if full in PRIMITIVES:
            raise _ParseError("NAME_OF_PRIMITIVE", (path, "name"), f"a type can't be called {_shorten_value(full)}")
        if self._strict and (bad := illegal_part(full)) is not None:
            raise _ParseError("NAME_ILLEGAL", (path, "name"), f"{_shorten_value(bad)} is not a legal name")
        return full

    def _aliases(self, node: dict[str, Json], path: ValuePath) -> tuple[str, ...]:
        aliases = node.get("aliases")
        if aliases is None and "aliases" not in node:
            return ()
        if type(aliases) is not list or not all(type(alias) is str for alias in aliases):
            raise _ParseError("ALIASES_INVALID", (path, "aliases"), "the aliases are not a list of strings")
        return tuple(dict.fromkeys(aliases))  # type: ignore[arg-type]

    def _type_aliases(self, node: dict[str, Json], full: str, path: ValuePath) -> tuple[str, ...]:
        aliases = self._aliases(node, path)
        if self._strict:
            for alias in aliases:
                if not is_name(simple_of(alias)):
                    raise _ParseError(
                        "NAME_ILLEGAL", (path, "aliases"), f"the alias {_shorten_value(alias)} is not a legal name"
                    )
        space = space_of(full)
        return tuple(dict.fromkeys(full_name(alias, space) for alias in aliases))

    def _define(self, named: NamedType, path: ValuePath) -> NamedType:
        defined = self._names.get(named.full)
        if defined is None:
            if len(self._names) >= SCHEMA_NAMES:
                raise _ParseError("TOO_MANY", path, f"more named types than the limit SCHEMA_NAMES of {SCHEMA_NAMES}")
            self._names[named.full] = named
        elif not is_same_type(defined, named, self._names, self._late):
            raise _ParseError(
                "NAME_REDEFINED", (path, "name"), f"{_shorten_value(named.full)} is defined twice, with a difference"
            )
        return named

    def _record(self, node: dict[str, Json], space: str | None, path: ValuePath) -> NamedType:
        full = self._name(node, space, path)
        members = node.get("fields")
        if type(members) is not list:
            raise _ParseError("FIELDS_MISSING", path, f"the record {_shorten_value(full)} has no list of fields")
        self._count(members, "fields", path)
        fields: list[Field] = []
        field_names: set[str] = set()
        self._enclosing.append(full)
        inner = space_of(full) or None
        fields_path = (path, "fields")
        for at, member in enumerate(members):
            try:
                field = self._field(member, inner, (fields_path, at))
                if field.name in field_names:
                    raise _ParseError(
                        "FIELD_DUPLICATE",
                        (fields_path, at),
                        f"the field {_shorten_value(field.name)} stands there twice",
                    )
                field_names.add(field.name)
                fields.append(field)
            except _ParseError as refused:
                self._note(refused.fault)
        self._enclosing.pop()
        aliases = self._type_aliases(node, full, path) if "aliases" in node else ()
        error = node["type"] == "error"
        record = AvroRecord(full, tuple(fields), _text(node, "doc"), aliases, _props(node, _RESERVED), error)
        return self._define(record, path)

    def _field(self, node: Json, space: str | None, path: ValuePath) -> Field:
        if type(node) is not dict or type(name := node.get("name")) is not str:
            raise _ParseError("FIELD_NAME_MISSING", path, "the field has no name")
        if "type" not in node:
            raise _ParseError("FIELD_TYPE_MISSING", path, f"the field {_shorten_value(name)} has no type")
        kind = self._type(node["type"], space, (path, "type"))
        if self._strict and not is_name(name):
            raise _ParseError("NAME_ILLEGAL", (path, "name"), f"{_shorten_value(name)} is not a legal name")
        if len(node) == 2:  # name and type, as most fields have it
            return Field(name, kind)
        order = "ascending"
        if "order" in node:
            order = (_text(node, "order") or "").upper().lower()
            if order not in _ORDERS:
                raise _ParseError("ORDER_UNKNOWN", (path, "order"), f"{_shorten_value(node['order'])} is not an order")
        default: Json | AbsentDefault = node.get("default", ABSENT)
        if type(default) is str and type(kind) is AvroPrimitive and kind.kind in {"float", "double"}:
            number = parse_double(default)
            if number is None:
                raise _ParseError(
                    "DEFAULT_NOT_A_NUMBER", (path, "default"), f"{_shorten_value(default)} is not a number"
                )
            default = number
        aliases = self._aliases(node, path) if "aliases" in node else ()
        field = Field(name, kind, _text(node, "doc"), default, order, aliases, _props(node, _RESERVED_FIELD))
        if default is not ABSENT and self._strict:
            self._check_default(field, path)
        return field

    def _check_default(self, field: Field, path: ValuePath) -> None:
        if field.default is None and type(field.type) is AvroUnion and PRIMITIVES["null"] in field.type.branches:
            return  # what most fields with a default have
        checker = DefaultChecker(self._names, self._enclosing)
        if not checker.allows(field.type, field.default):  # type: ignore[arg-type]
            raise self._bad_default(field, path)
        if checker.waiting:
            self._again.append((field, path))

    def _bad_default(self, field: Field, path: ValuePath) -> _ParseError:
        message = f"the default {_shorten_value(field.default)} of the field {_shorten_value(field.name)} does not fit its type"
        return _ParseError("DEFAULT_INVALID", (path, "default"), message)

    def _enum(self, node: dict[str, Json], space: str | None, path: ValuePath) -> NamedType:
        full = self._name(node, space, path)
        symbols = node.get("symbols")
        if type(symbols) is not list or not all(type(symbol) is str for symbol in symbols):
            raise _ParseError("SYMBOLS_MISSING", path, f"the enum {_shorten_value(full)} has no list of symbols")
        self._count(symbols, "symbols", path)
        words: tuple[str, ...] = tuple(symbols)  # type: ignore[arg-type]
        unique: set[str] = set()
        for at, symbol in enumerate(words):
            if self._strict and not is_name(symbol):
                raise _ParseError(
                    "NAME_ILLEGAL", ((path, "symbols"), at), f"the symbol {_shorten_value(symbol)} is not a legal name"
                )
            if symbol in unique:
                raise _ParseError(
                    "SYMBOL_DUPLICATE",
                    ((path, "symbols"), at),
                    f"the symbol {_shorten_value(symbol)} stands there twice",
                )
            unique.add(symbol)
        default = _text(node, "default")
        if default is not None and default not in unique:
            raise _ParseError(
                "ENUM_DEFAULT_UNKNOWN", (path, "default"), f"the default {_shorten_value(default)} is not a symbol"
            )
        aliases = self._type_aliases(node, full, path)
        return self._define(
            AvroEnum(full, words, default, _text(node, "doc"), aliases, _props(node, _RESERVED_ENUM)), path
        )

    def _fixed(self, node: dict[str, Json], space: str | None, path: ValuePath) -> NamedType:
        full = self._name(node, space, path)
        size = node.get("size")
        if type(size) is not int or not 0 <= size <= _LARGEST_FIXED:
            raise _ParseError("SIZE_INVALID", (path, "size"), f"{_shorten_value(size)} is not a size")
        aliases = self._type_aliases(node, full, path)
        return self._define(AvroFixed(full, size, _text(node, "doc"), aliases, _props(node, _RESERVED)), path)

    def _count(self, members: list[Json], what: str, path: ValuePath) -> None:
        if len(members) > SCHEMA_MEMBERS:
            message = f"{len(members)} {what}, more than the limit SCHEMA_MEMBERS of {SCHEMA_MEMBERS}"
            raise _ParseError("TOO_MANY", path, message)


def _shorten_value(value: Json | AbsentDefault) -> str:
    text = "nothing" if isinstance(value, AbsentDefault) else print_json(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
