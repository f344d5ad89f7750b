"""The Java reference library as the judge."""

import json
import math
import random
import struct
from collections.abc import Callable, Iterator

import pytest

from tests.oracle.avro_answers import PAIRS, SCHEMAS, Tally, asked, pair_texts, schema_texts, stored
from tests.oracle.avro_schemas import singles
from tests.oracle.avro_treaty import CASES, described, excused, hand_made, text_of, unlike
from tests.oracle.java import AvroOracle, avro_oracle
from treaty.formats.avro.data.logical import LOGICAL_RULES
from treaty.formats.avro.rules import FIELD_MATCHES_SEVERAL

pytestmark = pytest.mark.jvm

SEED = 20260321
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


def test_the_answers_that_are_kept_are_those_of_java(java: AvroOracle) -> None:
    assert asked(java) == stored(), "run make oracle"


@pytest.mark.soak
def test_java_and_treaty_agree_in_the_long_run(java: AvroOracle, figure: Callable[[str], None]) -> None:
    alone, paired = Tally(), Tally()
    for at, text in enumerate(schema_texts(SCHEMAS)):
        alone.one(java.ask(text=text), text, f"schema {at}")
    for at, (reader, writer) in enumerate(pair_texts(PAIRS)):
        paired.pair(java.ask(reader=reader, writer=writer), reader, writer, f"pair {at}")

    figure(f"all schemas: {alone}")
    figure(f"all pairs: {paired}")
    for tally in (alone, paired):
        assert min(tally.verdicts.values()) >= 0.3 * sum(tally.verdicts.values())
    assert sum(paired.verdicts.values()) >= 20_000


def test_java_and_treaty_agree_on_slips_of_the_pen(java: AvroOracle, figure: Callable[[str], None]) -> None:
    chance = random.Random(SEED)
    tally = Tally()
    for at, schema in enumerate(singles(SEED, SINGLES)):
        text = json.dumps(schema, ensure_ascii=at % 2 == 0)
        place = chance.randrange(len(text))
        char = chance.choice(
            ["{", "}", '"', ",", ":", "\\", "/", "\x00", " ", "1", "n", ".", "-", "e", "\n", "é", "#", "'"]
        )
        text = text[:place] + char + text[place + chance.randrange(2) :]
        tally.one(java.ask(text=text), text, f"seed {SEED}, slip {at}")

    figure(f"slips: {tally}")
    assert min(tally.verdicts.values()) >= 30


def test_java_and_treaty_print_the_same_numbers(java: AvroOracle, figure: Callable[[str], None]) -> None:
    chance = random.Random(SEED)
    numbers = [struct.unpack("<d", struct.pack("<Q", chance.getrandbits(64)))[0] for _ in range(1_000)]
    numbers += [round(chance.uniform(-1e8, 1e8), chance.randrange(6)) for _ in range(1_000)]
    numbers += [chance.choice((1, 2.5, 9.9)) * 10.0 ** chance.randrange(-320, 300) for _ in range(500)]
    tally = Tally()
    for number in filter(math.isfinite, numbers):
        text = f'{{"type":"int","number":{number!r}}}'
        tally.one(java.ask(text=text), text, f"{number!r}")

    figure(f"numbers: {tally}")
    assert tally.excuses.total() <= 0.01 * len(numbers)
