"""ASSERT SCHEMA: whether a schema is there, asked again until it is as the statement says or its time is over."""

from treaty.core.limits import ASSERT_SECONDS
from treaty.core.messages.schemas import UsesOf
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Conflicting, NotFound
from treaty.core.registry import Exchange, request_answer
from treaty.metastore.execution.answers import Answer, describe_assertion, describe_held
from treaty.metastore.execution.context import StatementContext
from treaty.metastore.records.steps import PauseStep
from treaty.metastore.sql.statements import AssertSchemaStatement

FIRST_PAUSE = 0.05
"""Seconds before a schema is looked for again; each further pause is longer, up to LONGEST_PAUSE."""
LONGEST_PAUSE = 1.0


class AssertFailedError(Conflicting):
    """What ASSERT says does not hold."""


def assert_schema(statement: AssertSchemaStatement, context: StatementContext) -> Exchange[Answer]:
    """Wait until a schema is there, or (NOT EXISTS) is not: for TIMEOUT, ASSERT_SECONDS at most; a dry run does not wait.

    Raises `AssertFailedError` where it does not hold at the end.
    """
    left = 0.0 if context.dry_run else min(statement.timeout / 1_000, ASSERT_SECONDS)
    pause = FIRST_PAUSE
    while (yield from _has_schema(statement)) is not statement.exists:
        if left <= 0:
            what = describe_assertion(statement)
            raise AssertFailedError.of(
                "ASSERT_FAILED",
                f"A schema with {what} {'does not exist' if statement.exists else 'exists'}",
                path="/sql",
                new=what,
                allowed=f"TIMEOUT with a longer time, if it is still to {'come' if statement.exists else 'go'}",
            )
        seconds = min(pause, left)
        yield from request_answer(PauseStep(seconds))
        left, pause = left - seconds, min(pause * 2, LONGEST_PAUSE)
    return describe_held(statement)


def _has_schema(statement: AssertSchemaStatement) -> Exchange[bool]:
    subject = subject_of(statement.subject)
    try:
        if not statement.schema_id:
            yield from request_answer(GetVersion(subject, -1))
            return True
        uses = yield from request_answer(UsesOf(statement.schema_id, subject))
    except NotFound:
        return False
    return not statement.subject or any(subject_of(name) == subject for name, _ in uses.uses)
