"""Results of statements as rows, Arrow and HTML; and the errors of a script, each with its statement and place."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from treaty.core.refusals import Invalid, Reason, RegistryError
from treaty.light_dataclass import dataclass
from treaty.metastore.sql.diagnostics import MissingTypesError, SqlDiagnostic
from treaty.wire.statements import DiagnosticBody, FailedStatementBody, StatementResultBody

NOTEBOOK_ROWS = 100
"""Rows of a result that a notebook shows."""

Cell = str | int | bool | None
"""A value in a row of a result."""


@dataclass(frozen=True, slots=True)
class StatementResult:
    """What a statement came to.

    `statement` is its text, `kind` its first words (``CREATE STREAM``), `name` what it is about. `columns` and `rows` are those
    of listings. `sequence` is that of the state that the answer was taken from: its own commit, or a later one.
    """

    statement: str
    kind: str
    name: str = ""
    message: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    sequence: int = 0
    warnings: tuple[str, ...] = ()

    def to_arrow(self) -> Any:
        """Return the rows as a `pyarrow.Table`. Needs the extra ``arrow``."""
        from treaty.arrow.tables import table_of_rows  # noqa: PLC0415 - an extra of its own

        return table_of_rows(self.columns, self.rows)

    def to_pandas(self) -> Any:
        """Return the rows as a `pandas.DataFrame` whose columns are Arrow's. Needs the extra ``pandas``."""
        from treaty.arrow.tables import to_pandas  # noqa: PLC0415 - an extra of its own

        return to_pandas(self.to_arrow())

    def _repr_html_(self) -> str:
        """Return the message and the rows for a notebook."""
        message = f"<p>{_escape(self.message)}</p>" if self.message else ""
        if not self.columns:
            return message
        head = "".join(f"<th>{_escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell_html(cell)}</td>' for cell in row)}</tr>" for row in self.rows[:NOTEBOOK_ROWS]
        )
        more = len(self.rows) - NOTEBOOK_ROWS
        rest = f"<p>and {more:,} more rows</p>" if more > 0 else ""
        return f"{message}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _escape(text: str) -> str:
    from html import escape  # noqa: PLC0415 (its entities are large, and notebooks alone show pages)

    return escape(text)


def _cell_html(cell: Cell) -> str:
    if cell is None:
        return ""
    return _escape(str(cell).lower() if isinstance(cell, bool) else str(cell))


@dataclass(frozen=True, slots=True)
class FailedStatement:
    """The place of a statement of a script: its number from 0, offsets in code points, line and column from 1."""

    index: int
    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class ScriptOutcome:
    """The results of the statements that were carried out, and the error of the first one that was not, with its text.

    `place` is where it stands, for a script of one commit, of which nothing was carried out then.
    """

    results: tuple[StatementResult, ...]
    error: RegistryError | None = None
    failed: str = ""
    place: FailedStatement | None = None


class InvalidStatementError(Invalid):
    """A text has errors; `diagnostics` has all of them, with their places in the text that was sent."""

    def __init__(self, reason: Reason, diagnostics: Sequence[SqlDiagnostic] = ()) -> None:
        """Set the reason and the diagnostics."""
        super().__init__(reason)
        self.diagnostics = tuple(diagnostics)

    @classmethod
    def by(cls, diagnostics: Sequence[SqlDiagnostic]) -> "InvalidStatementError":
        """Return the error of a text with these diagnostics; its message is the first one's."""
        first = diagnostics[0]
        more = f" (and {len(diagnostics) - 1} more errors)" if len(diagnostics) > 1 else ""
        allowed = ", ".join(first.expected) or first.hint
        details = tuple(str(one) for one in diagnostics)
        return cls(Reason(first.code, f"{first}{more}", path="/sql", allowed=allowed, details=details), diagnostics)


@dataclass(slots=True)
class ResultRows:
    """Rows of a listing as they are found; the columns are their names."""

    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)

    def add(self, *cells: Any) -> None:
        """Add a row; its cells are in the order of the columns."""
        self.rows.append(cells)


def result_body(result: StatementResult) -> StatementResultBody:
    """Return a result as the body of an answer."""
    return StatementResultBody(
        result.statement, result.kind, result.name, result.message, list(result.columns),
        [list(row) for row in result.rows], result.sequence, list(result.warnings),
    )  # fmt: skip


def place_body(outcome: ScriptOutcome) -> FailedStatementBody | None:
    """Return where the statement of an outcome stands that failed, as a body."""
    place = outcome.place
    return None if place is None else FailedStatementBody(place.index, place.start, place.end, place.line, place.column)


def diagnostic_bodies(error: RegistryError) -> list[DiagnosticBody]:
    """Return the errors of a text as bodies of an answer; none for another error."""
    if not isinstance(error, InvalidStatementError | MissingTypesError):
        return []
    return [
        DiagnosticBody(
            diagnostic.code,
            diagnostic.message,
            diagnostic.start,
            diagnostic.end,
            diagnostic.line,
            diagnostic.column,
            list(diagnostic.expected),
            diagnostic.hint,
        )
        for diagnostic in error.diagnostics
    ]
