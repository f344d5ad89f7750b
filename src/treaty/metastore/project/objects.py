"""Reads the streams, tables and types that the files of a project describe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from treaty.core.column_types.tokens import SqlToken, read_quoted, split_tokens
from treaty.core.sources import PAUSED, RUNNING
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.project.files import InvalidProjectError, ProjectFile, ProjectProblem
from treaty.metastore.sql.diagnostics import LineIndex, SqlDiagnostic
from treaty.metastore.sql.script import ParsedStatement, parse_script
from treaty.metastore.sql.statements import (
    CreateSourceStatement,
    CreateTypeStatement,
    DefineStatement,
    PauseStatement,
    ProtectStatement,
    ResumeStatement,
    SetStatement,
    SqlStatement,
    UndefineStatement,
    UnsetStatement,
)

ObjectKey: TypeAlias = tuple[Literal["type", "source"], str]
"""Whether an object is a type or a source, and its name with A-Z as a-z."""
ObjectSetting: TypeAlias = tuple[bool | None, str]
"""What a statement beside a CREATE says: whether the source is protected, and the state of its query."""
IGNORED = (DefineStatement, UndefineStatement, SetStatement, UnsetStatement)
"""Statements that the parser has carried out: they say something to the statements after them in their file."""


@dataclass(frozen=True, slots=True)
class ProjectObject:
    """A stream, table or type of a project, with the place of its statement.

    `text` has the variables replaced, `written` is as the file has it. `protect` and `state` are what ALTER … SET PROTECTED, PAUSE and RESUME beside it say: None and the empty text where there is
    no such statement, and then the metastore keeps what it has.
    """

    statement: CreateSourceStatement | CreateTypeStatement
    text: str
    file: str
    line: int = 1
    column: int = 1
    written: str = ""
    protect: bool | None = None
    state: str = ""

    @property
    def key(self) -> ObjectKey:
        """Kind and name."""
        kind: Literal["type", "source"] = "type" if isinstance(self.statement, CreateTypeStatement) else "source"
        return kind, key_of_name(self.statement.name)

    @property
    def name(self) -> str:
        """The name as the statement spells it."""
        return self.statement.name

    def find_problem(self, rule: str, message: str, hint: str = "") -> ProjectProblem:
        """Return a problem at the place of the statement."""
        return ProjectProblem(self.file, self.line, self.column, rule, message, hint)

    def find_name_problem(self, name: str, rule: str, message: str, hint: str = "") -> ProjectProblem:
        """Return a problem at the place of a name in the statement."""
        return ProjectProblem(self.file, *self.find_name(name), rule, message, hint)

    def find_name(self, name: str) -> tuple[int, int]:
        """Return the line and the column where the statement names something else than itself; its own place where it does not."""
        key, text = key_of_name(name), self.written or self.text
        tokens = split_tokens(text)
        keys = list(map(_key_of_token, tokens))
        after_own = keys.index(self.key[1]) + 1 if self.key[1] in keys else 0
        for place in range(after_own, len(tokens) - 1):
            if (
                keys[place] == key and keys[place + 1] != key
            ):  # the first of two is a column that is called like its type
                line, column = LineIndex(text).find(tokens[place].start)
                return self.line + line - 1, column + (self.column - 1 if line == 1 else 0)
        return self.line, self.column

    def place_in_file(self, line: int, column: int) -> tuple[int, int]:
        """Return the line and the column of a place in the text; that of the statement where variables have moved it."""
        if self.written and self.written != self.text:
            return self.line, self.column
        return self.line + line - 1, column + (self.column - 1 if line == 1 else 0)


@dataclass(frozen=True, slots=True)
class SqlProject:
    """The objects of a project in the order of their files, and the warnings of the parser."""

    objects: tuple[ProjectObject, ...]
    warnings: tuple[ProjectProblem, ...] = ()


class _ObjectReader:
    """Collects the objects and problems of files."""

    def __init__(self) -> None:
        self.objects: dict[ObjectKey, ProjectObject] = {}
        self.changes: list[tuple[ProjectProblem, ObjectKey, ObjectSetting]] = []
        self.problems: list[ProjectProblem] = []
        self.warnings: list[ProjectProblem] = []

    def read(self, file: ProjectFile, variables: Mapping[str, str]) -> None:
        """Read a file."""
        script = parse_script(file.text, variables)
        self.problems += [describe_fault(file.path, fault) for fault in script.diagnostics]
        self.warnings += [describe_fault(file.path, fault) for fault in script.warnings]
        lines = LineIndex(file.text)
        for parsed in script.statements:
            self._read_statement(file, parsed, lines.find(parsed.start))

    def _read_statement(self, file: ProjectFile, parsed: ParsedStatement, place: tuple[int, int]) -> None:
        value: SqlStatement = parsed.value
        match value:
            case CreateSourceStatement() | CreateTypeStatement():
                written = file.text[parsed.start : parsed.end]
                self._add(ProjectObject(value, parsed.text, file.path, *place, written=written))
            case ProtectStatement(_, name, protect):
                self._change(file, place, name, (protect, ""))
            case PauseStatement(name):
                self._change(file, place, name, (None, PAUSED))
            case ResumeStatement(name):
                self._change(file, place, name, (None, RUNNING))
            case _ if not isinstance(value, IGNORED):
                words = " ".join(parsed.text.split()[:2])
                self.problems.append(
                    ProjectProblem(
                        file.path,
                        *place,
                        "PROJECT_STATEMENT",
                        f"{words} is no part of a project, whose files say what should be there",
                        "CREATE, ALTER … SET PROTECTED, PAUSE, RESUME, SET and DEFINE; `treaty sql -f` runs others",
                    )
                )

    def _add(self, described: ProjectObject) -> None:
        earlier = self.objects.setdefault(described.key, described)
        if earlier is not described:
            message = f"{described.name} is described twice, first in {earlier.file}:{earlier.line}"
            self.problems.append(described.find_problem("PROJECT_TWICE", message, "one of the two"))

    def _change(self, file: ProjectFile, place: tuple[int, int], name: str, setting: ObjectSetting) -> None:
        hint = "its CREATE in a file of the project"
        problem = ProjectProblem(file.path, *place, "PROJECT_UNKNOWN", f"no file creates {name}", hint)
        self.changes.append((problem, ("source", key_of_name(name)), setting))

    def finish(self) -> SqlProject:
        """Return the project; raises `InvalidProjectError` with all problems."""
        for problem, key, (protect, state) in self.changes:
            described = self.objects.get(key)
            if described is None:
                self.problems.append(problem)
                continue
            protected = described.protect if protect is None else protect
            self.objects[key] = replace(described, protect=protected, state=state or described.state)
        if self.problems:
            raise InvalidProjectError(sorted(self.problems, key=lambda one: (one.file, one.line, one.column)))
        return SqlProject(tuple(self.objects.values()), tuple(self.warnings))


def parse_project(files: Sequence[ProjectFile], variables: Mapping[str, str] | None = None) -> SqlProject:
    """Return the objects of files. Variables are those of all files; DEFINE and SET hold to the end of their own file.

    Raises `InvalidProjectError` with all problems of all files: errors of statements, statements that are no part of a project,
    and objects that are described twice.
    """
    reader = _ObjectReader()
    for file in sorted(files, key=lambda one: one.path):
        reader.read(file, variables or {})
    return reader.finish()


def _key_of_token(token: SqlToken) -> str:
    """Return the key of the name that a token is; empty for any other token."""
    if token.kind not in {"word", "quoted"}:
        return ""
    return key_of_name(read_quoted(token) if token.kind == "quoted" else token.text)


def describe_fault(path: str, fault: SqlDiagnostic) -> ProjectProblem:
    """Return an error or a warning of the parser as a problem of a file."""
    hint = fault.hint or (f"expected: {', '.join(fault.expected)}" if fault.expected else "")
    return ProjectProblem(path, fault.line, fault.column, fault.code, fault.message, hint)
