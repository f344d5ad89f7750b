"""Advice about Avro schemas: recorded for hand-made schemas, and harmless for all others."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.avro_logical import dressed_schema
from tests.oracle.avro_treaty import CASES, meaning, model
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.avro.format import FORMAT
from treaty.formats.avro.parser import parse_schema

FOLDERS = sorted(path.parent for path in CASES.glob("lint/*/faults.json"))


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
def test_a_schema_gets_its_recorded_advice(folder: Path) -> None:
    lint = FORMAT.lints[folder.name.partition("-")[0]]
    found = lint.find(model((folder / "schema.avsc").read_text("utf-8")))

    assert [asdict(fault) for fault in found] == json.loads((folder / "faults.json").read_text("utf-8"))


def test_every_lint_is_found_under_its_id_and_says_what_it_is_for() -> None:
    for id_, lint in FORMAT.lints.items():
        assert lint.id == id_
        assert lint.purpose.endswith(".")
        assert id_ not in {*FORMAT.faults, *FORMAT.rules}, "an id stands for one thing"


@given(st.integers(0, 2**32 - 1))
def test_advice_about_any_schema_has_a_place_and_is_the_same_for_every_layout(seed: int) -> None:
    node = dressed_schema(seed)
    flat, spread = json.dumps(node), json.dumps(node, indent=2)
    for lint in FORMAT.lints.values():
        on_one_line, on_many = lint.find(model(flat)), lint.find(model(spread))
        assert [(one.rule, one.path, one.message) for one in on_one_line] == [
            (one.rule, one.path, one.message) for one in on_many
        ]
        for one in on_many:
            assert one.rule == lint.id
            assert one.expected
            line = spread.split("\n")[one.line - 1]
            assert line[one.column - 1] in '{["-0123456789tfn'


def test_types_of_references_get_no_advice_here() -> None:
    inner = '{"type": "record", "name": "inner", "fields": []}'
    text = '{"type": "record", "name": "Outer", "fields": [{"name": "x", "type": "inner"}]}'
    bound = parse_schema(
        ResolvedSchema("AVRO", text, (ResolvedReference("inner", "inner-value", 1, ResolvedSchema("AVRO", inner)),)),
        True,
    )

    assert FORMAT.lints["NAME_STYLE"].find(bound) == FORMAT.lints["USED_BEFORE_DEFINED"].find(bound) == ()
    assert FORMAT.lints["NAME_STYLE"].find(parse_schema(meaning(inner), True))
