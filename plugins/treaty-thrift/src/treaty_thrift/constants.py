"""Constants: what their names stand for, how many values they bring, and whether they are values of a type."""

from dataclasses import dataclass, field

from treaty.core.limits import SCHEMA_MEMBERS
from treaty.formats.budget import spend
from treaty_thrift.model import (
    NUMBERS,
    Constant,
    Container,
    Enum,
    Primitive,
    Record,
    ThriftSchema,
    Type,
    Value,
    resolve_type,
)

CHAIN = 100
"""Constants that stand for each other, and values inside each other."""
_STEPS = 3
"""Steps for one value."""


def find_constant(schema: ThriftSchema, name: str) -> tuple[ThriftSchema, Value] | None:
    """What the name of a constant or of an enum's symbol stands for, and where names in it are looked up."""
    definition = schema.find(name)
    if definition is not None and isinstance(definition[1], Constant):
        return definition[0], definition[1].value
    owner, _, symbol = name.rpartition(".")
    outer = schema.find(owner) if owner else None
    if outer is not None and isinstance(outer[1], Enum):
        number = outer[0].members(outer[1]).numbers.get(symbol)
        return None if number is None else (outer[0], Value("int", number))
    return None


@dataclass(slots=True)
class ConstantChecker:
    """Checks constants of one schema; what a name stands for is looked at once for each type."""

    schema: ThriftSchema
    size: int = 0
    """Values that the defaults of all fields have brought."""
    _fits: dict[tuple[bytes, Type, bytes, str], bool] = field(default_factory=dict)
    _sizes: dict[tuple[bytes, str], int] = field(default_factory=dict)

    def measure(self, home: ThriftSchema, value: Value, depth: int = 0) -> int:
        """Values that a constant is when its names are written out, counted no further than the limit."""
        spend(_STEPS)
        if depth > CHAIN:
            return 1
        if value.kind == "name":
            key = home.digest, str(value.value)
            if key not in self._sizes:
                constant = find_constant(home, key[1])
                self._sizes[key] = 1
                if constant is not None:
                    self._sizes[key] = self.measure(*constant, depth + 1)
            return self._sizes[key]
        count = 1
        for part in list_parts(value):
            count += self.measure(home, part, depth + 1)
            if count > SCHEMA_MEMBERS:
                break
        return count

    def is_value(self, schema: ThriftSchema, type_: Type, home: ThriftSchema, value: Value, depth: int = 0) -> bool:
        """Whether a constant, whose names are looked up in `home`, is a value of a type."""
        spend(_STEPS)
        if depth > CHAIN:
            return False
        if value.kind == "name":
            key = schema.digest, type_, home.digest, str(value.value)
            if key not in self._fits:
                self._fits[key] = False  # a name that stands for itself
                constant = find_constant(home, key[3])
                self._fits[key] = constant is not None and self.is_value(schema, type_, *constant, depth + 1)
            return self._fits[key]
        inner = resolve_type(schema, type_)
        match inner.type:
            case Primitive(name):
                return _is_primitive(name, value)
            case Enum():
                return value.kind == "int" and value.value in inner.schema.members(inner.type).names
            case Container(kind="map", parts=(key_type, held)):
                return value.kind == "map" and all(
                    self.is_value(inner.schema, key_type, home, key, depth + 1)
                    and self.is_value(inner.schema, held, home, member, depth + 1)
                    for key, member in _pairs(value)
                )
            case Container(parts=(element,)):
                return value.kind == "list" and all(
                    self.is_value(inner.schema, element, home, part, depth + 1) for part in list_parts(value)
                )
            case Record():
                types = inner.schema.members(inner.type).types
                return value.kind == "map" and all(
                    key.kind == "text"
                    and key.value in types
                    and self.is_value(inner.schema, types[str(key.value)], home, member, depth + 1)
                    for key, member in _pairs(value)
                )
        return False


def _is_primitive(name: str, value: Value) -> bool:
    if name in NUMBERS:
        edge = 1 << (NUMBERS[name] - 1)
        return value.kind == "int" and isinstance(value.value, int) and -edge <= value.value < edge
    kinds = {"bool": {"bool", "int"}, "double": {"double", "int"}, "string": {"text"}, "binary": {"text"}}
    return value.kind in kinds[name]


def _pairs(value: Value) -> tuple[tuple[Value, Value], ...]:
    assert isinstance(value.value, tuple)
    return value.value


def list_parts(value: Value) -> tuple[Value, ...]:
    """The items of a list, the keys and values of a map, nothing of others."""
    if value.kind == "map":
        return tuple(part for pair in _pairs(value) for part in pair)
    if value.kind != "list":
        return ()
    assert isinstance(value.value, tuple)
    return value.value
