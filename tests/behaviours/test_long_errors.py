"""What is said of a bad row is bounded, whatever its schema and its payload hold: each row of a batch may have it."""

import json
from collections.abc import Callable

import pyarrow as pa
import pytest

from tests.behaviours.test_small_documents import part
from tests.frames import header, record
from treaty import arrow
from treaty.client.transfer.registry_image import TransferProblem
from treaty.core.limits import FAULT_CHARACTERS, PROBLEM_CHARACTERS
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.options import DecodeOptions
from treaty.plan.planners import PLANNERS
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_text
from treaty.plan.value import DecodePlan, RejectedSchema

LONG = "n" * 100_000
FIXED = '{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"fixed","name":"%s","size":1}}]}'
INNER = "".join(f"message M{at} {{ optional M{at + 1} {'f' * 900}{at} = 1; }} " for at in range(90))
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 0}
SYMBOLS = {"type": "enum", "name": "E", "symbols": ["A" * 50_000, "B" * 50_000]}


def make_plan(format_: str, writers: tuple[str, ...], options: DecodeOptions) -> DecodePlan:
    """The plan of writers, of which the last is the reader."""
    known = [
        RegisteredSchema(at, DEFAULT_CONTEXT, at, format_, parse_text(format_, text))
        for at, text in enumerate(writers, 1)
    ]
    return PLANNERS[format_].compose(known, known[-1].schema, options)


def limited(kind: object) -> str:
    return json.dumps({"type": "object", "properties": {LONG: kind}, "additionalProperties": False})


ROWS: dict[str, Callable[[], tuple[DecodePlan, bytes]]] = {
    "a writer that is not read": lambda: (
        make_plan("AVRO", (FIXED % f"{LONG}a", FIXED % f"{LONG}b"), DecodeOptions()),
        header(1) + b"a",
    ),
    "a symbol that is not read": lambda: (
        make_plan(
            "AVRO", (record(("e", SYMBOLS)), record(("e", {**SYMBOLS, "symbols": ["A" * 50_000]}))), DecodeOptions()
        ),
        header(1) + b"\2",
    ),
    "a value that does not fit": lambda: (
        make_plan("AVRO", (record((LONG, DECIMAL)),), DecodeOptions()),
        header(1) + b"\x04\x7f\xff",
    ),
    "a document's value that does not fit": lambda: (
        make_plan("JSON", (limited({"type": "integer"}),), DecodeOptions()),
        header(1) + json.dumps({LONG: 2**70}).encode(),
    ),
    "a document that is not valid": lambda: (
        make_plan("JSON", (limited({"type": "integer", "minimum": 5}),), DecodeOptions(validate=True)),
        header(1) + json.dumps({LONG: 1}).encode(),
    ),
    "a document with another member": lambda: (
        make_plan("JSON", (limited({"type": "integer"}),), DecodeOptions(validate=True)),
        header(1) + json.dumps({LONG + "m": 1}).encode(),
    ),
    "a document that is none of an enum": lambda: (
        make_plan("JSON", (limited({"type": "string", "enum": ["e" * 90_000]}),), DecodeOptions(validate=True)),
        header(1) + json.dumps({LONG: "f" * 90_000}).encode(),
    ),
    "a message that lacks a field": lambda: (
        make_plan(
            "PROTOBUF", (f'syntax = "proto2"; {INNER} message M90 {{ required int32 a = 1; }}',), DecodeOptions()
        ),
        header(1) + b"\0" + _nest(90),
    ),
}


def _nest(levels: int) -> bytes:
    payload = b""
    for _ in range(levels):
        payload = part(1, payload)
    return payload


@pytest.mark.parametrize("name", ROWS)
def test_a_sentence_about_a_bad_row_is_bounded(name: str) -> None:
    plan, frame = ROWS[name]()
    (row,) = arrow.decode(pa.array([frame], pa.binary()), plan).to_pylist()
    assert row["record"] is None
    assert row["error"]["code"] in {"RESOLUTION", "INVALID"}
    assert 10 < len(row["error"]["message"]) <= FAULT_CHARACTERS


def test_texts_of_problems_and_rejected_schemas_are_cut() -> None:
    problem = TransferProblem(LONG, LONG, LONG)
    assert {len(problem.where), len(problem.what), len(problem.why)} == {PROBLEM_CHARACTERS}
    assert len(RejectedSchema(1, "RESOLUTION", LONG).message) == FAULT_CHARACTERS
