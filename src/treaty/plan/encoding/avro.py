"""What an Avro schema wants at each place, as Spark's own `to_avro` takes it."""

from typing import Any

from treaty.core.state.columns import Decimal, Scalar
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
)
from treaty.formats.json_printer import Json, print_json
from treaty.plan.avro.columns import PLAIN, ddl
from treaty.plan.avro.flat import is_null
from treaty.plan.avro.logical import DECIMAL_DIGITS, INSTANTS, WALLS, find_logical
from treaty.plan.ddl import parse_type, quote_name
from treaty.plan.encoding.fit import ColumnConversion, LossCheck
from treaty.plan.encoding.target import (
    FieldTarget,
    FindTarget,
    LeafTarget,
    ListTarget,
    MapTarget,
    RecordTarget,
    Target,
    UnionTarget,
)
from treaty.plan.errors import PlanError

STRINGS = LeafTarget(Scalar("string"))
CARRIERS = {"timestamp-nanos": "nanos", "local-timestamp-nanos": "wall_nanos"}
DEEPEST = 100
"""Records inside each other that a branch of a union may have to hold at least."""


def make_targets(schema: AvroSchema) -> FindTarget:
    """The places of a schema whose named types are all references."""
    return _AvroTargets(schema).find_target


class _AvroTargets:
    __slots__ = ("_schema",)

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema

    def find_target(self, node: AvroType) -> Target:
        found = self._schema.resolve(node)
        match found:
            case AvroRecord():
                return RecordTarget(found.full, tuple(map(self._member, found.fields)))
            case AvroArray(items):
                return ListTarget(self._one(items), nullable=self._free(items))
            case AvroMap(values):
                return MapTarget(STRINGS, self._one(values), nullable=self._free(values))
            case AvroEnum(symbols=symbols):
                return LeafTarget(Scalar("string"), (LossCheck("symbols", symbols),))
            case AvroUnion():
                one = self._one(found)
                parts = tuple(part for part in found.branches if not is_null(part))
                if not isinstance(one, AvroUnion) or not parts:
                    return self.find_target(one)
                branches = tuple((part, self._least(part, 0)) for part in parts)
                return UnionTarget(branches, nullable=self._free(found))
        return self._leaf(found)

    def _one(self, node: AvroType) -> AvroType:
        """The only branch that is not null, or the type itself."""
        found = self._schema.resolve(node)
        if isinstance(found, AvroUnion):
            parts = [part for part in found.branches if not is_null(part)]
            return parts[0] if len(parts) == 1 else AvroPrimitive("null") if not parts else found
        return node

    def _free(self, node: AvroType) -> bool:
        found = self._schema.resolve(node)
        return any(map(is_null, found.branches)) if isinstance(found, AvroUnion) else is_null(found)

    def _member(self, field: Field) -> FieldTarget:
        default = None
        if field.default is not ABSENT and (field.default is not None or not self._free(field.type)):
            value = self._plain(field.type, field.default)
            shown = print_json(value)
            default = ColumnConversion("", "constant", self._least(field.type, 0, whole=True), constant=shown)
        return FieldTarget(field.name, self._one(field.type), self._free(field.type), field.aliases, default)

    def _leaf(self, node: AvroPrimitive | AvroFixed) -> LeafTarget:
        logical = find_logical(node)
        if logical is not None and logical.name == "decimal":
            if logical.precision > DECIMAL_DIGITS:
                raise PlanError(f"{logical} has more digits than the {DECIMAL_DIGITS} that Spark's decimals have")
            return LeafTarget(Decimal(logical.precision, logical.scale))
        kind = parse_type(ddl(node, self._schema.names))
        assert isinstance(kind, Scalar)
        if isinstance(node, AvroFixed):
            return LeafTarget(kind, (LossCheck("size", (str(node.size),)),))
        name = logical.name if logical is not None else ""
        millis = {**INSTANTS, **WALLS}.get(name) == 3
        return LeafTarget(kind, (LossCheck("millis"),) if millis else (), carrier=CARRIERS.get(name, ""))

    def _least(self, node: AvroType, depth: int, *, whole: bool = False) -> str:
        """The smallest Spark type that is one of a type: for nulls (`whole`: for defaults, with all fields)."""
        if depth > DEEPEST:
            raise PlanError("a branch of a union contains itself, and Spark has no type for that")
        one = self._one(node)
        found = self._schema.resolve(one)
        match found:
            case AvroRecord():
                wanted = [each for each in found.fields if whole or not self._free(each.type)]
                inside = (
                    f"{quote_name(each.name)}: {self._least(each.type, depth + 1, whole=whole)}" for each in wanted
                )
                return f"STRUCT<{', '.join(inside)}>"
            case AvroArray(items):
                return f"ARRAY<{self._least(items, depth + 1, whole=whole)}>"
            case AvroMap(values):
                return f"MAP<STRING, {self._least(values, depth + 1, whole=whole)}>"
            case AvroUnion():
                parts = [part for part in found.branches if not is_null(part)]
                kinds = (f"`member{at}`: {self._least(part, depth + 1)}" for at, part in enumerate(parts))
                return f"STRUCT<{', '.join(kinds)}>"
            case AvroEnum():
                return PLAIN["enum"]
        return ddl(found, self._schema.names)

    def _plain(self, node: AvroType, value: Any) -> Json:
        """A default as a column's value: times in microseconds, decimals as text, of a union its first branch."""
        found = self._schema.resolve(node)
        if isinstance(found, AvroUnion):
            first = next((part for part in found.branches if self._takes(part, value)), found.branches[0])
            if is_null(first) or not isinstance(self._one(found), AvroUnion):
                return None if is_null(first) else self._plain(first, value)
            parts = [part for part in found.branches if not is_null(part)]
            return {f"member{parts.index(first)}": self._plain(first, value)}
        match found:
            case AvroRecord():
                return {
                    each.name: self._plain(each.type, value.get(each.name, each.default))
                    for each in found.fields
                    if each.name in value or each.default is not ABSENT
                }
            case AvroArray(items):
                return [self._plain(items, each) for each in value]
            case AvroMap(values):
                return {key: self._plain(values, each) for key, each in value.items()}
            case AvroPrimitive() | AvroFixed():
                return _plain_leaf(found, value)
        text: Json = value
        return text

    def _takes(self, node: AvroType, value: Any) -> bool:
        return (value is None) == is_null(self._schema.resolve(node))


def _plain_leaf(node: AvroPrimitive | AvroFixed, value: Any) -> Json:
    logical = find_logical(node)
    name = logical.name if logical else ""
    if logical and name == "decimal":
        unscaled = int.from_bytes(value.encode("latin-1"), "big", signed=True)
        return f"{unscaled}E-{logical.scale}"
    found: Json = value * 1000 if name.endswith("timestamp-millis") else value
    return found
