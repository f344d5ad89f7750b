"""The tables that flights are joined with, each as a topic of its own format: weather, planes and airlines."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from examples.demo import data
from examples.demo.data import Row
from examples.demo.events import DAMAGE, DAMAGED, SEED, DemoEvent, damage_frame
from treaty.formats.protobuf.runtime import get_first_message
from treaty.plan.registry_queries import parse_text

Encode = Callable[[Row], bytes]

_HOUR = """syntax = "proto3";
package nyc;
import "google/protobuf/timestamp.proto";
message Weather {
  string origin = 1;
  google.protobuf.Timestamp hour = 2;
  optional double temp = 3;
  optional double humid = 4;
  optional double wind_speed = 5;
  optional double precip = 6;
"""
WEATHER = (f"{_HOUR}  optional double visib = 7;\n}}\n", f"{_HOUR}  optional double visibility = 7;\n  optional double wind_gust = 8;\n}}\n")  # fmt: skip
"""The second version renames field 7 and adds field 8. Payloads contain the number of a field, not its name."""


def _document(title: str, required: Sequence[str], **members: Any) -> str:
    closed = {"type": "object", "title": title, "additionalProperties": False, "required": list(required)}
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **closed, "properties": members})


_TEXT, _WHOLE = {"type": ["string", "null"]}, {"type": ["integer", "null"]}
_PLANE: dict[str, Any] = {"tailnum": {"type": "string"}, "year": _WHOLE, "manufacturer": _TEXT, "model": _TEXT}
PLANES = (_document("Plane", ["tailnum"], **_PLANE), _document("Plane", ["tailnum"], **_PLANE, seats=_WHOLE, engine=_TEXT))  # fmt: skip
AIRLINES = (_document("Airline", ["carrier", "name"], carrier={"type": "string"}, name={"type": "string"}),)


@dataclass(frozen=True, slots=True)
class DimensionTopic:
    """A topic that flights are joined with.

    `rows` yields its rows up to an hour; `encoder` returns, for the text of a version, the function that encodes a row.
    """

    name: str
    format: str
    versions: tuple[str, ...]
    rows: Callable[[int], Iterator[Row]]
    encoder: Callable[[str], Encode]

    @property
    def format_label(self) -> str:
        """The format as people write it."""
        return "Protobuf" if self.format == "PROTOBUF" else self.format

    @property
    def subject(self) -> str:
        """The subject of the topic's values."""
        return f"{self.name}-value"


def _message(text: str) -> Encode:
    descriptor = get_first_message(parse_text("PROTOBUF", text))
    assert descriptor is not None, "the schema has one message"
    message_class, names = GetMessageClass(descriptor), {field.name for field in descriptor.fields}

    def encode(row: Row) -> bytes:
        known: Row = {"visibility": row["visib"], **row, "hour": f"{_utc(row['hour'])}"}
        value = ParseDict(
            {name: value for name, value in known.items() if name in names and value is not None}, message_class()
        )
        return b"\0" + bytes(value.SerializeToString())  # before it the indexes of the file's first message

    return encode


def _utc(seconds: int) -> str:
    return data.instant(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def _json(text: str) -> Encode:
    names = tuple(json.loads(text)["properties"])
    return lambda row: json.dumps({name: row[name] for name in names}, ensure_ascii=False).encode()


DIMENSIONS = (
    DimensionTopic("weather", "PROTOBUF", WEATHER, data.hours, _message),
    DimensionTopic("planes", "JSON", PLANES, data.planes, _json),
    DimensionTopic("airlines", "JSON", AIRLINES, data.airlines, _json),
)
DAMAGES = ("frame cut off", "wrong magic byte", "id that nobody gave", "id of another subject", "record cut short")
"""The damage of one event in a hundred; all formats detect these."""
assert set(DAMAGES) <= DAMAGE.keys()


def events(mine: DimensionTopic, ids: Sequence[int], other: int, until: int) -> Iterator[DemoEvent]:
    """The events of a topic up to an hour, one in a hundred damaged. `ids` are the schema ids of its versions, `other` is one of another subject.

    Versions and damage are random with a fixed seed.
    """
    dice = random.Random(f"{SEED} {mine.name}")  # noqa: S311 - repeatable, not secret
    encoders: Mapping[int, Encode] = {number: mine.encoder(text) for number, text in enumerate(mine.versions, 1)}
    for offset, row in enumerate(mine.rows(until)):
        version = dice.randrange(len(ids)) + 1
        value = b"\0" + ids[version - 1].to_bytes(4, "big") + encoders[version](row)
        damage = dice.choice(DAMAGES) if dice.random() < DAMAGED else ""
        if damage == "record cut short":
            value = value[
                : -dice.randrange(1, 8)
            ]  # less than a number of eight bytes, so that no field is cut off whole
        elif damage:
            value = damage_frame(value, damage, other, dice)
        yield DemoEvent(offset, value, version, damage)
