"""Damaged and random bytes through every engine for Avro: the same records, codes, sentences and payloads from each."""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.damage import DEEDS, MICROS, MILLIS, NANOS, Logical, damaged
from tests.damage import bare as bare_schema
from tests.frames import frame, header, record
from tests.histories import long_history
from tests.orders import sorted_maps
from treaty import arrow
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.schema import Draft
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import merge
from treaty.plan.avro.planner import compose
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema
from treaty.spark import DecodePlan, Names, decode, make_plan
from treaty.spark.engines.avro import decode_record
from treaty.spark.engines.repaired_records import read_avro_part

pytestmark = pytest.mark.jvm

A_JOB = 10
"""Plans that one job runs, each in columns of its own."""


@dataclass(frozen=True, slots=True)
class Case:
    """A plan, and frames for it."""

    name: str
    plan: DecodePlan
    frames: list[bytes]


def planned(*texts: str, reader: Any = None) -> DecodePlan:
    schemas = [parse_avro(one) for one in texts]
    known = [RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", one) for place, one in enumerate(schemas)]
    return compose(known, reader or merge(schemas))


def pairs(first: int, count: int) -> Iterator[Case]:
    """Schemas that some reader reads, half of them beside the reader's own, and frames of the first one."""
    for seed in itertools.count(first):
        maker = Logical(seed)
        writer = maker.top()
        reader = maker.reader(writer)
        values = [maker.value(writer) for _ in range(4)]
        texts = [json.dumps(one) for one in ((writer, reader) if seed % 2 else (writer,))]
        try:
            plan = planned(*texts, reader=parse_avro(json.dumps(reader)))
        except PlanError:
            continue
        if plan.writers[0].schema_id == 1:
            frames = [made for _, made in damaged(seed, writer, values, count)]
            yield Case(f"seed {seed}: {json.dumps(writer)} read as {json.dumps(reader)}", plan, frames)


def bare(value: Any) -> Any:
    """A value of Arrow with instants and days as numbers (Python has none before the year 1), entries of maps in one order."""
    if not value.is_valid:
        return None
    if isinstance(value, pa.StructScalar):
        return {name: bare(one) for name, one in value.items()}
    if isinstance(value, pa.MapScalar):
        return sorted(((bare(key), bare(one)) for key, one in (one.values() for one in value.values)), key=repr)
    if isinstance(value, pa.ListScalar):
        return [bare(one) for one in value.values]
    if isinstance(value, pa.TimestampScalar | pa.Date32Scalar):
        return value.value
    return sorted_maps(value.as_py())


def compared(spark: SparkSession, folder: Path, cases: list[Case]) -> tuple[int, int]:
    """Rows and good rows, once Spark's own functions, their one column, Python workers and Arrow agree on each."""
    rows = good = 0
    for first in range(0, len(cases), A_JOB):
        some = cases[first : first + A_JOB]
        most = max(len(one.frames) for one in some)
        columns = {
            f"v{at}": pa.array([*one.frames, *[None] * (most - len(one.frames))], pa.binary())
            for at, one in enumerate(some)
        }
        path = folder / f"{first}.parquet"
        pq.write_table(pa.table({"at": range(most), **columns}), path)
        source = spark.read.parquet(str(path))
        for at, one in enumerate(some):
            source = source.withColumn(f"c{at}", decode_record(one.plan, F.col(f"v{at}")))
            source = decode(source, one.plan, column=f"v{at}", names=Names(f"r{at}", f"e{at}"))
            if not at % A_JOB:  # workers read one plan of each job; they run what Arrow runs
                slow = replace(one.plan, engine="fastavro")
                source = decode(source, slow, column=f"v{at}", names=Names(f"s{at}", f"x{at}"))
        theirs = source.toArrow().sort_by("at")
        for at, one in enumerate(some):
            ours = arrow.decode(pa.array(one.frames, pa.binary()), one.plan)
            records, errors = [f"c{at}", f"r{at}"], [f"e{at}"]
            if not at % A_JOB:
                records, errors = [*records, f"s{at}"], [*errors, f"x{at}"]
            for part, columns_ in (("record", records), ("error", errors)):
                for column in columns_:
                    wrong = [
                        (value[5:].hex(), left, right)
                        for left, right, value in zip(
                            map(bare, ours[part]), map(bare, theirs[column]), one.frames, strict=False
                        )
                        if left != right
                    ]
                    assert wrong == [], f"{one.name}, {column}: {wrong[:3]}"
            rows += len(one.frames)
            good += len(one.frames) - ours["record"].null_count
    return rows, good


@pytest.mark.parametrize("first", [0, *(pytest.param(5_000 + 500 * part, marks=pytest.mark.soak) for part in range(4))])
def test_damaged_bytes_are_the_same_rows_to_every_engine(
    spark: SparkSession, tmp_path: Path, first: int, figure: Callable[[str], None]
) -> None:
    size = 50 if first else 20
    rows, good = compared(spark, tmp_path, list(itertools.islice(pairs(first, 6 * len(DEEDS)), size)))
    assert good > rows // 12
    figure(f"{size} plans from seed {first}: {rows} damaged rows, {good} of them still records, alike in every engine")


@pytest.mark.parametrize("first", [0, *(pytest.param(1_000 + 50 * part, marks=pytest.mark.soak) for part in range(4))])
def test_histories_of_fifty_versions_are_the_same_rows_to_every_engine(
    spark: SparkSession, tmp_path: Path, first: int, figure: Callable[[str], None]
) -> None:
    histories = ((seed, *long_history(seed, 2)) for seed in range(first, first + (50 if first else 2)))
    cases = [Case(f"seed {seed}", planned(*texts), frames) for seed, texts, frames in histories]
    rows, good = compared(spark, tmp_path, cases)
    assert rows == good
    figure(f"{len(cases)} histories of 50 versions from seed {first}: {rows} rows alike in every engine")


EMPTY: tuple[tuple[str, list[Any], list[Any]], ...] = (
    ("one", [{"type": "array", "items": "int"}, "null"], []),
    ("two", [{"type": "array", "items": "string"}, "string"], []),
)
"""Fields of unions whose default is an empty list."""


def nesting(unit: str, *fields: Any) -> str:
    """Records in every place where one can stand, each with these fields, and with times in this unit."""
    at = {"type": "long", "logicalType": f"timestamp-{unit}"}

    def like(name: str, *more: Any) -> Any:
        return json.loads(record(("n", "int"), ("at", at), *more, *fields, name=name))

    right = {"type": "record", "name": "Right", "fields": [{"name": "r", "type": "string"}]}
    given = ("given", "shop.Item", {"n": 5, "at": 5, "one": [4], "two": []})
    omitted = ("omitted", ["shop.Value", "null"], {"n": 6, "at": 6, "two": ["x"]})
    return record(
        ("nested", like("In", ("whens", [{"type": "array", "items": at}, "null"], []))),
        ("list", {"type": "array", "items": like("Item")}),
        ("map", {"type": "map", "values": ["null", like("Value")]}),
        ("either", [like("Left"), right]),
        ("lists", [{"type": "array", "items": ["null", "shop.Item"]}, "null"], []),
        *((given, omitted) if fields else ()),
        *fields,
    )


def nested(inner: Any, either: Any, **more: Any) -> Any:
    """A record of `nesting` with this one in all places."""
    some = {"list": [inner, inner], "map": {"a": inner, "b": None}, "lists": [None, inner]}
    return {"nested": {**inner, "whens": [7]}, "either": either, **some, **more}


def test_an_empty_list_as_the_default_of_a_union_is_read_where_a_writer_lacks_the_field(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Avro's reader for Java makes that list from the type of the field, and fails where it is a union."""
    old, new = nesting("micros"), nesting("nanos", *EMPTY)
    lacks = {"n": 1, "at": 7}
    has = {**lacks, "one": None, "two": "text"}
    more = {"given": has, "omitted": None, "one": [1, 2], "two": ["a"]}
    frames = [frame(1, old, nested(lacks, ("shop.Left", lacks)))]
    frames += [frame(2, new, nested(has, one, **more)) for one in (("shop.Left", has), ("shop.Right", {"r": "r"}))]

    before, after = (
        record(("mixed", [json.loads(record(("n", "int"), *fields, name="In")), {"type": "long", "logicalType": unit}]))
        for unit, fields in (("timestamp-millis", ()), ("timestamp-micros", EMPTY))
    )
    mixed = [frame(1, before, {"mixed": one}) for one in ({"n": 1}, 5)]
    bare_, late = record(("n", "int")), record(("n", "int"), *EMPTY)
    cases = [
        Case("everywhere", planned(old, new, reader=parse_avro(new)), frames),
        Case("in a hidden field", planned(before, after), mixed),
        Case("a single shape", planned(bare_, reader=parse_avro(late)), [frame(1, bare_, {"n": 3})]),
    ]
    assert compared(spark, tmp_path, cases) == (6, 6)


def inner(kind: Any, *more: Any) -> Any:
    return json.loads(record(("at", kind), *more, name="In"))


def local(unit: str) -> Any:
    return {"type": "long", "logicalType": f"local-timestamp-{unit}"}


def digits(precision: int, scale: int, name: str = "", size: int = 5) -> Any:
    kind = {"type": "fixed", "name": name, "size": size} if name else {"type": "bytes"}
    return {**kind, "logicalType": "decimal", "precision": precision, "scale": scale}


TIME_MILLIS, TIME_MICROS = {"type": "int", "logicalType": "time-millis"}, {"type": "long", "logicalType": "time-micros"}
MICROS_OF_2024 = 1_710_054_000_123_456
"""In the hour that New York's clocks skip; its walls have no such time."""


def member(place: int, value: Any, count: int = 2) -> Any:
    return {f"member{at}": value if at == place else None for at in range(count)}


CHOICES: dict[str, tuple[Any, Any, tuple[tuple[Any, Any], ...]]] = {
    "a record or an instant": (
        [inner(MICROS), MICROS],
        [inner(NANOS), NANOS],
        (({"at": 5}, member(0, {"at": 5000})), (7, member(1, 7000)), (2**62, "INVALID"), ({"at": -(2**62)}, "INVALID")),
    ),
    "nanoseconds": (
        ["null", inner(NANOS), NANOS],
        ["null", inner(MICROS), MICROS],
        (({"at": 5000}, member(0, {"at": 5})), (-7000, member(1, -7)), (7001, "INVALID"), ({"at": 7001}, "INVALID"), (None, None)),
    ),
    "lists and maps": (
        {"type": "array", "items": ["null", "string", {"type": "map", "values": ["string", MICROS]}]},
        {"type": "array", "items": ["null", "string", {"type": "map", "values": ["string", NANOS]}]},
        (([None, "x", {"a": 5, "b": "y"}], [None, member(0, "x"), member(1, [("a", member(1, 5000)), ("b", member(0, "y"))])]), ([{"a": 2**62}], "INVALID")),
    ),
    "several units": (
        [digits(9, 2), MICROS, "string", inner(MILLIS)],
        [digits(12, 4), NANOS, "string", inner(MICROS)],
        ((b"\7", member(0, Decimal("0.0700"), 4)), (7, member(1, 7000, 4)), ("x", member(2, "x", 4)), ({"at": 7}, member(3, {"at": 7000}, 4))),
    ),
    "decimals of so many bytes": (
        [digits(10, 1, "D"), "string", digits(4, 1, "E", 2)],
        [digits(11, 2, "D"), "string", digits(4, 1, "E", 2)],
        ((("shop.D", b"\0\0\0\0\7"), member(0, Decimal("0.70"), 3)), ("x", member(1, "x", 3)), (("shop.E", b"\0\7"), member(2, Decimal("0.7"), 3))),
    ),
    "times of day": (["string", TIME_MILLIS], ["string", TIME_MICROS], ((7, member(1, 7000)), ("x", member(0, "x")))),
    "walls": (
        [inner(local("micros")), local("micros")],
        [inner(local("nanos")), local("nanos")],
        ((MICROS_OF_2024, member(1, MICROS_OF_2024 * 1000)), ({"at": -1}, member(0, {"at": -1000})), (2**63 - 1, "INVALID"), (-(2**63), "INVALID")),
    ),
    "walls of nanoseconds": (
        [inner(local("nanos")), local("nanos")],
        [inner(local("millis")), local("micros")],
        ((MICROS_OF_2024 * 1000, member(1, MICROS_OF_2024)), ({"at": -1000}, member(0, {"at": -1})), ({"at": 1}, "INVALID")),
    ),
    "an empty list as a default": (
        [inner(MICROS), MICROS],
        [inner(NANOS, *EMPTY), NANOS],
        (({"at": 5}, member(0, {"at": 5000, "one": [], "two": member(0, [])})), (7, member(1, 7000))),
    ),
    "numbers of two sizes, which are one column": (["int", MILLIS], ["int", MILLIS], ((2**40, 2**40), (5, 5))),
}  # fmt: skip
"""By name: the type of a field as written and as read, values, and what each of them is as Arrow has it, or its code."""


def test_units_and_digits_in_choices_are_converted_like_others(spark: SparkSession, tmp_path: Path) -> None:
    """The conversion took the struct of a choice for a number, which ended the job, or took the first of several."""
    cases = []
    for place, (name, (old, new, values)) in enumerate(CHOICES.items()):
        writer, reader = record(("x", old)), record(("x", new))
        frames = [frame(1, json.dumps(bare_schema(json.loads(writer))), {"x": value}) for value, _ in values]
        texts = (writer, reader) if place % 2 else (writer,)
        cases.append(Case(name, planned(*texts, reader=parse_avro(reader)), frames))
        found = arrow.decode(pa.array(frames, pa.binary()), cases[-1].plan)
        codes = [error and error["code"] for error in found["error"].to_pylist()]
        records = [code or bare(row)["x"] for row, code in zip(found["record"], codes, strict=True)]
        assert records == [wanted for _, wanted in values], name
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        rows, good = compared(spark, tmp_path, cases)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone or "UTC")
    assert (rows, good) == (31, 23)


def test_an_instant_that_has_no_nanoseconds_is_a_bad_row(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's multiplication ended the job."""

    def text(unit: str) -> str:
        at = {"type": "long", "logicalType": f"timestamp-{unit}"}
        return record(
            ("at", at),
            ("list", {"type": "array", "items": at}),
            ("in", inner("micros" if unit == "micros" else "nanos")),
        )

    def inner(unit: str) -> object:
        return json.loads(record(("at", {"type": "long", "logicalType": f"timestamp-{unit}"}), name="In"))

    bare_ = text("micros").replace('"logicalType"', '"plain"')
    instants = [(5, [7], 8), (2**62, [], 0), (0, [1, -(2**62)], 0), (0, [], 2**61), (2**63 // 1000, [], 0)]
    frames = [frame(1, bare_, {"at": at, "list": some, "in": {"at": one}}) for at, some, one in instants]
    frames.append(frames[1] + b"\0")  # bytes that follow count first, to every engine
    plan = planned(text("micros"), text("nanos"), reader=parse_avro(text("nanos")))
    rows, good = compared(spark, tmp_path, [Case("micros read as nanos", plan, frames)])
    assert (rows, good) == (6, 2)


def test_a_value_that_another_of_its_key_replaces_counts_for_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Java reads all values of a map before it makes one a number or a text; Arrow refused the row at the first."""
    inside = {"type": "map", "values": ["null", "string", digits(9, 2)]}
    text = record(("m", {"type": "map", "values": digits(9, 2)}), ("n", {"type": "map", "values": inside}))

    def mapped(*entries: tuple[bytes, bytes]) -> bytes:
        parts = b"".join(bytes([2 * len(key)]) + key + value for key, value in entries)
        return bytes([2 * len(entries)]) + parts + (b"\0" if entries else b"")

    number, none, null, no_text = b"\2\7", b"\0", b"\0", b"\2\2\xff"
    good = [
        mapped((b"k", none), (b"k", number)) + mapped(),
        mapped() + mapped((b"k", mapped((b"x", no_text))), (b"k", mapped((b"x", null)))),
        mapped() + mapped((b"k", mapped((b"\xff", null))), (b"k", mapped())),
        mapped() + mapped((b"k", mapped((b"x", b"\4" + none), (b"x", b"\4" + number)))),
    ]
    bad = [
        mapped((b"k", number), (b"k", none)) + mapped(),
        mapped((b"k", none), (b"o", number)) + mapped(),
        mapped((b"\xff", number)) + mapped(),
        mapped() + mapped((b"k", mapped((b"x", null))), (b"k", mapped((b"x", no_text)))),
        good[0] + b"x",
    ]
    plan = planned(text)
    frames = [header(1) + one for one in (*good, *bad)]
    found = arrow.decode(pa.array(frames, pa.binary()), plan)["error"].to_pylist()
    assert [error and error["code"] for error in found] == [None] * 4 + ["INVALID"] * 2 + ["MALFORMED"] * 2 + [
        "TRAILING"
    ]
    assert compared(spark, tmp_path, [Case("a key twice", plan, frames)]) == (9, 4)


def test_a_type_may_have_the_name_of_what_is_put_around_it(spark: SparkSession, tmp_path: Path) -> None:
    """A writer's type `Envelope` without a namespace was taken for the envelope itself: no row of it could be read."""
    text = record(
        ("one", json.loads(record(("n", "int"), name="Envelope", namespace=""))), ("two", "Envelope"), namespace=""
    )
    frames = [frame(1, text, {"one": {"n": 1}, "two": {"n": 2}})]
    assert compared(spark, tmp_path, [Case("Envelope", planned(text), frames)]) == (1, 1)


FORGED = (
    "{}],END:true}", '{"n":1}],END:[]}}', '{"n":1}],"x":[{"n":666}', '{"n":1}]},"x":{"y":[{"n":666}', '{"n":1}],ITEMS:[{"n":666}',
    '{"n":1}],ITEMS:[{"n":2}],END:[]}} and more', '{"n":1},{"n":2}', '{"n":1}]}}', '{"n":1}', '{"n":2} ',
)  # fmt: skip
"""Documents that end the list that they are read in, by names of it; the last two are documents."""


def test_no_row_can_hold_the_mark_of_its_end(spark: SparkSession, registry: Connection) -> None:
    """What stood behind every payload was a constant, and a document could end its list and begin another one."""
    text = record(("n", "int"))
    number = registry.ask(Register(subject_of("a-value"), Draft(text))).answer.version.schema_id
    plan = make_plan(registry, "a-value")
    recipe = read_avro_part(plan)
    good = frame(number, text, {"n": 7})
    tails = (bytes.fromhex("3f5d2b714d1b6735"), bytes.fromhex(recipe.ending))
    values = [good, *(good + tail + more for tail in tails for more in (b"", b"junk", good[5:]))]
    source = spark.createDataFrame([(one,) for one in values], "value BINARY")
    found = [row["error"] and row["error"]["code"] for row in decode(source, plan).collect()]
    assert found == [None, *["TRAILING"] * 6]

    schema = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}})
    number = registry.ask(Register(subject_of("j-value"), Draft(schema, "JSON"))).answer.version.schema_id
    words = [("_treaty_items", "_treaty_end"), ("0" * 24, "1" * 24)]
    texts = [one.replace("ITEMS", f'"{items}"').replace("END", f'"{end}"') for items, end in words for one in FORGED]
    values = [header(number) + one.encode() for one in texts]
    source = spark.createDataFrame([(one,) for one in values], "value BINARY")
    plan = make_plan(registry, "j-value")
    found = [row["error"] and row["error"]["code"] for row in decode(source, plan).collect()]
    assert found == [*["MALFORMED"] * 8, None, None] * 2
    theirs = arrow.decode(pa.array(values, pa.binary()), plan)["error"].to_pylist()
    assert [one and one["code"] for one in theirs] == found
