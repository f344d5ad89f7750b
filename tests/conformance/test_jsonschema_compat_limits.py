"""Hostile pairs of JSON Schemas: each comparison ends, with a verdict or with a word about the limit."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.jsonschema_pairs import document
from treaty.core.limits import COMBINATION_BRANCHES, COMPARE_STEPS, PROOF_STEPS
from treaty.formats.budget import StepsError, limit_steps
from treaty.formats.jsonschema.compare.compatibility import compare, find_differences
from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.fixpoint import FixpointSolver, PairQuestion

ROOT = Path(__file__).parents[2]


def choices(word: str, count: int, **more: Any) -> dict[str, Any]:
    """A combination of many objects that differ in one name."""
    return {word: [{"type": "object", "properties": {f"p{at}": {"type": "string", **more}}} for at in range(count)]}


def ladder(count: int, **leaf: Any) -> dict[str, Any]:
    """Definitions that each refer to the next one twice: two to the power of `count` ways to the last one."""
    steps = {
        f"d{at}": {"properties": {side: {"$ref": f"#/definitions/d{at + 1}"} for side in ("a", "b")}}
        for at in range(count)
    }
    return {"$ref": "#/definitions/d0", "definitions": {**steps, f"d{count}": leaf}}


def chain(count: int, **leaf: Any) -> dict[str, Any]:
    """Definitions that each hold the next one, far deeper than one text may nest."""
    steps = {f"d{at}": {"properties": {"a": {"$ref": f"#/definitions/d{at + 1}"}}} for at in range(count)}
    return {"$ref": "#/definitions/d0", "definitions": {**steps, f"d{count}": leaf}}


def circles(count: int, type_name: str) -> dict[str, Any]:
    """Definitions that all refer to all others."""
    every = {f"p{at}": {"$ref": f"#/definitions/d{at}"} for at in range(count)}
    return {
        "$ref": "#/definitions/d0",
        "definitions": {f"d{at}": {"properties": {**every, "x": {"type": type_name}}} for at in range(count)},
    }


def nested_choices(depth: int) -> dict[str, Any]:
    """anyOf inside anyOf: cases multiply."""
    schema: dict[str, Any] = {"type": "string"}
    for at in range(depth):
        schema = {"anyOf": [schema, {"type": "object", "properties": {f"p{at}": schema}}]}
    return schema


def layers(word: str, count: int) -> dict[str, Any]:
    """Many combinations of the same value at once."""
    return {"allOf": [{word: [{"minimum": at}, {"maximum": -at}]} for at in range(count)]}


PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "oneOf 1,000 x 1,000": (choices("oneOf", 1_000), choices("oneOf", 1_000, maxLength=3)),
    "anyOf 1,000 x 1,000": (choices("anyOf", 1_000), choices("anyOf", 1_000, maxLength=3)),
    "oneOf of 1,000 against one": ({"type": "string"}, choices("oneOf", 1_000)),
    "oneOf of 1,000, one more": (choices("oneOf", 1_000), choices("oneOf", 1_001)),
    "2^40 ways, the same": (ladder(40, type="integer"), ladder(40, type="number")),
    "2^40 ways, broken": (ladder(40, type="number"), ladder(40, type="integer")),
    "a chain of 2,000": (chain(2_000, type="integer"), chain(2_000, type="number")),
    "a chain of 2,000, broken": (chain(2_000, type="number"), chain(2_000, type="integer")),
    "60 that refer to all": (circles(60, "integer"), circles(60, "number")),
    "60 that refer to all, broken": (circles(60, "number"), circles(60, "integer")),
    "choices in choices": (nested_choices(8), nested_choices(7)),
    "200 choices at once": (layers("anyOf", 200), layers("oneOf", 201)),
    "10,000 values": ({"enum": list(range(10_000))}, {"enum": list(range(1, 10_000))}),
    "1,000 properties": (
        {"properties": {f"p{at}": {"type": "string"} for at in range(1_000)}},
        {"properties": {f"p{at}": {"type": "integer"} for at in range(1_000)}},
    ),
    "1,000 patterns": (
        {"patternProperties": {f"^p{at}": {"type": "string"} for at in range(1_000)}},
        {"patternProperties": {f"^p{at}": {"type": "integer"} for at in range(1_000)}},
    ),
    "a regular expression that explodes": (
        {"properties": {"a" * 500: {"type": "string"}}, "patternProperties": {"^(a+)+$": {"minLength": 1}}},
        {"patternProperties": {"^(a+)+$": {"maxLength": 1}}, "additionalProperties": False},
    ),
    "huge numbers": (
        {"multipleOf": 1e300, "maximum": 10**900},
        {"multipleOf": 1e-300, "maximum": 10**899, "minimum": -(10**900)},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_hostile_pairs_are_judged(name: str) -> None:
    old, new = (document(one) for one in PAIRS[name])

    assert compare(new, old) or find_differences(new, old)
    assert {one.rule for one in compare(old, new, "LENIENT")} <= {one.rule for one in compare(old, new)}


ALL_IN_ONE = """
import re
from tests.conformance.test_jsonschema_compat_limits import PAIRS
from tests.oracle.jsonschema_pairs import document
from treaty.formats.jsonschema.compare.compatibility import compare

def peak():  # of this program alone; what getrusage says counts the program that started it too
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

before = peak()
for old, new in PAIRS.values():
    compare(document(new), document(old))
print((peak() - before) // 1024)
"""


def test_hostile_pairs_take_less_than_100_megabytes(figure: Callable[[str], None]) -> None:
    run = subprocess.run([sys.executable, "-c", ALL_IN_ONE], capture_output=True, text=True, check=True, cwd=ROOT)

    figure(f"{len(PAIRS)} hostile pairs take {run.stdout.strip()} MB at most, one after the other")
    assert int(run.stdout) < 100


@pytest.mark.parametrize("name", ["oneOf 1,000 x 1,000", "anyOf 1,000 x 1,000"])
def test_too_many_changed_choices_are_told(name: str) -> None:
    old, new = (document(one) for one in PAIRS[name])

    (finding,) = compare(new, old)
    assert finding.rule == "COMPARISON_TOO_LARGE"
    assert "COMBINATION_BRANCHES" in finding.detail
    assert str(COMBINATION_BRANCHES) in finding.detail


def test_choices_that_did_not_change_do_not_count() -> None:
    same = document(choices("oneOf", 1_000))

    assert not compare(same, document(choices("oneOf", 1_000)), "LENIENT")


def test_a_hundred_changed_choices_are_within_the_limit() -> None:
    old, new = document(choices("anyOf", 100, maxLength=2)), document(choices("anyOf", 100, maxLength=3))

    assert not compare(new, old)


def test_a_question_that_never_ends_does() -> None:
    def begin(pair: Any) -> Any:
        yield PairQuestion(pair + 1)

    with pytest.raises(StepsError, match="1000 steps, the limit TOY"), limit_steps(1_000, "TOY"):
        FixpointSolver(begin, DifferenceReport("STRICT"), DifferenceReport("STRICT")).answer(0)
    assert PROOF_STEPS < COMPARE_STEPS
