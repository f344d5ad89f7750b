"""Columns that a newer schema calls otherwise: by aliases in Avro, by field numbers in Protobuf."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from treaty.core.column_types.leaf_paths import ELEMENT, VALUE, LeafPath, print_path
from treaty.core.limits import COLUMN_RECURSION, COLUMNS
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.model import AvroArray, AvroMap, AvroRecord, AvroSchema, AvroType, AvroUnion, is_null
from treaty.formats.avro.resolution import pair_fields
from treaty.formats.protobuf.model import Field, Message, ProtoSchema, ProtoSymbol
from treaty.plan.registry_queries import parse_resolved

Renamed = tuple[LeafPath, str]
"""The path of a field as it was called, and its name now, which may be the same."""


def list_renames(old: ResolvedSchema, new: ResolvedSchema, *, message: str = "") -> tuple[tuple[str, str], ...]:
    """Path of each column as the old schema calls it, and its name in the new one, where that is another.

    Both are of one format; JSON has no means to say that a name was another one. `message` names the message of both, else
    it is the first of each file. After COLUMNS fields no more are compared, so that types that are used in very many places
    end; what was renamed there counts as gone and added. Raises `InvalidSchemaError`.
    """
    finder = _FINDERS.get(new.format)
    if finder is None or old.format != new.format:
        return ()
    walked = islice(finder(parse_resolved(old), parse_resolved(new), message), COLUMNS)
    renamed = {path: name for path, name in walked if path[-1] != name}
    return tuple((print_path(path), name) for path, name in renamed.items())


# ------------------------------------------------------------------------------------------------------------- Avro


def _find_in_avro(old: AvroSchema, new: AvroSchema, message: str) -> Iterator[Renamed]:
    del message
    return _AvroRenames(old, new).walk(old.root, new.root, (), ())


class _AvroRenames:
    """Walks two schemas side by side; `around` counts the records that a place is inside of."""

    __slots__ = ("_new", "_old")

    def __init__(self, old: AvroSchema, new: AvroSchema) -> None:
        self._old = old
        self._new = new

    def walk(self, old: AvroType, new: AvroType, path: LeafPath, around: tuple[str, ...]) -> Iterator[Renamed]:
        was, now = self._old.resolve(old), self._new.resolve(new)
        match was, now:
            case AvroRecord(), AvroRecord():
                if around.count(now.full) < COLUMN_RECURSION:
                    yield from self._walk_records(was, now, path, (*around, now.full))
            case AvroArray(), AvroArray():
                yield from self.walk(was.items, now.items, (*path, ELEMENT), around)
            case AvroMap(), AvroMap():
                yield from self.walk(was.values, now.values, (*path, VALUE), around)
            case (AvroUnion(), _) | (_, AvroUnion()):
                yield from self._walk_branches(_list_solid(was), _list_solid(now), path, around)

    def _walk_records(
        self, old: AvroRecord, new: AvroRecord, path: LeafPath, around: tuple[str, ...]
    ) -> Iterator[Renamed]:
        pairs = pair_fields(old, new)
        for was in old.fields:
            now = pairs.get(was.name)
            if now is not None:
                yield (*path, was.name), now.name
                yield from self.walk(was.type, now.type, (*path, was.name), around)

    def _walk_branches(
        self, old: list[AvroType], new: list[AvroType], path: LeafPath, around: tuple[str, ...]
    ) -> Iterator[Renamed]:
        if len(old) == len(new) == 1:
            yield from self.walk(old[0], new[0], path, around)
            return
        if len(old) > 1 and len(new) > 1:
            for place, (old_branch, other) in enumerate(zip(old, new, strict=False)):
                yield from self.walk(old_branch, other, (*path, f"member{place}"), around)


def _list_solid(node: AvroType) -> list[AvroType]:
    """The branches of a union but null; of any other type itself."""
    return [one for one in node.branches if not is_null(one)] if isinstance(node, AvroUnion) else [node]


# ---------------------------------------------------------------------------------------------------------- Protobuf


def _find_in_messages(old: ProtoSchema, new: ProtoSchema, message: str) -> Iterator[Renamed]:
    was, now = _find_message(old, message), _find_message(new, message)
    if was is None or now is None:
        return iter(())
    return _walk_messages((old, was), (new, now), (), ())


def _find_message(schema: ProtoSchema, name: str) -> ProtoSymbol | None:
    """The symbol of a message, the first of the file without a name."""
    package = schema.file.package
    short = name.removeprefix(".") or (schema.file.messages[0].name if schema.file.messages else "")
    symbol = (schema.symbols.get(short) if name else None) or schema.symbols.get(
        f"{package}.{short}" if package else short
    )
    return symbol if symbol is not None and isinstance(symbol.node, Message) else None


Spot = tuple[ProtoSchema, ProtoSymbol]
"""A message, and the file in which names inside it are resolved."""


def _walk_messages(old: Spot, new: Spot, path: LeafPath, around: tuple[str, ...]) -> Iterator[Renamed]:
    was, now = old[1].node, new[1].node
    assert isinstance(was, Message)
    assert isinstance(now, Message)
    if around.count(new[1].full) >= COLUMN_RECURSION:
        return
    numbers = {one.number: one for one in was.all_fields}
    for field in now.all_fields:
        old_field = numbers.get(field.number)
        if old_field is None:
            continue
        yield (*path, old_field.name), field.name
        inside, other = _resolve(old, old_field), _resolve(new, field)
        if inside is not None and other is not None:
            part = (VALUE,) if field.key else (ELEMENT,) if field.label == "repeated" else ()
            yield from _walk_messages(inside, other, (*path, old_field.name, *part), (*around, new[1].full))


def _resolve(spot: Spot, field: Field) -> Spot | None:
    """The message that a field has; None where it has none."""
    home, symbol = spot
    resolved = home.resolve(symbol.full, field.type)
    if resolved is None or not isinstance(resolved.node, Message):
        return None
    return home.files.get(resolved.path, home), resolved


_FINDERS: Mapping[str, Callable[[Any, Any, str], Iterator[Renamed]]] = {
    "AVRO": _find_in_avro,
    "PROTOBUF": _find_in_messages,
}
"""By format."""
