"""What statements came to, in words: from the answers of their commands, also from those that are remembered."""

from typing import Any

from treaty.core.column_types.tokens import print_text
from treaty.core.messages.metastore.sources import SourcesDropped, SourceStored, TypeDropped, TypeStored
from treaty.core.refusals import NotLatest
from treaty.core.sources import PAUSED
from treaty.metastore.execution.context import StatementContext
from treaty.metastore.execution.results import ResultRows
from treaty.metastore.sql import statements as s
from treaty.metastore.sql.values import format_time

Answer = tuple[str, str, ResultRows | None, tuple[str, ...]]
"""Name, message, rows if there are any, and warnings."""


def describe_outcome(outcome: str, context: StatementContext) -> str:
    """Return what was done, or would be in a dry run."""
    return f"would be {outcome}" if context.dry_run else outcome


def describe_stored(
    stored: SourceStored, context: StatementContext, notes: tuple[str, ...] = (), created: str = "created"
) -> Answer:
    """Describe a source that was created or changed; `created` is the word for one that was not there."""
    kind = stored.kind.capitalize()
    outcome = created if stored.created else "changed" if stored.replaced else "unchanged"
    words = outcome if outcome == "unchanged" else describe_outcome(outcome, context)
    also = f", and {', '.join(stored.also)}" if stored.also else ""
    return stored.name, f"{kind} {stored.name} {words}{also}", None, (*stored.notes, *notes)


def describe_swap(stored: SourceStored, context: StatementContext) -> Answer:
    """Describe two sources that exchanged their names."""
    outcome = "would be exchanged" if context.dry_run else "are exchanged"
    return stored.name, f"The names of {' and '.join((*stored.also, stored.name))} {outcome}", None, stored.notes


def describe_state(stored: SourceStored, state: str, context: StatementContext) -> Answer:
    """Describe a query that is to run, or to pause."""
    verb = "would be" if context.dry_run else "is"
    return stored.name, f"The query of {stored.name} {verb} {state.lower()}", None, ()


def describe_dropped(statement: s.DropSourceStatement, dropped: SourcesDropped, context: StatementContext) -> Answer:
    """Describe what a DROP took or would take. Raises `NotLatest` where a CASCADE is to be confirmed first."""
    if not dropped.names:
        return statement.name, f"{statement.name} does not exist", None, ()  # its note says the same
    listing = ResultRows(("name", "kind", "needs", "effect", "depth"))
    for dependent in dropped.closure:
        listing.add(dependent.name, dependent.kind, dependent.needs, "goes along", dependent.depth)
    names = ", ".join(dropped.names)
    if dropped.dropped:
        topic = f"; its topic goes after {format_time(dropped.topic_due)}" if dropped.topic_due else ""
        return statement.name, f"{names} dropped{topic}", listing, dropped.notes
    if not context.dry_run:
        raise NotLatest.of(
            "CASCADE_DIGEST",
            f"CASCADE takes {names}; nothing is dropped yet",
            path="/sql",
            new=names,
            allowed=f"the statement with CASCADE DIGEST '{dropped.digest}'",
        )
    digest = f"; confirm with CASCADE DIGEST '{dropped.digest}'" if statement.cascade else ""
    return statement.name, f"{names} would be dropped{digest}", listing, dropped.notes


def describe_type(stored: TypeStored, context: StatementContext) -> Answer:
    """Describe a type that was created."""
    note = () if stored.created else (f"There is a type {stored.name} already",)
    outcome = describe_outcome("created", context) if stored.created else "unchanged"
    return stored.name, f"Type {stored.name} {outcome}", None, note


def describe_dropped_type(dropped: TypeDropped, context: StatementContext) -> Answer:
    """Describe a type that was dropped."""
    outcome = describe_outcome("dropped", context) if dropped.dropped else "does not exist"
    return dropped.name, f"Type {dropped.name} {outcome}", None, ()


def describe_assertion(statement: s.AssertSchemaStatement) -> str:
    """Return what ASSERT SCHEMA is about."""
    subject = f"subject {statement.subject}" if statement.subject else ""
    number = f"id {statement.schema_id}" if statement.schema_id else ""
    return " ".join(filter(None, (subject, number)))


def describe_held(statement: s.AssertSchemaStatement) -> Answer:
    """Describe an assertion that holds."""
    outcome = "exists" if statement.exists else "does not exist"
    return statement.subject, f"A schema with {describe_assertion(statement)} {outcome}", None, ()


def describe_setting(statement: Any) -> Answer:
    """Describe what DEFINE, UNDEFINE, SET and UNSET leave for the rest of the script; empty for other statements."""
    if not isinstance(statement, s.DefineStatement | s.UndefineStatement | s.SetStatement | s.UnsetStatement):
        return "", "", None, ()
    value = getattr(statement, "value", None)
    is_variable = isinstance(statement, s.DefineStatement | s.UndefineStatement)
    name = f"${{{statement.name}}}" if is_variable else statement.name
    holds = f"stands for {print_text(value)}" if is_variable and value is not None else f"= {print_text(value or '')}"
    if value is None:
        return statement.name, f"{name} is not set", None, ()
    return statement.name, f"{name} {holds}{'' if is_variable else ' in the CREATE statements that follow'}", None, ()


def describe_answer(statement: s.SqlStatement, answer: Any, context: StatementContext) -> Answer:
    """Describe the answer of the command of a statement; None is that of an assertion, and of one without a command."""
    match statement, answer:
        case s.DropSourceStatement(), SourcesDropped():
            return describe_dropped(statement, answer, context)
        case s.PauseStatement() | s.ResumeStatement(), SourceStored():
            return describe_state(answer, PAUSED if isinstance(statement, s.PauseStatement) else "RUNNING", context)
        case s.UndropStatement(), SourceStored():
            return describe_stored(answer, context, created="restored")
        case s.SwapStatement(), SourceStored():
            return describe_swap(answer, context)
        case _, SourceStored():
            return describe_stored(answer, context)
        case _, TypeStored():
            return describe_type(answer, context)
        case _, TypeDropped():
            return describe_dropped_type(answer, context)
        case s.AssertSchemaStatement(), _:
            return describe_held(statement)
        case _:
            return describe_setting(statement)
