"""`Planner`: what plans the query of a CREATE, in this process or another; and how a job of the registry is answered by one."""

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

from treaty.core.column_types import parse_column_type, print_column_type
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore.plans import FinishPlanningJob, PlanningJobTaken, StatementFault, WaitingStatement
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, SourceDefinition
from treaty.core.messages.names import PinFound
from treaty.core.messages.schemas import Uses
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import Invalid, OutcomeUnknown, RegistryError, Unavailable
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import TABLE_KIND, QueryPlan, Source, SourceColumn
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.definitions import planned_request
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement, ExplainStatement, OnceStatement
from treaty.metastore.sql.values import HeadColumn

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query with its plan, and the columns of its output with their roles (value or key) and SQL types.

    `notes` are warnings for the sender of the statement.
    """

    plan: QueryPlan
    columns: tuple[HeadColumn, ...]
    notes: tuple[str, ...] = ()


class Planner(Protocol):
    """Plans queries."""

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        """Return the plan of the query of a statement. The requests that it yields are answered by the registry.

        Raises `InvalidStatementError` with all errors of a body, whose offsets are those of the body, and any refusal of the
        registry.
        """
        ...


def plan_statement(
    planner: Planner, statement: CreateSourceStatement | OnceStatement, text: str
) -> Exchange[tuple[CreateSource, tuple[str, ...]]]:
    """Return the request that creates what a statement with a query says, and notes about it."""
    source: Source | None = None
    if isinstance(statement, OnceStatement):
        source = (yield from request_answer(DescribeSource(statement.name))).source
    create = statement if isinstance(statement, CreateSourceStatement) else _create_of(statement, source)
    try:
        planned = yield from planner.plan(create)
    except InvalidStatementError as error:
        raise InvalidStatementError.by(_in_statement(error.diagnostics, statement, text)) from None
    if source is not None:
        return _once_request(source, text, planned), planned.notes
    request, notes = yield from planned_request(create, text, planned.columns, planned.plan)
    return request, (*planned.notes, *notes)


def _create_of(statement: OnceStatement, source: Source | None) -> CreateSourceStatement:
    """The CREATE whose query would be planned as one that is run once into a source."""
    assert source is not None, "who has no source has a CREATE"
    is_table = source.kind == TABLE_KIND
    key = tuple(
        HeadColumn(column.name, parse_column_type(column.type), "key", nullable=column.nullable)
        for column in source.columns
        if column.role == "key" and is_table
    )
    unbounded = (("ALLOW_UNBOUNDED_STATE", "true"),)  # it ends with the rows that are there
    return CreateSourceStatement(source.kind, source.name, key, unbounded, statement.body)


def _once_request(source: Source, text: str, planned: PlannedQuery) -> CreateSource:
    roles = {key_of_name(column.name): column.role for column in source.columns}
    columns = tuple(
        SourceColumn(
            column.name, print_column_type(column.type), column.nullable, roles.get(key_of_name(column.name), "value")
        )
        for column in planned.columns
    )
    definition = SourceDefinition(
        source.name, source.kind, text, columns, source.key, source.value, source.connector, source.cluster, source.place, query=planned.plan
    )  # fmt: skip
    return CreateSource(definition, replace=True, once=True)


def _in_statement(
    diagnostics: tuple[SqlDiagnostic, ...], statement: CreateSourceStatement | OnceStatement, text: str
) -> list[SqlDiagnostic]:
    """Return the errors of a body with the places that they have in the statement."""
    offset = max(0, text.rfind(statement.body))
    lines, before = text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)
    return [
        replace(
            diagnostic,
            start=diagnostic.start + offset,
            end=diagnostic.end + offset,
            line=diagnostic.line + lines,
            column=diagnostic.column + (before if diagnostic.line == 1 else 0),
        )
        for diagnostic in diagnostics
    ]


class AskedNames:
    """Names of the sources and subjects that a planner asked about, in order: the text of its refusal can name what they have."""

    def __init__(self) -> None:
        """Begin without names."""
        self.sources: dict[str, None] = {}
        self.subjects: dict[str, None] = {}

    def note(self, exchange: Exchange[A]) -> Exchange[A]:
        """Run an exchange, and note what its requests ask about and which subjects the answers name."""
        answer: Any = None
        error: RegistryError | None = None
        try:
            while True:
                request = exchange.send(answer) if error is None else exchange.throw(error)
                self._note_request(request)
                answer, error = None, None
                try:
                    answer = yield request
                except RegistryError as refused:
                    error = refused
                self._note_answer(answer)
        except StopIteration as end:
            value: A = end.value
            return value

    def _note_request(self, request: Any) -> None:
        if isinstance(request, DescribeSource):
            self.sources[request.name] = None
        subject = getattr(request, "subject", None)
        if isinstance(subject, Subject) and subject.name:
            self.subjects[str(subject)] = None

    def _note_answer(self, answer: Any) -> None:
        if isinstance(answer, Uses):
            self.subjects.update(dict.fromkeys(name for name, _ in answer.uses))
        version = answer.version if isinstance(answer, PinFound) else answer
        if isinstance(version, VersionFound):
            self.subjects[version.subject] = None


def answer_job(planner: Planner, job: WaitingStatement, job_taken: PlanningJobTaken) -> Exchange[FinishPlanningJob]:
    """Return the answer of a job: the source with its plan, or the refusal of its statement.

    Raises `Unavailable` and `OutcomeUnknown` where the registry can't be asked: the job is left to others.
    """
    answer = FinishPlanningJob(job_taken.name, job_taken.planner, job_taken.epoch)
    names_of_job = AskedNames()
    try:
        parsed = parse_script(job.statement)
        if parsed.diagnostics:
            raise InvalidStatementError.by(parsed.diagnostics)
        statement = parsed.statements[0].value
        assess = isinstance(statement, ExplainStatement) and job.dry_run
        if isinstance(statement, ExplainStatement) and assess:
            statement = explained_create(statement)
        if not isinstance(statement, CreateSourceStatement | OnceStatement) or not statement.body:
            raise Invalid.of(
                "STATEMENT_UNPLANNED",
                "The statement has no query",
                path="/sql",
                allowed="CREATE … AS, or INSERT INTO ONCE",
            )
        if isinstance(statement, CreateSourceStatement):
            statement = replace(statement, properties=job.properties)
        create, notes = yield from names_of_job.note(plan_statement(planner, statement, job.statement))
        create = replace(create, assess=assess and create.replace)
    except (Unavailable, OutcomeUnknown):
        raise
    except RegistryError as refused:
        faults = tuple(map(_fault, refused.diagnostics)) if isinstance(refused, InvalidStatementError) else ()
        return replace(
            answer, refusal=EntryRefusal.by(refused), faults=faults, sources=tuple(names_of_job.sources),
            subjects=tuple(names_of_job.subjects),
        )  # fmt: skip
    return replace(answer, create=create, notes=notes)


def _fault(diagnostic: SqlDiagnostic) -> StatementFault:
    return StatementFault(
        diagnostic.code,
        diagnostic.message,
        diagnostic.start,
        diagnostic.end,
        diagnostic.line,
        diagnostic.column,
        diagnostic.expected,
        diagnostic.hint,
    )


def explained_create(statement: ExplainStatement) -> CreateSourceStatement:
    """Return the CREATE that an EXPLAIN is about. Raises `Invalid` for an EXPLAIN of a name, and for a query that is none.

    A query alone fills a table where it groups rows, else a stream. The name is made from the text, so that it is the same for
    who asks and for the planner.
    """
    if statement.statement is not None:
        return statement.statement
    name = f"explain_{blake2b(statement.body.encode(), digest_size=6).hexdigest()}"
    parsed = parse_script(f"CREATE STREAMING TABLE {name} AS {statement.body}") if statement.body else None
    created = parsed.statements[0].value if parsed is not None and len(parsed.statements) == 1 else None
    if not isinstance(created, CreateSourceStatement):
        raise Invalid.of("STATEMENT_UNPLANNED", "EXPLAIN has no query to plan", path="/sql", allowed="EXPLAIN SELECT …")
    return replace(created, body=statement.body, final=statement.final)
