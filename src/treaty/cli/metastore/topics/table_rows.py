"""The rows of one SELECT FROM TABLE: read from a Delta table below the root of files, without Spark, as of one committed version."""

import base64
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from treaty.arrow.delta_log import (
    NeedsSparkError,
    NoTableError,
    find_version,
    list_delta_files,
    newest_version,
    read_columns,
)
from treaty.cli.metastore.result_printer import describe_failure
from treaty.cli.metastore.topics.record_session import RecordSettings
from treaty.cli.registry.connection import open_registry
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.connection import run_exchange
from treaty.core.column_types import lower_name, parse_column_type
from treaty.core.messages.metastore import DescribeSource
from treaty.core.refusals import Invalid, RegistryError
from treaty.core.sources import Source
from treaty.metastore.columns.source_refresh import read_user_types
from treaty.metastore.execution.results import diagnostic_bodies
from treaty.metastore.records.selection import RecordSelection, make_selection
from treaty.metastore.sql.script import ParsedStatement
from treaty.metastore.sql.statements import SelectRowsStatement
from treaty.wire.metastore import error_body, status_of
from treaty.wire.statements import StatementResultBody


def select_rows(parsed: ParsedStatement, settings: RecordSettings) -> StatementResultBody:
    """Return the rows that a statement selects, with the version of the table. Raises `FailedScriptError` and `UnusableError`."""
    statement = parsed.value
    assert isinstance(statement, SelectRowsStatement), "other statements read no table"
    try:
        with open_registry(settings.url) as found:
            source = found.ask(DescribeSource(statement.name)).answer.source
            kinds = [parse_column_type(one.type) for one in source.columns]
            types = run_exchange(found.registry, read_user_types(kinds)).expanded
        _refuse_other_connector(source)
        selection = make_selection(statement, source, types)
    except RegistryError as error:
        raise describe_failure(parsed.text, error_body(error, diagnostic_bodies(error)), status_of(error)) from error
    folder = _find_folder(source, settings.files)
    try:
        version = _find_version(statement, folder)
        rows = _list_rows(selection, folder, version)
        listed = [row for row, _ in zip(rows, range(statement.limit), strict=False)]
    except (NoTableError, NeedsSparkError) as error:
        raise UnusableError(str(error), "TABLE_UNREADABLE") from error
    result = StatementResultBody(parsed.text, "SELECT FROM TABLE", source.name)
    result.columns, result.rows, result.warnings = (
        list(selection.columns),
        listed,
        [f"version {version} of {source.place}"],
    )
    return result


def _refuse_other_connector(source: Source) -> None:
    if source.connector != "delta":
        raise Invalid.of(
            "SOURCE_CONNECTOR", f"{source.name} stands over {source.connector}, and rows are read from Delta tables", path="/sql",
            old=source.connector, allowed="PRINT name, for a topic",
        )  # fmt: skip


def _find_folder(source: Source, root: Path | None) -> Path:
    if root is None:
        message = f"{source.name} is a Delta table at {source.place}, below a root that is not known here: --files ROOT"
        raise UnusableError(message, "FILES_UNKNOWN")
    folder = (root / source.place.lstrip("/")).resolve()
    if not folder.is_relative_to(root.resolve()):
        message = f"the folder {source.place} of {source.name} is not below {root}"
        raise UnusableError(message, "PATH_OUTSIDE")
    return folder


def _find_version(statement: SelectRowsStatement, folder: Path) -> int:
    if statement.time:
        return find_version(folder, int(datetime.fromisoformat(statement.time).timestamp() * 1_000))
    return statement.version if statement.version >= 0 else newest_version(folder)


def _list_rows(selection: RecordSelection, folder: Path, version: int) -> Iterator[list[Any]]:
    """The selected rows, file by file: no more are read than are wanted."""
    wanted = {lower_name(name): name for name in selection.columns}
    columns = [*wanted.values(), *(name for name, _ in selection.conditions if name not in wanted)]
    for file in list_delta_files(folder, frozenset(columns), version):
        for row in read_columns([file], columns).to_pylist():
            cells = {lower_name(name): value for name, value in row.items()}
            if selection.is_met(cells):
                yield [_show(cell) for cell in selection.row(cells)]


def _show(value: Any) -> Any:
    """A cell as JSON has it: times in ISO 8601, decimals as text, bytes in base64, lists and objects as their JSON text."""
    if isinstance(value, dict | list):
        return screen.json_text(_plain(value))
    return _plain(value)


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {str(name): _plain(part) for name, part in value.items()}
        case list():
            return [_plain(part) for part in value]
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode()
    return value
