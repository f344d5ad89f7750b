"""The rows of one SELECT FROM TABLE: read from a Delta table below the root of files, without Spark where that can be, as of one committed version
or as one batch has written them.
"""

import base64
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treaty.arrow.delta_log import (
    NeedsSparkError,
    NoTableError,
    OutsideFileError,
    find_version,
    list_delta_files,
    newest_version,
    read_columns,
)
from treaty.arrow.delta_rows import write_stream
from treaty.cli.metastore.result_printer import describe_failure
from treaty.cli.metastore.topics.record_session import LINES, RecordSettings
from treaty.cli.registry.connection import open_registry
from treaty.cli.spark import is_verbose, needs_jvm, needs_spark
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.core.column_types import lower_name
from treaty.core.limits import RESULT_ROWS
from treaty.core.refusals import RegistryError
from treaty.core.registry import run_exchange
from treaty.core.sources import Source
from treaty.metastore.bad_rows import name_folder
from treaty.metastore.execution.results import diagnostic_bodies
from treaty.metastore.records.selection import RecordSelection
from treaty.metastore.records.tables import TablePlace, find_folder, read_selected, select_source
from treaty.metastore.sql.script import ParsedStatement
from treaty.metastore.sql.statements import SelectRowsStatement
from treaty.wire.metastore import error_body, status_of
from treaty.wire.statements import StatementResultBody

if TYPE_CHECKING:
    from treaty.arrow.delta_rows import DeltaRows


def select_rows(parsed: ParsedStatement, settings: RecordSettings) -> StatementResultBody | None:
    """Return the rows that a statement selects, with the version of the table; None where they were written to stdout.

    Raises `FailedScriptError` and `UnusableError`.
    """
    statement = parsed.value
    assert isinstance(statement, SelectRowsStatement), "other statements read no table"
    try:
        with open_registry(settings.url) as client:
            source, selection = run_exchange(client.registry, select_source(statement))
        folder = find_folder(source, _need_root(source, settings.files))
    except RegistryError as error:
        raise describe_failure(parsed.text, error_body(error, diagnostic_bodies(error)), status_of(error)) from error
    place = TablePlace(statement.version, statement.time, settings.batch)
    try:
        if not settings.rows_as and not place.reads_batch:
            listed, note = _list_first(statement, source, selection, folder)
            return _make_result(parsed, source, selection, listed, note)
        rows = read_selected(source, selection, folder, place)
    except OutsideFileError as error:
        raise _refuse_outside(error) from error
    except NeedsSparkError as reason:
        rows = _read_by_spark(source, selection, folder, place, reason)
    except NoTableError as error:
        raise UnusableError(str(error), "TABLE_UNREADABLE") from error
    note = _describe(rows, source)
    if settings.rows_as:
        _write_rows(rows, settings.rows_as, statement.limit)
        screen.say(f"note: {note}", err=True)
        return None
    limit = statement.limit if statement.limit >= 0 else RESULT_ROWS
    listed = [[_show(cell) for cell in row.values()] for row in rows.table.slice(0, limit).to_pylist()]
    return _make_result(parsed, source, selection, listed, note)


def _make_result(
    parsed: ParsedStatement, source: Source, selection: RecordSelection, rows: list[list[Any]], note: str
) -> StatementResultBody:
    result = StatementResultBody(parsed.text, "SELECT FROM TABLE", source.name)
    result.columns, result.rows, result.warnings = list(selection.columns), rows, [note]
    return result


def _describe(rows: "DeltaRows", source: Source) -> str:
    """What was read, and by what."""
    batch = f"batch {rows.batch}, which is " if rows.batch >= 0 else ""
    deleted = f"; the batch has deleted {rows.deleted} rows too" if rows.deleted else ""
    needed = f"; read by Spark, as {rows.needed}" if rows.needed else ""
    return f"{batch}version {rows.version} of {name_folder(source)}{deleted}{needed}"


def _need_root(source: Source, root: Path | None) -> Path:
    if root is None:
        message = f"{source.name} is a Delta table at {name_folder(source)}, below a root that is not known here: --files ROOT"
        raise UnusableError(message, "FILES_UNKNOWN")
    return root


def _list_first(
    statement: SelectRowsStatement, source: Source, selection: RecordSelection, folder: Path
) -> tuple[list[list[Any]], str]:
    """The first selected rows of a version, file by file, so that no more are read than are wanted; and what was read."""
    if statement.time:
        version = find_version(folder, int(datetime.fromisoformat(statement.time).timestamp() * 1_000))
    else:
        version = statement.version if statement.version >= 0 else newest_version(folder)
    limit = statement.limit if statement.limit >= 0 else RESULT_ROWS
    listed = [row for row, _ in zip(_list_rows(selection, folder, version), range(limit + 1), strict=False)]
    cut = f"; the first {limit:,} rows, and there are more" if len(listed) > limit and statement.limit < 0 else ""
    return listed[:limit], f"version {version} of {name_folder(source)}{cut}"


def _list_rows(selection: RecordSelection, folder: Path, version: int) -> Iterator[list[Any]]:
    names = {lower_name(name): name for name in selection.columns}
    columns = [*names.values(), *(name for name, _ in selection.conditions if name not in names)]
    for file in list_delta_files(folder, frozenset(columns), version):
        for row in read_columns([file], columns).to_pylist():
            cells = {lower_name(name): value for name, value in row.items()}
            if selection.is_met(cells):
                yield [_show(cell) for cell in selection.row(cells)]


def _read_by_spark(
    source: Source, selection: RecordSelection, folder: Path, place: TablePlace, reason: NeedsSparkError
) -> "DeltaRows":
    """Read with Spark what can't be read without. Raises `UnusableError` where there is none, and for a batch."""
    if place.reads_batch:
        raise UnusableError(f"{reason}, and a batch of it can't be read: leave --batch out", "TABLE_UNREADABLE")
    screen.say(f"note: {reason}, so that Spark reads the table; it starts now", err=True)
    with ExitStack() as stack:
        stack.enter_context(needs_spark())
        from treaty.spark.session import session  # noqa: PLC0415 (it loads Spark)

        stack.enter_context(needs_jvm())
        spark = session("treaty sql", verbose=is_verbose())
    try:
        return read_selected(source, selection, folder, place, spark)
    except OutsideFileError as error:
        raise _refuse_outside(error) from error
    except NoTableError as error:
        raise UnusableError(str(error), "TABLE_UNREADABLE") from error
    finally:
        spark.stop()


def _refuse_outside(error: OutsideFileError) -> UnusableError:
    message = f"{error}: a table below --files ROOT has all its files in its folder, and others are not read"
    return UnusableError(message, "TABLE_UNREADABLE")


def _write_rows(rows: "DeltaRows", form: str, limit: int) -> None:
    """Write rows to stdout: an object of JSON for each line, or one Arrow IPC stream."""
    table = rows.table if limit < 0 else rows.table.slice(0, limit)
    if form != LINES:
        write_stream(table, sys.stdout.buffer)
        return
    for batch in table.to_batches(max_chunksize=RESULT_ROWS):
        for row in batch.to_pylist():
            screen.say_text(screen.json_text(_to_json_value(row)))


def _show(value: Any) -> Any:
    """A cell as JSON has it: times in ISO 8601, decimals as text, bytes in base64, lists and objects as their JSON text."""
    if isinstance(value, dict | list):
        return screen.json_text(_to_json_value(value))
    return _to_json_value(value)


def _to_json_value(value: Any) -> Any:
    match value:
        case dict():
            return {str(name): _to_json_value(part) for name, part in value.items()}
        case list():
            return [_to_json_value(part) for part in value]
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode()
    return value
