"""Flights as framed events of several versions, one in a hundred damaged, in files that take the place of a topic."""

import io
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from examples.demo.data import Row
from examples.demo.schemas import VERSIONS

SEED = 2013
DAMAGED = 0.01
DAMAGE: Mapping[str, str] = {
    "frame cut off": "TOO_SHORT",
    "wrong magic byte": "BAD_MAGIC",
    "id that nobody gave": "UNKNOWN_ID",
    "id of another subject": "WRONG_SUBJECT",
    "record cut short": "MALFORMED",
    "hostile length": "MALFORMED",
    "bytes after the end": "TRAILING",
}
"""The seven kinds of damage, and the error code that each must lead to."""
PHASES: tuple[tuple[float, tuple[int, ...]], ...] = ((0.3, (1,)), (0.6, (1, 2, 2)), (1.0, (1, 2, 3, 3, 3)))
"""For each phase: the share of the flights at which it ends, and the versions written in it, with repetitions as weights."""
EVENTS = pa.schema([("offset", pa.int64()), ("value", pa.binary())])
TRUTH = pa.schema([("offset", pa.int64()), ("version", pa.int32()), ("damage", pa.string()), ("code", pa.string())])
UNKNOWN_ID = 999_999
ROW_GROUPS = 2
"""Parts of a file of events. Spark decodes each in a task of its own, see `SPARK_SETTINGS`."""
SPARK_SETTINGS: Mapping[str, str] = {"spark.sql.files.openCostInBytes": str(256 * 1024)}
"""With Spark's own 4 MB a file of events, which has about 2 MB, is one task, and one core waits for the other."""


@dataclass(frozen=True, slots=True)
class SubjectIds:
    """Schema ids as the registry gave them: one per version, and one of another subject."""

    versions: tuple[int, ...]
    other: int


@dataclass(frozen=True, slots=True)
class DemoEvent:
    """An event, the version it was written with, and its damage; empty if it has none."""

    offset: int
    value: bytes
    version: int
    damage: str


def phase_of(offset: int, total: int) -> int:
    """Return the phase of an offset, from 0."""
    return next(place for place, (until, _) in enumerate(PHASES) if offset < until * total or until == 1.0)


def events(
    rows: Iterable[Row], weather: Mapping[tuple[str, int], Row], total: int, ids: Sequence[int]
) -> Iterator[DemoEvent]:
    """Encode flights in their order. `ids` are the ids of the registered versions; it may grow while events are taken.

    An id is read when the first event of its version is taken, so a version must be registered before its phase begins.
    """
    dice = random.Random(SEED)  # noqa: S311 - repeatable, not secret
    encoders = [fastavro.parse_schema(json.loads(text)) for text in VERSIONS]
    for offset, row in enumerate(rows):
        version = dice.choice(PHASES[phase_of(offset, total)][1])
        out = io.BytesIO()
        out.write(b"\0" + ids[version - 1].to_bytes(4, "big"))
        fastavro.schemaless_writer(out, encoders[version - 1], record_of(row, version, weather))
        yield DemoEvent(offset, out.getvalue(), version, "")


def add_damage(stream: Iterable[DemoEvent], other: int) -> Iterator[DemoEvent]:
    """The same events, one in a hundred of them damaged; random with a fixed seed."""
    dice = random.Random(SEED + 1)  # noqa: S311 - repeatable, not secret
    damages = tuple(DAMAGE)
    for event in stream:
        if dice.random() >= DAMAGED:
            yield event
        else:
            damage = dice.choice(damages)
            yield DemoEvent(event.offset, damage_frame(event.value, damage, other, dice), event.version, damage)


def damage_frame(value: bytes, damage: str, other: int, dice: random.Random) -> bytes:
    """Return a frame with one of the seven kinds of damage."""
    match damage:
        case "frame cut off":
            return value[: dice.randrange(5)]
        case "wrong magic byte":
            return bytes([dice.randrange(1, 256)]) + value[1:]
        case "id that nobody gave":
            return b"\0" + UNKNOWN_ID.to_bytes(4, "big") + value[5:]
        case "id of another subject":
            return b"\0" + other.to_bytes(4, "big") + value[5:]
        case "record cut short":
            return value[: -dice.randrange(1, 12)]
        case "hostile length":
            return value[:5] + b"\xfe\xff\xff\xff\x0f" + value[6:]  # the carrier's length becomes two thousand million
        case _:
            return value + dice.randbytes(dice.randrange(1, 9))


def record_of(row: Row, version: int, weather: Mapping[tuple[str, int], Row]) -> dict[str, Any]:
    """A flight as a record of one version."""
    record = {
        name: row[name] for name in ("carrier", "flight", "tailnum", "origin", "dep_delay", "arr_delay", "distance")
    }
    record["scheduled"] = (row["time_hour"] + 60 * row["minute"]) * 1000
    record["dest" if version < 3 else "destination"] = row["dest"]
    if version >= 2:
        record |= {"air_time": row["air_time"], "cancelled": row["dep_delay"] is None, "data_source": "BTS 2013"}
    if version >= 3:
        record["weather"] = weather.get((row["origin"], row["time_hour"]))
    return record


def write(batch: Sequence[DemoEvent], folder: Path, topic: str, name: str) -> None:
    """Write events of a topic as one Parquet file, and their versions and damage as another, for the proof.

    A stream that lists the folder sees a file only when it is complete.
    """
    offsets = [event.offset for event in batch]
    for place, columns, schema in (
        ("events", [offsets, [event.value for event in batch]], EVENTS),
        (
            "truth",
            [
                offsets,
                [event.version for event in batch],
                [event.damage for event in batch],
                [DAMAGE.get(event.damage, "") for event in batch],
            ],
            TRUTH,
        ),
    ):
        target = folder / place / topic / f"{name}.parquet"
        target.parent.mkdir(parents=True, exist_ok=True)
        hidden = target.with_name(f".{target.name}")
        table = pa.table(
            [pa.array(values, kind.type) for values, kind in zip(columns, schema, strict=True)], schema=schema
        )
        pq.write_table(table, hidden, row_group_size=-(-len(batch) // ROW_GROUPS) or None)
        hidden.rename(target)
