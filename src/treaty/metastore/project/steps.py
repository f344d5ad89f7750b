"""The steps of a plan are found: each object of a project is compared with its row, and carried out dry."""

from collections.abc import Iterator
from dataclasses import replace

from treaty.core.column_types import ColumnTypeError, list_type_names, print_column_type
from treaty.core.column_types.tokens import print_name
from treaty.core.handlers.metastore.definitions import BAD_SUFFIX
from treaty.core.messages.metastore.sources import ExpectedSource
from treaty.core.refusals import Reason, Refusal, Unavailable
from treaty.core.registry import Exchange
from treaty.core.sources import RUNNING, Source, StoredType
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.pages import list_sources, list_types
from treaty.metastore.execution.source_printer import print_columns, print_source, print_type
from treaty.metastore.project.commits import preview_plan
from treaty.metastore.project.comparison import (
    complete_statement,
    find_new_print,
    find_property_changes,
    is_same_query,
    is_same_type,
    list_differences,
    list_other_schemas,
    pin_sides,
    print_planned_query,
    print_type_statement,
    with_label,
    with_type_label,
)
from treaty.metastore.project.drops import DropChoice, note_undescribed, plan_drops, plan_type_drops
from treaty.metastore.project.metastore_rows import MetastoreRows, ProjectChoices
from treaty.metastore.project.objects import ProjectObject, SqlProject
from treaty.metastore.project.order import find_needs, list_read_names, order_objects
from treaty.metastore.project.plan import CHANGE, CREATE, KEEP, PlannedStep, ProjectPlan, kind_of_object
from treaty.metastore.project.planned_rows import PlannedRows
from treaty.metastore.project.step_checks import NAME_RULES, check_step, refuse_name, refuse_step
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.properties import LABEL
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


def plan_project(project: SqlProject, choices: ProjectChoices) -> Exchange[ProjectPlan]:
    """Return the plan of a project over a metastore; nothing is written.

    Raises `InvalidProjectError` for objects that need each other, and what the registry refuses to list.
    """
    ordered = order_objects(project.objects)
    sources = {key_of_name(source.name): source for source in (yield from list_sources())}
    types = {key_of_name(type_.name): type_ for type_ in (yield from list_types())}
    rows = MetastoreRows(choices, sources, types, find_needs(project.objects), PlannedRows(types))
    steps: list[PlannedStep] = []
    for described in ordered:
        if isinstance(described.statement, CreateTypeStatement):
            steps += _plan_type(rows, described, described.statement)
        else:
            steps += yield from _plan_source(rows, described, described.statement)
    described_keys = {described.key for described in ordered}
    notes: tuple[str, ...] = ()
    if choices.prune:
        superfluous = {key for described in ordered for key in rows.list_superfluous(described)}
        reads = {described.key[1]: set(_list_reads(described)) for described in ordered}
        choice = DropChoice(choices.label, described_keys, rows.coming, superfluous, reads)
        steps += yield from plan_drops(choice, rows.sources)
        steps += plan_type_drops(choice, rows.types)
    else:
        notes = note_undescribed(DropChoice(choices.label, described_keys, rows.coming), rows.sources, rows.types)
    return (yield from preview_plan(ProjectPlan(tuple(steps), choices.label, notes), rows.needs))


def _list_reads(described: ProjectObject) -> Iterator[str]:
    """Yield the keys of what the query of an object reads."""
    if isinstance(described.statement, CreateSourceStatement):
        yield from list_read_names(described.statement.body)


# ----------------------------------------------------------------------------------------------------------- types


def _plan_type(rows: MetastoreRows, described: ProjectObject, statement: CreateTypeStatement) -> list[PlannedStep]:
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
    foreign = _find_label_refusal(rows, described, statement.label, "" if row is None else row.label)
    if foreign is not None:
        return [replace(step, action=CHANGE, refusal=foreign)]
    if row is not None and is_same_type(statement, row):
        return [_keep_step(step)]
    definition = print_column_type(statement.type)
    rows.planned.planned_types[key] = StoredType(statement.name, definition, 0, comment=statement.comment)
    rows.coming.add(described.key)
    refusal = _find_type_refusal(rows, statement)
    if refusal is not None and refusal.rule in NAME_RULES:
        return [refuse_name(rows, described, step, refusal)]
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


def _find_type_refusal(rows: MetastoreRows, statement: CreateTypeStatement) -> Reason | None:
    try:
        rows.planned.expand(statement.type)
    except ColumnTypeError as error:
        allowed = ", ".join(error.expected) or error.hint
        names = rows.list_names("type")
        missing = next((name for name in list_type_names(statement.type) if name not in names), statement.name)
        return Reason(error.code, error.message, path="/definition", new=missing, allowed=allowed)
    return None


# --------------------------------------------------------------------------------------------------------- sources


def _plan_source(
    rows: MetastoreRows, described: ProjectObject, statement: CreateSourceStatement
) -> Exchange[list[PlannedStep]]:
    key = described.key[1]
    row = rows.sources.get(key)
    label = rows.choices.label or _label_of(row)
    labelled = with_label(statement, label)
    old = "" if row is None else print_source(row)
    create = (
        _strip_conditions(labelled)
        if row is None
        else replace(_strip_conditions(pin_sides(labelled, row)), or_replace=True)
    )
    step = replace(
        _step(described, CREATE if row is None else CHANGE, old, print_statement(complete_statement(labelled, row))),
        statement=create, text=described.text, closure=rows.list_readers(key),
        expected=None if row is None else ExpectedSource(row.generation, row.revision),
    )  # fmt: skip
    settings = _plan_settings(described, row)
    missing = (*_list_missing_streams(rows, labelled, row), *list_other_schemas(labelled, row))
    notes = _note_superfluous(rows, described)
    step = replace(step, notes=notes)
    if row is not None and not missing and is_same_query(labelled, row):
        return [_keep_step(step), *settings]
    try:
        new, request, lost = yield from rows.planned.answer(find_new_print(labelled, described.text, row))
    except (Refusal, Unavailable) as refused:
        return [refuse_step(rows, described, step, refused), *settings]
    if new == old and not missing:
        return [_keep_step(step), *settings]
    rows.coming.add(described.key)
    step = replace(step, differences=(*list_differences(old, new), *missing), notes=(*notes, *lost))
    refusal = _find_label_refusal(
        rows, described, statement.property(LABEL), _label_of(row)
    ) or _find_difference_refusal(rows, described, row)
    if refusal is not None:
        return [replace(step, refusal=refusal)]
    changes = () if row is None else find_property_changes(labelled, row)
    if changes:
        alter = SetPropertiesStatement(labelled.kind, labelled.name, changes)
        return [replace(step, statement=alter, text=print_statement(alter), is_checked=False), *settings]
    checked = yield from check_step(rows, described, step, request)
    planned = rows.planned.planned_sources.get(key) if labelled.body else None
    if planned is not None:
        lines = list_differences(old, print_planned_query(labelled, planned))
        checked = replace(checked, differences=(*lines, *missing), columns=print_columns(planned.kind, planned.columns))
    if checked.is_waiting:  # there is nothing yet that they could change
        settings = [replace(setting, refusal=checked.refusal) for setting in settings]
    return [checked, *settings]


def _list_missing_streams(rows: MetastoreRows, statement: CreateSourceStatement, row: Source | None) -> tuple[str, ...]:
    """Return the line of a stream of bad rows that a source says it has and that is not there. A start leaves it as it is."""
    if statement.property("BAD_ROWS") != "true" or (row is not None and rows.choices.strict):
        return ()
    name = statement.name if row is None else row.name
    key = key_of_name(name)
    return () if any(one.origin == key for one in rows.sources.values()) else (f"+ STREAM {name}{BAD_SUFFIX}",)


def _note_superfluous(rows: MetastoreRows, described: ProjectObject) -> tuple[str, ...]:
    """Return a note for each stream of bad rows that no statement asks for, unless the plan drops it."""
    streams = () if rows.choices.prune and rows.choices.label else rows.list_superfluous(described)
    return tuple(
        f"{described.name} has a stream of bad rows {rows.sources[key].name}, and its file does not say BAD_ROWS = true: `treaty apply --prune` with its label drops it"
        for key in streams
    )


def _keep_step(step: PlannedStep) -> PlannedStep:
    """Return the step of an object that stays as it is."""
    return replace(step, action=KEEP, differences=(), statement=None, text="", expected=None, closure=())


def _strip_conditions(statement: CreateSourceStatement) -> CreateSourceStatement:
    return replace(statement, or_replace=False, if_not_exists=False)


def _label_of(row: Source | None) -> str:
    return "" if row is None else dict(row.properties).get(LABEL, "")


def _find_label_refusal(rows: MetastoreRows, described: ProjectObject, own: str, earlier: str) -> Reason | None:
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


def _find_difference_refusal(rows: MetastoreRows, described: ProjectObject, row: Source | None) -> Reason | None:
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
    base = PlannedStep(CHANGE, kind, name, described.file, described.line, is_checked=False, column=described.column)
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
    kind = kind_of_object(described)
    return PlannedStep(action, kind, described.name, described.file, described.line, lines, column=described.column)
