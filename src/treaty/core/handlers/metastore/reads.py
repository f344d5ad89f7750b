"""What queries read: sources as they were when the query was planned, or, of a query that comes back, as it left them."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from treaty.core.access.permissions import TOPIC as TOPIC_KIND
from treaty.core.access.permissions import RequiredPermission, refuse_unless_met
from treaty.core.access.rights import Access, TopicPart
from treaty.core.access.source_permissions import on_path
from treaty.core.column_types import ColumnTypeError, SqlType, parse_column_type, print_column_type
from treaty.core.column_types.leaf_paths import list_read_leaves, lower_path, parse_path, print_path
from treaty.core.column_types.tokens import print_name
from treaty.core.command import Command
from treaty.core.handlers.metastore.names import expand_text, find_dropped, nearest_name, source_key, source_not_found
from treaty.core.handlers.metastore.pins import is_kept
from treaty.core.refusals import InvalidSource, NotLatest, SourceNotFound
from treaty.core.sources import DroppedSource, SchemaPin, Source, SourceRead
from treaty.core.state.codec import dumps
from treaty.core.state.metastore.indexes import reads_of
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.view import View

PLAN_AGAIN = "plan the query again"
"""The remedy of every refusal of a plan that was right when it was made: `NotLatest` with this remedy."""


def refuse_unfit_reads(view: View, command: Command[Any], reads: Sequence[SourceRead], own: SourceKey) -> None:
    """Raise the refusal of a query that reads what is missing, what is another source since it was planned, or itself.

    A plan has paths, types and pins of what it reads, so that it holds for one generation and revision alone.
    """
    for place, read in enumerate(reads):
        path = f"/definition/query/reads/{place}"
        if source_key(read.source) == own:
            raise InvalidSource.of(
                "READ_ITSELF",
                f"The query reads {read.source}, which it makes",
                path=path,
                new=read.source,
                allowed="another source",
            )
        stored = _find_read(view, command, read, path)
        if stored.generation != read.generation:
            raise _other_generation(stored, read, path, "since the query was planned", PLAN_AGAIN)
        if stored.revision != read.revision:
            raise NotLatest.of(
                "READ_REVISION",
                f"{stored.name} was changed since the query was planned",
                path=path,
                old=f"revision {stored.revision}",
                new=f"revision {read.revision}",
                allowed=PLAN_AGAIN,
            )
        _refuse_without_rights(command, stored, path, "create-source")
        if not _pins_of_read(read) <= _own_pins(stored):
            raise NotLatest.of(
                "READ_PIN",
                f"{stored.name} is read by another schema now than the query was planned with",
                path=path,
                allowed=PLAN_AGAIN,
            )


def read_again(view: View, command: Command[Any], gone: DroppedSource) -> tuple[SourceRead, ...]:
    """Return what the query of a dropped source reads, bound to the sources as they are now.

    Each must be the source that it was, or that one brought back, with the leaf columns that were read, and the versions
    that they were read by must be there. Raises `SourceNotFound` and `NotLatest`.
    """
    again = []
    for place, read in enumerate(reads_of(gone.source)):
        path = f"/definition/query/reads/{place}"
        stored = _find_read(view, command, read, path)
        if read.generation not in (stored.generation, *stored.former):
            when = f"since {gone.source.name} was dropped"
            raise _other_generation(stored, read, path, when, "CREATE it again")
        _refuse_without_rights(command, stored, path, "undrop-source")
        if gone.reads[place] != digest_read(view, stored, read):
            raise NotLatest.of(
                "READ_COLUMNS",
                f"{stored.name} has other columns than {gone.source.name} read when it was dropped",
                path=path,
                old=", ".join(read.columns) or "all columns",
                allowed="CREATE it again, with a query over the columns of now",
            )
        if not all(pin in _own_pins(stored) or is_kept(view, pin) for pin in _pins_of_read(read)):
            raise NotLatest.of(
                "READ_PIN",
                f"A schema by which {gone.source.name} read {stored.name} was deleted since it was dropped",
                path=path,
                allowed="CREATE it again",
            )
        again.append(replace(read, generation=stored.generation, revision=stored.revision))
    return tuple(again)


def digest_read(view: View, stored: Source, read: SourceRead) -> str:
    """Return the digest of the leaf columns that are read of a source: first 16 hex digits of the SHA-256 over their paths,
    types and places in a record. User types count as what they are.
    """
    places = {column.name.lower(): [column.role, column.header] for column in stored.columns}
    columns = [(column.name, _expand(view, column.type)) for column in stored.columns]
    paths = read.columns if all(map(_is_path, read.columns)) else ()
    leaves = list_read_leaves(columns, paths or [print_path((column.name,)) for column in stored.columns])
    entries = sorted(
        [[*lower_path(path)], [*kinds], print_column_type(kind), *places[path[0].lower()]]
        for path, kinds, kind in leaves
    )
    return hashlib.sha256(dumps(entries).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def digest_reads(view: View, source: Source) -> tuple[str, ...]:
    """Return the digest of each read of a source's query, as the sources are now."""
    pairs = ((read, view.get(SOURCE, source_key(read.source))) for read in reads_of(source))
    return tuple("" if source is None else digest_read(view, source, read) for read, source in pairs)


def _expand(view: View, text: str) -> SqlType:
    return parse_column_type(expand_text(view, text))


def _is_path(text: str) -> bool:
    try:
        return bool(parse_path(text))
    except ColumnTypeError:
        return False


def _find_read(view: View, command: Command[Any], read: SourceRead, path: str) -> Source:
    stored = view.get(SOURCE, source_key(read.source))
    if stored is not None:
        return stored
    missing = source_not_found(view, read.source, path, "READ_NOT_FOUND")
    near = nearest_name(view, command.access, read.source)
    gone = find_dropped(view, command, source_key(read.source))
    remedy = missing.reason.allowed
    if gone is not None and gone.source.generation == read.generation:
        remedy = f"UNDROP {gone.source.kind} {print_name(gone.source.name)} first"
    elif near:
        remedy = f"did you mean {near}?"
    raise SourceNotFound(replace(missing.reason, allowed=remedy))


def _other_generation(stored: Source, read: SourceRead, path: str, when: str, remedy: str) -> NotLatest:
    return NotLatest.of(
        "READ_GENERATION",
        f"{stored.name} was dropped and created again {when}",
        path=path,
        old=str(stored.generation),
        new=str(read.generation),
        allowed=remedy,
    )


def _refuse_without_rights(command: Command[Any], stored: Source, path: str, operation: str) -> None:
    if command.access is not None:
        refuse_without_topic(command.access, command.principal, stored, path, operation)


def refuse_without_topic(access: Access, principal: str, stored: Source, path: str, operation: str) -> None:
    """Raise `Forbidden` for a principal who may not query the topic or folder of a source."""
    if stored.connector != "kafka" and stored.place:
        refuse_unless_met(access, principal, (on_path("query", stored.place, path),), operation)
    if stored.connector == "kafka" and stored.place:
        need = RequiredPermission(("query",), TOPIC_KIND, TopicPart(stored.place, "", "value"), path)
        refuse_unless_met(access, principal, (need,), operation)


def _pins_of_read(read: SourceRead) -> set[SchemaPin]:
    return {pin for pin in (read.key, read.value) if pin is not None}


def _own_pins(source: Source) -> set[SchemaPin]:
    return {part.pin for part in (source.key, source.value) if part is not None and part.pin is not None}
