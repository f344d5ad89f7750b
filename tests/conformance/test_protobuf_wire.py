"""Whoever is told to be able to read can: bytes of one schema, read with another by Google's runtime."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.oracle.protobuf_pairs import pair
from tests.oracle.protobuf_wire import Files, Wrong, try_all
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.protobuf.compare.comparison import compare, find_differences
from treaty.formats.protobuf.compare.rules.treaty import COMPARISON_TOO_LARGE, OWN
from treaty.formats.protobuf.format import RULES
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.parser import parse_schema
from treaty.formats.seeded_random import SeededRandom

SAMPLES = 3
"""Messages of every type that are written for a pair."""
FEW = 800
"""Seeds outside the soak, which takes those from here on."""


def model(texts: tuple[str, str]) -> ProtoSchema:
    """A schema with the other file that it imports."""
    other = ResolvedReference("other.proto", "other", 1, ResolvedSchema("PROTOBUF", texts[1]))
    return parse_schema(ResolvedSchema("PROTOBUF", texts[0], (other,)), strict=True)


@dataclass
class Told:
    """What came of many pairs."""

    verdicts: Counter[bool] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    readings: int = 0
    wrong: list[str] = field(default_factory=list)

    def ask(self, seed: int, *, ignored: frozenset[str] = frozenset()) -> None:
        """Try one pair in both directions; findings of `ignored` rules do not count."""
        sides = [(schema, Files(schema)) for schema in map(model, pair(seed))]
        for (writer, written), (reader, read) in (sides, sides[::-1]):
            found = {one.rule for one in compare(reader, writer)} - ignored
            self.rules.update(found | {one.rule for one in find_differences(reader, writer)})
            self.verdicts[not found] += 1
            try:
                self.readings += try_all(written, read, SeededRandom(seed), SAMPLES)
            except Wrong as wrong:
                self.broken.update(found)
                if not found:
                    self.wrong.append(f"seed {seed}: {wrong}")

    def judge(self, figure: Callable[[str], None]) -> None:
        """Nothing that was said to be readable may have failed, and everything has been asked."""
        total = sum(self.verdicts.values())
        figure(
            f"{total // 2} pairs, {self.readings} readings, {self.verdicts[True]} fit, {self.verdicts[False]} do not"
        )
        figure(f"refused and really broken: {dict(self.broken.most_common())}")
        assert not self.wrong
        assert min(self.verdicts[True], self.verdicts[False]) >= 0.3 * total
        assert set(RULES) - {COMPARISON_TOO_LARGE.id} <= set(self.rules)


@pytest.mark.slow
def test_what_fits_is_read_without_loss(figure: Callable[[str], None]) -> None:
    told = Told()
    for seed in range(FEW):
        told.ask(seed)
    told.judge(figure)


@pytest.mark.soak
def test_what_fits_is_read_without_loss_many_times(figure: Callable[[str], None]) -> None:
    told = Told()
    for seed in range(FEW, 22_500):
        told.ask(seed)
    told.judge(figure)


@pytest.mark.parametrize("rule", [*sorted(set(OWN) - {COMPARISON_TOO_LARGE.id}), "FIELD_SCALAR_KIND_CHANGED"])
def test_without_a_rule_something_breaks(rule: str) -> None:
    told = Told()
    for seed in range(22_500):
        told.ask(seed, ignored=frozenset({rule}))
        if told.wrong:
            return
    pytest.fail(f"nothing broke without {rule}")
