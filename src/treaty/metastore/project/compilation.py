"""A project is checked without a registry: heads are typed against its lock, and what bodies read is looked for."""

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from treaty.core.column_types import (
    ColumnTypeError,
    SqlType,
    expand_type,
    list_type_names,
    parse_column_type,
    print_column_type,
)
from treaty.core.messages.request import Request
from treaty.core.refusals import NotFound, Refusal
from treaty.core.registry import Exchange
from treaty.core.sources import SourceColumn
from treaty.metastore.columns.from_schema import Side
from treaty.metastore.columns.sides import choose_key_format, settle_side
from treaty.metastore.definitions import TABLES, connector_of, place_of, refuse_misplaced, side_request, source_column
from treaty.metastore.execution.source_printer import print_columns
from treaty.metastore.project.files import InvalidProjectError, ProjectProblem
from treaty.metastore.project.lock import LOCK_FORMAT, LockedObject, ProjectLock, list_outer_sides, name_locked_subject
from treaty.metastore.project.objects import ProjectObject, SqlProject
from treaty.metastore.project.order import list_read_names, order_objects, types_of
from treaty.metastore.project.typed_sources import PlanBody, TypedSources, list_locked_columns
from treaty.metastore.sql.properties import KAFKA, NONE
from treaty.metastore.sql.statements import CreateSourceStatement, CreateTypeStatement

LOCK_AGAIN = "`treaty lock`, where the registry has it"
TABLES_OF_LOCK = ("source", "subject", "type")


@dataclass(frozen=True, slots=True)
class CompiledObject:
    """An object of a project with its columns as SQL has them; those of a query are known where a planner types it."""

    kind: str
    name: str
    file: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompiledProject:
    """The objects of a project in the order in which they are created, and all problems."""

    objects: tuple[CompiledObject, ...]
    problems: tuple[ProjectProblem, ...]


class _HeadCompiler:
    """Types the heads of a project, and collects its problems."""

    def __init__(self, project: SqlProject, lock: ProjectLock, plan_body: PlanBody | None) -> None:
        self.lock = lock
        self.plan_body = plan_body
        self.sources = {key for table, key in (described.key for described in project.objects) if table == "source"}
        self.sources |= {locked.name for locked in lock.objects if locked.table == "source"}
        self.types = dict(list_locked_types(lock))
        for described in project.objects:
            if isinstance(described.statement, CreateTypeStatement):
                self.types[described.key[1]] = described.statement.type
        self.outer: dict[str, list[Side]] = {}
        for described, _, side in list_outer_sides(project):
            self.outer.setdefault(described.key[1], []).append(side)
        self.problems: list[ProjectProblem] = []
        self.typed = TypedSources(lock, self.types)

    def compile(self, described: ProjectObject) -> CompiledObject:
        """Return an object with its columns; its problems are noted."""
        statement = described.statement
        self._note(described, lambda: self._expand_all(described))
        if isinstance(statement, CreateTypeStatement):
            columns: tuple[str, ...] = (print_column_type(statement.type),)
            return CompiledObject("TYPE", described.name, described.file, columns)
        if statement.body:
            columns = self._type_query(described, statement) if self._check_reads(described, statement) else ()
            return CompiledObject(statement.kind, described.name, described.file, columns)
        declared = print_columns(statement.kind, map(source_column, statement.columns)) if statement.columns else ()
        locked = tuple(self._list_locked_columns(described, statement))
        if not any(problem.line == described.line and problem.file == described.file for problem in self.problems):
            self._note(described, lambda: self._check_head(statement))
            self._note(described, lambda: self.typed.add(statement, self._list_columns(described, statement)))
        return CompiledObject(statement.kind, described.name, described.file, (*declared, *locked))

    def _note(self, described: ProjectObject, check: Callable[[], None]) -> None:
        """Run a check, and note what it refuses."""
        try:
            check()
        except Refusal as refused:
            reason = refused.reason
            self.problems.append(described.find_problem(reason.rule, reason.message, reason.allowed))
        except ColumnTypeError as error:
            hint = ", ".join(error.expected) or error.hint
            self.problems.append(described.find_problem(error.code, error.message, hint))

    def _expand_all(self, described: ProjectObject) -> None:
        for kind in types_of(described.statement):
            missing = [name for name in list_type_names(kind) if name not in self.types]
            if missing:
                near = get_close_matches(missing[0], sorted(self.types), 1)
                hint = f"did you mean {near[0]}?" if near else f"CREATE TYPE in a file of the project, or {LOCK_AGAIN}"
                message = f"no file and no lock has the type {missing[0]}"
                self.problems.append(described.find_name_problem(missing[0], "TYPE_NOT_FOUND", message, hint))
                return
            expand_type(kind, self.types.get)

    def _list_columns(self, described: ProjectObject, statement: CreateSourceStatement) -> Iterator[SourceColumn]:
        """Yield the columns that a statement declares, and those that it takes from locked schemas."""
        yield from map(source_column, statement.columns)
        for side in self.outer.get(described.key[1], ()):
            locked = self.lock.find("subject", name_locked_subject(statement, side))
            if locked is not None:
                columns = list_locked_columns("STREAM", locked)
                yield from (replace(column, role=side) for column in columns)

    def _type_query(self, described: ProjectObject, statement: CreateSourceStatement) -> tuple[str, ...]:
        """Return the columns of a query; none without a planner, or where a source that it reads has none."""
        sources = [self.typed.found.get(name) for name in dict.fromkeys(list_read_names(statement.body))]
        if self.plan_body is None or None in sources:
            return ()
        typed: list[SourceColumn] = []
        plan_body = self.plan_body
        self._note(described, lambda: typed.extend(plan_body(statement, tuple(filter(None, sources)))))
        if typed:
            self._note(described, lambda: self.typed.add(statement, typed))
        return print_columns(statement.kind, typed) if typed else ()

    def _check_reads(self, described: ProjectObject, statement: CreateSourceStatement) -> bool:
        """Whether all that a query reads is there; what is missing is noted."""
        before = len(self.problems)
        for name in dict.fromkeys(list_read_names(statement.body)):
            if name not in self.sources:
                near = get_close_matches(name, sorted(self.sources), 1)
                hint = f"did you mean {near[0]}?" if near else f"a file that creates it, or {LOCK_AGAIN}"
                message = f"the query reads {name}, which no file and no lock has"
                self.problems.append(described.find_name_problem(name, "READ_NOT_FOUND", message, hint))
        return len(self.problems) == before

    def _list_locked_columns(self, described: ProjectObject, statement: CreateSourceStatement) -> Iterator[str]:
        """Yield the columns that a source takes from schemas; what does not fit the lock is noted."""
        for side in self.outer.get(described.key[1], ()):
            name = name_locked_subject(statement, side)
            locked = self.lock.find("subject", name)
            if locked is None:
                message = f"the {side} is taken from the subject {name}, which the lock has not"
                self.problems.append(described.find_problem("SUBJECT_NOT_LOCKED", message, LOCK_AGAIN))
                continue
            self._compare(described, statement, side, locked)
            yield from locked.columns

    def _compare(
        self, described: ProjectObject, statement: CreateSourceStatement, side: Side, locked: LockedObject
    ) -> None:
        schema_id = statement.property(f"{side.upper()}_SCHEMA_ID")
        if schema_id and schema_id != str(locked.fact("schema_id")):
            message = f"the subject {locked.name} has moved: the file says schema id {schema_id}, and the lock {locked.fact('schema_id')}"
            self.problems.append(
                described.find_problem("SUBJECT_MOVED", message, "`treaty lock`, or the other id in the file")
            )
        format_ = statement.property(f"{side.upper()}_FORMAT")
        if format_ and format_ != locked.fact("format"):
            message = f"the file says {side.upper()}_FORMAT = '{format_}', and the schema of {locked.name} is {locked.fact('format')}"
            self.problems.append(described.find_problem("SOURCE_FORMAT", message, str(locked.fact("format"))))

    def _check_head(self, statement: CreateSourceStatement) -> None:
        """Raise what is wrong with a head: its properties, and columns that a format can't say."""
        refuse_misplaced(statement)
        place_of(statement)
        if connector_of(statement) in TABLES:
            return
        expanded = {name: expand_type(kind, self.types.get) for name, kind in self.types.items()}
        key = side_request(statement, "key", expanded)
        value = side_request(statement, "value", expanded)
        named = key.schema_id >= 0 or bool(statement.property("KEY_SUBJECT"))
        key = replace(key, format=choose_key_format(key.format, key.columns, names_schema=named))
        for side in (key, value):
            if side.columns or side.format in {NONE, KAFKA}:
                _run_alone(settle_side(side))


def list_locked_types(lock: ProjectLock) -> Iterator[tuple[str, SqlType]]:
    """Yield the types that a lock has, each with its key."""
    for locked in lock.objects:
        if locked.table == "type":
            yield locked.name, parse_column_type(str(locked.fact("definition")))


def compile_project(project: SqlProject, lock: ProjectLock, plan_body: PlanBody | None = None) -> CompiledProject:
    """Return the typed heads of a project and its problems, without a registry. With `plan_body` queries are typed too.

    Raises `InvalidProjectError` for objects that need each other.
    """
    compiler = _HeadCompiler(project, lock, plan_body)
    objects = tuple(compiler.compile(described) for described in order_objects(project.objects))
    problems = sorted(compiler.problems, key=lambda one: (one.file, one.line, one.column))
    return CompiledProject(objects, tuple(problems))


def _run_alone(exchange: Exchange[Any]) -> None:
    """Run an exchange without a registry: it has no schema yet."""
    try:
        request: Request[Any] = next(exchange)
        while True:
            missing = f"no registry is asked for {type(request).__name__}"
            request = exchange.throw(NotFound.of("NOT_FOUND", missing))
    except StopIteration:
        return


# ------------------------------------------------------------------------------------------------------------ lock


def parse_lock(text: str, file: str) -> ProjectLock:
    """Return the lock that a text says. Raises `InvalidProjectError` for what is no lock of this version of Treaty."""
    try:
        members = tomllib.loads(text)
    except ValueError as error:
        raise _refuse(file, f"it is no TOML: {error}") from error
    if members.pop("format", None) != LOCK_FORMAT:
        raise _refuse(file, f"its format is not {LOCK_FORMAT}")
    objects: list[LockedObject] = []
    for table, named in members.items():
        if table not in TABLES_OF_LOCK or not isinstance(named, dict):
            raise _refuse(file, f"it has no table {table}; known are {', '.join(TABLES_OF_LOCK)}")
        for name, facts in named.items():
            objects.append(_read_locked(table, name, facts, file))
    return ProjectLock(tuple(sorted(objects, key=lambda one: (one.table, one.name))))


def _read_locked(table: str, name: str, facts: Any, file: str) -> LockedObject:
    if not isinstance(facts, dict):
        raise _refuse(file, f"{table}.{name} is no table")
    columns = facts.pop("columns", [])
    if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
        raise _refuse(file, f"the columns of {table}.{name} are no texts")
    if not all(isinstance(fact, str | int) for fact in facts.values()):
        raise _refuse(file, f"a member of {table}.{name} is neither a text nor a number")
    locked = LockedObject(table, name, tuple(facts.items()), tuple(columns))
    if table == "type":
        try:
            parse_column_type(str(locked.fact("definition")))
        except ColumnTypeError as error:
            raise _refuse(file, f"the definition of {table}.{name} is no type: {error.message}") from error
    return locked


def _refuse(file: str, message: str) -> InvalidProjectError:
    return InvalidProjectError([ProjectProblem(file, 0, 0, "PROJECT_LOCK", message, "`treaty lock` writes it anew")])
