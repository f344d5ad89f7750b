"""PAUSE, RESUME, ROLLBACK, RESET CHECKPOINT, REFRESH and INSERT INTO ONCE: what becomes of the query of a source."""

from treaty.core.messages.metastore.sources import ChangeSource, SetSourceState, SourceStored
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import PAUSED, RUNNING
from treaty.metastore.execution.answers import Answer, describe_state
from treaty.metastore.execution.context import StatementContext
from treaty.metastore.sql.statements import OnceStatement, PauseStatement, RestartStatement, ResumeStatement

DONE = {
    "ROLLBACK": "goes back to the query before the last replacement",
    "RESET": "reads from the beginning again and keeps its rows: those that it writes again are there twice, unless they have a key",
    "REFRESH": "reads all again; its rows stay until the new ones are complete",
}
"""By way, what becomes of a query."""


def pause(statement: PauseStatement, context: StatementContext) -> Exchange[Answer]:
    """Stop the query of a source."""
    return (yield from _set_state(statement.name, PAUSED, context))


def resume(statement: ResumeStatement, context: StatementContext) -> Exchange[Answer]:
    """Let the query of a source continue."""
    return (yield from _set_state(statement.name, RUNNING, context))


def _set_state(name: str, state: str, context: StatementContext) -> Exchange[Answer]:
    stored: SourceStored = yield from request_answer(SetSourceState(name, state, context.dry_run))
    return describe_state(stored, state, context)


def insert_once(statement: OnceStatement, context: StatementContext) -> Exchange[Answer]:
    """Let a query be run once into a source."""
    from treaty.metastore.execution.planned import plan_once  # noqa: PLC0415 (what plans queries)

    stored, notes = yield from plan_once(statement, context)
    runs = "would be run" if context.dry_run else "is run"
    message = f"The query {runs} once into {stored.kind.lower()} {stored.name}, before its own query starts again"
    return stored.name, message, None, (*stored.notes, *notes)


def restart(statement: RestartStatement, context: StatementContext) -> Exchange[Answer]:
    """Give the query of a source another checkpoint."""
    request = ChangeSource(
        statement.name, context.text, restart=statement.way, cascade=statement.cascade, expected=context.expected,
        dry_run=context.dry_run,
    )  # fmt: skip
    stored = yield from request_answer(request)
    would = "would be changed" if context.dry_run else "is changed"
    message = f"{stored.kind.capitalize()} {stored.name} {would}: it {DONE[statement.way]}"
    return stored.name, message, None, stored.notes
