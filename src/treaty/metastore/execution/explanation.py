"""EXPLAIN: what a query reads, what comes out, its key and the state that it keeps; nothing is written."""

from collections.abc import Iterator
from dataclasses import replace

from treaty.core.column_types.tokens import print_name
from treaty.core.messages.metastore.assessments import ChangeAssessment, LostColumn
from treaty.core.messages.metastore.plans import PlannedSource
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import Invalid
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead, StateFingerprint
from treaty.metastore.compared_results import list_comparison
from treaty.metastore.definitions import define_source, find_existing
from treaty.metastore.execution.context import PlanningOptions
from treaty.metastore.execution.planned import plan_create
from treaty.metastore.execution.planner import explained_create
from treaty.metastore.execution.results import ResultRows
from treaty.metastore.sql.statements import CreateSourceStatement, ExplainStatement
from treaty.metastore.sql.values import ComparedRange

EXPLAIN_COLUMNS = ("part", "name", "detail")
DIGEST_CHARACTERS = 16
"""Characters of a digest of a fingerprint that are shown."""
_WORDS = {"changes": "its changes", "table": "its newest rows"}
MEANINGS = {
    "new": "there is no source of this name: it would be created",
    "same": "nothing would change",
    "compatible": "the query continues from its checkpoint",
    "source change": "it reads other sources than its checkpoint has offsets of",
    "stateful change": "its state is made in another way than that in its checkpoint",
}
"""What the kinds of changes mean."""
Explained = tuple[str, ResultRows, tuple[str, ...]]
"""Name of the source, rows and notes."""


def explain(statement: ExplainStatement, text: str, options: PlanningOptions) -> Exchange[Explained]:
    """Return the plan of a source, or of a statement or query that is planned as a dry run, with notes.

    Raises `Invalid` for a source without a query, and what a CREATE of the statement would be refused with.
    """
    if statement.name:
        return (yield from _explain_source(statement.name))
    created = explained_create(statement)
    if statement.compare is not None:
        return (yield from _compare(created, statement.compare, text, options))
    if not created.body:
        return (yield from _explain_head(created, text))
    assess = created.or_replace
    stored, planned, notes = yield from plan_create(created, text, options, dry_run=True, assess=assess)
    listing = ResultRows(EXPLAIN_COLUMNS)
    for row in () if stored.assessment is None else _list_assessment_rows(stored.assessment):
        listing.add(*row)
    for row in () if planned is None else _list_rows(planned):
        listing.add(*row)
    return ("" if statement.body else stored.name), listing, (*stored.notes, *notes)


def _compare(
    created: CreateSourceStatement, compared: ComparedRange, text: str, options: PlanningOptions
) -> Exchange[Explained]:
    """Say what a change does, and how the rows of the new query differ from those of the one that is there."""
    if options.comparer is None:
        raise Invalid.of(
            "COMPARE_ELSEWHERE", "COMPARE runs both queries, and here is no Spark with their data", path="/sql", new=created.name,
            allowed="treaty sql --planner local with --files ROOT, the root of the folders that PATH names, and --cluster NAME=FILE for topics",
        )  # fmt: skip
    source = (yield from request_answer(DescribeSource(created.name))).source
    if source.query is None or not created.body:
        subject = source.name if source.query is None else "the new definition"
        raise Invalid.of(
            "QUERY_ABSENT", f"{subject} has no query, and COMPARE is about two of them", path="/sql", new=source.name,
            allowed=f"EXPLAIN REPLACE CREATE {source.kind} {source.name} …, without COMPARE",
        )  # fmt: skip
    stored, planned, notes = yield from plan_create(created, text, options, dry_run=True, assess=True)
    assert planned is not None, "a dry run returns what was planned"
    comparison = options.comparer.compare(source, planned, compared)
    listing = ResultRows(EXPLAIN_COLUMNS)
    assessed = () if stored.assessment is None else _list_assessment_rows(stored.assessment)
    for row in (*assessed, *list_comparison(comparison)):
        listing.add(*row)
    return stored.name, listing, (*stored.notes, *notes, *comparison.notes)


def _explain_source(name: str) -> Exchange[Explained]:
    source = (yield from request_answer(DescribeSource(name))).source
    if source.query is None:
        raise Invalid.of(
            "QUERY_ABSENT", f"{source.name} has no query: records come into it from outside", path="/sql", new=source.name,
            allowed=f"DESCRIBE {print_name(source.name)} EXTENDED",
        )  # fmt: skip
    listing = ResultRows(EXPLAIN_COLUMNS)
    for row in _list_rows(PlannedSource(source.kind, source.columns, source.query.plan)):
        listing.add(*row)
    return source.name, listing, ()


def _explain_head(created: CreateSourceStatement, text: str) -> Exchange[Explained]:
    """Show the columns that a CREATE without a query comes to."""
    listing = ResultRows(EXPLAIN_COLUMNS)
    existing = yield from find_existing(created)
    if existing is not None:
        return existing.name, listing, existing.notes
    request, notes = yield from define_source(created, text)
    stored = yield from request_answer(replace(request, dry_run=True, assess=created.or_replace))
    for row in () if stored.assessment is None else _list_assessment_rows(stored.assessment):
        listing.add(*row)
    for row in _list_rows(PlannedSource(request.definition.kind, request.definition.columns)):
        listing.add(*row)
    return stored.name, listing, (*stored.notes, *notes)


def _list_rows(planned: PlannedSource) -> Iterator[tuple[str, str, str]]:
    yield "kind", "", planned.kind
    if planned.query is not None:
        yield from map(_read_row, planned.query.reads)
    yield from map(_column_row, planned.columns)
    if planned.query is not None:
        yield from _plan_rows(planned.query)


def _read_row(read: SourceRead) -> tuple[str, str, str]:
    columns = f": {', '.join(read.columns)}" if read.columns else ", no column"
    return "reads", read.spelling or read.source, f"{_WORDS.get(read.mode, read.mode)}{columns}"


def _column_row(column: SourceColumn) -> tuple[str, str, str]:
    null = "" if column.nullable else " NOT NULL"
    role = "" if column.role == "value" else f" {column.role.upper()}"
    return "column", column.name, f"{column.type}{null}{role}"


def _plan_rows(plan: QueryPlan) -> Iterator[tuple[str, str, str]]:
    if plan.key:
        yield "key", "", ", ".join(plan.key)
    yield "output mode", "", plan.output_mode
    yield "state", "", _describe_state(plan.fingerprint)
    for name, value in plan.settings:
        yield "setting", name, value
    if plan.engine:
        yield "engine", "", plan.engine


def _describe_state(state: StateFingerprint) -> str:
    """Return the digests by which a replacing query keeps the state or not."""
    if not state.plan:
        return "none"
    return f"plan {state.plan[:DIGEST_CHARACTERS]}, stores {state.stores[:DIGEST_CHARACTERS]}"


def _list_assessment_rows(assessment: ChangeAssessment) -> Iterator[tuple[str, str, str]]:
    """The rows of an assessment: the kind of the change and its reasons, the columns that readers lose, what the compatibility
    level says of the schema, whether CREATE OR REPLACE is accepted, and what to do instead.
    """
    yield "change", assessment.kind, MEANINGS[assessment.kind]
    yield from (("reason", "", reason) for reason in assessment.reasons)
    yield from map(_lost_row, assessment.lost)
    if assessment.policy:
        yield "schema", "", assessment.policy
    answer = "unchanged" if assessment.kind == "same" else "accepted"
    if assessment.refused:
        answer = "refused"
    yield "answer", answer, f"what CREATE OR REPLACE would be: {answer}"
    yield from (("way out", str(number), way) for number, way in enumerate(assessment.ways, 1))


def _lost_row(lost: LostColumn) -> tuple[str, str, str]:
    readers = ", ".join(lost.readers)
    hidden = f"{lost.hidden} that you may not see" if lost.hidden else ""
    becomes = f"becomes {lost.new}" if lost.new else "goes"
    return "reader loses", lost.column, f"{lost.old} {becomes}; read by {' and '.join(filter(None, (readers, hidden)))}"
