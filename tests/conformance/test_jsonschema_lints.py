"""Advice about JSON Schemas: recorded for hand-made schemas, and harmless for all others."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.iglu import schemas
from tests.oracle.jsonschema_treaty import CASES, model
from treaty.formats.jsonschema.format import LINTS, RULES
from treaty.formats.jsonschema.validity import EXPECTED

FOLDERS = sorted(path.parent for path in CASES.glob("lint/*/faults.json"))


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
def test_a_schema_gets_its_recorded_advice(folder: Path) -> None:
    lint = LINTS[folder.name.partition("-")[0]]
    found = lint.find(model((folder / "schema.json").read_text("utf-8"), strict=False))

    assert [asdict(fault) for fault in found] == json.loads((folder / "faults.json").read_text("utf-8"))


def test_every_lint_has_a_case_that_fires_and_a_near_miss_that_does_not() -> None:
    said = {folder.name: bool(json.loads((folder / "faults.json").read_text("utf-8"))) for folder in FOLDERS}
    for id_, lint in LINTS.items():
        assert lint.id == id_
        assert lint.purpose.endswith(".")
        assert id_ not in {*EXPECTED, *RULES}, "an id stands for one thing"
        assert said[id_]
        assert any(not fires for name, fires in said.items() if name.startswith(f"{id_}-"))


def test_advice_about_real_schemas_has_a_place(figure: Callable[[str], None]) -> None:
    told: Counter[str] = Counter()
    for text in schemas().values():
        document = model(text, strict=False)
        lines = text.split("\n")
        for lint in LINTS.values():
            for one in lint.find(document):
                told[one.rule] += 1
                assert one.message
                assert one.expected
                assert lines[one.line - 1][one.column - 1] in '{["-0123456789tfn'

    figure(f"advice about {len(schemas())} schemas: {dict(told.most_common())}")
