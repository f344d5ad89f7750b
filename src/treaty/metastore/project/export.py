"""The statements that recreate the rows of a metastore, in the order in which they can be carried out."""

import hashlib
from dataclasses import dataclass
from urllib.parse import quote

from treaty.client.exchanges import Exchange
from treaty.core.sources import PAUSED, Source
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.pages import list_sources, list_types
from treaty.metastore.execution.source_printer import print_source, print_type
from treaty.metastore.project.files import ProjectFile
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

    The streams of bad rows are left out: the source that they belong to makes them.
    """
    exported: dict[str, ExportedObject] = {}
    for type_ in (yield from list_types()):
        text = f"{print_type(type_)};\n"
        exported[_path("TYPE", type_.name)] = ExportedObject("TYPE", type_.name, text, _path("TYPE", type_.name))
    for source in (yield from list_sources()):
        if not source.origin:
            path = _path(source.kind, source.name)
            exported[path] = ExportedObject(source.kind, source.name, _print_all(source), path)
    project = parse_project([ProjectFile(one.path, one.text) for one in exported.values()])
    return tuple(exported[described.file] for described in order_objects(project.objects))


def _print_all(source: Source) -> str:
    """Return the statements of a source: CREATE, and what stands beside it in its row."""
    statements = [print_source(source)]
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
