"""Plans over time: whatever is registered, imported and deleted behind them, what a plan reads is read alike by the plans that follow it."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frames import record
from tests.living_plans import STEPS, Step, live
from tests.plan_worlds import NOBODY, SHAPES, PlanWorld, read_rows
from treaty.assemble import connect
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.schema import Draft
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.format_plans import SHAPES as SHAPES_OF_TYPES
from treaty.plan.value import DecodePlan

HEAD = 'syntax = "proto3"; package shop;'
CONTEXTS = (".", ".shop")


@pytest.mark.parametrize("format_", [*SHAPES])
@given(
    context=st.sampled_from(CONTEXTS),
    steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 11), st.integers(0, 11)), min_size=2, max_size=12),
)
def test_what_a_plan_reads_is_read_alike_ever_after(format_: str, context: str, steps: list[Step]) -> None:
    with connect("memory:") as registry:
        live(PlanWorld(registry, format_, context), steps)


@pytest.mark.soak
@pytest.mark.parametrize("format_", [*SHAPES])
def test_many_plans_are_read_alike_ever_after(format_: str, figure: Callable[[str], None]) -> None:
    plans = 0
    for seed in range(500):
        dice = random.Random(seed)
        steps = [(dice.choice(STEPS), dice.randrange(12), dice.randrange(12)) for _ in range(dice.randrange(3, 16))]
        with connect("memory:") as registry:
            plans += len(live(PlanWorld(registry, format_, dice.choice(CONTEXTS)), steps))
    figure(f"{plans} plans of {format_} in 500 worlds")
    assert plans > 500


ASKED: list[tuple[str, dict[str, Any]]] = [
    *(("AVRO", {"framing": framing}) for framing in ("header", "md5", "single-object", "version")),
    *(("AVRO", one) for one in ({"depth": 1}, {"lossy": "double"}, {"lossy": "allow"}, {"engine": "fastavro"}, {"case_sensitive": False})),
    *(("JSON", one) for one in ({"validate": True}, {"rest": "map"}, {"rest": "variant"}, {"depth": 1}, {"engine": "spark"})),
    *(("PROTOBUF", one) for one in ({"defaults": True}, {"unknown": True}, {"message": "shop.Order"}, {"depth": 1}, {"engine": "upb"})),
]  # fmt: skip
"""Everything that can be asked of a plan beside its reader, away from its default."""


@pytest.mark.parametrize(
    ("format_", "choices", "reader"),
    [
        (*one, reader)
        for one in ASKED
        for reader in ("union", "latest", 1, "types", "wide")
        if reader not in SHAPES_OF_TYPES or not one[1].keys() & {"rest", "unknown"}
    ],
    ids=str,
)
def test_a_plan_that_is_extended_keeps_what_was_asked_of_it(
    format_: str, choices: dict[str, Any], reader: str | int
) -> None:
    """Twice, and with an id of another subject: it is the plan that would be made now."""
    with connect("memory:") as registry:
        world = PlanWorld(registry, format_)
        name = str(world.subject)
        world.register(world.subject, 0)
        plan = make_plan(registry, name, reader=reader, **choices)
        ids: list[int] = []
        for place, shape in ((world.other, 5), (world.subject, 1), (world.subject, 2)):
            ids.append(world.register(place, shape) or pytest.fail("refused"))
            plan = extend(DecodePlan.from_json(plan.to_json()), registry, ids[-1:])
        assert plan == make_plan(registry, name, reader=reader, ids=ids, **choices)


RECURSIVE = {
    "AVRO": [record(("next", ["null", "shop.Order"], None), *more) for more in ((), (("y", "int", 1),))],
    "JSON": [
        json.dumps(
            {"type": "object", "properties": {"next": {"$ref": "#"}} | {one: {"type": "integer"} for one in names}}
        )
        for names in ("x", "xy")
    ],
    "PROTOBUF": [f"{HEAD} message Order {{ Order next = 1; int32 x = 2; {more} }}" for more in ("", "int32 y = 3;")],
}


@pytest.mark.parametrize("depth", [1, 5])
@pytest.mark.parametrize("reader", ["union", "latest", 1])
@pytest.mark.parametrize("format_", [*RECURSIVE])
def test_a_plan_that_is_extended_opens_records_as_deep(format_: str, reader: str | int, depth: int) -> None:
    old, new = RECURSIVE[format_]
    with connect("memory:") as registry:
        registry.set_config("s", Config(level="NONE"))
        registry.register("s", Draft(old, format_))
        plan = make_plan(registry, "s", reader=reader, depth=depth)
        late = registry.register("s", Draft(new, format_)).version.schema_id
        longer = extend(plan, registry, [late])
        assert longer == make_plan(registry, "s", reader=reader, depth=depth)
        assert plan.depth == depth
        assert longer.type.count("`next`") == plan.type.count("`next`")
        assert longer.type != make_plan(registry, "s", reader=reader, depth=3).type


def test_a_plan_of_a_group_that_is_extended_keeps_encodings_and_keys() -> None:
    with connect("memory:") as registry:
        world = PlanWorld(registry, "AVRO")
        name = str(world.subject)
        for shape in (0, 1, 2):
            world.register(world.subject, shape)
        registry.add_codec(name, "vault", (("key", "7"),))
        for ordinal, codec in ((2, "vault"), (0, "")):
            registry.assign_encoding(name, ordinal, codec)
        keys = make_plan(registry, name, reader="union")
        plan = replace(make_plan(registry, name, reader="union", framing="pravega"), key=keys)
        for ordinal, codec in ((1, "vault"), (2, "")):
            registry.assign_encoding(name, ordinal, codec)
        longer = extend(extend(plan, registry, [3, NOBODY]), registry, [2])
        assert longer == replace(make_plan(registry, name, reader="union", framing="pravega"), key=keys)
        assert longer.known == {0, 1, 2, 3}
        assert longer.known_keys == keys.known
        world.delete(world.subject, 2, permanent=True)
        assert extend(longer, registry, [NOBODY]) is longer
        assert DecodePlan.from_json(longer.to_json()) == longer


def test_members_of_a_union_stay_when_their_version_is_deleted_or_another_is_imported_before_it() -> None:
    """What was member 1 was member 0 of the plan that followed, in the same column of a table."""
    with connect("memory:") as registry:
        world = PlanWorld(registry, "AVRO")
        first = world.register(world.subject, 5, number=4, schema_id=40)
        second = world.register(world.subject, 6, number=6, schema_id=60)
        plan = make_plan(registry, str(world.subject), reader="union")
        rows = read_rows(plan, world.sent)
        assert [rows[one].columns for one in (40, 60)] == [
            {"x": 5, "u": {"member0": None, "member1": {"a": 8}, "member2": None}},
            {"x": 5, "u": {"member0": None, "member1": {"a": 9}, "member2": None}},
        ]
        world.delete(world.subject, 4, permanent=True)
        third = world.register(world.subject, 6 + 4, number=2, schema_id=20)
        assert (first, second, third) == (40, 60, 20)
        longer = extend(plan, registry, [20])
        again = make_plan(registry, str(world.subject), reader="union", ids=longer.known, before=longer)
        for one in (longer, again):
            found = read_rows(one, world.sent)
            assert found[60] == rows[60]
            assert found[40].code == "UNKNOWN_ID"


WIDE = [
    ("int32 x = 1;", "int64 x = 1;"),
    ("int32 x = 1;", "repeated int32 x = 1;"),
    ("optional int32 x = 1;", "repeated int32 x = 1;"),
    ("oneof o { int32 x = 1; string y = 2; }", "repeated int32 x = 1;"),
    ("int32 x = 1;", "int32 x = 1; string gone = 4;"),
    ("In i = 1; message In { int32 x = 1; }", "In i = 1; message In { int32 x = 1; repeated sint64 n = 2; }"),
    ("In i = 1; message In { int32 x = 1; }", "In i = 1; message In { repeated int32 x = 1; }"),
]
"""Fields of a message, and those of a version that holds more."""


@pytest.mark.parametrize(("narrow", "wide"), WIDE)
@pytest.mark.parametrize("is_last", [True, False], ids=["last", "first"])
def test_columns_of_messages_stay_when_the_version_is_purged_that_they_are_of(
    narrow: str, wide: str, *, is_last: bool
) -> None:
    texts = [f"{HEAD} message Order {{ {one} }}" for one in ((narrow, wide) if is_last else (wide, narrow))]
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        ids = [registry.register("orders-value", Draft(one, "PROTOBUF")).version.schema_id for one in texts]
        plan = make_plan(registry, "orders-value", reader="union")
        registry.delete_version("orders-value", 1 + is_last)
        registry.delete_version("orders-value", 1 + is_last, permanent=True)
        kept = ids[not is_last]
        if kept not in {one.schema_id for one in plan.writers}:
            return  # nothing that is there is read by the plan
        more = registry.register("orders-value", Draft(f"{texts[not is_last]} message More {{}}", "PROTOBUF"))
        longer = extend(plan, registry, [more.version.schema_id])
        assert {kept, more.version.schema_id} <= {one.schema_id for one in longer.writers}
        types = dict(longer.columns)
        assert {name: types.get(name) for name, _ in plan.columns} == dict(plan.columns)


@pytest.mark.parametrize("reader", [2, "latest"])
def test_the_reader_of_a_plan_stays_when_its_version_is_deleted(reader: str | int) -> None:
    with connect("memory:") as registry:
        world = PlanWorld(registry, "AVRO")
        for shape in (0, 1):
            world.register(world.subject, shape)
        plan = make_plan(registry, str(world.subject), reader=reader)
        rows = read_rows(plan, world.sent)
        other = world.register(world.other, 3) or pytest.fail("refused")
        numbers = (2,) if reader == 2 else (1, 2)
        for permanent in (False, True)[: len({*numbers, reader})]:
            for number in numbers if reader == 2 or not permanent else ():
                world.delete(world.subject, number, permanent=permanent)
            longer = extend(plan, registry, [other])
            assert longer.reader == plan.reader
            assert longer.known >= {1, other}
            assert read_rows(longer, world.sent)[1] == rows[1]


def test_a_version_that_was_deleted_softly_is_neither_the_latest_nor_the_format() -> None:
    """Its rows are read all the same, and it has no part in what the latest version decides."""
    with connect("memory:") as registry:
        world = PlanWorld(registry, "AVRO")
        name = str(world.subject)
        first, twins, deleted = (world.register(world.subject, shape) for shape in (0, 4, 1))
        world.delete(world.subject, 3)
        bare = make_plan(registry, name, framing="none")
        assert [one.schema_id for one in bare.writers] == [twins]
        assert dict(bare.columns).keys() == {"x", "X"}
        plan = make_plan(registry, name, case_sensitive=False)
        assert [one.schema_id for one in plan.rejected] == [twins]
        assert [one.schema_id for one in plan.writers] == [first, deleted]
        assert dict(plan.columns).keys() == {"x"}
        other = PlanWorld(registry, "JSON").register(world.subject, 0)
        world.delete(world.subject, 4)
        for reader in ("latest", "union"):
            plan = make_plan(registry, name, reader=reader)
            assert plan.format == "AVRO"
            assert [(one.schema_id, one.code) for one in plan.rejected] == [(other, "RESOLUTION")]


def test_a_number_that_is_another_schema_by_now_is_not_the_reader() -> None:
    """Version 1 was deleted for good and imported anew: the plan goes on with the one that it had."""
    with connect("memory:") as registry:
        world = PlanWorld(registry, "AVRO")
        for shape in (1, 0):
            world.register(world.subject, shape)
        plan = make_plan(registry, str(world.subject), reader=1)
        rows = read_rows(plan, world.sent)
        world.delete(world.subject, 1, permanent=True)
        assert world.register(world.subject, 3, number=1, schema_id=70) == 70
        other = world.register(world.other, 7) or pytest.fail("refused")
        longer = extend(extend(plan, registry, [70]), registry, [other])
        assert longer.columns == plan.columns
        assert read_rows(longer, world.sent)[2] == rows[2]
        assert {(one.schema_id, one.code) for one in longer.rejected} == {(70, "RESOLUTION"), (other, "WRONG_SUBJECT")}
