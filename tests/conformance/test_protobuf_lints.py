"""Advice about Protobuf schemas: recorded for hand-made schemas, and harmless for all others."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.oracle.protobuf_files import DIALECTS, made
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.format import RULES
from treaty.formats.protobuf.linker.diagnostics import EXPECTED
from treaty.formats.protobuf.lints import LINTS
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.parser import parse_schema

CASES = Path(__file__).parents[1] / "cases" / "protobuf" / "lint"
FOLDERS = sorted(path.parent for path in CASES.glob("*/faults.json"))


def model(text: str) -> ProtoSchema:
    return parse_schema(ResolvedSchema("PROTOBUF", text), strict=True)


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
def test_a_schema_gets_its_recorded_advice(folder: Path) -> None:
    lint = LINTS[folder.name.partition("-")[0]]
    found = lint.find(model((folder / "schema.proto").read_text("utf-8")))

    assert [asdict(fault) for fault in found] == json.loads((folder / "faults.json").read_text("utf-8"))


def test_every_lint_says_what_it_is_for_and_has_an_id_of_its_own() -> None:
    for id_, lint in LINTS.items():
        assert lint.id == id_
        assert lint.purpose.endswith(".")
        assert id_ not in {*EXPECTED, *RULES}, "an id stands for one thing"


def test_every_lint_has_a_case_that_tells_it_and_a_near_miss() -> None:
    told: dict[bool, set[str]] = {True: set(), False: set()}
    for folder in FOLDERS:
        told[bool(json.loads((folder / "faults.json").read_text("utf-8")))].add(folder.name.partition("-")[0])

    assert told[True] == told[False] == set(LINTS)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_advice_about_any_schema_has_a_place(dialect: str) -> None:
    asked = 0
    for seed in range(60):
        try:
            schema = model(made(seed, dialect))
        except InvalidSchemaError:
            continue
        asked += 1
        for lint in LINTS.values():
            for fault in lint.find(schema):
                assert fault.rule == lint.id
                assert fault.message
                assert fault.expected
                assert bool(fault.line) == (lint.id not in {"PACKAGE_MISSING", "PACKAGE_STYLE", "SYNTAX_MISSING"})
    assert asked > 40
