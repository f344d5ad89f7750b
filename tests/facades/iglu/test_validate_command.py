"""`treaty iglu validate`: a line for each fault, and at the end how many values there are with each reason."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from treaty.cli.iglu.validate import REASONS, SHOWN, InvalidityReason, ReasonCounts
from treaty.cli.main import group
from treaty.client.iglu import SchemaIssue, ValidationResult

SELF = "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/jsonschema/1-0-0#"
CLICK, GONE = "iglu:com.acme/click/jsonschema/1-0-0", "iglu:com.acme/none/jsonschema/1-0-0"
LINES = (
    {"schema": CLICK, "data": {"n": 1}},
    {"schema": CLICK, "data": {"n": 9, "s": 2, "t": 3}},
    {"schema": CLICK, "data": {"n": 8}},
    {"schema": GONE, "data": {}},
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    own = {"vendor": "com.acme", "name": "click", "format": "jsonschema", "version": "1-0-0"}
    text = {"type": "string"}
    properties = {"n": {"type": "integer", "maximum": 5}, "s": text, "t": text}
    path = tmp_path / "repository" / "schemas" / "com.acme" / "click" / "jsonschema" / "1-0-0"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"$schema": SELF, "self": own, "type": "object", "properties": properties}))
    (tmp_path / "all.jsonl").write_text("\n".join([*map(json.dumps, LINES), "{nope", "{"]))
    (tmp_path / "good.jsonl").write_text(json.dumps(LINES[0]))
    return tmp_path


def validate(*words: str) -> Result:
    return CliRunner().invoke(group, ["iglu", "validate", *words, "--registry", "repository"])


def test_the_summary_counts_values_by_code_keyword_and_schema(folder: Path) -> None:
    """A value with two faults of one keyword counts once for it, one with two keywords for both."""
    done, report = validate("all.jsonl"), json.loads(validate("all.jsonl", "--json").stdout)
    rows: list[dict[str, Any]] = report["reasons"]

    assert [(one["values"], one["code"], one["keyword"], one["schema"]) for one in rows] == [
        (2, "invalid_data", "maximum", CLICK),
        (2, "malformed", None, None),
        (1, "invalid_data", "type", CLICK),
        (1, "not_found", None, GONE),
    ]
    *_, last = done.stderr.splitlines()
    assert (done.exit_code, last) == (1, "5 of 6 values invalid.")
    assert [line.split() for line in done.stderr.splitlines()[:-1]] == [
        ["values", "code", "keyword", "schema"],
        *([str(one["values"]), one["code"], one["keyword"] or "-", one["schema"] or "-"] for one in rows),
    ]


def test_valid_values_have_no_reasons(folder: Path) -> None:
    assert validate("good.jsonl").output == "1 value valid.\n"
    assert json.loads(validate("good.jsonl", "--json").stdout)["reasons"] == []


def test_reasons_beyond_the_limit_count_by_their_code() -> None:
    counts = ReasonCounts(Counter({InvalidityReason("invalid_data", f"k{one}"): 1 for one in range(REASONS)}))
    for _ in range(2):
        counts.add(ValidationResult("malformed", issues=(SchemaIssue("$", "no"),)))

    assert counts.sort()[0] == (InvalidityReason("malformed"), 2)
    assert len(counts.counts) == REASONS + 1
    assert SHOWN < REASONS
