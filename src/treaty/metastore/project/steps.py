"""The steps of a plan are found: each object of a project is compared with its row, and carried out dry."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from treaty.core.column_types import ColumnTypeError, print_column_type
from treaty.core.column_types.tokens import print_name
from treaty.core.handlers.metastore.definitions import BAD_SUFFIX
from treaty.core.messages.metastore import CreateSource, ExpectedSource
from treaty.core.refusals import NotFound, Reason, Refusal, Unavailable
from treaty.core.registry import Exchange
from treaty.core.sources import RUNNING, Source, StoredType
from treaty.core.state.metastore.indexes import reads_of
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.context import ASK_PLANNERS, PlanningOptions, StatementContext
from treaty.metastore.execution.pages import list_sources, list_types
from treaty.metastore.execution.planner import plan_statement
from treaty.metastore.execution.source_printer import print_source, print_type
from treaty.metastore.project.commits import preview_plan
from treaty.metastore.project.comparison import (
    find_new_print,
    find_property_changes,
    is_same_query,
    is_same_type,
    list_differences,
    pin_sides,
    print_type_statement,
    with_label,
    with_type_label,
)
from treaty.metastore.project.drops import DropChoice, plan_drops, plan_type_drops
from treaty.metastore.project.objects import ObjectKey, ProjectObject, SqlProject
from treaty.metastore.project.order import find_needs, order_objects
from treaty.metastore.project.plan import CHANGE, CREATE, KEEP, WAITING, PlannedStep, ProjectPlan, kind_of_object
from treaty.metastore.project.planned_rows import PlannedRows
from treaty.metastore.script_run import run_statement
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.properties import LABEL
from treaty.metastore.sql.script import ParsedStatement
from treaty.metastore.sql.statements import (
    CreateSourceStatement,
    CreateTypeStatement,
    DropTypeStatement,
    PauseStatement,
    ProtectStatement,
    ResumeStatement,
    SetPropertiesStatement,
    SqlStatement,
)


@dataclass(frozen=True, slots=True)
class ProjectChoices:
    """How a project is applied.

    Sources get the `label`; with `prune` those that have it and that no file describes are dropped. A `strict` plan changes an
    existing source only where its statement says OR REPLACE: a server that starts does so. `queries` says what becomes of
    those that are not there yet: a planner checks them for the plan, they wait for a later one, or they are carried out unchecked.
    """

    label: str = ""
    prune: bool = False
    strict: bool = False
    queries: Literal["check", "later", "now"] = "check"
    planning: PlanningOptions = ASK_PLANNERS
    """What plans the queries that are checked."""


@dataclass(slots=True)
class _MetastoreRows:
    """What a plan is made on: the rows by key, and what the steps so far would change."""

    choices: ProjectChoices
    sources: Mapping[str, Source]
    types: Mapping[str, StoredType]
    needs: Mapping[ObjectKey, set[ObjectKey]]
    planned: PlannedRows
    coming: set[ObjectKey] = field(default_factory=set)
    """Objects that a step creates or changes."""
    waiting: set[ObjectKey] = field(default_factory=set)

    def list_readers(self, key: str) -> tuple[str, ...]:
        """Return the names of the sources whose queries read a source."""
        sources = self.sources.values()
        return tuple(one.name for one in sources if any(key_of_name(read.source) == key for read in reads_of(one)))

    def list_users(self, key: str) -> tuple[str, ...]:
        """Return the names of the sources and types that use a type."""
        rows: tuple[Source | StoredType, ...] = (*self.types.values(), *self.sources.values())
        return tuple(row.name for row in rows if key in row.types)

    def list_superfluous(self, described: ProjectObject) -> tuple[str, ...]:
        """Return the keys of the streams of bad rows that a source has and that its statement does not ask for."""
        statement = described.statement
        if not isinstance(statement, CreateSourceStatement) or statement.property("BAD_ROWS") == "true":
            return ()
        return tuple(key for key, source in self.sources.items() if source.origin == described.key[1])


def plan_project(project: SqlProject, choices: ProjectChoices) -> Exchange[ProjectPlan]:
    """Return the plan of a project over a metastore; nothing is written.

    Raises `InvalidProjectError` for objects that need each other, and what the registry refuses to list.
    """
    ordered = order_objects(project.objects)
    sources = {key_of_name(source.name): source for source in (yield from list_sources())}
    types = {key_of_name(type_.name): type_ for type_ in (yield from list_types())}
    rows = _MetastoreRows(choices, sources, types, find_needs(project.objects), PlannedRows(types))
    steps: list[PlannedStep] = []
    for described in ordered:
        if isinstance(described.statement, CreateTypeStatement):
            steps += _plan_type(rows, described, described.statement)
        else:
            steps += yield from _plan_source(rows, described, described.statement)
    if choices.prune:
        described_keys = {described.key for described in ordered}
        superfluous = {key for described in ordered for key in rows.list_superfluous(described)}
        choice = DropChoice(choices.label, described_keys, rows.coming, superfluous)
        steps += yield from plan_drops(choice, rows.sources)
        steps += plan_type_drops(choice, rows.types)
    return (yield from preview_plan(ProjectPlan(tuple(steps), choices.label), rows.needs))


# ----------------------------------------------------------------------------------------------------------- types


def _plan_type(rows: _MetastoreRows, described: ProjectObject, statement: CreateTypeStatement) -> list[PlannedStep]:
    key = described.key[1]
    row = rows.types.get(key)
    labelled = with_type_label(statement, rows.choices.label or ("" if row is None else row.label))
    create = replace(labelled, if_not_exists=False)
    step = _step(
        described,
        KEEP if row is not None else CREATE,
        "" if row is None else print_type(row),
        print_type_statement(labelled),
    )
    foreign = _refuse_label(rows, described, statement.label, "" if row is None else row.label)
    if foreign is not None:
        return [replace(step, action=CHANGE, refusal=foreign)]
    if row is not None and is_same_type(statement, row):
        return [_keep_step(step)]
    definition = print_column_type(statement.type)
    rows.planned.planned_types[key] = StoredType(statement.name, definition, 0, comment=statement.comment)
    rows.coming.add(described.key)
    refusal = _refuse_type(rows, statement)
    if row is None:
        return [replace(step, statement=create, text=described.text, refusal=refusal, is_checked=False)]
    users = rows.list_users(key)
    if users:
        refusal = Reason(
            "TYPE_DIFFERS",
            f"The type {row.name} is another one, and is used by {', '.join(users)}",
            path=described.file,
            old=row.definition,
            new=definition,
            allowed="the type as it is, or a type of another name for the new definition",
        )
    drop = replace(step, action=CHANGE, statement=DropTypeStatement(row.name), text=f"DROP TYPE {print_name(row.name)}")
    change = replace(step, action=CHANGE, statement=create, text=described.text, differences=(), is_checked=False)
    return (
        [replace(drop, refusal=refusal, closure=users), change]
        if refusal is None
        else [replace(drop, refusal=refusal, closure=users)]
    )


def _refuse_type(rows: _MetastoreRows, statement: CreateTypeStatement) -> Reason | None:
    try:
        rows.planned.expand(statement.type)
    except ColumnTypeError as error:
        allowed = ", ".join(error.expected) or error.hint
        return Reason(error.code, error.message, path="/definition", new=statement.name, allowed=allowed)
    return None


# --------------------------------------------------------------------------------------------------------- sources


def _plan_source(
    rows: _MetastoreRows, described: ProjectObject, statement: CreateSourceStatement
) -> Exchange[list[PlannedStep]]:
    key = described.key[1]
    row = rows.sources.get(key)
    label = rows.choices.label or _label_of(row)
    labelled = with_label(statement, label)
    old = "" if row is None else print_source(row)
    create = _plain(labelled) if row is None else replace(_plain(pin_sides(labelled, row)), or_replace=True)
    step = replace(
        _step(described, CREATE if row is None else CHANGE, old, print_statement(_plain(labelled))),
        statement=create, text=described.text, closure=rows.list_readers(key),
        expected=None if row is None else ExpectedSource(row.generation, row.revision),
    )  # fmt: skip
    settings = _plan_settings(described, row)
    missing, notes = _list_missing_streams(rows, labelled, row), _note_superfluous(rows, described)
    step = replace(step, notes=notes)
    if row is not None and not missing and is_same_query(labelled, row):
        return [_keep_step(step), *settings]
    try:
        new, request, lost = yield from rows.planned.answer(find_new_print(labelled, described.text, row))
    except (Refusal, Unavailable) as refused:
        return [_refuse_step(rows, described, step, refused), *settings]
    if new == old and not missing:
        return [_keep_step(step), *settings]
    rows.coming.add(described.key)
    step = replace(step, differences=(*list_differences(old, new), *missing), notes=(*notes, *lost))
    refusal = _refuse_label(rows, described, statement.property(LABEL), _label_of(row)) or _refuse_difference(
        rows, described, row
    )
    if refusal is not None:
        return [replace(step, refusal=refusal)]
    changes = () if row is None else find_property_changes(labelled, row)
    if changes:
        alter = SetPropertiesStatement(labelled.kind, labelled.name, changes)
        return [replace(step, statement=alter, text=print_statement(alter), is_checked=False), *settings]
    checked = yield from _check(rows, described, step, request)
    if checked.is_waiting:  # there is nothing yet that they could change
        settings = [replace(setting, refusal=checked.refusal) for setting in settings]
    return [checked, *settings]


def _list_missing_streams(
    rows: _MetastoreRows, statement: CreateSourceStatement, row: Source | None
) -> tuple[str, ...]:
    """Return the line of a stream of bad rows that a source says it has and that is not there. A start leaves it as it is."""
    if row is None or rows.choices.strict or statement.property("BAD_ROWS") != "true":
        return ()
    key = key_of_name(row.name)
    return () if any(one.origin == key for one in rows.sources.values()) else (f"+ STREAM {row.name}{BAD_SUFFIX}",)


def _note_superfluous(rows: _MetastoreRows, described: ProjectObject) -> tuple[str, ...]:
    """Return a note for each stream of bad rows that no statement asks for, unless the plan drops it."""
    streams = () if rows.choices.prune and rows.choices.label else rows.list_superfluous(described)
    return tuple(
        f"{described.name} has a stream of bad rows {rows.sources[key].name}, and its file does not say BAD_ROWS = true: `treaty apply --prune` with its label drops it"
        for key in streams
    )


def _keep_step(step: PlannedStep) -> PlannedStep:
    """Return the step of an object that stays as it is."""
    return replace(step, action=KEEP, differences=(), statement=None, text="", expected=None, closure=())


def _plain(statement: CreateSourceStatement) -> CreateSourceStatement:
    return replace(statement, or_replace=False, if_not_exists=False)


def _check(
    rows: _MetastoreRows, described: ProjectObject, step: PlannedStep, request: CreateSource | None
) -> Exchange[PlannedStep]:
    """Return a step, one with a query with what a planner says of it; the others are checked together once all are there."""
    if request is None and rows.choices.queries == "now":
        return replace(step, is_checked=False)
    if request is None and rows.choices.queries == "later":
        return _waiting(rows, described, step, f"the query of {described.name} is planned after the start")
    if rows.needs[described.key] & rows.waiting:
        return _waiting_for_others(rows, described, step)
    if request is not None:
        rows.planned.add_source(request)
        return replace(step, is_checked=False)
    try:
        if rows.needs[described.key] & rows.coming:
            return (yield from _check_over_planned(rows, step))
        notes = yield from _check_query(step, rows.choices.planning)
    except (Refusal, Unavailable) as refused:
        return _refuse_step(rows, described, step, refused)
    return replace(step, notes=(*step.notes, *notes))


def _check_query(step: PlannedStep, planning: PlanningOptions) -> Exchange[tuple[str, ...]]:
    """Let a statement with a query be planned and carried out dry; return the notes about it."""
    assert step.statement is not None, "a step with a query has a statement"
    parsed = ParsedStatement(step.statement, 0, len(step.text), step.text)
    context = StatementContext(step.text, dry_run=True, expected=step.expected, planning=planning)
    result = yield from run_statement(parsed, context)
    return result.warnings


def _check_over_planned(rows: _MetastoreRows, step: PlannedStep) -> Exchange[PlannedStep]:
    """Let the planner of this process plan a query over what earlier steps create or change; others have to see it first."""
    planner, statement = rows.choices.planning.planner, step.statement
    if planner is None or not isinstance(statement, CreateSourceStatement):
        return replace(step, is_checked=False)
    request, notes = yield from rows.planned.answer(plan_statement(planner, statement, step.text))
    rows.planned.add_source(request)
    return replace(step, notes=(*step.notes, *notes), is_checked=False)


def _refuse_step(
    rows: _MetastoreRows, described: ProjectObject, step: PlannedStep, refused: Refusal | Unavailable
) -> PlannedStep:
    """Return a step that is refused, or that can be checked only when what it needs is there."""
    if isinstance(refused, Unavailable):
        if isinstance(described.statement, CreateSourceStatement) and described.statement.body:
            return _waiting(rows, described, step, str(refused))
        raise refused
    rows.coming.add(described.key)
    if isinstance(refused, NotFound) and rows.needs[described.key] & rows.waiting:
        return _waiting_for_others(rows, described, step)
    if isinstance(refused, NotFound) and rows.needs[described.key] & rows.coming:
        return replace(step, is_checked=False)
    return replace(step, refusal=refused.reason)


def _waiting_for_others(rows: _MetastoreRows, described: ProjectObject, step: PlannedStep) -> PlannedStep:
    name = min(name for _, name in rows.needs[described.key] & rows.waiting)
    return _waiting(rows, described, step, f"{described.name} needs {name}, which waits for a planner")


def _waiting(rows: _MetastoreRows, described: ProjectObject, step: PlannedStep, message: str) -> PlannedStep:
    rows.waiting.add(described.key)
    reason = Reason(WAITING, message, path=described.file, new=described.name, allowed="a planner that runs")
    return replace(step, refusal=reason)


def _label_of(row: Source | None) -> str:
    return "" if row is None else dict(row.properties).get(LABEL, "")


def _refuse_label(rows: _MetastoreRows, described: ProjectObject, own: str, earlier: str) -> Reason | None:
    """Return the reason why an object with a label of its file (`own`) and of its row (`earlier`) is no part of the project."""
    label, kind = rows.choices.label, kind_of_object(described)
    if label and own and own != label:
        message = f"{described.name} says LABEL = '{own}', and the project has the label {label}"
        allowed = "the statement without LABEL, or the project with this label"
        return Reason("LABEL_DIFFERS", message, path=described.file, old=own, new=label, allowed=allowed)
    if label and earlier and earlier != label:
        message = f"{described.name} belongs to the project with the label {earlier}"
        alter = f"ALTER {kind} {print_name(described.name)} SET (LABEL = '{label}') first, where it shall belong to this one"
        allowed = (
            "a type of another name, or the folder without it: its sources may use the type"
            if kind == "TYPE"
            else alter
        )
        return Reason("LABEL_DIFFERS", message, path=described.file, old=earlier, new=label, allowed=allowed)
    return None


def _refuse_difference(rows: _MetastoreRows, described: ProjectObject, row: Source | None) -> Reason | None:
    if row is None or not rows.choices.strict or getattr(described.statement, "or_replace", False):
        return None
    return Reason(
        "PROJECT_DIFFERS",
        f"{row.name} is there and is another one than the file says",
        path=described.file,
        old=f"generation {row.generation}, revision {row.revision}",
        allowed="the file as the metastore has it, CREATE OR REPLACE in the file, or `treaty apply`, which shows and asks",
    )


def _plan_settings(described: ProjectObject, row: Source | None) -> list[PlannedStep]:
    """Return the steps for what stands beside a CREATE: protection, and the state of a query."""
    kind, name = kind_of_object(described), described.name
    old = False if row is None else row.protected
    statements: list[SqlStatement] = []
    if described.protect is not None and described.protect != old:
        statements.append(ProtectStatement(kind, name, described.protect))
    state = RUNNING if row is None else row.desired
    refusal = None
    if described.state and described.state != state:
        statements.append(ResumeStatement(name) if described.state == RUNNING else PauseStatement(name))
        if isinstance(described.statement, CreateSourceStatement) and not described.statement.body:
            allowed = "the file without it, or a stream or table that is made with AS"
            refusal = Reason("QUERY_NONE", f"{name} has no query", path=described.file, new=name, allowed=allowed)
    base = PlannedStep(CHANGE, kind, name, described.file, described.line, is_checked=False)
    texts = [(statement, print_statement(statement)) for statement in statements]
    return [
        replace(
            base, differences=(f"+ {text}",), statement=statement, text=text,
            refusal=None if isinstance(statement, ProtectStatement) else refusal,
        )
        for statement, text in texts
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- shared


def _step(described: ProjectObject, action: str, old: str, new: str) -> PlannedStep:
    lines = list_differences(old, new)
    return PlannedStep(action, kind_of_object(described), described.name, described.file, described.line, lines)
