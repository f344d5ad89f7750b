"""Avro by two engines of one law: a deserializer and Arrow give the same values of the same payloads, whatever types are called and
carry.
"""

import json
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import treaty
from tests.frames import header
from treaty import arrow
from treaty.client.serializers.avro_codec import make_avro_codec, read_payload
from treaty.client.serializers.errors import BadRecordError, RecordErrorCode
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.formats.format import InvalidSchemaError
from treaty.plan.avro.envelope import encode_branch
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.planner import compose
from treaty.plan.registered_schema import RegisteredSchema

SCHEMAS = 150
SPACES = (None, None, "", "n", "n.m", "o")
LOGICAL = ("decimal", "uuid", "date", "timestamp-nanos", "duration", "moon")
DIGITS = (None, 0, 1, 4, 19, 38, -1, "4", 2.0, True, None)
S = subject_of("s")


class SchemaMaker:
    """Random records whose types have namespaces of all kinds and logical types on any base, and a payload of each."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.count = 0
        self.known: list[tuple[str, bytes]] = []

    def make_record(self, depth: int) -> tuple[Any, bytes]:
        name, fields, payload = self._name(), [], b""
        for at in range(self.dice.randrange(1, 4)):
            kind, data = self._make_type(depth - 1)
            fields.append({"name": f"f{at}", "type": kind})
            payload += data
        record = {"type": "record", **name, "fields": fields}
        self._keep(name, payload)
        return record, payload

    def _name(self) -> dict[str, Any]:
        self.count += 1
        space, short = self.dice.choice(SPACES), f"T{self.count}"
        if self.dice.random() < 0.3 and space is not None:
            return {"name": f"{space}.{short}"}
        return {"name": short} if space is None else {"name": short, "namespace": space}

    def _keep(self, name: dict[str, Any], payload: bytes) -> None:
        full = name["name"] if not name.get("namespace") else f"{name['namespace']}.{name['name']}"
        self.known.append((full.removeprefix("."), payload))

    def _make_type(self, depth: int) -> tuple[Any, bytes]:
        dice = self.dice
        if self.known and dice.random() < 0.35:
            return dice.choice(self.known)
        word = dice.choice(("leaf", "leaf", "enum", "fixed", "record" if depth > 0 else "leaf", "null or"))
        if word == "record":
            return self.make_record(depth)
        if word == "null or":
            kind, data = self._make_type(0)
            return (["null", kind], b"\2" + data) if not isinstance(kind, list) and kind != "null" else (kind, data)
        if word in {"enum", "fixed"}:
            name, size = self._name(), dice.choice((1, 2, 8, 12, 16))
            rest = {"symbols": ["X", "Y"]} if word == "enum" else {"size": size, **self._carry()}
            payload = b"\2" if word == "enum" else b"\0" * (size - 1) + bytes([dice.randrange(10)])
            self._keep(name, payload)
            return {"type": word, **name, **rest}, payload
        kind = dice.choice(("int", "long", "bytes", "string", "double", "boolean"))
        number = encode_branch(dice.randrange(1_000))
        some = b"\0" * dice.randrange(9) + bytes(
            [dice.randrange(10)]
        )  # a decimal of one digit, which fits each precision
        payload = {
            "int": number, "long": number, "bytes": encode_branch(len(some)) + some, "string": encode_branch(36) + b"4c7f1d6e-1111-4a9e-8e7d-000000000000",
            "double": b"\0" * 6 + b"\xf8?", "boolean": b"\1",
        }[kind]  # fmt: skip
        return {"type": kind, **self._carry()} if dice.random() < 0.6 else kind, payload

    def _carry(self) -> dict[str, Any]:
        """A logical type, mostly one that does not fit."""
        logical: dict[str, Any] = {"logicalType": self.dice.choice((*LOGICAL, "decimal", "decimal"))}
        for word in ("precision", "scale"):
            if (digits := self.dice.choice(DIGITS)) is not None:
                logical[word] = digits
        return logical


def read_both(text: str, reader: str, payload: bytes) -> tuple[Any, Any]:
    """What a deserializer and Arrow make of a payload; the code of a bad record for one that is none."""
    with treaty.connect("memory:") as registry:
        codec, wanted = (make_avro_codec(registry, schema, (), S) for schema in (text, reader))
    try:
        value = read_payload(codec, wanted, payload, 1)
    except BadRecordError as error:
        value = str(error.code)
    plan = compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(text))], parse_avro(reader))
    row = arrow.decode(pa.array([header(1) + payload], pa.binary()), plan).to_pylist()[0]
    return value, row["record"] if row["error"] is None else row["error"]["code"]


def strip(value: Any) -> Any:
    """Values as both engines have them: Arrow has a UUID as text. Decimals of more than 38 digits, which it keeps as bytes, are not made."""
    if isinstance(value, dict):
        return {name: strip(member) for name, member in value.items()}
    if isinstance(value, Decimal):
        return str(value.normalize())
    return str(value) if type(value).__name__ == "UUID" else value


@pytest.mark.parametrize(
    "seeds", [range(SCHEMAS), pytest.param(range(SCHEMAS, 20_000), marks=pytest.mark.soak)], ids=["some", "many"]
)
def test_a_deserializer_and_arrow_give_the_same_values(seeds: range, figure: Callable[[str], None]) -> None:
    count = 0
    for seed in seeds:
        schema, payload = SchemaMaker(seed).make_record(3)
        text = json.dumps(schema)
        try:
            parse_avro(text)
        except InvalidSchemaError:  # names that are there twice, or unknown ones
            continue
        count += 1
        by_client, by_arrow = read_both(text, text, payload)
        assert strip(by_client) == strip(by_arrow), (seed, text, payload)
    figure(f"{count} of {len(seeds)} schemas are valid")
    assert count > len(seeds) / 3


def given(kind: Any, default: Any) -> str:
    fields = [{"name": "a", "type": "int"}, {"name": "b", "type": kind, "default": default}]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


FIXED = {"type": "fixed", "name": "F", "size": 2}
ENUM = {"type": "enum", "name": "E", "symbols": ["X"]}
INNER = {"type": "record", "name": "I", "fields": [{"name": "f", "type": FIXED, "default": "abc"}]}
WRONG: dict[str, tuple[Any, Any]] = {
    "a fixed that is too long": (FIXED, "abc"),
    "a fixed that is too short": (FIXED, "a"),
    "a symbol that is not there": (ENUM, "W"),
    "in a union": (["null", FIXED], "abc"),
    "in a list of a union": (
        {"type": "array", "items": [{"type": "record", "name": "Q", "fields": [{"name": "f0", "type": "boolean"}]}, FIXED]},
        ["abc"],
    ),
    "in a map": ({"type": "map", "values": ENUM}, {"k": "W"}),
    "in a record": (INNER, {"f": "abc"}),
    "in a record that lacks it": (INNER, {}),
    "a record within itself": ({"type": "record", "name": "L", "fields": [{"name": "l", "type": "L", "default": {}}]}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("tagged", [False, True])
def test_a_default_that_is_no_value_of_its_type_is_an_error_of_resolution(name: str, *, tagged: bool) -> None:
    writer = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})
    with treaty.connect("memory:") as registry:
        old, new = (make_avro_codec(registry, schema, (), S) for schema in (writer, given(*WRONG[name])))
    if tagged:  # a class has defaults of its own
        assert read_payload(old, new, b"\2", 1, tagged=True) == {"a": 1}
        return
    with pytest.raises(BadRecordError) as caught:
        read_payload(old, new, b"\2", 1)
    assert caught.value.code == RecordErrorCode.RESOLUTION
