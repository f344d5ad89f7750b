"""The columns of a union of versions: each type of a union has its own, which no later version changes."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tests.frames import frame, record
from tests.recursive_unions import recursive_history, recursive_plan
from tests.union_histories import BranchFrame, union_history
from treaty.arrow.avro.rows import make_decoder, make_row_reader
from treaty.assemble import connect
from treaty.core.messages.registration import Register
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.schema import Draft
from treaty.plan.avro import planner
from treaty.plan.avro.flat import parse_avro
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan

PART = 1_000
SUBJECT = subject_of("events-value")
VALUES: dict[str, Any] = {
    "record": {}, "enum": "X", "fixed": b"xy", "int": 1, "long": 2, "double": 0.5, "string": "s", "bytes": b"b",
}  # fmt: skip


def inner(*fields: str, name: str, **more: Any) -> Any:
    """A record with such fields of whole numbers."""
    made = [{"name": one, "type": "long"} for one in fields]
    return {"type": "record", "name": name, "fields": made, **more}


def enum(name: str) -> Any:
    return {"type": "enum", "name": name, "symbols": ["X"]}


def fixed(name: str) -> Any:
    return {"type": "fixed", "name": name, "size": 2}


def plans(texts: Iterable[str]) -> Iterator[DecodePlan]:
    """The plan of the first version, that of the first two, and so on."""
    known: list[RegisteredSchema] = []
    for place, text in enumerate(texts, 1):
        known.append(RegisteredSchema(place, DEFAULT_CONTEXT, place, "AVRO", parse_avro(text)))
        reader, losers = planner.union(known)
        lost = {one.schema_id for one in losers}
        yield planner.compose([one for one in known if one.schema_id not in lost], reader)


def member_of(found: Any, steps: tuple[str, ...]) -> str:
    """The only member of the choice that a row has at a place; "" for a column of one type."""
    for step in steps:
        match step:
            case "[]":
                found = found[0]
            case "{}":
                found = found["k"] if isinstance(found, dict) else found[0][1]
            case "any member":
                found = next(one for one in found.values() if one is not None)
            case _:
                found = found[step]
    if not isinstance(found, dict) or not all(name.startswith("member") for name in found) or not found:
        return ""
    (mine,) = (str(name) for name, one in found.items() if one is not None)
    return mine


def columns_of(plan: DecodePlan, sent: Iterable[BranchFrame]) -> Iterator[tuple[BranchFrame, str]]:
    """The member in which each frame's value stands; nothing for rows of versions that have no part in the plan."""
    mine = {one.schema_id for one in plan.writers}
    decode = make_decoder(plan)
    for one in sent:
        if one.schema_id in mine:
            row, code = decode(one.value) or (None, "no frame of the plan")
            assert code in {None, "RESOLUTION"}, one
            if code is None:
                yield one, member_of(row, one.steps)


def read(seed: int, *, careless: bool) -> tuple[int, int]:
    """Hold the law against one history; the rows that were read, and the versions that have no part."""
    versions = union_history(seed, careless=careless)
    members: dict[Any, str] = {}
    rows = lost = 0
    for count, plan in enumerate(plans(text for text, _ in versions), 1):
        sent = [one for _, some in versions[:count] for one in some]
        read_ones = dict(columns_of(plan, sent))
        assert careless or len(read_ones) == len(sent), f"seed {seed}, version {count}: a row is bad"
        for one, member in read_ones.items():
            key = (one.union, one.schema_id, one.type) if careless else (one.union, one.type)
            assert members.setdefault(key, member) == member, f"seed {seed}, version {count}: {one.type} moves"
            rows += 1
        if careless:
            groups = [[members[1, *key[1:]] for key in members if key[:2] == (1, at)] for at in range(count + 1)]
            groups += [[members[key] for key in members if key[:2] == (0, at)] for at in range(count + 1)]
        else:
            assert not plan.rejected, f"seed {seed}, version {count}: {plan.rejected[0].message}"
            groups = [[member for key, member in members.items() if key[0] == at] for at in (0, 1)]
        for some in groups:
            assert len({*some}) == len(some), f"seed {seed}, version {count}: two types share a column"
        lost = count - len(plan.writers)
    return rows, lost


@pytest.mark.parametrize("names", ["careful", "careless"])
@pytest.mark.parametrize(
    "first", [0, *(pytest.param(at, marks=pytest.mark.soak) for at in range(PART, 11 * PART, PART))]
)
def test_each_type_of_a_union_has_its_own_column_for_ever(
    first: int, names: str, figure: Callable[[str], None]
) -> None:
    """In a careful history every version has a part. Where names mean other types in other versions, a version may be
    left out, and its rows are bad, but none is read as another type.
    """
    seeds = range(first, first + (PART if first else 40))
    found = [read(seed, careless=names == "careless") for seed in seeds]
    rows, lost = (sum(some) for some in zip(*found, strict=True))
    figure(f"histories of unions from {first}: {rows} rows read, {lost} versions without a part")
    assert rows > 10 * len(seeds)


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(at, marks=pytest.mark.soak) for at in range(PART, 11 * PART, PART))]
)
@pytest.mark.parametrize("reader", ["union", "latest"])
def test_a_value_beyond_the_depth_is_left_out_and_never_another_type(first: int, reader: str) -> None:
    for seed in range(first, first + (PART if first else 20)):
        history = recursive_history(seed)
        plan = recursive_plan(history, reader)
        assert not plan.rejected, seed
        read_row = make_row_reader(plan)
        for sent, column in zip(history.frames, history.records, strict=True):
            assert read_row(sent) == (column, None, None), (seed, sent)


def test_a_type_that_the_reader_has_not_is_refused_at_the_depth_too() -> None:
    """Another record is not taken for one that lies deeper, though that has no columns."""
    other = {"type": "record", "name": "Other", "fields": [{"name": "y", "type": "int"}]}
    old, new = (record(("next", ["null", inner("x", name="Leaf"), "shop.Order", *more])) for more in ([other], []))
    known = [RegisteredSchema(at, DEFAULT_CONTEXT, at, "AVRO", parse_avro(one)) for at, one in enumerate((old, new), 1)]
    read_row = make_row_reader(planner.compose(known, parse_avro(new), 1))
    assert read_row(frame(1, old, {"next": ("shop.Order", {"next": None})})) == ({"next": None}, None, None)
    assert read_row(frame(1, old, {"next": ("shop.Other", {"y": 1})}))[1] == "RESOLUTION"


def test_a_plan_that_is_extended_keeps_the_columns() -> None:
    """As a pipeline extends it: with each new version, twice."""
    paid, cancelled, shipped = (inner("id", name=name) for name in ("Paid", "Cancelled", "Shipped"))
    versions = [[paid, cancelled], [shipped, paid, cancelled], [inner(name="Lost"), shipped, cancelled, paid, "null"]]
    with connect("memory:") as registry:
        plan, frames, found = None, [], []
        for number, union in enumerate(versions):
            text = record(("body", union))
            schema_id = registry.ask(Register(SUBJECT, Draft(text))).answer.version.schema_id
            plan = extend(plan, registry, [schema_id]) if plan else make_plan(registry, "events-value", reader="union")
            frames += [
                (
                    one["name"],
                    frame(schema_id, text, {"body": (f"shop.{one['name']}", {"id": number} if one["fields"] else {})}),
                )
                for one in union
                if one != "null"
            ]
            decode = make_decoder(plan)
            found.append([(name, member_of(decode(sent)[0], ("body",))) for name, sent in frames])  # type: ignore[index]  # of the plan
    own = {"Paid": "member0", "Cancelled": "member1", "Shipped": "member2", "Lost": "member3"}
    assert found == [[(name, own[name]) for name, _ in frames[:count]] for count in (2, 5, 9)]


@pytest.mark.parametrize(
    ("unions", "members"),
    [
        ([["string", inner(name="A")], ["bytes", "string", inner(name="A")]], {"string": 0, "A": 1, "bytes": 2}),
        ([["int", "string"], ["string", "long"]], {"int": 0, "long": 0, "string": 1}),
        ([["int", "double", "string"], ["long", "double", "string"]], {"int": 0, "long": 0, "double": 1, "string": 2}),
        ([["long", "string"], ["double", "string", "long"]], {"long": 0, "string": 1, "double": 2}),
        (
            [
                [inner(name="A"), inner(name="B", aliases=["shop.C"])],
                [inner(name="A"), inner(name="B"), inner(name="C")],
            ],
            {"A": 0, "B": 1, "C": 2},
        ),
        (
            [
                [enum("A"), enum("B")],
                [enum("A"), enum("B"), enum("C"), fixed("D")],
                [enum("B"), fixed("D"), fixed("E")],
            ],
            {"A": 0, "B": 1, "C": 2, "D": 3, "E": 4},
        ),
        (
            [[inner(name="A"), inner(name="B")], [inner(name="other.A"), inner(name="A"), "null"]],
            {"A": 0, "B": 1, "other.A": 2},
        ),
    ],
)
def test_each_kind_of_type_has_its_own_column(unions: list[list[Any]], members: dict[str, int]) -> None:
    found = {}
    texts = [record(("u", union)) for union in unions]
    *_, plan = plans(texts)
    assert plan.rejected == ()
    for place, union in enumerate(unions):
        for one in union:
            if one != "null":
                name = one if isinstance(one, str) else one["name"]
                value = VALUES[one if isinstance(one, str) else one["type"]]
                full = name if isinstance(one, str) or "." in name else f"shop.{name}"
                row, _ = make_decoder(plan)(frame(place + 1, texts[place], {"u": (full, value)}))  # type: ignore[misc]  # of the plan
                found[name] = int(member_of(row, ("u",)).removeprefix("member"))
    assert found == members


def test_the_default_of_another_type_moves_no_column() -> None:
    """The type of the newest default was the first member from then on."""
    one, other = inner("id", name="A"), inner("text", name="B")
    texts = [record(("n", "int")), record(("n", "int"), ("u", [one, other], {"id": 1}))]
    texts.append(record(("n", "int"), ("u", [other, one], {"text": 2})))
    for plan in [*plans(texts)][1:]:
        decode = make_decoder(plan)
        sent = frame(2, texts[1], {"n": 0, "u": ("shop.A", {"id": 5})})
        assert decode(sent) == ({"n": 0, "u": {"member0": {"id": 5}, "member1": None}}, None)
    # The row of the first version gets the newest default, where that stands by now.
    assert decode(frame(1, texts[0], {"n": 0})) == ({"n": 0, "u": {"member0": None, "member1": {"text": 2}}}, None)


def test_two_types_that_had_one_name_share_no_column() -> None:
    """C was A by an alias; now both are there. The version has no part, and says why."""
    texts = [record(("u", [inner("a", name="A"), inner("b", name="B")]))]
    texts.append(record(("u", [inner("a", name="C", aliases=["A"]), inner("b", name="B")])))
    texts.append(record(("u", [inner("a", name="A"), inner("a", name="C"), inner("b", name="B")])))
    *_, plan = plans(texts)
    known = [
        RegisteredSchema(place, DEFAULT_CONTEXT, place, "AVRO", parse_avro(text)) for place, text in enumerate(texts, 1)
    ]
    ((lost, why),) = [(one.schema_id, one.message) for one in planner.union(known)[1]]
    assert lost == 3
    assert "at /u" in why
    assert {one.schema_id for one in plan.writers} == {1, 2}


@pytest.mark.parametrize("seed", [8124], ids=["an enum is called like the last part of an alias"])
def test_a_history_that_once_broke_the_law(seed: int) -> None:
    read(seed, careless=False)
