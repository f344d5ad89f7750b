"""JSON Schema cases and models for the tests."""

import json
from pathlib import Path
from typing import Any

from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.parser import parse_schema

CASES = Path(__file__).parents[1] / "cases" / "jsonschema"


def hand_made() -> list[tuple[str, dict[str, Any]]]:
    """Every case of validity: its name with the theme before it, and its row."""
    return [
        (f"{path.stem}: {row['case']}", row)
        for path in sorted((CASES / "validity").glob("*.json"))
        for row in json.loads(path.read_text("utf-8"))
    ]


def text_of(row: dict[str, Any]) -> str:
    """The text of a case."""
    return str(row["text"]) if "text" in row else json.dumps(row["schema"], ensure_ascii=False)


def bindings(references: list[dict[str, Any]]) -> tuple[ResolvedReference, ...]:
    """The references of a case, those that they have themselves included."""
    return tuple(
        ResolvedReference(one["name"], f"subject {one['name']}", 1, meaning(text_of(one), one.get("references", [])))
        for one in references
    )


def meaning(text: str, references: list[dict[str, Any]] | None = None) -> ResolvedSchema:
    """A text with references as they stand in a case."""
    return ResolvedSchema("JSON", text, bindings(references or []))


def model(text: str, references: list[dict[str, Any]] | None = None, *, strict: bool = True) -> JsonSchema:
    """The model of a text."""
    return parse_schema(meaning(text, references), strict)
