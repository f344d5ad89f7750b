"""What an Avro schema wants at each place, as Spark's own `to_avro` takes it."""

from collections.abc import Sequence
from typing import Any

from treaty.core.limits import DECIMAL_DIGITS
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
    is_null,
)
from treaty.formats.json_text import Json, print_json
from treaty.plan.avro.columns import PLAIN, ddl
from treaty.plan.avro.logical_types import INSTANTS, WALLS, find_logical
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
        resolved = self._schema.resolve(node)
        match resolved:
            case AvroRecord():
                return RecordTarget(resolved.full, tuple(map(self._member, resolved.fields)))
            case AvroArray(items):
                return ListTarget(self._unwrap_nullable(items), nullable=self._is_nullable(items))
            case AvroMap(values):
                return MapTarget(STRINGS, self._unwrap_nullable(values), nullable=self._is_nullable(values))
            case AvroEnum(symbols=symbols):
                return LeafTarget(Scalar("string"), (LossCheck("symbols", symbols),))
            case AvroUnion():
                only_branch = self._unwrap_nullable(resolved)
                parts = tuple(part for part in resolved.branches if not is_null(part))
                if not isinstance(only_branch, AvroUnion):
                    return self.find_target(only_branch)
                branches = tuple((part, self._print_least(part, 0)) for part in parts)
                return UnionTarget(branches)
        return self._leaf(resolved)

    def _unwrap_nullable(self, node: AvroType) -> AvroType:
        """The only branch that is not null, or the type itself."""
        resolved = self._schema.resolve(node)
        if isinstance(resolved, AvroUnion):
            parts = [part for part in resolved.branches if not is_null(part)]
            return parts[0] if len(parts) == 1 else AvroPrimitive("null") if not parts else resolved
        return node

    def _is_nullable(self, node: AvroType) -> bool:
        resolved = self._schema.resolve(node)
        return any(map(is_null, resolved.branches)) if isinstance(resolved, AvroUnion) else is_null(resolved)

    def _member(self, field: Field) -> FieldTarget:
        default = None
        if field.default is not ABSENT and (field.default is not None or not self._is_nullable(field.type)):
            value = self._convert_default(field.type, field.default)
            text = print_json(value)
            default = ColumnConversion(
                "", "constant", self._print_default_type(field.type, [field.default], 0), constant=text
            )
        return FieldTarget(
            field.name, self._unwrap_nullable(field.type), self._is_nullable(field.type), field.aliases, default
        )

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

    def _print_least(self, node: AvroType, depth: int, *, all_fields: bool = False) -> str:
        """The smallest Spark type that is one of a type: for nulls (`all_fields`: for defaults, with all fields)."""
        if depth > DEEPEST:
            raise PlanError("a branch of a union contains itself, and Spark has no type for that")
        only_branch = self._unwrap_nullable(node)
        resolved = self._schema.resolve(only_branch)
        match resolved:
            case AvroRecord():
                fields = [field for field in resolved.fields if all_fields or not self._is_nullable(field.type)]
                inside = (
                    f"{quote_name(field.name)}: {self._print_least(field.type, depth + 1, all_fields=all_fields)}"
                    for field in fields
                )
                return f"STRUCT<{', '.join(inside)}>"
            case AvroArray(items):
                return f"ARRAY<{self._print_least(items, depth + 1, all_fields=all_fields)}>"
            case AvroMap(values):
                return f"MAP<STRING, {self._print_least(values, depth + 1, all_fields=all_fields)}>"
            case AvroUnion():
                parts = [part for part in resolved.branches if not is_null(part)]
                kinds = (f"`member{at}`: {self._print_least(part, depth + 1)}" for at, part in enumerate(parts))
                return f"STRUCT<{', '.join(kinds)}>"
            case AvroEnum():
                return PLAIN["enum"]
        return ddl(resolved, self._schema.names)

    def _print_default_type(self, node: AvroType, defaults: Sequence[Any], depth: int) -> str:
        """The smallest Spark type that holds these defaults with all their fields."""
        values = [value for value in defaults if value is not None]
        resolved = self._schema.resolve(self._unwrap_nullable(node))
        if not values:
            return self._print_least(node, depth, all_fields=True)
        match resolved:
            case AvroRecord(fields=fields):
                parts = [(field, [value.get(field.name, field.default) for value in values]) for field in fields]
                inside = (
                    f"{quote_name(field.name)}: {self._print_default_type(field.type, inner, depth + 1)}"
                    for field, inner in parts
                )
                return f"STRUCT<{', '.join(inside)}>"
            case AvroArray(items):
                inner = [item for value in values for item in value]
                return f"ARRAY<{self._print_default_type(items, inner, depth + 1)}>"
            case AvroMap(held):
                inner = [item for value in values for item in value.values()]
                return f"MAP<STRING, {self._print_default_type(held, inner, depth + 1)}>"
            case AvroUnion():  # a default is of the first type that is not null (`_convert_default`)
                branches = [part for part in resolved.branches if not is_null(part)]
                kinds = [self._print_default_type(branches[0], values, depth + 1)]
                kinds += (self._print_least(part, depth + 1) for part in branches[1:])
                return f"STRUCT<{', '.join(f'`member{at}`: {kind}' for at, kind in enumerate(kinds))}>"
        return self._print_least(node, depth)

    def _convert_default(self, node: AvroType, value: Any) -> Json:
        """A default as a column's value: times in microseconds, decimals as text, of a union its first branch."""
        resolved = self._schema.resolve(node)
        if isinstance(resolved, AvroUnion):
            first = next((part for part in resolved.branches if self._takes(part, value)), resolved.branches[0])
            if is_null(first) or not isinstance(self._unwrap_nullable(resolved), AvroUnion):
                return None if is_null(first) else self._convert_default(first, value)
            parts = [part for part in resolved.branches if not is_null(part)]
            return {f"member{parts.index(first)}": self._convert_default(first, value)}
        match resolved:
            case AvroRecord():
                return {
                    field.name: self._convert_default(field.type, value.get(field.name, field.default))
                    for field in resolved.fields
                    if field.name in value or field.default is not ABSENT
                }
            case AvroArray(items):
                return [self._convert_default(items, item) for item in value]
            case AvroMap(values):
                return {key: self._convert_default(values, item) for key, item in value.items()}
            case AvroPrimitive() | AvroFixed():
                return _plain_leaf(resolved, value)
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
    plain_value: Json = value * 1000 if name.endswith("timestamp-millis") else value
    return plain_value
