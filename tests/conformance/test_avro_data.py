"""Whenever Treaty says that a reader can read a writer, fastavro and Java read the writer's data."""

from collections.abc import Callable, Iterator

import pytest

from tests.oracle.avro_data import CONTRADICTIONS, GAPS, by_fastavro, by_java
from tests.oracle.java import AvroOracle, avro_oracle

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


@pytest.mark.soak
def test_fastavro_reads_it_in_the_long_run(figure: Callable[[str], None]) -> None:
    _by_fastavro(LONG, figure)


@pytest.mark.soak
@pytest.mark.jvm
def test_java_reads_it_in_the_long_run(java: AvroOracle, figure: Callable[[str], None]) -> None:
    _by_java(java, LONG, figure)
