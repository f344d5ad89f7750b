"""CREATE OR REPLACE: what a new definition may change while others read the source."""

from collections.abc import Iterator, Sequence

from treaty.core import limits
from treaty.core.access.rights import Access
from treaty.core.column_types import ColumnTypeError, parse_column_type
from treaty.core.column_types.leaf_paths import find_lost_leaf, parse_path, print_path
from treaty.core.handlers.metastore.closure import source_used, walk_closure
from treaty.core.handlers.metastore.names import source_key
from treaty.core.messages.metastore.assessments import LostColumn
from treaty.core.refusals import NotPermitted, SourceExists
from treaty.core.sources import Source, SourceColumn
from treaty.core.state.metastore.indexes import SOURCE_BY_READ
from treaty.core.state.metastore.keys import SourceKey, key_of_name
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.view import View

KEY = "key"
"""The role of a column of the key."""
CHECKPOINT_ROOT = "CHECKPOINT_ROOT"
"""The property that names the folder of the checkpoints of a query."""


def describe_column_changes(stored: Source, source: Source) -> tuple[str, ...]:
    """Return what becomes of the columns and the key of a source that is replaced, in words; a sentence for each of the two, or none."""
    before, after = ({key_of_name(column.name): column for column in side.columns} for side in (stored, source))
    changes = [f"{before[key].name} is gone" for key in before if key not in after]
    changes += [f"{column.name} {column.type} is new" for key, column in after.items() if key not in before]
    changes += [
        f"{column.name} is {column.type}, and was {before[key].type}"
        for key, column in after.items()
        if key in before and before[key].type != column.type
    ]
    more = f"; and {len(changes) - limits.CHANGE_REASONS} more" if len(changes) > limits.CHANGE_REASONS else ""
    notes = [f"columns: {'; '.join(changes[: limits.CHANGE_REASONS])}{more}"] if changes else []
    keys = [", ".join(column.name for column in side.columns if column.role == KEY) for side in (stored, source)]
    if keys[0].lower() != keys[1].lower():
        notes.append(f"key of the records: {keys[1] or 'none'}, and was {keys[0] or 'none'}")
    return tuple(notes)


def refuse_unlike_source(view: View, key: SourceKey, stored: Source, source: Source) -> None:
    """Raise the refusal of a definition that can't take the place of another one, whatever its columns are."""
    if stored.kind != source.kind:
        raise SourceExists.of(
            "SOURCE_KIND_DIFFERS",
            f"{stored.name} is a {stored.kind.lower()}",
            path="/definition/kind",
            old=stored.kind,
            new=source.kind,
            allowed="the same kind; or drop it first",
        )
    if stored.origin:
        raise of_bad_rows(stored, "/definition/name")
    ports_query = stored.imported is not None and source.query is not None
    if (stored.query is None) is not (source.query is None) and not ports_query:
        raise NotPermitted.of(
            "SOURCE_REPLACE",
            f"{stored.name} {'has no query' if stored.query is None else 'has a query'}, and the new definition "
            f"{'has one' if stored.query is None else 'has none'}",
            path="/definition/query",
            allowed="drop it first, or another name",
        )
    if source.query is not None:
        _refuse_moved_checkpoint(stored, source)
        refuse_cycle(view, key, source)


def _refuse_moved_checkpoint(stored: Source, source: Source) -> None:
    """Raise `NotPermitted` where the checkpoints would be looked for elsewhere than they are."""
    old, new = (dict(row.properties).get(CHECKPOINT_ROOT, "") for row in (stored, source))
    if stored.query is not None and old != new:
        raise NotPermitted.of(
            "CHECKPOINT_MOVED",
            f"The checkpoints of {stored.name} are at {old or 'the root of the runner'}, and the new definition says {new or 'nothing of it'}",
            path="/definition/properties",
            old=old,
            new=new,
            allowed=f"{CHECKPOINT_ROOT} = '{old}'" if old else f"no {CHECKPOINT_ROOT}; or drop it first",
        )


def of_bad_rows(stored: Source, path: str) -> NotPermitted:
    """Return the refusal of a change of a stream of bad rows."""
    return NotPermitted.of(
        "SOURCE_OF_BAD_ROWS",
        f"{stored.name} has the bad rows of {stored.origin}, and is not defined by a statement",
        path=path,
        old=stored.origin,
        allowed=f"another source, or a change of {stored.origin}",
    )


def refuse_cycle(view: View, key: SourceKey, source: Source) -> None:
    """Raise `NotPermitted` where a query would read what reads its own result."""
    assert source.query is not None
    readers = {step.user for step in walk_closure(view, SOURCE, key)}
    for place, read in enumerate(source.query.plan.reads):
        if source_key(read.source) in readers:
            raise NotPermitted.of(
                "READ_CYCLE",
                f"{read.source} reads {source.name}, which would read it",
                path=f"/definition/query/reads/{place}",
                new=read.source,
                allowed="sources that do not depend on the one that is replaced",
            )


def refuse_read_columns(
    view: View, access: Access | None, key: SourceKey, old: tuple[SourceColumn, ...], new: tuple[SourceColumn, ...]
) -> None:
    """Raise `SourceUsed` where a leaf column that somebody reads goes or changes its type."""
    for lost in list_lost_columns(view, access, key, old, new):
        raise source_used(
            "COLUMN_READ",
            f"The column {lost.column} is read by",
            lost.readers,
            lost.hidden,
            path="/definition/columns",
            old=f"{lost.column} {lost.old}",
            new=lost.new,
            allowed="keep the column with its type, or change its readers first",
        )


def list_lost_columns(
    view: View, access: Access | None, key: SourceKey, old: tuple[SourceColumn, ...], new: tuple[SourceColumn, ...]
) -> Iterator[LostColumn]:
    """Yield the columns of which somebody reads a leaf that goes or changes its type, with these readers."""
    new_columns = {key_of_name(column.name): column for column in new}
    for column in old:
        left = new_columns.get(key_of_name(column.name))
        if left is not None and (left.type, left.role, left.header) == (column.type, column.role, column.header):
            continue
        readers = [
            reader for reader in view.find(SOURCE_BY_READ, (key.name,)) if _loses(view, reader, key, (column, left))
        ]
        if not readers:
            continue
        readable = [
            _name(view, reader) for reader in readers if access is None or access.may_source("read", reader.name)
        ]
        later = "" if left is None else f"{left.name} {left.type}"
        yield LostColumn(column.name, column.type, later, tuple(sorted(readable)), len(readers) - len(readable))


def _loses(view: View, reader: SourceKey, key: SourceKey, change: tuple[SourceColumn, SourceColumn | None]) -> bool:
    """Whether the query of a reader loses a leaf of a column; a read without leaf columns needs all of them."""
    source = view.get(SOURCE, reader)
    if source is None or source.query is None:
        return False
    old, new = change
    for read in source.query.plan.reads:
        if source_key(read.source) != key:
            continue
        whole_column = print_path([old.name])
        paths = _list_paths(read.columns, old.name) if read.columns else [whole_column]
        if not paths:
            continue
        if new is None or (new.role, new.header) != (old.role, old.header):
            return True
        before, after = ((column.name, parse_column_type(column.type)) for column in (old, new))
        if find_lost_leaf([before], [after], paths) is not None:
            return True
    return False


def _list_paths(leaves: Sequence[str], name: str) -> list[str]:
    """Return the paths of leaves that lead to a column, or into it; a text that is no path is taken to read all of it."""
    paths: list[str] = []
    for leaf in leaves:
        try:
            path = parse_path(leaf)
        except ColumnTypeError:
            path = (name,)
        if key_of_name(path[0]) == key_of_name(name):
            paths.append(print_path(path))
    return paths


def _name(view: View, key: SourceKey) -> str:
    source = view.get(SOURCE, key)
    return key.name if source is None else source.name
