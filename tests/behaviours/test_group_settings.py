"""Settings of a group's serializers, and what a record says of itself: each is what it says, packed or not."""

import dataclasses
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import EntryPoint

import pytest

import treaty
from tests.behaviours.test_group_codecs import OFFERED
from tests.group_records import Order, writing
from treaty import BadValueError
from treaty.client.connection import Connection
from treaty.client.explain.pieces import RecordPiece
from treaty.client.groups import codecs
from treaty.client.groups.deserializer import GroupDeserializer
from treaty.client.groups.explanation import explain_group_record
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.groups.types import WithSchema, as_group_type

FINE = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
MILLIS = json.dumps({"type": "long", "logicalType": "timestamp-millis"})


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A registry, and an installed package with a codec that has properties."""
    point = EntryPoint("offered", f"{OFFERED.pack.__module__}:OFFERED", codecs.ENTRY_POINTS)
    monkeypatch.setattr(codecs, "entry_points", lambda group: [point] if group == codecs.ENTRY_POINTS else [])
    with treaty.connect("memory:") as opened:
        yield opened


def test_times_are_cut_to_the_unit_of_their_type_where_a_writer_is_lossy_alone(registry: Connection) -> None:
    with pytest.raises(BadValueError):
        GroupSerializer(registry, "times", MILLIS, writing())(FINE)
    data = GroupSerializer(registry, "times", MILLIS, writing(lossy=True))(FINE).data
    assert GroupDeserializer(registry, "times")(data) == FINE.replace(microsecond=678_000)


def test_properties_of_a_type_are_those_of_its_version(registry: Connection) -> None:
    typed = dataclasses.replace(as_group_type(Order), properties=(("team", "a"),))
    GroupSerializer(registry, "orders", typed, writing())
    assert registry.ordinal("orders", 0).properties == (("team", "a"),)


@pytest.mark.parametrize("format_", ["AVRO", "JSON"])
def test_a_value_with_its_class_is_of_the_format_of_the_serializer(registry: Connection, format_: str) -> None:
    write = GroupSerializer(registry, "orders", (), writing(format_), format_=format_)
    data = write(WithSchema(Order("a", 1), Order)).data
    assert registry.ordinal("orders", 0).format == format_
    assert GroupDeserializer(registry, "orders")(data) == {"item": "a", "count": 1}


@pytest.mark.parametrize("codec", ["gzip", "snappy", "offered"])
def test_a_packed_record_is_explained_as_the_same_record_unpacked(registry: Connection, codec: str) -> None:
    pieces: list[list[RecordPiece]] = []
    for name in ("", codec):
        data = GroupSerializer(registry, f"orders-{name}", Order, writing(codec=name))(Order("a", 1)).data
        assert data is not None
        explained = explain_group_record(registry, f"orders-{name}", data)
        assert not explained.problem
        pieces.append([one for one in explained.pieces if one.path])
        frame = [(one.offset, len(one.data)) for one in explained.pieces if not one.path]
        assert frame[:2] == [(0, 1), (1, 4)]
    plain, packed = pieces
    assert [dataclasses.replace(one, offset=one.offset - 5) for one in plain] == packed
    assert len(packed) == 2
