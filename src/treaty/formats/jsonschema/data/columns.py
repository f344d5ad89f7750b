"""What a JSON Schema becomes in a table, with its losses named."""

from collections.abc import Iterable, Mapping
from decimal import Decimal as Exact

from treaty.core.limits import COLUMN_DEPTH, COLUMN_RECURSION, COLUMNS
from treaty.core.state.columns import Column, ColumnLoss, Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_reader import text_error
from treaty.formats.jsonschema.constraints import KINDS, MergedConstraints, kind_of, merge_constraints
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode

FORMATS: Mapping[str, str] = {"date": "date", "date-time": "timestamp"}
"""By format of a string, the scalar of `treaty.core.state.columns.SCALARS` that holds it."""

_DIGITS = 38
_STEPS = 100_000
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_NULL, _OBJECT = frozenset({"null"}), frozenset({"object"})
_VARIANT = Scalar("variant")

NullableType = tuple[ColumnType, bool]
"""A type, and whether it may be null."""


def derive_columns(document: JsonSchema, depth: int = COLUMN_RECURSION) -> Columns:
    """The columns of a schema and what they lose; one that is about no object has one column ``value``.

    The columns are in the order of the text. Objects that contain themselves are opened `depth` levels deep, fewer
    where that would be too many columns; what lies deeper is left out. Raises `InvalidSchemaError` past the limits of
    columns and of nesting.
    """
    maker = _ColumnBuilder(document, depth)
    try:
        made = maker.type([document.root], "", 1)
    except InvalidSchemaError as wrong:
        if depth == 1 or wrong.faults[0].rule != "COLUMNS_TOO_MANY" or not maker.cut:
            raise
        return derive_columns(document, depth - 1)
    if made is not None and isinstance(made[0], Struct):
        return Columns(made[0].columns, tuple(maker.losses))
    maker = _ColumnBuilder(document, depth)
    kind, nullable = maker.type([document.root], "value", 1) or (Scalar("null"), True)
    doc = merge_constraints(document, [document.root]).doc
    return Columns((Column("value", kind, nullable, doc),), tuple(maker.losses), whole=True)


class _ColumnBuilder:
    """Makes the types of one schema."""

    __slots__ = ("_count", "_cut", "_depth", "_document", "_gathered", "_open", "_steps", "losses")

    def __init__(self, document: JsonSchema, depth: int) -> None:
        self._document = document
        self._depth = depth
        self._open: dict[object, int] = {}
        self._cut: set[object] = set()
        self._count = 0
        self._steps = 0
        self._gathered: dict[tuple[tuple[int, str], ...], MergedConstraints] = {}
        self.losses: list[ColumnLoss] = []

    def type(self, nodes: Iterable[SchemaNode], way: str, depth: int) -> NullableType | None:
        """The type of a column that `way` leads to; None where nothing may stand or recursion is cut."""
        self._count += 1
        if self._count > COLUMNS:
            message = f"the schema becomes more columns than the limit COLUMNS of {COLUMNS}"
            raise text_error("COLUMNS_TOO_MANY", message, f"at most {COLUMNS}, those inside others included")
        if depth > COLUMN_DEPTH:
            message = f"the columns nest deeper than the limit COLUMN_DEPTH of {COLUMN_DEPTH}"
            raise text_error("SCHEMA_TOO_DEEP", message, f"at most {COLUMN_DEPTH} levels")
        found = self.gather(nodes)
        return None if found.never else self._derive_unless_cut(found, way, depth)

    def _derive_unless_cut(self, found: MergedConstraints, way: str, depth: int) -> NullableType | None:
        """The type of a place; None where it lies inside itself as often as it is opened."""
        key, losses_before = found.key, len(self.losses)
        opened = self._open.get(key, 0)
        if key and opened >= self._depth:
            self._cut.add(key)
            self._add_loss("RECURSION_CUT", way, f"{found.nodes[0].place or '/'} at depth {self._depth}")
            return None
        self._open[key] = opened + 1
        try:
            made = self._chosen(found, way, depth)
        finally:
            self._open[key] = opened
        if made is None and not opened and key in self._cut:
            del self.losses[losses_before:]
            self._add_loss("ANY_AS_VARIANT", way, "a list or a map of nothing but itself")
            return _VARIANT, True
        return made

    def gather(self, nodes: Iterable[SchemaNode]) -> MergedConstraints:
        """What is said about a place, found out once."""
        start = tuple(nodes)
        key = tuple(node.key for node in start)
        found = self._gathered.get(key)
        if found is None:
            found = self._gathered[key] = merge_constraints(self._document, start)
            self._steps += found.steps
            if self._steps > _STEPS:
                message = f"more than {_STEPS} schemas are passed on the way to the columns"
                raise text_error("COLUMNS_TOO_MANY", message, "shorter chains of references")
        return found

    @property
    def cut(self) -> bool:
        """Whether anything was left out because it lies inside itself."""
        return bool(self._cut)

    def _add_loss(self, rule: str, way: str, detail: str = "") -> None:
        self.losses.append(ColumnLoss(rule, way, detail))

    def _chosen(self, found: MergedConstraints, way: str, depth: int) -> NullableType | None:
        """The type with the first choice that matters settled."""
        for at, branches in enumerate(found.choices):
            parts = [self.gather([branch]) for branch in branches]
            kept = [
                (branch, part)
                for branch, part in zip(branches, parts, strict=True)
                if part.kinds != _NULL and part.values != [None] and not part.never
            ]
            if found.kinds is not None and not found.kinds & {"object", "array"}:
                continue
            if not kept or all(part.silent for _, part in kept):
                continue
            nullable = len(kept) < len([part for part in parts if not part.never])
            rest = found.choices[:at] + found.choices[at + 1 :]
            if len(kept) == 1 or all(_is_object(part) for _, part in kept):
                whole = self._merged(found, [part for _, part in kept], way)
                whole.choices = rest + [choice for _, part in kept for choice in part.choices]
                derive = self._chosen if whole.key == found.key else self._derive_unless_cut
                made = derive(whole, way, depth + 1) if depth < COLUMN_DEPTH else (_VARIANT, True)
            else:
                made = self._alike([branch for branch, _ in kept], way, depth)
            return (made[0], made[1] or nullable) if made else None
        return self._typed(found, way, depth)

    def _merged(self, found: MergedConstraints, parts: list[MergedConstraints], way: str) -> MergedConstraints:
        """One place that holds what any branch holds; what not all of them require may be missing."""
        if len(parts) > 1:
            self._add_loss("BRANCHES_MERGED", way, f"{len(parts)} branches")
        known = [part.kinds for part in (found, *parts) if part.kinds is not None]
        whole = MergedConstraints(
            nodes=[*found.nodes, *(node for part in parts for node in part.nodes)],
            kinds=frozenset.intersection(*known) if known else None,
            values=found.values if found.values is not None or len(parts) > 1 else parts[0].values,
            required=found.required | set.intersection(*(part.required for part in parts)),
            closed=found.closed or all(part.closed for part in parts),
            doc=found.doc or parts[0].doc,
            format=found.format or parts[0].format,
        )
        for part in (found, *parts):
            for name, nodes in part.properties.items():
                whole.properties.setdefault(name, []).extend(nodes)
            for mine, its in (
                (whole.patterns, part.patterns),
                (whole.rest, part.rest),
                (whole.items, part.items),
                (whole.tuples, part.tuples),
            ):
                mine.extend(its)
        return whole

    def _alike(self, branches: list[SchemaNode], way: str, depth: int) -> NullableType | None:
        """One type for branches that all have it; a variant for those that differ."""
        losses_before = len(self.losses)
        found = [self.type([branch], way, depth + 1) for branch in branches]
        made = [one for one in found if one is not None]
        kinds = {one[0] for one in made}
        nullable = any(one[1] for one in made)
        if kinds == {Scalar("int64"), Scalar("float64")}:
            kinds = {Scalar("float64")}
        is_cut = len(made) < len(found) and any(loss.rule == "RECURSION_CUT" for loss in self.losses[losses_before:])
        if len(kinds) == 1 and not is_cut:
            return kinds.pop(), nullable
        del self.losses[losses_before:]
        self._add_loss("ANY_AS_VARIANT", way, f"one of {len(branches)} branches of different types")
        return _VARIANT, nullable

    def _typed(self, found: MergedConstraints, way: str, depth: int) -> NullableType | None:
        kinds = found.kinds
        if kinds is None and found.assumed:
            kinds = frozenset({found.assumed})
            self._add_loss("TYPE_ASSUMED", way, found.assumed)
        if found.values is not None:
            seen = frozenset(map(kind_of, found.values))
            kinds = seen if kinds is None else kinds & seen
            if kinds >= {"string"} and len(found.values) > 1:
                self._add_loss("ENUM_AS_STRING", way, f"{len(found.values)} values")
        if kinds is None:
            self._add_loss("ANY_AS_VARIANT", way)
            return _VARIANT, True
        nullable = "null" in kinds
        rest = kinds - {"null"}
        if rest >= {"number", "integer"}:
            rest -= {"integer"}
        if not rest:
            return (Scalar("null"), True) if nullable else None
        if len(rest) > 1:
            self._add_loss("ANY_AS_VARIANT", way, " or ".join(kind for kind in KINDS if kind in rest))
            return _VARIANT, nullable
        made = self._of_kind(next(iter(rest)), found, way, depth)
        return (made, nullable) if made is not None else None

    def _of_kind(self, kind: str, found: MergedConstraints, way: str, depth: int) -> ColumnType | None:
        match kind:
            case "object":
                return self._object(found, way, depth)
            case "array":
                return self._array(found, way, depth)
            case "integer" | "number":
                return self._number(kind, found, way)
            case "string":
                if found.format == "uuid":
                    self._add_loss("UUID_AS_STRING", way)
                return Scalar(FORMATS.get(found.format, "string"))
        return Scalar("boolean")

    def _number(self, kind: str, found: MergedConstraints, way: str) -> ColumnType:
        lows, highs = (_numbers(found.get_all(word)) for word in ("minimum", "maximum"))
        beyond = [_numbers(found.get_all(word)) for word in ("exclusiveMinimum", "exclusiveMaximum")]
        low, high = max((*lows, *beyond[0]), default=None), min((*highs, *beyond[1]), default=None)
        listed = _numbers(found.values or ())
        if listed:
            low, high, beyond = min(listed), max(listed), [[], []]
        if kind == "integer":
            if low is None or high is None or low < _LOWEST or high > _HIGHEST:
                self._add_loss("INTEGER_BEYOND_64", way)
            return Scalar("int64")
        steps = [Exact(one).normalize().as_tuple() for one in _numbers(found.get_all("multipleOf"))]
        if low is not None and high is not None and len(steps) == 1 and steps[0].digits == (1,):
            scale = max(0, -int(steps[0].exponent))
            ends = ((low, low in beyond[0]), (high, high in beyond[1]))
            digits = scale + max(_count_digits(end, is_beyond=is_beyond) for end, is_beyond in ends)
            if digits <= _DIGITS:
                return Decimal(max(digits, 1), scale)
        self._add_loss("NUMBER_AS_DOUBLE", way)
        return Scalar("float64")

    def _array(self, found: MergedConstraints, way: str, depth: int) -> ColumnType | None:
        if found.tuples:
            self._add_loss("TUPLE_AS_VARIANT", way, f"{len(found.tuples)} places")
            return _VARIANT
        if not found.items:
            self._add_loss("ANY_AS_VARIANT", f"{way}.element")
            return List(_VARIANT, nullable=True)
        made = self.type(found.items, f"{way}.element", depth + 1)
        return List(*made) if made else None

    def _object(self, found: MergedConstraints, way: str, depth: int) -> ColumnType | None:
        if not found.properties and not found.closed:
            return self._map(found, way, depth)
        if found.patterns or not found.closed:
            self._add_loss("CONTENT_OPEN", way)
        inside: list[Column] = []
        for name, nodes in found.properties.items():
            made = self.type(nodes, f"{way}.{name}" if way else name, depth + 1)
            if made is not None:
                doc = self.gather(nodes).doc
                inside.append(Column(name, made[0], made[1] or name not in found.required, doc))
        return Struct(tuple(inside))

    def _map(self, found: MergedConstraints, way: str, depth: int) -> ColumnType | None:
        inner = f"{way}.value" if way else "value"
        if len(found.rest) + len(found.patterns) == 1:
            made = self.type([*found.rest, *found.patterns], inner, depth + 1)
            return Map(Scalar("string"), *made) if made else None
        self._add_loss("ANY_AS_VARIANT", inner)
        return Map(Scalar("string"), _VARIANT, nullable=True)


def _is_object(part: MergedConstraints) -> bool:
    return part.kinds == _OBJECT or part.assumed == "object" or (part.silent and bool(part.required))


def _numbers(values: Iterable[Json]) -> list[int | Exact]:
    return [one for one in values if isinstance(one, int | Exact) and not isinstance(one, bool)]


def _count_digits(end: int | Exact, *, is_beyond: bool) -> int:
    """Digits before the point of the largest number up to a bound, or (`is_beyond`) of those below it."""
    whole = abs(int(end))
    if is_beyond and whole == abs(end):
        whole -= 1
    return len(str(whole)) if whole > 0 else 0
