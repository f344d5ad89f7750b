"""What Treaty says about a Protobuf file, beside what protoc says."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.oracle.protoc import Verdict, plain
from treaty.core.finding import Diagnostic
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.encoding.files import build_descriptor
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.parser import parse_schema

CASES = Path(__file__).parents[1] / "cases" / "protobuf" / "validity"
DIFFERENCES = ("BEYOND_UNICODE", "CUSTOM_OPTION_UNKNOWN", "HALF_SURROGATE", "HASH_COMMENT", "NAME_TOO_LONG")
"""Classes in which Treaty and protoc differ about a file (docs/formats/protobuf.md)."""


def hand_made() -> list[tuple[str, dict[str, Any]]]:
    """The rows of the case files with their names."""
    return [
        (f"{path.stem}: {row['case']}", row)
        for path in sorted(CASES.glob("*.json"))
        for row in json.loads(path.read_text("utf-8"))
    ]


def meaning(text: str, others: Mapping[str, Any] | None = None) -> ResolvedSchema:
    """A text with references: one for every other file, under its import path.

    A file with references of its own is a row with them and its ``text``.
    """
    bound = (ResolvedReference(path, path, 1, _given(one)) for path, one in (others or {}).items())
    return ResolvedSchema("PROTOBUF", text, tuple(bound))


def _given(one: str | Mapping[str, Any]) -> ResolvedSchema:
    return ResolvedSchema("PROTOBUF", one) if isinstance(one, str) else meaning(one["text"], one["references"])


def judged(text: str, others: Mapping[str, Any] | None = None) -> ProtoSchema | Diagnostic:
    """The schema, or its first fault."""
    try:
        return parse_schema(meaning(text, others), strict=True)
    except InvalidSchemaError as wrong:
        return wrong.faults[0]


def difference(said: Verdict, ours: ProtoSchema | Diagnostic, name: str = "schema.proto") -> str:
    """In what the two differ, in a few words; empty where they agree, or where protoc ended without an answer."""
    if said.crashed:
        return ""
    if isinstance(ours, Diagnostic):
        return "" if said.descriptor is None else f"Treaty refuses: {ours}"
    if said.descriptor is None:
        return f"protoc refuses: {said.messages}"
    return "" if plain(said.descriptor) == plain(build_descriptor(ours, name)) else "the descriptors differ"


_UNKNOWN = re.compile(
    r'Option "\([^"]*" unknown\. Ensure that your proto definition file imports the proto which defines'
)
_NO_ERROR = re.compile(r"warning:|WARNING:|No edition or syntax specified|^$")


def lacks_options(said: Verdict) -> bool:
    """Whether protoc refuses a file for custom options alone that no import defines: Treaty keeps those."""
    errors = [line for line in said.messages.splitlines() if not _NO_ERROR.search(line)]
    return said.descriptor is None and bool(errors) and all(_UNKNOWN.search(line) for line in errors)
