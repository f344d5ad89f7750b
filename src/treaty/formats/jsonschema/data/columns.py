"""Which column type each type of a JSON Schema becomes, and what that loses: `derive_columns`, with the rule of each loss."""

from collections.abc import Iterable, Mapping
from decimal import Decimal as Exact

from treaty.core.limits import COLUMN_DEPTH, COLUMN_RECURSION, COLUMNS, DECIMAL_DIGITS
from treaty.core.state.columns import Column, ColumnLoss, Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_text import text_error
from treaty.formats.jsonschema.constraints import KINDS, MergedConstraints, kind_of, merge_constraints
from treaty.formats.jsonschema.logical_types import read_connect_decimal
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode

FORMATS: Mapping[str, str] = {"date": "date", "date-time": "timestamp"}
"""By format of a string, the scalar of `treaty.core.state.columns.SCALARS` that holds it."""

_STEPS = 100_000
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_NULL, _OBJECT = frozenset({"null"}), frozenset({"object"})
_VARIANT = Scalar("variant")

NullableType = tuple[ColumnType, bool]
"""A type, and whether it may be null."""


def derive_columns(document: JsonSchema, recursion: int = COLUMN_RECURSION) -> Columns:
    """The columns of a schema and what they lose; one that is about no object has one column ``value``.

    The columns are in the order of the text. Objects that contain themselves are opened `recursion` times, fewer
    where that would be too many columns; what lies deeper is left out. Raises `InvalidSchemaError` past the limits of
    columns and of nesting.
    """
    builder = _ColumnBuilder(document, recursion)
    try:
        column_type = builder.type([document.root], "", 1)
    except InvalidSchemaError as error:
        if recursion == 1 or error.faults[0].rule != "COLUMNS_TOO_MANY" or not builder.is_cut:
            raise
        return derive_columns(document, recursion - 1)
    if column_type is not None and isinstance(column_type[0], Struct):
        return Columns(column_type[0].columns, tuple(builder.losses))
    builder = _ColumnBuilder(document, recursion)
    kind, nullable = builder.type([document.root], "value", 1) or (Scalar("null"), True)
    doc = merge_constraints(document, [document.root]).doc
    return Columns((Column("value", kind, nullable, doc),), tuple(builder.losses), whole=True)


class _ColumnBuilder:
    """Makes the types of one schema."""

    __slots__ = ("_count", "_cut", "_document", "_gathered", "_open", "_recursion", "_steps", "losses")

    def __init__(self, document: JsonSchema, recursion: int) -> None:
        self._document = document
        self._recursion = recursion
        """How often an object that contains itself is opened."""
        self._open: dict[object, int] = {}
        self._cut: set[object] = set()
        self._count = 0
        self._steps = 0
        self._gathered: dict[tuple[tuple[int, str], ...], MergedConstraints] = {}
        self.losses: list[ColumnLoss] = []

    def type(self, nodes: Iterable[SchemaNode], path: str, depth: int) -> NullableType | None:
        """The type of the column at a path, such as ``lines.element.price``; None where nothing may stand or recursion is cut.

        `depth` is the nesting of the column, which COLUMN_DEPTH limits.
        """
        self._count += 1
        if self._count > COLUMNS:
            message = f"the schema becomes more columns than the limit COLUMNS of {COLUMNS}"
            raise text_error("COLUMNS_TOO_MANY", message, f"at most {COLUMNS}, those inside others included")
        if depth > COLUMN_DEPTH:
            message = f"the columns nest deeper than the limit COLUMN_DEPTH of {COLUMN_DEPTH}"
            raise text_error("SCHEMA_TOO_DEEP", message, f"at most {COLUMN_DEPTH} levels")
        merged = self.gather(nodes)
        return None if merged.never else self._derive_within_recursion(merged, path, depth)

    def _derive_within_recursion(self, merged: MergedConstraints, path: str, depth: int) -> NullableType | None:
        """The type of a place; None where it lies inside itself as often as it is opened.

        A list or a map that has nothing but itself inside is a variant.
        """
        key, losses_before = merged.key, len(self.losses)
        opened = self._open.get(key, 0)
        if key and opened >= self._recursion:
            self._cut.add(key)
            self._add_loss("RECURSION_CUT", path, f"{merged.nodes[0].place or '/'} at depth {self._recursion}")
            return None
        self._open[key] = opened + 1
        try:
            column_type = self._settle_choice(merged, path, depth)
        finally:
            self._open[key] = opened
        if column_type is None and not opened and key in self._cut:
            del self.losses[losses_before:]
            self._add_loss("ANY_AS_VARIANT", path, "a list or a map of nothing but itself")
            return _VARIANT, True
        return column_type

    def gather(self, nodes: Iterable[SchemaNode]) -> MergedConstraints:
        """What is said about a place, found out once."""
        start = tuple(nodes)
        key = tuple(node.key for node in start)
        merged = self._gathered.get(key)
        if merged is None:
            merged = self._gathered[key] = merge_constraints(self._document, start)
            self._steps += merged.steps
            if self._steps > _STEPS:
                message = f"more than {_STEPS} schemas are passed on the way to the columns"
                raise text_error("COLUMNS_TOO_MANY", message, "shorter chains of references")
        return merged

    @property
    def is_cut(self) -> bool:
        """Whether anything was left out because it lies inside itself."""
        return bool(self._cut)

    def _add_loss(self, rule: str, path: str, detail: str = "") -> None:
        self.losses.append(ColumnLoss(rule, path, detail))

    def _settle_choice(self, merged: MergedConstraints, path: str, depth: int) -> NullableType | None:
        """The type with the first choice that matters settled."""
        for position, branches in enumerate(merged.choices):
            parts = [self.gather([branch]) for branch in branches]
            described = [
                (branch, part)
                for branch, part in zip(branches, parts, strict=True)
                if part.kinds != _NULL and part.values != [None] and not part.never
            ]
            if merged.kinds is not None and not merged.kinds & {"object", "array"}:
                continue
            if not described or all(part.silent for _, part in described):
                continue
            nullable = len(described) < len([part for part in parts if not part.never])
            rest = merged.choices[:position] + merged.choices[position + 1 :]
            if len(described) == 1 or all(_is_object(part) for _, part in described):
                joined = self._merge_branches(merged, [part for _, part in described], path)
                joined.choices = rest + [choice for _, part in described for choice in part.choices]
                derive = self._settle_choice if joined.key == merged.key else self._derive_within_recursion
                column_type = derive(joined, path, depth + 1) if depth < COLUMN_DEPTH else (_VARIANT, True)
            else:
                column_type = self._unite_branches([branch for branch, _ in described], path, depth)
            return (column_type[0], column_type[1] or nullable) if column_type else None
        return self._derive_by_kind(merged, path, depth)

    def _merge_branches(
        self, merged: MergedConstraints, parts: list[MergedConstraints], path: str
    ) -> MergedConstraints:
        """One place that holds what any branch holds; what not all of them require may be missing."""
        if len(parts) > 1:
            self._add_loss("BRANCHES_MERGED", path, f"{len(parts)} branches")
        kinds = [part.kinds for part in (merged, *parts) if part.kinds is not None]
        joined = MergedConstraints(
            nodes=[*merged.nodes, *(node for part in parts for node in part.nodes)],
            kinds=frozenset.intersection(*kinds) if kinds else None,
            values=merged.values if merged.values is not None or len(parts) > 1 else parts[0].values,
            required=merged.required | set.intersection(*(part.required for part in parts)),
            closed=merged.closed or all(part.closed for part in parts),
            doc=merged.doc or parts[0].doc,
            format=merged.format or parts[0].format,
        )
        for part in (merged, *parts):
            for name, nodes in part.properties.items():
                joined.properties.setdefault(name, []).extend(nodes)
            for target, its in (
                (joined.patterns, part.patterns),
                (joined.rest, part.rest),
                (joined.items, part.items),
                (joined.tuples, part.tuples),
            ):
                target.extend(its)
        return joined

    def _unite_branches(self, branches: list[SchemaNode], path: str, depth: int) -> NullableType | None:
        """One type for branches that all have it; a variant for those that differ."""
        losses_before = len(self.losses)
        types = [self.type([branch], path, depth + 1) for branch in branches]
        present = [one for one in types if one is not None]
        kinds = {one[0] for one in present}
        nullable = any(one[1] for one in present)
        if kinds == {Scalar("int64"), Scalar("float64")}:
            kinds = {Scalar("float64")}
        is_cut = len(present) < len(types) and any(loss.rule == "RECURSION_CUT" for loss in self.losses[losses_before:])
        if len(kinds) == 1 and not is_cut:
            return kinds.pop(), nullable
        del self.losses[losses_before:]
        self._add_loss("ANY_AS_VARIANT", path, f"one of {len(branches)} branches of different types")
        return _VARIANT, nullable

    def _derive_by_kind(self, merged: MergedConstraints, path: str, depth: int) -> NullableType | None:
        kinds = merged.kinds
        if kinds is None and merged.assumed:
            kinds = frozenset({merged.assumed})
            self._add_loss("TYPE_ASSUMED", path, merged.assumed)
        if merged.values is not None:
            value_kinds = frozenset(map(kind_of, merged.values))
            kinds = value_kinds if kinds is None else kinds & value_kinds
            if kinds >= {"string"} and len(merged.values) > 1:
                self._add_loss("ENUM_AS_STRING", path, f"{len(merged.values)} values")
        if kinds is None:
            self._add_loss("ANY_AS_VARIANT", path)
            return _VARIANT, True
        nullable = "null" in kinds
        rest = kinds - {"null"}
        if rest >= {"number", "integer"}:
            rest -= {"integer"}
        if not rest:
            return (Scalar("null"), True) if nullable else None
        if len(rest) > 1:
            self._add_loss("ANY_AS_VARIANT", path, " or ".join(kind for kind in KINDS if kind in rest))
            return _VARIANT, nullable
        column_type = self._of_kind(next(iter(rest)), merged, path, depth)
        return (column_type, nullable) if column_type is not None else None

    def _of_kind(self, kind: str, merged: MergedConstraints, path: str, depth: int) -> ColumnType | None:
        match kind:
            case "object":
                return self._object(merged, path, depth)
            case "array":
                return self._array(merged, path, depth)
            case "integer" | "number":
                return self._number(kind, merged, path)
            case "string":
                if merged.format == "uuid":
                    self._add_loss("UUID_AS_STRING", path)
                return Scalar(FORMATS.get(merged.format, "string"))
        return Scalar("boolean")

    def _number(self, kind: str, merged: MergedConstraints, path: str) -> ColumnType:
        lows, highs = (_numbers(merged.get_all(word)) for word in ("minimum", "maximum"))
        beyond = [_numbers(merged.get_all(word)) for word in ("exclusiveMinimum", "exclusiveMaximum")]
        low, high = max((*lows, *beyond[0]), default=None), min((*highs, *beyond[1]), default=None)
        listed = _numbers(merged.values or ())
        if listed:
            low, high, beyond = min(listed), max(listed), [[], []]
        if kind == "integer":
            if low is None or high is None or low < _LOWEST or high > _HIGHEST:
                self._add_loss("INTEGER_BEYOND_64", path)
            return Scalar("int64")
        steps = [Exact(one).normalize().as_tuple() for one in _numbers(merged.get_all("multipleOf"))]
        if low is not None and high is not None and len(steps) == 1 and steps[0].digits == (1,):
            scale = max(0, -int(steps[0].exponent))
            ends = ((low, low in beyond[0]), (high, high in beyond[1]))
            digits = scale + max(_count_digits(end, is_beyond=is_beyond) for end, is_beyond in ends)
            if digits <= DECIMAL_DIGITS:
                return Decimal(max(digits, 1), scale)
        if not listed and (named := _find_connect_decimal(merged)):
            return Decimal(*named)
        self._add_loss("NUMBER_AS_DOUBLE", path)
        return Scalar("float64")

    def _array(self, merged: MergedConstraints, path: str, depth: int) -> ColumnType | None:
        if merged.tuples:
            self._add_loss("TUPLE_AS_VARIANT", path, f"{len(merged.tuples)} places")
            return _VARIANT
        if not merged.items:
            self._add_loss("ANY_AS_VARIANT", f"{path}.element")
            return List(_VARIANT, nullable=True)
        element = self.type(merged.items, f"{path}.element", depth + 1)
        return List(*element) if element else None

    def _object(self, merged: MergedConstraints, path: str, depth: int) -> ColumnType | None:
        if not merged.properties and not merged.closed:
            return self._map(merged, path, depth)
        if merged.patterns or not merged.closed:
            self._add_loss("CONTENT_OPEN", path)
        inside: list[Column] = []
        for name, nodes in merged.properties.items():
            member = self.type(nodes, f"{path}.{name}" if path else name, depth + 1)
            if member is not None:
                doc = self.gather(nodes).doc
                inside.append(Column(name, member[0], member[1] or name not in merged.required, doc))
        return Struct(tuple(inside))

    def _map(self, merged: MergedConstraints, path: str, depth: int) -> ColumnType | None:
        inner = f"{path}.value" if path else "value"
        if len(merged.rest) + len(merged.patterns) == 1:
            value = self.type([*merged.rest, *merged.patterns], inner, depth + 1)
            return Map(Scalar("string"), *value) if value else None
        self._add_loss("ANY_AS_VARIANT", inner)
        return Map(Scalar("string"), _VARIANT, nullable=True)


def _is_object(part: MergedConstraints) -> bool:
    return part.kinds == _OBJECT or part.assumed == "object" or (part.silent and bool(part.required))


def _numbers(values: Iterable[Json]) -> list[int | Exact]:
    return [one for one in values if isinstance(one, int | Exact) and not isinstance(one, bool)]


def _find_connect_decimal(merged: MergedConstraints) -> tuple[int, int] | None:
    """Precision and scale where all that is said of a place names one decimal of Kafka Connect."""
    decimals = {read_connect_decimal(node.value) for node in merged.nodes if isinstance(node.value, dict)} - {None}
    return decimals.pop() if len(decimals) == 1 else None


def _count_digits(end: int | Exact, *, is_beyond: bool) -> int:
    """Digits before the point of the largest number up to a bound, or (`is_beyond`) of those below it."""
    integer = abs(int(end))
    if is_beyond and integer == abs(end):
        integer -= 1
    return len(str(integer)) if integer > 0 else 0
