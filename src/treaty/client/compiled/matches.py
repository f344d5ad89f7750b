"""Matching of writer and reader types (Avro 1.12, "Schema Resolution"), for the interpreter and for compiled programs.

A named type is matched by its full name, then by an alias, then by its name without namespace, as Avro's Java library
chooses among the branches of a union. Parts of a value are matched when they are read.
"""

from collections.abc import Mapping
from typing import Any

from treaty.client.compiled.names import NAMED, find_definition, kind_of

PROMOTIONS = frozenset(
    {
        ("int", "long"),
        ("int", "float"),
        ("int", "double"),
        ("long", "float"),
        ("long", "double"),
        ("float", "double"),
        ("string", "bytes"),
        ("bytes", "string"),
    }
)
"""Promotions: reader types by writer type."""
RECORDS = frozenset({"record", "error"})
FULL_NAME, FULL_ALIAS, SHORT_NAME, SHORT_ALIAS = range(4)
"""How two named types match, strongest first."""


class UnmatchedError(ValueError):
    """The writer's type does not match the reader's."""


class SchemaMatcher:
    """The named types of a writer and of a reader."""

    def __init__(self, written: Mapping[str, Any], readable: Mapping[str, Any]) -> None:
        """Keep the named types."""
        self._written = written
        self._wanted = readable
        self._failing: dict[tuple[str, str], bool] = {}
        self._tables: dict[int, _BranchTable] = {}

    def define(self, writer: Any, reader: Any) -> tuple[Any, Any]:
        """Return the definitions of two types, each of which may be given by name."""
        return find_definition(writer, self._written), find_definition(reader, self._wanted)

    def is_match(self, writer: Any, reader: Any) -> bool:
        """Return whether a value of one type may be read as another; neither is a union."""
        writer, reader = self.define(writer, reader)
        if _find_shape(writer) == _find_shape(reader):
            return kind_of(writer) not in NAMED or _is_named_match(writer, reader)
        return (kind_of(writer), kind_of(reader)) in PROMOTIONS

    def find_branch(self, writer: Any, branches: list[Any], place: int | None = None) -> int | None:
        """Return the index of the branch that matches a type, or None.

        Among readable branches the strongest match of names wins. Among records that only share the name without
        namespace it is the one at index `place`, else the last, as in Java.
        """
        writer = find_definition(writer, self._written)
        table, best = self._enter(branches), None
        for strength in range(len(table.places)):
            places = table.find(writer, strength)
            best = places[0] if best is None and places else best
            if strength >= SHORT_NAME and place in places and not self.fails(writer, branches[place]):
                return place
            last = strength >= SHORT_NAME and kind_of(writer) in RECORDS
            for at in reversed(places) if last else places:
                if not self.fails(writer, branches[at]):
                    return at
        return table.find_promoted(kind_of(writer)) if best is None else best

    def _enter(self, branches: list[Any]) -> "_BranchTable":
        table = self._tables.get(id(branches))
        if table is None:
            table = self._tables[id(branches)] = _BranchTable(branches, self._wanted)
        return table

    def find_places(self, writer: list[Any], reader: Any) -> list[int | None]:
        """Return for each branch of the writer's union the index of the reader's branch that matches by name or
        promotion.

        Unions that differ only in namespaces are matched by position if full names do not decide.
        """
        if not isinstance(reader, list):
            return [None] * len(writer)
        alike = self.is_alike(writer, reader)
        return [self.find_branch(branch, reader, at if alike else None) for at, branch in enumerate(writer)]

    def is_alike(self, writer: Any, reader: Any, compared: set[tuple[str, str]] | None = None) -> bool:
        """Return whether two types differ only in namespaces, docs and defaults. A pair of named types in `compared` is
        being compared and counts as equal.
        """
        compared = set() if compared is None else compared
        writer, reader = self.define(writer, reader)
        if isinstance(writer, list) or isinstance(reader, list):
            both = isinstance(writer, list) and isinstance(reader, list) and len(writer) == len(reader)
            return both and all(self.is_alike(*each, compared) for each in zip(writer, reader, strict=True))
        kind = kind_of(writer)
        if kind != kind_of(reader):
            return False
        if kind in {"array", "map"}:
            inner = "items" if kind == "array" else "values"
            return self.is_alike(writer[inner], reader[inner], compared)
        return kind not in NAMED or self._is_named_alike(writer, reader, compared)

    def _is_named_alike(self, writer: Any, reader: Any, compared: set[tuple[str, str]]) -> bool:
        key = (str(writer["name"]), str(reader["name"]))
        if key in compared:
            return True
        if key[0].rpartition(".")[2] != key[1].rpartition(".")[2]:
            return False
        if kind_of(writer) not in RECORDS:
            return all(writer.get(word) == reader.get(word) for word in ("size", "symbols"))
        compared.add(key)
        old, new = writer["fields"], reader["fields"]
        return [each["name"] for each in old] == [each["name"] for each in new] and all(
            self.is_alike(one["type"], other["type"], compared) for one, other in zip(old, new, strict=True)
        )

    def fails(self, writer: Any, reader: Any) -> bool:
        """Return whether the items of two arrays or maps never match, so that only empty ones are readable."""
        writer, reader = self.define(writer, reader)
        if isinstance(writer, list):
            return False
        if isinstance(reader, list):
            return self.find_branch(writer, reader) is None
        if not self.is_match(writer, reader):
            return True
        kind = kind_of(writer)
        if kind in {"array", "map"}:
            inner = "items" if kind == "array" else "values"
            return self.fails(writer[inner], reader[inner])
        return kind in RECORDS and self._record_fails(writer, reader)

    def _record_fails(self, writer: Any, reader: Any) -> bool:
        key = (str(writer["name"]), str(reader["name"]))
        if key not in self._failing:
            self._failing[key] = False  # what a record inside itself is read as does not decide
            pairs, missing = pair_fields(writer, reader)
            lacking = any("default" not in field for field in missing)
            self._failing[key] = lacking or any(
                target is not None and self.fails(field["type"], target["type"]) for field, target in pairs
            )
        return self._failing[key]


class _BranchTable:
    """The branches of a reader's union by kind and name, one table per strength of match."""

    def __init__(self, branches: list[Any], readable: Mapping[str, Any]) -> None:
        self.branches = branches  # kept, as its identity is what the table is found by
        self.places: list[dict[tuple[Any, ...], list[int]]] = [{} for _ in range(SHORT_ALIAS + 1)]
        self._promoted: dict[str, int] = {}
        for at, branch in enumerate(branches):
            self._promoted.setdefault(kind_of(branch), at)
            solid = find_definition(branch, readable)
            for strength, names in enumerate(_find_names(solid)):
                for name in names:
                    self.places[strength].setdefault((*_find_shape(solid), name), []).append(at)

    def find(self, writer: Any, strength: int) -> list[int]:
        """Return the indexes of the branches that match a type, not a union, at least this strongly."""
        old = str(writer["name"]) if kind_of(writer) in NAMED else ""
        short = old.rpartition(".")[2]
        names = ({old}, {old}, {short}, {old, short})[strength]
        places = [at for name in names for at in self.places[strength].get((*_find_shape(writer), name), ())]
        return sorted(set(places)) if len(names) > 1 else places

    def find_promoted(self, kind: str) -> int | None:
        """Return the index of the first branch to which a type of this kind is promoted."""
        return min((at for new, at in self._promoted.items() if (kind, new) in PROMOTIONS), default=None)


def _find_shape(schema: Any) -> tuple[Any, ...]:
    """Return the properties, apart from names, in which matching types agree."""
    kind = kind_of(schema)
    return (kind, schema["size"]) if kind == "fixed" else (kind,)


def _find_names(reader: Any) -> tuple[set[str], ...]:
    """Return the names by which a writer's type is matched, by strength of match."""
    if kind_of(reader) not in NAMED:
        return ({""},)
    full, aliases = str(reader["name"]), set(reader.get("aliases", ()))
    space = full.rpartition(".")[0]
    qualified = {alias if "." in alias or not space else f"{space}.{alias}" for alias in aliases}
    return {full}, qualified, {full.rpartition(".")[2]}, aliases


def _is_named_match(writer: Any, reader: Any) -> bool:
    old = str(writer["name"])
    short = old.rpartition(".")[2]
    full, *short_names = _find_names(reader)
    return old in full or any({old, short} & names for names in short_names)


def pair_fields(writer: Any, reader: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Return each writer field with its reader field (None: skipped), and the remaining reader fields.

    A name takes precedence over an alias; of two writer fields for one reader field the first is used.
    """
    by_name = {field["name"]: field for field in reader["fields"]}
    renamed = {alias: field["name"] for field in reader["fields"] for alias in field.get("aliases", ())}
    names = {field["name"] for field in writer["fields"]}
    pairs, paired = [], set()
    for field in writer["fields"]:
        name = field["name"]
        if name not in by_name:
            name = renamed.get(name)
            name = None if name in names else name
        if name in paired:
            name = None
        paired |= {name} - {None}
        pairs.append((field, by_name[name] if name is not None else None))
    return pairs, [field for name, field in by_name.items() if name not in paired]
