"""What Treaty calls compatible in Protobuf is read: descriptors of many messages in two files, and the bytes of their values."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.event_messages import Described, MessagePairs, write_text
from tests.oracle.protobuf_wire import Wrong, try_all
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.budget import StepBudget, StepsError, use_budget
from treaty.formats.protobuf.compare.comparison import compare
from treaty.formats.protobuf.parser import parse_schema
from treaty.formats.seeded_random import SeededRandom

SAMPLES = 1
"""Values of each message."""


@dataclass
class Counts:
    """What came of many pairs."""

    pairs: int = 0
    compatible: int = 0
    large: int = 0
    readings: int = 0
    broken: int = 0

    def judge(self, seed: int) -> None:
        """Make a pair and compare it; where it is compatible, write a value of each message and read it."""
        old, new = MessagePairs(random.Random(seed)).make()
        writer, reader = (parse_schema(ResolvedSchema("PROTOBUF", write_text(one)), strict=True) for one in (old, new))
        self.pairs += 1
        try:
            with use_budget(StepBudget()):
                found = compare(reader, writer)
        except StepsError:
            self.large += 1
            found = compare(reader, writer)
        self.compatible += not found
        broken = ""
        try:
            self.readings += try_all(Described(old), Described(new), SeededRandom(seed), SAMPLES)
        except Wrong as wrong:
            broken = str(wrong)
        self.broken += bool(broken)
        assert found or not broken, f"seed {seed}: {broken}\nold {old}\nnew {new}"

    def check(self, figure: Callable[[str], None]) -> None:
        """Enough of all kinds has come."""
        figure(
            f"{self.pairs} pairs, {self.compatible} compatible, {self.large} beyond the small budget; "
            f"{self.readings} values read, {self.broken} refused pairs broken"
        )
        assert self.pairs / 4 < self.compatible < self.pairs
        assert self.readings > self.pairs
        assert self.broken > self.pairs / 50


def test_what_is_compatible_is_read(figure: Callable[[str], None]) -> None:
    counts = Counts()
    for seed in range(150):
        counts.judge(seed)
    counts.check(figure)


@pytest.mark.soak
def test_what_is_compatible_is_read_at_length(figure: Callable[[str], None]) -> None:
    counts = Counts()
    for seed in range(1_000, 21_000):
        counts.judge(seed)
    counts.check(figure)
