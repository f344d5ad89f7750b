"""The Java reference library as the judge."""

import json
import math
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.oracle.avro_schemas import pairs, singles
from tests.oracle.avro_treaty import CASES, described, excused, found, hand_made, text_of, unlike
from tests.oracle.java import AvroOracle, avro_oracle
from treaty.formats.avro.data.logical import LOGICAL_RULES
from treaty.formats.avro.rules import COMPARISON_TOO_LARGE, FIELD_MATCHES_SEVERAL, RULES

pytestmark = pytest.mark.jvm

SEED = 20260321
PAIRS = 2_000
SINGLES = 1_000


@pytest.fixture(scope="module")
def java() -> Iterator[AvroOracle]:
    with avro_oracle() as oracle:
        yield oracle


def test_java_says_of_each_hand_made_schema_what_is_recorded(java: AvroOracle) -> None:
    for name, row in hand_made():
        references = {"references": row["references"]} if "references" in row else {}
        said = java.ask(text=text_of(row), **references)
        recorded = row.get("java", {member: row[member] for member in ("valid", "canonical") if member in row})

        assert {member: said[member] for member in ("valid", "canonical") if member in said} == recorded, name
        ours = described(text_of(row), row.get("references", ()))
        if unlike(said, ours):
            assert excused(said, ours) == row.get("difference"), name
            assert "difference" in row, (name, unlike(said, ours))


def test_java_finds_what_is_recorded_in_each_folder(java: AvroOracle) -> None:
    for recorded in sorted(CASES.glob("*/verdict.json")):
        old, new = ((recorded.parent / name).read_text("utf-8") for name in ("old.avsc", "new.avsc"))
        for direction, reader, writer in (("backward", new, old), ("forward", old, new)):
            ours = json.loads(recorded.read_text("utf-8"))[direction]
            said = java.ask(reader=reader, writer=writer)
            if "error" in said:
                assert "matches multiple fields" in said["error"], recorded
                assert [one["rule"] for one in ours] == [FIELD_MATCHES_SEVERAL.id], recorded
            else:
                told = [
                    {"type": one["rule"], "path": one["path"], "detail": one["detail"]}
                    for one in ours
                    if one["rule"] not in LOGICAL_RULES
                ]
                assert told == said["findings"], recorded


def test_java_and_treaty_agree_on_generated_schemas(java: AvroOracle, figure: Callable[[str], None]) -> None:
    verdicts: Counter[bool] = Counter()
    excuses: Counter[str] = Counter()
    for at, schema in enumerate(singles(SEED, SINGLES)):
        said = java.ask(text=json.dumps(schema))
        verdicts[said["valid"]] += 1
        _agree(said, json.dumps(schema), f"seed {SEED}, schema {at}", excuses)

    figure(f"schemas: {dict(verdicts)}, excused {dict(excuses)}")
    assert min(verdicts[True], verdicts[False]) >= 0.3 * SINGLES


def test_java_and_treaty_agree_on_who_can_read_whom(java: AvroOracle, figure: Callable[[str], None]) -> None:
    verdicts: Counter[bool] = Counter()
    rules: Counter[str] = Counter()
    excuses: Counter[str] = Counter()
    for at, pair in enumerate(pairs(SEED, PAIRS)):
        reader, writer = map(json.dumps, pair)
        said = java.ask(reader=reader, writer=writer)
        where = f"seed {SEED}, pair {at}"
        both = [_agree(said[side], text, where, excuses) for side, text in (("reader", reader), ("writer", writer))]
        if not all(both):
            continue
        ours = found(reader, writer)
        verdicts[not ours] += 1
        rules.update(one["type"] for one in ours)
        if "error" in said:
            assert "matches multiple fields" in said["error"], where
            assert [one["type"] for one in ours] == [FIELD_MATCHES_SEVERAL.id], where
        else:
            assert ours == said["findings"], (where, reader, writer)

    figure(f"pairs: {dict(verdicts)}, rules {dict(rules)}, excused {dict(excuses)}")
    assert min(verdicts.values()) >= 0.3 * sum(verdicts.values())
    assert set(rules) == {one.id for one in RULES.values() if "STRICT" in one.policies} - {COMPARISON_TOO_LARGE.id}


def test_java_and_treaty_agree_on_slips_of_the_pen(java: AvroOracle, figure: Callable[[str], None]) -> None:
    chance = random.Random(SEED)
    verdicts: Counter[bool] = Counter()
    excuses: Counter[str] = Counter()
    for at, schema in enumerate(singles(SEED, SINGLES)):
        text = json.dumps(schema, ensure_ascii=at % 2 == 0)
        place = chance.randrange(len(text))
        char = chance.choice(
            ["{", "}", '"', ",", ":", "\\", "/", "\x00", " ", "1", "n", ".", "-", "e", "\n", "é", "#", "'"]
        )
        text = text[:place] + char + text[place + chance.randrange(2) :]
        said = java.ask(text=text)
        verdicts[said["valid"]] += 1
        _agree(said, text, f"seed {SEED}, slip {at}", excuses)

    figure(f"slips: {dict(verdicts)}, excused {dict(excuses)}")
    assert min(verdicts[True], verdicts[False]) >= 30


def test_java_and_treaty_print_the_same_numbers(java: AvroOracle, figure: Callable[[str], None]) -> None:
    chance = random.Random(SEED)
    numbers = [struct.unpack("<d", struct.pack("<Q", chance.getrandbits(64)))[0] for _ in range(1_000)]
    numbers += [round(chance.uniform(-1e8, 1e8), chance.randrange(6)) for _ in range(1_000)]
    numbers += [chance.choice((1, 2.5, 9.9)) * 10.0 ** chance.randrange(-320, 300) for _ in range(500)]
    excuses: Counter[str] = Counter()
    for number in filter(math.isfinite, numbers):
        text = f'{{"type":"int","number":{number!r}}}'
        _agree(java.ask(text=text), text, f"{number!r}", excuses)

    figure(f"numbers: {len(numbers)}, excused {dict(excuses)}")
    assert excuses.total() <= 0.01 * len(numbers)


def _agree(said: dict[str, Any], text: str, where: str, excuses: Counter[str]) -> bool:
    """Check one description; True if both call the schema valid."""
    ours = described(text)
    if unlike(said, ours):
        excuse = excused(said, ours)
        assert excuse, (where, text, unlike(said, ours), said, ours)
        excuses[excuse] += 1
    return bool(said["valid"] and ours["valid"])
