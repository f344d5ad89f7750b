"""Statements that come again: what a command came to is known from its outcome, whatever became of the source since."""

from typing import Any

from treaty.core.messages.metastore.sources import SourceStored, digest_statement
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.outcomes import read_outcome
from treaty.core.refusals import NotFound
from treaty.core.registry import Exchange, request_answer
from treaty.metastore.execution.answers import Answer, describe_answer
from treaty.metastore.execution.context import StatementContext
from treaty.metastore.sql.script import ParsedStatement
from treaty.metastore.sql.statements import AddColumnsStatement, CreateSourceStatement, RefreshSchemaStatement

_OF_STATE = (CreateSourceStatement, AddColumnsStatement, RefreshSchemaStatement)
"""Statements whose commands depend on what they read, so that a repetition is another command."""


def recall_done(command_id: str) -> Exchange[Any]:
    """Return the answer that a command had; None where it is not remembered."""
    try:
        return read_outcome((yield from request_answer(GetOutcome(command_id))))
    except NotFound:
        return None


def recall_statement(parsed: ParsedStatement, command_id: str, context: StatementContext) -> Exchange[Answer | None]:
    """Return what the same statement came to by the same command id; None where it was not carried out yet."""
    value = parsed.value
    if not command_id or context.dry_run or not isinstance(value, _OF_STATE):
        return None
    if isinstance(value, CreateSourceStatement) and value.body:
        return None
    recalled = yield from recall_done(command_id)
    if not isinstance(recalled, SourceStored) or recalled.statement != _digest(parsed):
        return None
    return describe_answer(value, recalled, context)


def _digest(parsed: ParsedStatement) -> str:
    """Return the digest by which a repetition is known: another SET before a CREATE makes another statement of the same text."""
    value = parsed.value
    if not isinstance(value, CreateSourceStatement):
        return digest_statement(parsed.text)
    from treaty.metastore.definitions import cluster_of, has_bad_rows, own_properties  # noqa: PLC0415 (it derives schemas)

    return digest_statement(parsed.text, cluster_of(value), own_properties(value), bad_rows=has_bad_rows(value))
