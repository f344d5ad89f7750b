"""What texts cost: reading, comparing and filling them takes steps and calls in proportion to their length, and all is counted."""

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

from treaty.core.limits import FULL_NAME, SCHEMA_DEPTH
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.budget import StepBudget, StepsError, use_budget
from treaty.formats.format import InvalidSchemaError
from treaty_thrift.columns import derive_columns
from treaty_thrift.comparison import compare
from treaty_thrift.example import generate_example
from treaty_thrift.model import ThriftSchema
from treaty_thrift.parser import parse_schema
from treaty_thrift.values import ValueShapes

SMALL, LARGE = 40, 160
ROW = '{"a1": 1},'


def _lines(count: int, line: Callable[[int], str]) -> str:
    return "\n".join(map(line, range(count)))


TEXTS: dict[str, Callable[[int], str]] = {
    "typedefs of the next one": lambda n: _lines(n, lambda i: f"typedef T{i + 1} T{i}") + f"\ntypedef i32 T{n}",
    "typedefs of the one before": lambda n: "typedef i32 T0\n" + _lines(n, lambda i: f"typedef T{i} T{i + 1}"),
    "a chain that records use": lambda n: (
        f"{_lines(n, lambda i: f'typedef T{i + 1} T{i}')}\ntypedef i32 T{n}\n{_lines(n, lambda i: f'struct S{i} {{1: T0 a}}')}"
    ),
    "a circle of all": lambda n: _lines(n, lambda i: f"typedef T{(i + 1) % n} T{i}"),
    "circles of two": lambda n: _lines(n, lambda i: f"typedef list<T{i ^ 1}> T{i}"),
    "typedefs into a circle": lambda n: "typedef T0 T0\n" + _lines(n, lambda i: f"typedef T{i} T{i + 1}"),
    "maps of the map before": lambda n: (
        f"typedef i32 T0\n{_lines(n // 4 + 20, lambda i: f'typedef map<T{i},T{i}> T{i + 1}')}\nstruct S {{1: T{n // 4 + 20} a}}"
    ),
    "constants of the one before": lambda n: "const i32 C0 = 1\n" + _lines(n, lambda i: f"const i32 C{i + 1} = C{i}"),
    "symbols as defaults": lambda n: (
        f"enum E {{{_lines(n, lambda i: f'A{i} = {i}')}}}\nstruct S {{{_lines(n, lambda i: f'{i + 1}: E a{i} = E.A{n - 1 - i}')}}}"
    ),
    "numbers as defaults": lambda n: (
        f"enum E {{{_lines(n, lambda i: f'A{i} = {i}')}}}\nstruct S {{{_lines(n, lambda i: f'{i + 1}: E a{i} = {n - 1 - i}')}}}"
    ),
    "records as constants": lambda n: (
        f"struct R {{{_lines(n, lambda i: f'{i + 1}: i32 a{i}')}}}\nconst list<R> C = [{_lines(n, lambda _: ROW)}]"
    ),
    "records that need the next one": lambda n: (
        f"{_lines(n, lambda i: f'struct S{i} {{1: required S{i + 1} a}}')}\nstruct S{n} {{}}\nstruct R {{1: S0 a}}"
    ),
    "services": lambda n: _lines(n, lambda i: f"service S{i + 1} extends S{i} {{void f(1: i32 a)}}"),
}


def _use(schema: ThriftSchema) -> None:
    """All that a registry does with a schema."""
    compare(schema, schema, "STRICT")
    with suppress(InvalidSchemaError):
        derive_columns(schema)
    with suppress(ValueError):
        ValueShapes().of_root(schema)
        generate_example(schema, 1)


def _count(text: str) -> tuple[int, int]:
    """Calls of functions and steps that a text takes."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        del frame, argument
        calls += event == "call"

    budget = StepBudget(10**9, "all")
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        with use_budget(budget), suppress(InvalidSchemaError):
            _use(parse_schema(ResolvedSchema("THRIFT", text, ()), strict=True))
    finally:
        sys.setprofile(before)
    return calls, budget.spent


@pytest.mark.parametrize("name", TEXTS)
def test_a_longer_text_costs_in_proportion(name: str) -> None:
    small, large = (TEXTS[name](n) for n in (SMALL, LARGE))
    _count(small)  # what is made once, the grammar's tables, is made
    growth = len(large) / len(small)
    for before, after in zip(_count(small), _count(large), strict=True):
        assert after < 1.25 * growth * before


def test_steps_run_out_before_a_long_chain_is_followed() -> None:
    text = TEXTS["a chain that records use"](2_000)
    with use_budget(StepBudget(8_000, "INLINE_STEPS")), pytest.raises(StepsError):
        parse_schema(ResolvedSchema("THRIFT", text, ()), strict=True)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"typedef i32 T0\n{_lines(SCHEMA_DEPTH + 1, lambda i: f'typedef list<T{i}> T{i + 1}')}", "TOO_DEEP"),
        (
            (
                f"typedef i32 T0\n{_lines(150, lambda i: f'typedef list<T{i}> T{i + 1}')}\n"
                f"struct S {{1: {'list<' * 60}T150{'>' * 60} a}}"
            ),
            "TOO_DEEP",
        ),
        (
            "typedef i32 T0\nconst T0 C0 = 1\n"
            + _lines(40, lambda i: f"typedef list<T{i}> T{i + 1}\nconst T{i + 1} C{i + 1} = [C{i}, C{i}]"),
            "TOO_MANY",
        ),
        ("const i32 A = B\nconst i32 B = A", "DEFAULT_INVALID"),
        (f"struct {'S' * (FULL_NAME + 1)} {{}}", "NAME_ILLEGAL"),
    ],
)
def test_what_grows_when_it_is_written_out_has_a_limit(text: str, rule: str) -> None:
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(ResolvedSchema("THRIFT", text, ()), strict=True)
    assert refused.value.faults[0].rule == rule


def test_only_typedefs_on_a_circle_are_told() -> None:
    text = "typedef B A\ntypedef list<C> B\ntypedef map<i32, B> C\ntypedef A D\ntypedef E E\ntypedef i32 F"
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(ResolvedSchema("THRIFT", text, ()), strict=True)
    assert [(one.rule, one.path) for one in refused.value.faults] == [
        ("TYPEDEF_CIRCLE", "/B"),
        ("TYPEDEF_CIRCLE", "/C"),
        ("TYPEDEF_CIRCLE", "/E"),
    ]
