"""Values of one schema read as another's: as Java reads them, where names decide between the branches of unions."""

import json
from collections.abc import Callable, Iterator

import pytest

from tests.oracle.avro_names import PAIRS as NAMED_PAIRS
from tests.oracle.avro_values import DIFFERENCES, KEPT, PAIRS, SEED, VALUES, Tally, kept, questions
from tests.oracle.java import AvroOracle, avro_oracle
from tests.shares import REST

SHARE = 0.1
"""The most of all values that may differ for a reason that has a name."""


@pytest.fixture(scope="module")
def java() -> Iterator[AvroOracle]:
    with avro_oracle() as oracle:
        yield oracle


def test_the_deserializer_reads_what_java_read(figure: Callable[[str], None]) -> None:
    tally = Tally()
    for question, answer in kept():
        tally.compare(question, answer)

    figure(f"values of the share: {tally}")
    assert tally.read >= 0.7 * KEPT * VALUES
    assert tally.refused >= 5
    assert tally.excuses.total() <= SHARE * tally.read
    assert set(tally.excuses) <= set(DIFFERENCES)


@pytest.mark.jvm
@pytest.mark.parametrize("of", [16, pytest.param(1, marks=REST)])
def test_the_values_that_are_kept_are_those_of_java(java: AvroOracle, of: int) -> None:
    """One question of so many; how the answers came about changes with Java alone."""
    some = kept()[::of]
    assert [question.ask(java) for question, _ in some] == [answer for _, answer in some], "run make oracle"


@pytest.mark.jvm
def test_java_reads_the_pairs_in_which_names_decide_as_is_recorded(java: AvroOracle) -> None:
    for name, pair in NAMED_PAIRS.items():
        answer = java.ask(**{side: json.dumps(getattr(pair, side)) for side in ("writer", "reader", "value")})
        assert (json.loads(answer["read"])[0] if "read" in answer else None) == pair.java, (name, answer)


@pytest.mark.soak
@pytest.mark.jvm
def test_the_deserializer_reads_as_java_in_the_long_run(java: AvroOracle, figure: Callable[[str], None]) -> None:
    tally = Tally()
    for question in questions(SEED + 1, PAIRS):
        tally.compare(question, question.ask(java))

    figure(f"all values: {tally}")
    assert tally.excuses.total() <= SHARE * tally.read
    assert set(tally.excuses) <= set(DIFFERENCES)
