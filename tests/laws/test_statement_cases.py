"""Texts of statements as data: a folder has `script.sql`, and `verdict.json` with what it is parsed to.

A statement is its class, its canonical text and, where it has one, its body as sent. An error or a warning is its code, line and column, the
text at its place, and its hint or what is expected.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from treaty.metastore.sql.diagnostics import STATEMENT_CODES, SqlDiagnostic
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.script import ParsedStatement, parse_script

CASES = sorted(path for path in (Path(__file__).parents[1] / "cases" / "statements").iterdir() if path.is_dir())
WITH_LIMITS = {
    "STATEMENT_TOO_LARGE",
    "SCRIPT_TOO_LONG",
    "TOO_MANY_DIAGNOSTICS",
    "TOO_MANY_COLUMNS",
    "TOO_MANY_PROPERTIES",
    "TYPE_DEPTH",
    "TYPE_SIZE",
    "TYPE_RECURSIVE",
    "VALUES_TOO_DEEP",
}
"""Codes of texts that are too long for a file, and of types that are written out."""


def outcome(text: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """What a text is parsed to."""
    script = parse_script(text, variables)
    return {
        "statements": list(map(_statement, script.statements)),
        "errors": [_diagnostic(text, one) for one in script.diagnostics],
        "warnings": [_diagnostic(text, one) for one in script.warnings],
    }


def _statement(parsed: ParsedStatement) -> dict[str, str]:
    body = {"body": parsed.body} if parsed.body else {}
    return {"class": type(parsed.value).__name__, "text": print_statement(parsed.value)} | body


def _diagnostic(text: str, one: SqlDiagnostic) -> list[Any]:
    remedy = one.hint or " | ".join(one.expected)
    return [one.code, one.line, one.column, text[one.start : one.end][:40], one.message, remedy]


def read(folder: Path) -> tuple[str, dict[str, Any]]:
    with (folder / "script.sql").open(encoding="utf-8", newline="") as file:
        text = file.read()
    return text, json.loads((folder / "verdict.json").read_text("utf-8"))


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_text_is_parsed_as_its_verdict_says(folder: Path) -> None:
    text, verdict = read(folder)
    variables = verdict.pop("variables", {})
    assert outcome(text, variables) == verdict


def test_every_code_has_a_case() -> None:
    codes = {entry[0] for folder in CASES for entry in (*read(folder)[1]["errors"], *read(folder)[1]["warnings"])}
    assert codes == STATEMENT_CODES.keys() - WITH_LIMITS
