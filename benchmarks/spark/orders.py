"""Orders of a dozen fields in three formats, as frames of mixed ids in files."""

import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.registry_queries import parse_text

FILES = 2
COPIES = 10
"""Encoding in Python is slow, and planning a job costs a fixed part of a second: each file is linked this many times."""
RARE = 0.001
PROTO = """syntax = "proto3"; package shop; message Order {
  string id = 1; int64 customer = 2; State state = 3; int64 at = 4; int32 day = 5; string total = 6; string channel = 7;
  optional string coupon = 8; optional double score = 9; bool gift = 10; repeated Item items = 11; %s
  enum State { NEW = 0; PAID = 1; SENT = 2; } message Item { string sku = 1; int64 quantity = 2; double price = 3; }
}"""


def schema(version: int) -> str:
    """Version n of an order of a dozen fields, in an order of its own, so that each writer is resolved for itself; some add a field."""
    item = {
        "type": "record",
        "name": "Item",
        "fields": [
            {"name": "sku", "type": "string"},
            {"name": "quantity", "type": "long" if version >= 3 else "int"},
            {"name": "price", "type": "double"},
        ],
    }
    fields: list[dict[str, Any]] = [
        {"name": "id", "type": "string"},
        {"name": "customer", "type": "long"},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID", "SENT"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "channel", "type": "string"},
        {"name": "coupon", "type": ["null", "string"], "default": None},
        {"name": "score", "type": ["null", "double"], "default": None},
        {"name": "gift", "type": "boolean"},
        {"name": "items", "type": {"type": "array", "items": item}},
    ]
    fields += [{"name": f"extra_{n}", "type": "string", "default": "x"} for n in range(version // 25 + (version >= 2))]
    random.Random(version).shuffle(fields)
    return json.dumps(
        {"type": "record", "name": "Order", "namespace": "shop", "doc": f"version {version}", "fields": fields}
    )


def record(dice: random.Random, version: int) -> dict[str, Any]:
    """An order of about 160 bytes."""
    order = {
        "id": f"{dice.getrandbits(128):032x}",
        "customer": dice.randrange(10**9),
        "state": dice.choice(["NEW", "PAID", "SENT"]),
        "at": 1_700_000_000_000_000 + dice.randrange(10**12),
        "day": dice.randrange(20_000),
        "total": dice.randrange(10**9).to_bytes(5, "big"),
        "channel": dice.choice(["web", "app", "shop"]),
        "coupon": dice.choice([None, "SUMMER"]),
        "score": dice.choice([None, 0.75]),
        "gift": dice.random() < 0.5,
        "items": [
            {"sku": f"{dice.randrange(10**8):08d}", "quantity": dice.randrange(9), "price": dice.random()}
            for _ in range(dice.randrange(5))
        ],
    }
    return order | {f"extra_{n}": "some" for n in range(version // 25 + (version >= 2))}


def proto(version: int) -> str:
    """The same order as a message; later versions have more fields."""
    return PROTO % " ".join(f"string extra_{n} = {20 + n};" for n in range(version))


def document(version: int) -> str:
    """The same order as a JSON Schema."""
    text, number = {"type": "string"}, {"type": "number"}
    item = {"type": "object", "properties": {"sku": text, "quantity": {"type": "integer"}, "price": number}}
    whole = {name: {"type": "integer"} for name in ("customer", "at", "day")}
    texts = dict.fromkeys(("id", "state", "total", "channel", *(f"extra_{n}" for n in range(version))), text)
    loose = {"coupon": {"type": ["string", "null"]}, "score": {"type": ["number", "null"]}, "gift": {"type": "boolean"}}
    return json.dumps(
        {"type": "object", "properties": {**texts, **whole, **loose, "items": {"type": "array", "items": item}}}
    )


def put(registry: Registry, subject: str, format_: str, texts: Sequence[str]) -> list[int]:
    """Register the versions of a subject; returns their ids."""
    drafts = [Draft(text, format_) for text in texts]
    return [registry.ask(Register(subject_of(subject), draft)).answer.version.schema_id for draft in drafts]


@dataclass(frozen=True, slots=True)
class Mix:
    """Frames to write: the ids, how to encode an order under each, and the share of rows that are spoilt."""

    ids: Sequence[int]
    encode: Callable[[int, int], bytes]
    """From the place of the row's version and the place of the schema it is written in."""
    alone: bool = False
    """All rows are written in the last schema."""
    bad: float = 0.0
    usual: int = 0
    """Where not 0: all but a `RARE` share of the rows have one of the last so many ids."""

    def place(self, dice: random.Random) -> int:
        """The place of the version of the next row."""
        first = len(self.ids) - self.usual if self.usual and dice.random() >= RARE else 0
        return dice.randrange(first, len(self.ids))


def avro_of(texts: Sequence[str]) -> Callable[[int, int], bytes]:
    """Encodes an order of a version in a schema of the list."""
    dice, parsed = random.Random(1), [fastavro.parse_schema(json.loads(text)) for text in texts]

    def encode(place: int, used: int) -> bytes:
        row, out = record(dice, place + 1), io.BytesIO()
        full = row if used == place else {**{f"extra_{n}": "x" for n in range(30)}, **row}
        fastavro.schemaless_writer(out, parsed[used], full)
        return out.getvalue()

    return encode


def plain(dice: random.Random, version: int) -> dict[str, Any]:
    """An order whose values JSON can hold."""
    order = record(dice, version)
    order = {name: value for name, value in order.items() if not name.startswith("extra_")}
    return {**order, "total": order["total"].hex(), **{f"extra_{n}": "some" for n in range(version)}}


def messages_of(texts: Sequence[str]) -> Callable[[int, int], bytes]:
    """Encodes an order as a message: the index of the first message, and its bytes."""
    dice = random.Random(1)
    kinds = [
        GetMessageClass(build_pool(parse_text("PROTOBUF", text)).FindMessageTypeByName("shop.Order")) for text in texts
    ]

    def encode(place: int, used: int) -> bytes:
        row = {name: value for name, value in plain(dice, place).items() if value is not None}
        message: Any = ParseDict(row, kinds[used]())
        return b"\0" + bytes(message.SerializeToString())

    return encode


def documents_of(texts: Sequence[str]) -> Callable[[int, int], bytes]:
    """Encodes an order as JSON text."""
    dice = random.Random(1)
    del texts
    return lambda place, _: json.dumps(plain(dice, place), separators=(",", ":")).encode()


def write(folder: Path, mix: Mix, rows: int) -> Path:
    """Frames of mixed ids, row by row."""
    dice = random.Random(2)
    folder.mkdir(parents=True)
    for file in range(FILES):
        values = []
        for _ in range(rows // FILES // COPIES):
            place = mix.place(dice)
            used = len(mix.ids) - 1 if mix.alone else place
            value = b"\0" + mix.ids[used].to_bytes(4, "big") + mix.encode(place, used)
            values.append(_spoilt(value, dice) if dice.random() < mix.bad else value)
        target = folder / f"{file}.parquet"
        pq.write_table(pa.table({"value": pa.array(values, pa.binary())}), target, compression="none")
        for copy in range(1, COPIES):
            (folder / f"{file}-{copy}.parquet").hardlink_to(target)
    return folder


def _spoilt(value: bytes, dice: random.Random) -> bytes:
    """A row that is cut short, too long, of an unknown id or of another magic, a quarter each."""
    ways = (value[: dice.randrange(6, len(value))], value + b"\1", b"\0\x7f" + value[2:], b"\1" + value[1:])
    return dice.choice(ways)
