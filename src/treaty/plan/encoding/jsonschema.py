"""What a JSON Schema wants at each place, as Spark's own `to_json` writes it."""

from collections.abc import Iterable

from treaty.core.limits import COLUMN_RECURSION
from treaty.core.state.columns import ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.jsonschema.constraints import MergedConstraints, merge_constraints
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.model import JsonSchema, SchemaNode
from treaty.plan.encoding.fit import LossCheck
from treaty.plan.encoding.protobuf import DAYS, INSTANTS
from treaty.plan.encoding.target import (
    FieldTarget,
    FindTarget,
    Handle,
    LeafTarget,
    ListTarget,
    MapTarget,
    RecordTarget,
    Target,
)

TAKES = {"int64": frozenset({"int32"}), "float64": frozenset({"int32", "int64", "float32", "decimal"})}
"""By scalar, what JSON writes alike."""
CHECKS = {"date": (DAYS,), "timestamp": (INSTANTS,), "float64": (LossCheck("finite"),)}
STRINGS = LeafTarget(Scalar("string"))
CHOICES = 20
"""Choices inside choices that are looked into."""


def make_targets(document: JsonSchema) -> tuple[FindTarget, Handle]:
    """The places of a schema, each the type of its column and the schemas that speak about it, and the first of them."""
    columns = derive_columns(document, COLUMN_RECURSION)
    root: ColumnType = columns.columns[0].type if columns.whole else Struct(columns.columns)
    return _JsonTargets(document).find_target, (root, (document.root,))


class _JsonTargets:
    __slots__ = ("_document",)

    def __init__(self, document: JsonSchema) -> None:
        self._document = document

    def find_target(self, handle: tuple[ColumnType, tuple[SchemaNode, ...]]) -> Target:
        kind, nodes = handle
        merged = merge_constraints(self._document, nodes)
        match kind:
            case Struct():
                return RecordTarget("", tuple(self._members(kind, merged)))
            case List(element, nullable):
                return ListTarget((element, tuple(merged.items)), nullable)
            case Map(_, value, nullable):
                return MapTarget(STRINGS, (value, (*merged.rest, *merged.patterns)), nullable)
            case Decimal():
                return LeafTarget(kind)
        if kind.name == "variant":
            return LeafTarget(kind, (LossCheck("wide"),), carrier="embed", carried="VARIANT")
        if kind.name == "string":
            words = self._words(merged)
            coded = merged.get_all("contentEncoding") == ["base64"]
            return LeafTarget(kind, (LossCheck("symbols", words),) if words else (), carrier="base64" if coded else "")
        return LeafTarget(kind, CHECKS.get(kind.name, ()), TAKES.get(kind.name, frozenset()))

    def _members(self, kind: Struct, merged: MergedConstraints) -> Iterable[FieldTarget]:
        required, properties = self._list_properties(merged, 0)
        for column in kind.columns:
            nodes = tuple(properties.get(column.name, ()))
            needed = column.name in required or not column.nullable
            free = not nodes or self._null(nodes, 0)
            yield FieldTarget(
                column.name, (column.type, nodes), free or not needed, present=needed and free and bool(nodes)
            )

    def _list_properties(self, merged: MergedConstraints, depth: int) -> tuple[set[str], dict[str, list[SchemaNode]]]:
        """Names that must be there, and what is said about each, by the place and by the choices at it."""
        required, properties = set(merged.required), {name: list(nodes) for name, nodes in merged.properties.items()}
        for choice in merged.choices if depth < CHOICES else ():
            parts = [self._list_properties(merge_constraints(self._document, [branch]), depth + 1) for branch in choice]
            required |= set[str].intersection(*(part[0] for part in parts)) if parts else set()
            for _, inside in parts:
                for name, nodes in inside.items():
                    properties.setdefault(name, []).extend(nodes)
        return required, properties

    def _null(self, nodes: Iterable[SchemaNode], depth: int) -> bool:
        """Whether null may stand at a place."""
        merged = merge_constraints(self._document, nodes)
        if merged.never or (merged.kinds is not None and "null" not in merged.kinds):
            return False
        if merged.values is not None and None not in merged.values:
            return False
        if depth >= CHOICES:
            return True
        return all(any(self._null([one], depth + 1) for one in choice) for choice in merged.choices)

    def _words(self, merged: MergedConstraints) -> tuple[str, ...]:
        """The texts that may stand here, where they are counted."""
        values = merged.values
        return tuple(one for one in values if isinstance(one, str)) if values else ()
