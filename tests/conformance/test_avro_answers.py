"""What Java Avro said of generated schemas and pairs, kept as data: Treaty says the same, no JVM needed."""

from collections.abc import Callable

from tests.oracle.avro_answers import PAIRS_KEPT, SCHEMAS_KEPT, Tally, kept
from treaty.formats.avro.rules import COMPARISON_TOO_LARGE, RULES


def test_treaty_says_of_schemas_what_java_said(figure: Callable[[str], None]) -> None:
    tally = Tally()
    for at, (text, said) in enumerate(kept()[0]):
        tally.one(said, text, f"schema {at}")

    figure(f"schemas of the share: {tally}")
    assert sum(tally.verdicts.values()) == SCHEMAS_KEPT
    assert min(tally.verdicts.values()) >= 0.3 * SCHEMAS_KEPT


def test_treaty_finds_in_pairs_what_java_found(figure: Callable[[str], None]) -> None:
    tally = Tally()
    for at, ((reader, writer), said) in enumerate(kept()[1]):
        tally.pair(said, reader, writer, f"pair {at}")

    figure(f"pairs of the share: {tally}")
    assert sum(tally.verdicts.values()) >= 0.9 * PAIRS_KEPT, "few of the generated pairs are not valid"
    assert min(tally.verdicts.values()) >= 0.3 * sum(tally.verdicts.values())
    assert set(tally.rules) == {one.id for one in RULES.values() if "STRICT" in one.policies} - {
        COMPARISON_TOO_LARGE.id
    }
