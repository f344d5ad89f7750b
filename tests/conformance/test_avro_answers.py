"""What Java Avro said of generated schemas and pairs, kept as data: Treaty says the same, no JVM needed."""

import re
from collections.abc import Callable
from pathlib import Path

from tests.oracle import avro_values
from tests.oracle.avro_answers import PAIRS_KEPT, SCHEMAS_KEPT, Tally, kept
from tests.oracle.avro_data import CONTRADICTIONS, GAPS
from tests.oracle.avro_treaty import DIFFERENCES
from treaty.core.state.columns import LOSSES
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


PAGE = Path(__file__).parents[2] / "docs" / "formats" / "avro.md"


def test_the_page_names_every_class_of_difference_and_no_more_than_ten() -> None:
    classes = {*DIFFERENCES, *CONTRADICTIONS, *GAPS, *avro_values.DIFFERENCES}
    words = set(re.findall(r"`([A-Z][A-Z0-9_]{4,})`", PAGE.read_text("utf-8")))

    assert len(classes) <= 10
    assert classes <= words
    assert words & set(LOSSES) == {
        "DECIMAL_TOO_WIDE", "DURATION_AS_BINARY", "ENUM_AS_STRING", "LOGICAL_UNKNOWN", "NANOS_CUT", "RECURSION_CUT",
        "TIME_AS_INTEGER", "UNION_AS_STRUCT", "UUID_AS_STRING",
    }  # fmt: skip
