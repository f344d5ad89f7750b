"""Whenever Treaty says that a reader can read a writer, fastavro and Java read the writer's data."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.oracle.avro_data import CONTRADICTIONS, GAPS, by_fastavro, by_java
from tests.oracle.avro_treaty import model
from tests.oracle.java import AvroOracle, avro_oracle
from treaty.formats.avro.format import LINTS

PAIRS, BY_JAVA = 2_000, 400
LONG = 20_000
SHARE = 0.03
"""The most of all values that may have an excuse."""


@pytest.fixture(scope="module")
def java() -> Iterator[AvroOracle]:
    with avro_oracle() as oracle:
        yield oracle


def _by_fastavro(pairs: int, figure: Callable[[str], None]) -> None:
    tally = by_fastavro(pairs)
    figure(f"read by fastavro: {tally}")
    assert tally.pairs == pairs
    assert tally.excuses.total() <= SHARE * tally.read
    assert set(tally.excuses) <= set(GAPS)


def _by_java(java: AvroOracle, pairs: int, figure: Callable[[str], None]) -> None:
    tally = by_java(java, pairs)
    figure(f"read by Java: {tally}")
    assert tally.pairs == pairs
    assert tally.excuses.total() <= SHARE * tally.read
    assert set(tally.excuses) <= set(CONTRADICTIONS)


def test_fastavro_reads_what_is_called_compatible(figure: Callable[[str], None]) -> None:
    _by_fastavro(PAIRS, figure)


@pytest.mark.jvm
def test_java_reads_what_is_called_compatible(java: AvroOracle, figure: Callable[[str], None]) -> None:
    _by_java(java, BY_JAVA, figure)


INTS, MAPS = {"type": "array", "items": "int"}, {"type": "map", "values": "int"}
INSIDE = {"type": "record", "name": "In", "fields": [{"name": "l", "type": [INTS, "null"], "default": []}]}
DEFAULTS: tuple[tuple[Any, Any], ...] = (
    ([INTS, "null"], []), (["null", INTS], []), (["string", INTS], []), ([INTS], []), ([INTS, MAPS], []),
    ([INTS, "null"], [1]), (["null", INTS], [1]), ([{"type": "array", "items": INTS}, "null"], [[]]), (INTS, []),
    ([{"type": "array", "items": MAPS}, "null"], [{}]), ([MAPS, "null"], {}), (["null", MAPS], {}), ([MAPS, "null"], {"k": 1}),
    ([{"type": "array", "items": INSIDE}, "null"], [{"l": []}]), ([INSIDE, "null"], {"l": []}), ([INSIDE, "null"], {}),
)  # fmt: skip
"""Types, and defaults of them."""


@pytest.mark.jvm
def test_java_fails_at_defaults_that_the_lint_finds_and_at_no_others(java: AvroOracle) -> None:
    writer = {"type": "record", "name": "R", "fields": []}
    for kind, default in DEFAULTS:
        reader = json.dumps({**writer, "fields": [{"name": "x", "type": kind, "default": default}]})
        said = java.ask(reader=reader, writer=json.dumps(writer), value="{}")
        told = [one.path for one in LINTS["DEFAULT_ARRAY_IN_UNION"].find(model(reader))]
        assert ("/fields/0/default" in told) == ("error" in said), (reader, said)
        assert "Not an array" in said.get("error", "Not an array"), said


@pytest.mark.soak
def test_fastavro_reads_it_in_the_long_run(figure: Callable[[str], None]) -> None:
    _by_fastavro(LONG, figure)


@pytest.mark.soak
@pytest.mark.jvm
def test_java_reads_it_in_the_long_run(java: AvroOracle, figure: Callable[[str], None]) -> None:
    _by_java(java, LONG, figure)
