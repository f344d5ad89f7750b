"""The bodies of statements of SQL over HTTP: a script, its results, and its error."""

from typing import Any

from msgspec import Struct

PATH = "/metastore/v1/statements"
"""Where statements are sent, with POST."""
MEDIA = "application/json"


class StatementsBody(Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Statements of SQL with semicolons between them. `dryRun` checks everything and writes nothing. A statement with a query
    waits ``planningSeconds`` for its plan at most. With `atomic` all statements are one commit, or none is carried out.
    """

    sql: str
    dry_run: bool = False
    variables: dict[str, str] = {}
    planning_seconds: int = 60
    atomic: bool = False


class StatementResultBody(Struct, rename="camel"):
    """What a statement came to. `columns` and `rows` are those of listings, `sequence` is that of the state it answers from."""

    statement: str
    kind: str
    name: str = ""
    message: str = ""
    columns: list[str] = []
    rows: list[list[Any]] = []
    sequence: int = 0
    warnings: list[str] = []


class StatementResultsBody(Struct):
    """The results of all statements, in order."""

    results: list[StatementResultBody]


class DiagnosticBody(Struct, omit_defaults=True):
    """An error in a text: its code, place (offsets in code points, line and column from 1), what is expected, and a hint."""

    code: str
    message: str
    start: int = 0
    end: int = 0
    line: int = 0
    column: int = 0
    expected: list[str] = []
    hint: str = ""


class FailedStatementBody(Struct):
    """The place of a statement of a script: its number from 0, offsets in code points, line and column from 1."""

    index: int
    start: int
    end: int
    line: int
    column: int


class MetastoreErrorBody(Struct, omit_defaults=True):
    """An error: its code, a sentence, and the diagnostics of the text that was sent.

    `results` are those of the statements before the one that failed, which stay; `failed` is that statement. `place` is
    where it stands, for statements that are one commit: nothing of them was carried out.
    """

    code: str
    message: str
    diagnostics: list[DiagnosticBody] = []
    allowed: str = ""
    details: list[str] = []
    results: list[StatementResultBody] = []
    failed: str = ""
    place: FailedStatementBody | None = None
