"""Names that differ in case alone: a plan for a table has one of them, whichever versions came first, and says so of the others."""

import json
import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import record
from treaty.arrow import decode
from treaty.assemble import connect
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.schema import Draft
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import PlanError
from treaty.plan.rows import Names
from treaty.plan.strictness import find_case_twins
from treaty.plan.value import DecodePlan

NAMES = ("userId", "userID", "USERID", "n", "N", "m")


def make_fields(dice: random.Random) -> dict[str, Any]:
    """Some names, each with nothing or with names inside."""
    found = dice.sample(NAMES, dice.randrange(1, 3))
    return {name: dice.sample(NAMES, dice.randrange(1, 3)) if dice.random() < 0.5 else None for name in found}


def write_schema(format_: str, fields: dict[str, Any]) -> str:
    match format_:
        case "AVRO":
            made = [
                (name, "int" if inside is None else json.loads(record(*((one, "int", 0) for one in inside), name=f"R{at}")), *([0] if inside is None else []))
                for at, (name, inside) in enumerate(fields.items())
            ]  # fmt: skip
            return record(*made)
        case "JSON":
            parts = {
                name: {"type": "integer"} if inside is None else {"type": "object", "properties": {one: {"type": "integer"} for one in inside}}
                for name, inside in fields.items()
            }  # fmt: skip
            return json.dumps({"type": "object", "properties": parts})
    places = {name: place for place, name in enumerate(NAMES, 1)}
    messages = [
        f"message R{at} {{ {' '.join(f'int32 {one} = {places[one]};' for one in inside)} }}"
        for at, inside in enumerate(fields.values())
        if inside is not None
    ]
    lines = [
        f"int32 {name} = {places[name]};" if inside is None else f"R{at} {name} = {places[name] + 10};"
        for at, (name, inside) in enumerate(fields.items())
    ]
    return f'syntax = "proto3"; message Top {{ {" ".join(lines)} }} {" ".join(messages)}'


def plan_for_table(format_: str, texts: Sequence[str], reader: str) -> DecodePlan | str:
    """The plan, or why there is none."""
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        for one in texts:
            registry.register("t-value", Draft(one, format_))
        try:
            return make_plan(registry, "t-value", reader=reader, case_sensitive=False)
        except PlanError as wrong:
            return str(wrong)


@pytest.mark.parametrize(
    ("format_", "first", "count"),
    [
        *((format_, 0, 12) for format_ in ("AVRO", "JSON", "PROTOBUF")),
        ("JSON", 1_122, 1),  # the last version brings back what the first one alone has
        *(pytest.param(format_, 1_000, 600, marks=pytest.mark.soak) for format_ in ("AVRO", "JSON", "PROTOBUF")),
    ],
)
def test_a_plan_for_a_table_has_the_columns_that_it_had_before_later_versions(
    format_: str, first: int, count: int
) -> None:
    """What a pipeline's new table gets is what a table got that was filled while the versions came one by one."""
    left_out = 0
    for seed in range(first, first + count):
        dice = random.Random(seed)
        texts = list(dict.fromkeys(write_schema(format_, make_fields(dice)) for _ in range(dice.randrange(1, 5))))
        accepted: set[str] = set()
        for end in range(1, len(texts) + 1):
            plan = plan_for_table(format_, texts[:end], "union")
            if isinstance(plan, str):
                assert "upper and lower case" in plan or "no part in the union" in plan, (seed, plan)
                assert not accepted
                continue
            assert not find_case_twins(plan.engine_type), seed
            now = {str(one.schema_id) for one in plan.writers}
            clashing = {str(one.schema_id) for one in plan.rejected if "upper and lower case" not in one.message}
            assert accepted - clashing <= now, seed
            bad = [one for one in plan.rejected if "upper and lower case" in one.message]
            left_out += len(bad)
            assert {one.code for one in bad} <= {"RESOLUTION"}
            accepted = now
    assert left_out


def test_of_the_latest_schema_the_last_one_with_a_table_is_the_reader() -> None:
    texts = [record(("userId", "int", 0)), record(("userId", "int", 0), ("userID", "int", 0))]
    plan = plan_for_table("AVRO", texts, "latest")
    assert isinstance(plan, DecodePlan)
    assert [name for name, _ in plan.columns] == ["userId"]
    assert plan.rejected[0].message == (
        "version 2 has no part in the union: userId and userID differ in nothing but upper and lower case, and a table has one column for both. "
        "Give the field one spelling, with the other as an alias"
    )
    alone = plan_for_table("AVRO", texts[1:], "latest")
    assert isinstance(alone, str)
    assert "userId and userID differ in nothing but upper and lower case" in alone


def test_names_are_looked_at_in_lists_maps_and_members_of_unions() -> None:
    inner = "STRUCT<`Id`: INT, `id`: INT>"
    for kind, path in (
        (f"STRUCT<`s`: {inner}>", "s."),
        (f"STRUCT<`l`: ARRAY<MAP<STRING, {inner}>>>", "l."),
        (f"STRUCT<`u`: STRUCT<`member0`: INT, `member1`: {inner}>>", "u.member1."),
        (inner, ""),
    ):
        assert find_case_twins(kind) == (f"{path}Id and {path}id",)
    assert find_case_twins("STRUCT<`a`: STRUCT<`Id`: INT>, `b`: STRUCT<`id`: INT>, `A1`: INT>") == ()


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("beside", ["value", "record", "error", "x", "p_x", "id", "p_error"])
@pytest.mark.parametrize("names", [Names(), Names(prefix="p_"), Names(schema_id="id"), Names(record="x", error="")])
def test_a_column_of_the_frame_is_refused_where_decoding_adds_one_of_its_name_and_else_kept(
    names: Names, beside: str, *, flatten: bool
) -> None:
    with connect("memory:") as registry:
        registry.register("s", Draft(record(("x", "int"))))
        plan = make_plan(registry, "s")
    added = [f"{names.prefix}x"] if flatten else [names.record]
    added += [one for one in (names.error, names.schema_id) if one]
    frames = pa.table({beside: ["kept"], "frames": pa.array([b"\0\0\0\0\1\2"], pa.binary())})
    if beside in added or len({*added}) < len(added):
        with pytest.raises(PlanError, match="two columns would be called"):
            decode(frames, plan, column="frames", names=names, flatten=flatten)
    else:
        table = decode(frames, plan, column="frames", names=names, flatten=flatten)
        assert {*table.column_names} >= {beside, *added}
        assert table[beside].to_pylist() == ["kept"]
