"""Validation of values that have very many violations, or very long ones: what it takes and what is said are bounded."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.small_payloads import MOST_BYTES, measure
from treaty.core.limits import VIOLATION_CHARACTERS
from treaty.core.schema_engine import Answer, Question, ResolvedSchema, ValidateValue, ValueValidated
from treaty.formats.engine import FormatEngine
from treaty.formats.jsonschema.data.draft4 import SchemaIssuesError, compile_draft4
from treaty.formats.registry import find_formats
from treaty.node.schema_service import SchemaService


def listed(items: Any) -> Any:
    return {"type": "array", "items": items}


HOSTILE: dict[str, tuple[Any, Any, str]] = {
    "texts of an enum": (listed({"enum": [f"text{at}" for at in range(7_000)]}), ["x"] * 12_000, "enum"),
    "few texts of an enum": (listed({"enum": [f"text{at:06}" for at in range(200)]}), ["x"] * 19_000, "enum"),
    "objects of an enum": (listed({"enum": [{"k": at} for at in range(4_000)]}), [{"k": -1}] * 6_000, ""),
    "objects of an enum, the last one each": (listed({"enum": [{"k": at} for at in range(4_000)]}), [{"k": 3_999}] * 6_000, ""),
    "a choice of lists": ({"anyOf": [listed({"enum": [f"t{at}" for at in range(1_000)]}), {"type": "string"}]}, ["x"] * 20_000, "schema"),
    "names that are missing": ({"required": [f"n{at}" for at in range(5_000)]}, {"a": "x" * 50_000}, "required"),
    "a long name in each path": ({"additionalProperties": listed({"type": "integer"})}, {"k" * 40_000: ["x"] * 10_000}, "type"),
    "a long pattern": (listed({"pattern": "a" * 4_000}), ["x"] * 20_000, "pattern"),
    "a negated enum": (listed({"not": {"enum": [*(f"t{at}" for at in range(7_000)), "x"]}}), ["x"] * 20_000, "not"),
    "names that are not allowed": ({"properties": {"a": {}}, "additionalProperties": False}, {f"k{at}": 1 for at in range(12_000)}, "additionalProperties"),
    "a long value that is none": ({"enum": ["a", "b"]}, "x" * 90_000, "enum"),
    "lists of long values": (listed({"type": "object", "required": [f"r{at}" for at in range(50)]}), [{"t": "x" * 9_000}] * 10, "required"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_said_about_a_value_is_bounded_by_characters(name: str, figure: Callable[[str], None]) -> None:
    schema, value, keyword = HOSTILE[name]
    compiled = compile_draft4(schema, 40)
    found: list[Any] = []

    def validate() -> None:
        with contextlib.suppress(SchemaIssuesError):
            found.extend(compiled.find_violations(value))

    seconds, peak = measure(validate)

    figure(f"{seconds:.2f} s CPU, {peak / 1e6:.0f} MB")
    assert peak < MOST_BYTES
    assert {one.keyword for one in found} == ({keyword} if keyword else set())
    assert all(len(one.message) + len(one.path) <= 2 * VIOLATION_CHARACTERS for one in found)
    assert all(sum(map(len, one.targets)) <= VIOLATION_CHARACTERS + 30 for one in found)


def test_values_with_few_violations_are_told_all_of_them() -> None:
    codes = listed({"enum": [f"c{at}" for at in range(250)]})
    found = compile_draft4(codes, 40).find_violations(["c1", "zz", "yy"])
    assert [one.path for one in found] == ["$[1]", "$[2]"]
    assert len(found[0].targets) == 250


def test_a_server_validates_large_values_in_its_pool_and_small_ones_itself() -> None:
    engine = FormatEngine(find_formats())
    pooled: list[Question] = []

    async def answer_in_pool(question: Question) -> Answer:
        pooled.append(question)
        return engine.answer(question)

    schema = ResolvedSchema("JSON", json.dumps(listed({"enum": [f"text{at}" for at in range(7_000)]})))
    small, large = (ValidateValue(schema, json.dumps(["x"] * count).encode(), 40) for count in (3, 6_000))

    async def validate() -> list[ValueValidated]:
        service = SchemaService(lambda: engine.formats.names, engine.answer, answer_in_pool)
        return [await service.validate_value(one) for one in (small, large, small)]

    answers = asyncio.run(validate())
    assert pooled == [large]
    assert [len(one.violations) for one in answers] == [3, 1, 3]
