"""500 damaged rows of every kind among good ones, in three formats: each is classified, and no neighbour is touched."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.frames import SPOILT, header
from tests.orders import VERSIONS, Kind, kinds, order, plain
from tests.small_payloads import EMPTY, LISTS, WIDE, listed, nest
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.plan.avro.envelope import encode_branch
from treaty.plan.errors import PlanError
from treaty.plan.registry_queries import list_versions as versions_of
from treaty.spark import Names, decode, explain, ids_of, make_plan
from treaty.spark.functions import from_avro
from treaty.spark.session_engines import fit_to_session

pytestmark = pytest.mark.jvm

Deed = Callable[[bytes, random.Random], bytes]
Ways = Mapping[str, tuple[str, Deed]]
SUBJECT = "orders-value"
FRAMES = {
    name: SPOILT[name]
    for name in ("nothing", "part of a frame", "wrong magic", "unknown id", "negative id", "no payload")
}
"""Damage before the payload, which is found alike in every format."""


def more(*bytes_: int) -> Deed:
    return lambda value, _: value + bytes(bytes_)


def instead(text: str | bytes) -> Deed:
    payload = text if isinstance(text, bytes) else text.encode()
    return lambda value, _: value[:5] + payload


def member(name: str, text: str) -> Deed:
    """The document with a member whose value is this text."""
    return lambda value, _: value[:-1] + f', "{name}": {text}}}'.encode()


PROTOBUF: Ways = {
    **FRAMES,
    "no indexes' end": ("MALFORMED", lambda value, _: value[:6]),
    "indexes of no message": ("MALFORMED", lambda value, _: value[:5] + b"\2\x0e" + value[7:]),
    "another message of the file": ("RESOLUTION", lambda value, _: value[:5] + b"\0" + value[7:]),
    "cut short": ("MALFORMED", lambda value, dice: value[: -dice.randrange(1, 8)]),
    "a huge length": ("MALFORMED", more(0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x07)),
    "field number 0": ("MALFORMED", more(0x02, 0x00)),
    "an end that nothing began": ("MALFORMED", more(0x0C)),
    "a kind of field that is none": ("MALFORMED", more(0x0F)),
    "a number without end": ("MALFORMED", more(0x10, *[0xFF] * 11)),
    "a text that is no UTF-8": ("MALFORMED", more(0x0A, 0x02, 0xC3, 0x28)),
    "a time that is none": ("INVALID", more(0x22, 8, 0x08, 0x80, 0xC0, 0xCA, 0xF3, 0x84, 0xA3, 0x02)),
    "random bytes": ("MALFORMED", lambda value, dice: value[:7] + b"\x0b" + dice.randbytes(20)),
}
JSON: Ways = {
    **FRAMES,
    "cut short": ("MALFORMED", lambda value, dice: value[: dice.randrange(6, len(value))]),
    "one sign more": ("MALFORMED", more(ord("x"))),
    "a zero more": ("MALFORMED", more(0)),
    "two records": ("MALFORMED", lambda value, _: value + value[5:]),
    "two records and a comma": ("MALFORMED", lambda value, _: value + b"," + value[5:]),
    "a brace more": ("MALFORMED", more(ord("}"))),
    "a bracket more": ("MALFORMED", more(ord("]"))),
    "a comma more": ("MALFORMED", more(ord(","))),
    "a member behind the end": ("MALFORMED", lambda value, _: value + b',"n":1'),
    "a list": ("MALFORMED", lambda value, _: value[:5] + b"[" + value[5:] + b"]"),
    "null": ("MALFORMED", instead("null")),
    "a text": ("MALFORMED", instead('"x"')),
    "blanks": ("MALFORMED", instead("  ")),
    "no UTF-8": ("MALFORMED", lambda value, _: value[:-1] + b',"note":"\xff"}'),
    "a text for a number": ("MALFORMED", member("n", '"7"')),
    "a fraction for a whole number": ("MALFORMED", member("n", "1.5")),
    "a number too large": ("MALFORMED", member("n", "36893488147419103232")),
    "not a number": ("MALFORMED", member("price", "NaN")),
    "a time that is none": ("MALFORMED", member("at", '"yesterday"')),
    "an object for a list": ("MALFORMED", member("lines", '{"sku": "x"}')),
    "a wrong item": ("MALFORMED", member("lines", '[{"sku": "x", "count": true}]')),
    "single quotes": ("MALFORMED", instead("{'name': 'x'}")),
    "a name without quotes": ("MALFORMED", instead('{name: "x"}')),
    "a comment": ("MALFORMED", instead('/* x */ {"name": "x"}')),
    "a mark of byte order": ("MALFORMED", lambda value, _: value[:5] + b"\xef\xbb\xbf" + value[5:]),
    "random bytes": ("MALFORMED", lambda value, dice: value[:5] + b"\x01" + dice.randbytes(20)),
}
ALL: Mapping[str, Ways] = {"AVRO": SPOILT, "PROTOBUF": PROTOBUF, "JSON": JSON}


@dataclass(frozen=True, slots=True)
class Given:
    """A row, the version of its writer, the code it must be found with, and what was done to it."""

    value: bytes | None
    version: int
    code: str = ""
    deed: str = ""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Kind]:
    return kinds(tmp_path_factory.mktemp("protoc"))


def good(kind: Kind, registry: Connection, count: int, dice: random.Random) -> Iterator[Given]:
    writes = [kind.written_by("ours", registry, version, "orders") for version in VERSIONS]
    for at in range(count):
        version = dice.choice(VERSIONS)
        # The last field is always there, so that a Protobuf row which is cut is cut inside of a field.
        made = order(dice, version, f"order {at}") | {"note": "a note"} if version else order(dice, 0, f"order {at}")
        if version > 1:
            made["where"] = {"x": 0.5}
        yield Given(writes[version](kind.value(made, version))[0], version)


def strangers(kind: Kind, registry: Connection) -> Ways:
    """Frames of schemas that are not this subject's, or that its reader can't read."""
    ids = [
        registry.ask(Register(subject_of(subject), Draft(text, format_))).answer.version.schema_id
        for subject, text, format_ in (
            ("other-value", kind.texts[0].replace("price", "costs"), kind.name),
            (SUBJECT, '{"type":"record","name":"Odd","fields":[{"name":"name","type":"int"},{"name":"n","type":"long"}]}', "AVRO"),
        )
    ]  # fmt: skip
    return {
        "another subject": ("WRONG_SUBJECT", lambda value, _: header(ids[0]) + value[5:]),
        "a writer that cannot be read": ("RESOLUTION", lambda value, _: header(ids[1]) + value[5:]),
    }


def spoilt(ways: Ways, rows: Sequence[Given], dice: random.Random) -> Iterator[Given]:
    names = list(ways)
    for turn, one in enumerate(rows):
        name = names[turn % len(names)]
        code, deed = ways[name]
        assert one.value is not None
        yield Given(deed(one.value, dice), one.version, code, name)


def stored(folder: Path, rows: Sequence[Given]) -> str:
    """Two files, so that two tasks share the rows."""
    for part in (0, 1):
        at = list(range(part, len(rows), 2))
        frames = pa.array([rows[one].value for one in at], pa.binary())
        pq.write_table(pa.table({"at": pa.array(at, pa.int32()), "value": frames}), folder / f"{part}.parquet")
    return str(folder)


@pytest.mark.parametrize("name", list(ALL))
def test_500_bad_rows_are_each_classified_and_no_neighbour_is_touched(
    spark: SparkSession, registry: Connection, shop: Mapping[str, Kind], tmp_path: Path, name: str,
    figure: Callable[[str], None],
) -> None:  # fmt: skip
    kind, dice = shop[name], random.Random(2)
    ways = {**ALL[name]}
    if name == "AVRO":  # whose union begins with the oldest; the other formats are those of the last version
        rows = list(good(kind, registry, 700, dice))
        ways |= strangers(kind, registry)
    else:
        ways |= strangers(kind, registry)
        rows = list(good(kind, registry, 700, dice))
    rows += [Given(None, 0) for _ in range(20)]
    rows += spoilt(ways, list(good(kind, registry, 500, dice)), dice)
    dice.shuffle(rows)
    source = spark.read.parquet(stored(tmp_path, rows))
    plan = make_plan(registry, SUBJECT, reader="union", ids=ids_of(source), message=kind.message)
    assert len(list(versions_of(registry, subject_of(SUBJECT)))) == 4
    found = decode(source, plan, names=Names(version="version")).orderBy("at").toArrow().to_pylist()
    assert len(found) == len(rows) == 1220
    for given, row in zip(rows, found, strict=True):
        assert (row["error"] or {"code": ""})["code"] == given.code, (given, row)
        if given.code:
            assert row["error"]["payload"] == given.value
            assert row["error"]["message"]
            assert row["record"] is None
        elif given.value is None:
            assert (row["record"], row["error"]) == (None, None)
        else:
            assert plain(row["record"]) == kind.read(given.value[5 + len(kind.head) :], given.version)
    if name == "AVRO":
        second = decode(source, replace(plan, engine="fastavro"), names=Names(version="version"))
        assert second.orderBy("at").toArrow().to_pylist() == found
    bad = [one for one in rows if one.code]
    figure(f"{len(bad)} of {len(rows)} {name} rows damaged in {len({one.deed for one in bad})} ways, all classified")


def test_a_few_bytes_that_claim_very_many_values_are_bad_rows_and_the_jvm_lives(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    """Spark's own reader bounds one list, not a record: 403 bytes ended a JVM of 2 GB."""
    for place, items in enumerate((nest(EMPTY, 1), nest("null", 1), WIDE)):
        text, subject = listed(items), f"claims{place}-value"
        version = registry.ask(Register(subject_of(subject), Draft(text))).answer.version
        good = header(version.schema_id) + b"\0"
        hostile = header(version.schema_id) + (LISTS if items is not WIDE else encode_branch(900) + b"\2" * 900 + b"\0")
        path = str(tmp_path / f"{place}.parquet")
        pq.write_table(pa.table({"value": pa.array([good, hostile, good], pa.binary())}), path)

        plan = fit_to_session(make_plan(registry, subject, engine="spark"), spark)
        rows = decode(spark.read.parquet(path), plan).collect()

        assert sorted(row["error"]["code"] if row["error"] else "" for row in rows) == ["", "", "MALFORMED"]
        assert "AVRO_FREE_VALUES" in explain(plan, spark)
        with pytest.raises(PlanError, match="limit AVRO_FREE_VALUES"):
            from_avro("value", subject=subject, registry=registry)
