"""The statements that recreate the rows of a metastore, in the order in which they can be carried out."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.registry import Exchange
from treaty.core.sources import PAUSED, Source, SourceColumn, SourcePart
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.columns.from_schema import Side
from treaty.metastore.columns.sides import SideRequest, settle_side
from treaty.metastore.execution.pages import list_sources, list_types
from treaty.metastore.execution.source_printer import print_type, statement_of
from treaty.metastore.project.files import ProjectFile
from treaty.metastore.project.lock import schema_column
from treaty.metastore.project.objects import parse_project
from treaty.metastore.project.order import order_objects
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.statements import PauseStatement, ProtectStatement

FOLDERS = {"TYPE": "types", "STREAM": "streams", "TABLE": "tables"}
"""The folder of each kind in an export of files."""

FILE_CHARACTERS = 100
"""Characters of a name in the name of its file; a longer one is cut, and ends with its digest."""


@dataclass(frozen=True, slots=True)
class ExportedObject:
    """A type or source of an export: its name, its statements with their semicolons, and its file in a folder."""

    kind: str
    name: str
    text: str
    path: str


def export_objects() -> Exchange[tuple[ExportedObject, ...]]:
    """Return all types and sources that the caller may see, each after those that it needs.

    The streams of bad rows are left out: the source that they belong to makes them. A source whose columns are those of the
    schema that another exported source is bound to says none: two schemas of one subject would be made else.
    """
    exported: dict[str, ExportedObject] = {}
    for type_ in (yield from list_types()):
        text = f"{print_type(type_)};\n"
        exported[_path("TYPE", type_.name)] = ExportedObject("TYPE", type_.name, text, _path("TYPE", type_.name))
    sources = [source for source in (yield from list_sources()) if not source.origin]
    shared = yield from _find_shared_sides(sources)
    for source in sources:
        path = _path(source.kind, source.name)
        text = _print_all(source, {side for key, side in shared if key == key_of_name(source.name)})
        exported[path] = ExportedObject(source.kind, source.name, text, path)
    project = parse_project([ProjectFile(one.path, one.text) for one in exported.values()])
    return tuple(exported[described.file] for described in order_objects(project.objects))


def _find_shared_sides(sources: Sequence[Source]) -> Exchange[set[tuple[str, Side]]]:
    """Return keys of sources with the sides whose columns are taken from the schema of another source of the same subject."""
    groups: dict[tuple[Side, Subject], list[tuple[Source, SourcePart]]] = {}
    for source in sources:
        for side, part in _list_pinned(source):
            assert part.pin is not None, "a part with a pin"
            groups.setdefault((side, Subject(part.pin.context, part.pin.subject)), []).append((source, part))
    shared: set[tuple[str, Side]] = set()
    for (side, subject), members in groups.items():
        ways = {(part.format, part.pin, part.full_name) for _, part in members}
        if len(members) > 1 and len(ways) == 1 and all(source.query is None for source, _ in members):
            columns = yield from _read_columns(side, subject, members[0][1])
            same = [source for source, _ in members if _columns_of(source, side) == columns]
            owned = same if len(same) < len(members) else same[1:]
            shared |= {(key_of_name(source.name), side) for source in owned}
    return shared


def _list_pinned(source: Source) -> Iterator[tuple[Side, SourcePart]]:
    sides: tuple[tuple[Side, SourcePart | None], ...] = (("key", source.key), ("value", source.value))
    return ((side, part) for side, part in sides if part is not None and part.pin is not None)


def _read_columns(side: Side, subject: Subject, part: SourcePart) -> Exchange[tuple[SourceColumn, ...]]:
    """Return the columns that a source would take from the schema of a part; none where it can't be read."""
    assert part.pin is not None, "a part with a pin"
    request = SideRequest(side, "", subject, schema_id=part.pin.schema_id, full_name=part.full_name)
    try:
        settled = yield from settle_side(request)
    except Refusal:
        return ()
    return tuple(schema_column(column, side) for column in settled.columns)


def _columns_of(source: Source, side: Side) -> tuple[SourceColumn, ...]:
    return tuple(column for column in source.columns if column.role == side)


def _print_all(source: Source, shared: Collection[Side]) -> str:
    """Return the statements of a source: CREATE without the columns of some sides, and what stands beside it in its row."""
    statement = statement_of(source)
    columns = tuple(column for column in statement.columns if column.role not in shared)
    statements = [print_statement(replace(statement, columns=columns))]
    if source.protected:
        statements.append(print_statement(ProtectStatement(source.kind, source.name, protect=True)))
    if source.query is not None and source.desired == PAUSED:
        statements.append(print_statement(PauseStatement(source.name)))
    return "".join(f"{statement};\n" for statement in statements)


def _path(kind: str, name: str) -> str:
    """Return the file of an object: its key, with what is no plain character of a file name as percent and hex digits."""
    key = key_of_name(name)
    plain = quote(key, safe="").replace(".", "%2E")
    if len(plain) > FILE_CHARACTERS:
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        plain = f"{plain[:FILE_CHARACTERS]}-{digest}"
    return f"{FOLDERS[kind]}/{plain}.sql"
