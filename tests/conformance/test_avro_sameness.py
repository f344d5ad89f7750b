"""Which Avro texts are the same schema: as Java's library says, with the docs, aliases and defaults that it does not look at."""

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from tests.oracle.avro_sameness import kept
from treaty.core.schema_engine import ParsedSchema, ParseSchema, ResolvedSchema
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import BUILT_IN, FormatRegistry

SHARE = 500
"""The first pairs, which each run compares."""


def compare(pairs: Sequence[tuple[tuple[str, str], str]]) -> Counter[tuple[str, bool]]:
    """Compare what both say of pairs; counts by Java's word (1 the same, 0 not) and whether the canonical texts are equal."""
    engine = FormatEngine(FormatRegistry.of(BUILT_IN))
    counts: Counter[tuple[str, bool]] = Counter()
    for texts, java in pairs:
        told = [engine.answer(ParseSchema(ResolvedSchema("AVRO", text), strict=False)) for text in texts]
        one, other = (answer if isinstance(answer, ParsedSchema) else None for answer in told)
        if java == "-" or one is None or other is None:
            counts["-", False] += 1  # validity has tests of its own
            continue
        assert (one.resolved == other.resolved) is (java == "1"), texts
        stored = engine.answer(ParseSchema(ResolvedSchema("AVRO", one.canonical), strict=False))
        assert isinstance(stored, ParsedSchema)
        assert stored.resolved == one.resolved, "the text that is stored is the same as the one that was sent"
        counts[java, one.canonical == other.canonical] += 1
    return counts


def test_what_is_the_same_to_java_is_the_same(figure: Callable[[str], None]) -> None:
    counts = compare(kept(SHARE))

    figure(f"the same as Java says: {counts['1', True] + counts['1', False]}, others {counts['0', False]}")
    assert counts["1", False] > SHARE / 3, "of most pairs that are the same the texts differ"
    assert counts["0", False] > SHARE / 5
    assert counts["-", False] < SHARE / 10


@pytest.mark.soak
def test_what_is_the_same_to_java_is_the_same_in_all_pairs(figure: Callable[[str], None]) -> None:
    figure(f"{dict(compare(kept()))}")
