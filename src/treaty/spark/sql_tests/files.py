"""Files of tests: ``GIVEN source (rows)`` and ``EXPECT source (rows)``, with semicolons between, and the statements that they test."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from treaty.core.column_types import SqlType
from treaty.core.column_types.tokens import SqlToken, read_quoted, split_tokens
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.project.compilation import parse_lock
from treaty.metastore.project.files import InvalidProjectError
from treaty.metastore.project.lock import LOCK_FILE, ProjectLock
from treaty.metastore.project.objects import describe_fault
from treaty.metastore.sql.diagnostics import LineIndex
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement, CreateTypeStatement

TESTS = ".test.sql"
GIVEN, EXPECT = "GIVEN", "EXPECT"
FORMS = "GIVEN source [(columns) VALUES] (row), …; EXPECT [STREAM] [ORDERED] source [(columns) VALUES] (row), …; EXPECT source NOTHING"


class InvalidCaseError(ValueError):
    """A file of tests, or a statement that they test, can't be read; the message has file, line and remedy."""


@dataclass(frozen=True, slots=True)
class CaseRows:
    """Rows of a source in a test: their columns (empty: all), and the text of the rows as SQL has it after VALUES (empty: no rows).

    `is_streaming`: the query is carried out as a stream, in which each GIVEN of a source is a batch.
    """

    source: str
    columns: tuple[str, ...]
    rows: str
    line: int
    is_ordered: bool = False
    is_streaming: bool = False


@dataclass(frozen=True, slots=True)
class SqlCase:
    """A file of tests: what is given, and what is expected of one source or several."""

    path: str
    given: tuple[CaseRows, ...]
    expected: tuple[CaseRows, ...]

    @property
    def name(self) -> str:
        """The path without its ending."""
        return self.path.removesuffix(TESTS)


@dataclass(frozen=True, slots=True)
class CaseFolder:
    """The tests of a folder, the sources and types that its other files create, by name in small letters, and the lock beside them."""

    tests: tuple[SqlCase, ...]
    statements: Mapping[str, CreateSourceStatement] = field(default_factory=dict)
    types: Mapping[str, SqlType] = field(default_factory=dict)
    lock: ProjectLock = field(default_factory=ProjectLock)


def read_folder(folder: Path, variables: Mapping[str, str]) -> CaseFolder:
    """Read all files of a folder and the folders in it that end in ``.sql``. Raises `InvalidCaseError`, which names a file from the current folder."""
    paths = sorted(
        file
        for file in folder.rglob("*.sql")
        if not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    )
    tests = tuple(
        replace(
            read_test(str(file), _read(file)), path=str(file.relative_to(folder))
        )  # a test is named without its folder
        for file in paths
        if file.name.endswith(TESTS)
    )
    statements: dict[str, CreateSourceStatement] = {}
    types: dict[str, SqlType] = {}
    for path in paths:
        if path.name.endswith(TESTS):
            continue
        script = parse_script(_read(path), variables)
        if script.diagnostics:
            raise InvalidCaseError(str(describe_fault(str(path), script.diagnostics[0])))
        for parsed in script.statements:
            if isinstance(parsed.value, CreateSourceStatement):
                _add_source(statements, parsed.value, f"{path}:{parsed.line}")
            elif isinstance(parsed.value, CreateTypeStatement):
                types[key_of_name(parsed.value.name)] = parsed.value.type
    if not tests:
        raise InvalidCaseError(f"{folder} has no tests: write {FORMS} into a file NAME{TESTS}")
    return CaseFolder(tests, statements, types, _read_lock(folder / LOCK_FILE))


def _add_source(statements: dict[str, CreateSourceStatement], statement: CreateSourceStatement, place: str) -> None:
    former = statements.get(statement.name.lower())
    if former is not None and not (statement.or_replace or statement.if_not_exists):
        raise InvalidCaseError(
            f"{place}: {statement.name} is created twice in this folder: CREATE OR REPLACE, or another name"
        )
    if former is None or statement.or_replace:
        statements[statement.name.lower()] = statement


def _read_lock(path: Path) -> ProjectLock:
    if not path.is_file():
        return ProjectLock()
    try:
        return parse_lock(_read(path), str(path))
    except InvalidProjectError as error:
        raise InvalidCaseError(str(error)) from error


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidCaseError(f"{path} can't be read: {error}") from error


def read_test(path: str, text: str) -> SqlCase:
    """Return the tests of a text. Raises `InvalidCaseError` with file, line and what is expected there."""
    text = text.removeprefix("\ufeff")  # a byte order mark, which editors write
    lines = LineIndex(text)
    parts = [_read_rows(path, text, tokens, lines) for tokens in _split(split_tokens(text))]
    given_rows = tuple(rows for word, rows in parts if word == GIVEN)
    expected = tuple(rows for word, rows in parts if word == EXPECT)
    if not expected:
        raise InvalidCaseError(f"{path}: nothing is expected: {FORMS}")
    return SqlCase(path, given_rows, expected)


def _split(tokens: Sequence[SqlToken]) -> Iterator[list[SqlToken]]:
    part: list[SqlToken] = []
    for token in tokens:
        if token.kind == "end" or token.text == ";":
            if part:
                yield part
            part = []
        else:
            part.append(token)


def _read_rows(path: str, text: str, tokens: Sequence[SqlToken], lines: LineIndex) -> tuple[str, CaseRows]:
    at = 0
    line = lines.find(tokens[0].start)[0]
    word = tokens[0].keyword

    def refuse() -> InvalidCaseError:
        return InvalidCaseError(f"{path}:{line}: {' '.join(one.text for one in tokens[:4])} is no test: {FORMS}")

    if word not in {GIVEN, EXPECT} or len(tokens) < 3:
        raise refuse()
    at = 1
    is_streaming = word == EXPECT and _is_flag(tokens, at, "STREAM")
    at += is_streaming
    is_ordered = word == EXPECT and _is_flag(tokens, at, "ORDERED")
    at += is_ordered
    if at + 1 >= len(tokens) or tokens[at].kind not in {"word", "quoted"}:
        raise refuse()
    source = read_quoted(tokens[at]) if tokens[at].kind == "quoted" else tokens[at].text
    at += 1
    _refuse_joined(path, tokens, lines)
    if tokens[at].keyword == "NOTHING" and tokens[at] is tokens[-1]:
        return word, CaseRows(source, (), "", line, is_ordered, is_streaming)
    columns: tuple[str, ...] = ()
    values = next((place for place in range(at, len(tokens)) if tokens[place].keyword == "VALUES"), -1)
    if values >= 0:
        named = [one for one in tokens[at:values] if one.kind in {"word", "quoted"}]
        columns = tuple(read_quoted(one) if one.kind == "quoted" else one.text for one in named)
        at = values + 1
    if at >= len(tokens) or tokens[at].text != "(":
        raise refuse()
    return word, CaseRows(source, columns, text[tokens[at].start : tokens[-1].end], line, is_ordered, is_streaming)


def _refuse_joined(path: str, tokens: Sequence[SqlToken], lines: LineIndex) -> None:
    """Raise where a statement begins within another one, since no semicolon is between them."""
    for before, token in pairwise(tokens):
        if token.keyword in {GIVEN, EXPECT} and (before.text == ")" or before.keyword == "NOTHING"):
            message = f"{path}:{lines.find(token.start)[0]}: a semicolon is missing before {token.text}"
            raise InvalidCaseError(message)


def _is_flag(tokens: Sequence[SqlToken], at: int, word: str) -> bool:
    """Whether a word before the name of a source is this one, and not the name itself."""
    return (
        tokens[at].keyword == word
        and at + 1 < len(tokens)
        and tokens[at + 1].kind in {"word", "quoted"}
        and tokens[at + 1].keyword not in {"VALUES", "NOTHING"}
    )
