"""What REFRESH SCHEMA does to a source: columns added, gone, renamed and retyped, each with the readers that it concerns.

A column without a reader may go or change its type. One with a reader may not, a wider type included: sums, keys and the
output of its readers would be of another type. A column that may be null from now on, a comment, and a column that is
new concern no reader.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from treaty.core.column_types import ColumnTypeError
from treaty.core.column_types.leaf_paths import (
    ELEMENT,
    KEY,
    VALUE,
    LeafPath,
    is_touched,
    lower_path,
    parse_path,
    print_path,
)
from treaty.core.refusals import Invalid, Reason, SourceUsed
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.metastore.columns.sql_types import print_bare_type

EffectKind = Literal["added", "gone", "renamed", "retyped", "nullable", "required", "comment"]
BREAKING: frozenset[EffectKind] = frozenset({"gone", "renamed", "retyped"})
"""Kinds of effects that are refused where a reader has the column."""
REFUSED_NAMES = 3
"""The most columns that one refusal names; its details name all readers."""
WIDER = frozenset((("int32", "int64"), ("int32", "float64"), ("float32", "float64")))
"""Scalars, and those that hold all of their values."""


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A leaf path (`leaf_paths`) that a reader reads. `reader` is the name of a source, or says what of the source itself
    needs the column, such as ``PRIMARY KEY``.
    """

    reader: str
    path: str


@dataclass(frozen=True, slots=True)
class ColumnEffect:
    """What becomes of the column at `path`, as it was called.

    `old` and `new` are its types; of a renamed one the names, of a comment the texts. `reads` are those that it concerns,
    by reader and path. `is_wider`: the new type holds every value of the old one.
    """

    kind: EffectKind
    path: str
    old: str = ""
    new: str = ""
    reads: tuple[ColumnRead, ...] = ()
    is_wider: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether a reader has a column that would go, or would have another name or type."""
        return self.kind in BREAKING and bool(self.reads)

    def __str__(self) -> str:
        """What becomes of the column, as a clause."""
        match self.kind:
            case "added":
                return f"{self.path} {self.new} is new"
            case "gone":
                return f"{self.path} {self.old} goes"
            case "renamed":
                return f"{self.path} is called {self.new} from now on"
            case "retyped":
                return f"{self.path} is {self.new} from now on, and was {self.old}"
            case "nullable":
                return f"{self.path} may be null from now on"
            case "required":
                return f"{self.path} is never null from now on"
        return f"the comment of {self.path} changes"


@dataclass(frozen=True, slots=True)
class RefreshEffect:
    """All that a refreshed schema changes of a source, those that are refused among them."""

    effects: tuple[ColumnEffect, ...] = ()

    @property
    def refused(self) -> tuple[ColumnEffect, ...]:
        """The effects for which the refresh is refused."""
        return tuple(effect for effect in self.effects if effect.is_refused)

    @property
    def rows(self) -> tuple[tuple[str, str, str, str, str, bool], ...]:
        """A row for each effect: kind, path, old, new, the readers' names with commas between, whether it is refused."""
        return tuple(
            (effect.kind, effect.path, effect.old, effect.new, ", ".join(_names(effect.reads)), effect.is_refused)
            for effect in self.effects
        )

    def explain(self) -> str:
        """Lines for people, what is refused first."""
        order = sorted(self.effects, key=lambda one: not one.is_refused)
        return "\n".join(map(_explain_line, order)) or "the columns stay as they are"

    def to_json(self) -> str:
        """The effects as a list of objects."""
        return json.dumps([asdict(one) | {"refused": one.is_refused} for one in self.effects], ensure_ascii=False)


REFRESH_COLUMNS = ("effect", "column", "old", "new", "readers", "refused")
"""Names of the members of `RefreshEffect.rows`."""


def find_refresh_effect(
    old: Sequence[Column], new: Sequence[Column], reads: Iterable[ColumnRead], renames: Iterable[tuple[str, str]] = ()
) -> RefreshEffect:
    """What becomes of the columns `old` of a source when its schema is read again and has the columns `new`.

    `reads` are what its readers, and the source itself, need of it. `renames` are the path of a column as it was called, and
    its name now (`treaty.metastore.columns.renames`); what is not there has no effect. Columns that move have none
    either. Raises `Invalid` for a path that is none.
    """
    read_paths = [(one, _parse_path(one.path)) for one in reads]
    named = {lower_path(_parse_path(one)): other.lower() for one, other in renames}
    walk = _ColumnComparison(tuple(read_paths), named)
    return RefreshEffect(tuple(walk.compare(Struct(tuple(old)), Struct(tuple(new)), ())))


def _parse_path(text: str) -> LeafPath:
    try:
        return parse_path(text)
    except ColumnTypeError as error:
        raise Invalid.of(error.code, error.message, new=text, allowed=error.hint) from None


def refuse_refresh(source: str, effect: RefreshEffect) -> None:
    """Raise `SourceUsed` where readers would lose a column or its type; it names the readers and the columns."""
    refused = effect.refused
    if not refused:
        return
    losses = [f"{_name_readers(one)}: {one}" for one in refused]
    more = f" (and {len(losses) - REFUSED_NAMES} more)" if len(losses) > REFUSED_NAMES else ""
    first = refused[0]
    raise SourceUsed(
        Reason(
            "COLUMN_READ",
            f"the schema of {source} can't be refreshed: {'; '.join(losses[:REFUSED_NAMES])}{more}. Drop these readers or let them read "
            "other columns first, or keep the schema that the source has",
            path=first.path,
            old=first.old,
            new=first.new,
            allowed="columns without a reader may go and change their types",
            details=tuple(_names(read for one in refused for read in one.reads)),
        )
    )


def _explain_line(effect: ColumnEffect) -> str:
    if effect.is_refused:
        wider = "; the type is wider, and their keys, sums and output would change" if effect.is_wider else ""
        return f"refused  {effect}: {_name_readers(effect)}{wider}"
    return f"         {effect}" + (f" ({_name_readers(effect)})" if effect.reads else "")


def _name_readers(effect: ColumnEffect) -> str:
    parts = []
    for name in _names(effect.reads):
        paths = [read.path for read in effect.reads if read.reader == name]
        parts.append(f"{name} reads {', '.join(paths)}")
    return ", ".join(parts)


def _names(reads: Iterable[ColumnRead]) -> list[str]:
    return sorted({one.reader for one in reads})


@dataclass(frozen=True, slots=True)
class _ColumnComparison:
    """Compares types from the columns on; `renames` are names by old paths, all in small letters."""

    reads: tuple[tuple[ColumnRead, LeafPath], ...]
    renames: dict[LeafPath, str]

    def compare(self, old: Struct, new: Struct, way: LeafPath) -> Iterator[ColumnEffect]:
        """The effects on the columns of a struct, in their old order; those that are new come last."""
        new_columns = {one.name.lower(): one for one in new.columns}
        had = {one.name.lower() for one in old.columns}
        for column in old.columns:
            path = (*way, column.name)
            now = new_columns.pop(column.name.lower(), None)
            if now is not None and now.name != column.name:
                yield self._effect("renamed", path, column.name, now.name, ())
            if now is None:
                now = self._find_renamed(path, new_columns, had)
                if now is None:
                    yield self._effect("gone", path, print_bare_type(column.type), "")
                    continue
                new_columns.pop(now.name.lower())
                yield self._effect("renamed", path, column.name, now.name)
            yield from self._compare_columns(column, now, path)
        for column in new_columns.values():
            yield ColumnEffect("added", print_path((*way, column.name)), new=_print_new(column))

    def _find_renamed(self, path: LeafPath, new_columns: dict[str, Column], had: set[str]) -> Column | None:
        """The column that is called otherwise now, beside the others of its struct."""
        name = self.renames.get(lower_path(path))
        return new_columns.get(name) if name is not None and name not in had else None

    def _compare_columns(self, old: Column, new: Column, path: LeafPath) -> Iterator[ColumnEffect]:
        yield from self._compare_types(old.type, new.type, path)
        if old.nullable != new.nullable:
            yield self._effect("nullable" if new.nullable else "required", path, "", "")
        if old.doc != new.doc:
            yield self._effect("comment", path, old.doc, new.doc, ())

    def _compare_types(self, old: ColumnType, new: ColumnType, path: LeafPath) -> Iterator[ColumnEffect]:
        match old, new:
            case Struct(), Struct():
                yield from self.compare(old, new, path)
            case List(), List():
                yield from self._compare_types(old.element, new.element, (*path, ELEMENT))
            case Map(), Map():
                yield from self._compare_types(old.key, new.key, (*path, KEY))
                yield from self._compare_types(old.value, new.value, (*path, VALUE))
            case _ if old != new:
                yield self._effect(
                    "retyped", path, print_bare_type(old), print_bare_type(new), is_wider=is_wider(old, new)
                )

    def _effect(
        self,
        kind: EffectKind,
        path: LeafPath,
        old: str,
        new: str,
        reads: tuple[ColumnRead, ...] | None = None,
        *,
        is_wider: bool = False,
    ) -> ColumnEffect:
        touched = tuple(one for one, read in self.reads if is_touched(read, path)) if reads is None else reads
        return ColumnEffect(kind, print_path(path), old, new, touched, is_wider)


def _print_new(column: Column) -> str:
    return print_bare_type(column.type) if column.nullable else f"{print_bare_type(column.type)} NOT NULL"


def is_wider(old: ColumnType, new: ColumnType) -> bool:
    """Whether the new type holds every value of the old one: of scalars and decimals."""
    match old, new:
        case Scalar("null"), _:
            return True
        case Scalar(), Scalar():
            return (old.name, new.name) in WIDER
        case Decimal(), Decimal():
            return new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale
        case Scalar(name), Decimal(precision, scale):
            return precision - scale >= {"int32": 10, "int64": 19}.get(name, 99)
    return False
