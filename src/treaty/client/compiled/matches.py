"""Which of a reader's types takes a value of a writer's type: the one place that knows, for both ways of reading.

A named type is matched by its full name, then by an alias, then by its name without the namespace, as the Java library
chooses among the branches of a union. Parts of a value are matched when they are read.
"""

from collections.abc import Mapping
from typing import Any

from treaty.client.compiled.names import NAMED, defined, kind_of

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
"""What may be read as what else."""
RECORDS = frozenset({"record", "error"})
FULL_NAME, FULL_ALIAS, SHORT_NAME, SHORT_ALIAS = range(4)
"""How two named types match, the strongest first."""


class UnmatchedError(ValueError):
    """The reader has no place for what the writer wrote."""


class Matcher:
    """The named types of a writer and of a reader, side by side."""

    def __init__(self, written: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        """Keep the named types."""
        self._written = written
        self._wanted = wanted
        self._failing: dict[tuple[str, str], bool] = {}

    def define(self, writer: Any, reader: Any) -> tuple[Any, Any]:
        """Return the definitions of two types that may be names."""
        return defined(writer, self._written), defined(reader, self._wanted)

    def is_match(self, writer: Any, reader: Any) -> bool:
        """Say whether a value of one type may be one of another; neither is a union."""
        writer, reader = self.define(writer, reader)
        return _strength(writer, reader) is not None or (kind_of(writer), kind_of(reader)) in PROMOTIONS

    def find_branch(self, writer: Any, branches: list[Any], place: int | None = None) -> int | None:
        """Return the place of the branch that takes a type, None where none does.

        The best name decides among the branches that can be read at all. Among records that only share the name without its
        namespace it is the one at `place`, or else the last of them, as in Java.
        """
        writer = defined(writer, self._written)
        named: dict[int, list[int]] = {}
        for at, branch in enumerate(branches):
            strength = _strength(writer, defined(branch, self._wanted))
            if strength is not None:
                named.setdefault(strength, []).append(at)
        for strength, places in sorted(named.items()):
            fitting = [at for at in places if not self.fails(writer, branches[at])]
            if fitting and strength >= SHORT_NAME and place in fitting:
                return place
            if fitting:
                return fitting[-1 if strength >= SHORT_NAME and kind_of(writer) in RECORDS else 0]
        if named:
            return named[min(named)][0]
        promoted = (at for at, branch in enumerate(branches) if (kind_of(writer), kind_of(branch)) in PROMOTIONS)
        return next(promoted, None)

    def find_places(self, writer: list[Any], reader: Any) -> list[int | None]:
        """Return for each branch of a writer's union the place of the reader's that takes it by name or promotion.

        Unions that differ in nothing but namespaces are read by position where full names do not decide.
        """
        if not isinstance(reader, list):
            return [None] * len(writer)
        alike = self.is_alike(writer, reader)
        return [self.find_branch(branch, reader, at if alike else None) for at, branch in enumerate(writer)]

    def is_alike(self, writer: Any, reader: Any, seen: frozenset[tuple[str, str]] = frozenset()) -> bool:
        """Say whether two types differ in nothing but namespaces, docs and defaults."""
        writer, reader = self.define(writer, reader)
        if isinstance(writer, list) or isinstance(reader, list):
            both = isinstance(writer, list) and isinstance(reader, list) and len(writer) == len(reader)
            return both and all(self.is_alike(*each, seen) for each in zip(writer, reader, strict=True))
        kind = kind_of(writer)
        if kind != kind_of(reader):
            return False
        if kind in {"array", "map"}:
            inner = "items" if kind == "array" else "values"
            return self.is_alike(writer[inner], reader[inner], seen)
        return kind not in NAMED or self._is_named_alike(writer, reader, seen)

    def _is_named_alike(self, writer: Any, reader: Any, seen: frozenset[tuple[str, str]]) -> bool:
        key = (str(writer["name"]), str(reader["name"]))
        if key in seen:
            return True
        if key[0].rpartition(".")[2] != key[1].rpartition(".")[2]:
            return False
        if kind_of(writer) not in RECORDS:
            return all(writer.get(word) == reader.get(word) for word in ("size", "symbols"))
        old, new = writer["fields"], reader["fields"]
        return [each["name"] for each in old] == [each["name"] for each in new] and all(
            self.is_alike(one["type"], other["type"], seen | {key}) for one, other in zip(old, new, strict=True)
        )

    def fails(self, writer: Any, reader: Any) -> bool:
        """Say whether no value of the writer that has something inside can be read."""
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


def _strength(writer: Any, reader: Any) -> int | None:
    """How well two types match that are not unions; None for two that do not, or only by a promotion."""
    kinds = kind_of(writer), kind_of(reader)
    if kinds[0] != kinds[1]:
        return None
    if kinds[0] not in NAMED:
        return FULL_NAME
    if kinds[0] == "fixed" and writer["size"] != reader["size"]:
        return None
    return _name_strength(str(writer["name"]), str(reader["name"]), reader.get("aliases", ()))


def _name_strength(old: str, new: str, aliases: Any) -> int | None:
    space, short = new.rpartition(".")[0], old.rpartition(".")[2]
    if old == new:
        return FULL_NAME
    if old in {alias if "." in alias or not space else f"{space}.{alias}" for alias in aliases}:
        return FULL_ALIAS
    if short == new.rpartition(".")[2]:
        return SHORT_NAME
    return SHORT_ALIAS if old in aliases or short in aliases else None


def pair_fields(writer: Any, reader: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Return each field of the writer with the reader's field (None: read and dropped), and the reader's other fields.

    A name decides before an alias does; of two fields of the writer for one of the reader the first counts.
    """
    wanted = {field["name"]: field for field in reader["fields"]}
    renamed = {alias: field["name"] for field in reader["fields"] for alias in field.get("aliases", ())}
    names = {field["name"] for field in writer["fields"]}
    pairs, seen = [], set()
    for field in writer["fields"]:
        name = field["name"]
        if name not in wanted:
            name = renamed.get(name)
            name = None if name in names else name
        if name in seen:
            name = None
        seen |= {name} - {None}
        pairs.append((field, wanted[name] if name is not None else None))
    return pairs, [field for name, field in wanted.items() if name not in seen]
