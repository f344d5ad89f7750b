"""Every line of the page on types says what a plan does."""

import json
import re
from pathlib import Path

import pytest

from treaty.assemble import connect
from treaty.core.schema import Draft
from treaty.plan.decode_plans import make_plan

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "spark-types.md").read_text("utf-8")
LINE = re.compile(r"^\| `(?P<field>[^|]*)` \| (?:``(?P<quoted>[^|]*)``|`(?P<plain>[^|]*)`) \|", re.MULTILINE)
IMPORTS = "".join(
    f'import "google/{name}.proto";'
    for name in (*(f"protobuf/{one}" for one in ("any", "timestamp", "duration", "wrappers", "struct")), "type/date", "type/decimal")
)  # fmt: skip


def _text(kind: str, field: str) -> str:
    if kind == "Avro":
        inside = json.loads(field)
        return json.dumps({"type": "record", "name": "Top", "fields": [{"name": "f", "type": inside}]})
    if kind == "Protobuf":
        inner = "enum Kind { NONE = 0; } message Inner { int32 x = 1; }"
        return f'syntax = "proto3"; {IMPORTS} message Top {{ {field} f = 1; {inner} }}'
    return json.dumps({"type": "object", "properties": {"f": json.loads(field)}})


LINES = [
    (section.split("\n", 1)[0], match["field"], match["quoted"] or match["plain"])
    for section in PAGE.split("\n## ")[1:]
    for match in LINE.finditer(section)
]
FORMATS = {"Avro": "AVRO", "Protobuf": "PROTOBUF", "JSON Schema": "JSON"}


def test_the_page_has_lines_for_every_format() -> None:
    assert {kind for kind, _, _ in LINES} == FORMATS.keys()
    assert len(LINES) == PAGE.count("\n| `")


@pytest.mark.parametrize(("kind", "field", "column"), LINES)
def test_a_field_becomes_the_column_that_its_line_says(kind: str, field: str, column: str) -> None:
    with connect("memory:") as registry:
        registry.register("top-value", Draft(_text(kind, field), FORMATS[kind]))
        assert make_plan(registry, "top-value").columns == (("f", column),)
