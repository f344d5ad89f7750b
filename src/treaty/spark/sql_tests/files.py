"""Files of tests: ``GIVEN source (rows)`` and ``EXPECT source (rows)``, with semicolons between, and the statements that they test."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from treaty.core.column_types.tokens import SqlToken, read_quoted, split_tokens
from treaty.metastore.sql.diagnostics import LineIndex
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement

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
    """The tests of a folder, and the sources that its other files create, by name in small letters."""

    tests: tuple[SqlCase, ...]
    statements: Mapping[str, CreateSourceStatement] = field(default_factory=dict)


def read_folder(folder: Path, variables: Mapping[str, str]) -> CaseFolder:
    """Read all files of a folder and the folders in it that end in ``.sql``. Raises `InvalidCaseError`."""
    paths = sorted(
        one
        for one in folder.rglob("*.sql")
        if not any(part.startswith((".", "_")) for part in one.relative_to(folder).parts)
    )
    tests = tuple(read_test(str(one.relative_to(folder)), _read(one)) for one in paths if one.name.endswith(TESTS))
    statements: dict[str, CreateSourceStatement] = {}
    for path in paths:
        if path.name.endswith(TESTS):
            continue
        script = parse_script(_read(path), variables)
        if script.diagnostics:
            raise InvalidCaseError(f"{path.relative_to(folder)}: {script.diagnostics[0]}")
        for parsed in script.statements:
            if isinstance(parsed.value, CreateSourceStatement):
                statements[parsed.value.name.lower()] = parsed.value
    if not tests:
        raise InvalidCaseError(f"{folder} has no tests: write {FORMS} into a file NAME{TESTS}")
    return CaseFolder(tests, statements)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidCaseError(f"{path} can't be read: {error}") from error


def read_test(path: str, text: str) -> SqlCase:
    """Return the tests of a text. Raises `InvalidCaseError` with file, line and what is expected there."""
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
    if tokens[at].keyword == "NOTHING":
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


def _is_flag(tokens: Sequence[SqlToken], at: int, word: str) -> bool:
    """Whether a word before the name of a source is this one, and not the name itself."""
    return (
        tokens[at].keyword == word
        and at + 1 < len(tokens)
        and tokens[at + 1].kind in {"word", "quoted"}
        and tokens[at + 1].keyword not in {"VALUES", "NOTHING"}
    )
