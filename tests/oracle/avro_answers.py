"""What Java Avro says of generated schemas and pairs: asked, kept as data, compared with what Treaty says.

`python -m tests.oracle.avro_answers` asks anew and writes the share that tests without a JVM use.
"""

import hashlib
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tests.oracle.avro_logical import dressed
from tests.oracle.avro_schemas import Maker, broken, pairs
from tests.oracle.avro_treaty import described, excused, found, unlike
from tests.oracle.java import AvroOracle, avro_oracle
from treaty.formats.avro.rules import FIELD_MATCHES_SEVERAL

FILE = Path(__file__).parents[1] / "conformance" / "data" / "avro-java-answers.json.xz"
SEED = 20260321
SCHEMAS, PAIRS = 2_000, 22_000
"""Questions of the long run; of the pairs about one in fifteen is not valid and not compared."""
SCHEMAS_KEPT, PAIRS_KEPT = 500, 2_000
"""The first of them, whose answers are kept."""


def schema_texts(count: int) -> Iterator[str]:
    """Generated schemas, half of them broken, a third with logical types."""
    chance = random.Random(SEED)
    for at in range(count):
        node = Maker(chance).schema()
        node = dressed(node, chance) if at % 3 == 0 else node
        yield json.dumps(broken(node, chance) if at % 2 else node)


def pair_texts(count: int) -> Iterator[tuple[str, str]]:
    """Generated readers and writers, a quarter of them with logical types."""
    for at, (reader, writer) in enumerate(pairs(SEED, count)):
        chance = random.Random(at)
        both = [dressed(node, chance) for node in (reader, writer)] if at % 4 == 0 else [reader, writer]
        yield json.dumps(both[0]), json.dumps(both[1])


@dataclass
class Tally:
    """What was compared: verdicts, rules that were told, classes of difference."""

    verdicts: Counter[bool] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    excuses: Counter[str] = field(default_factory=Counter)

    def schema(self, said: Mapping[str, Any], text: str, where: str) -> bool:
        """Compare what both say of one schema; True if both call it valid."""
        ours = described(text)
        if DIGESTS.isdisjoint(said):  # left out to save space; the parsing form and its CRC are compared
            ours = {name: told for name, told in ours.items() if name not in DIGESTS}
        if unlike(said, ours):
            excuse = excused(said, ours)
            assert excuse, (where, text, unlike(said, ours), said, ours)
            self.excuses[excuse] += 1
        return bool(said["valid"] and ours["valid"])

    def one(self, said: Mapping[str, Any], text: str, where: str) -> None:
        """Compare and count one schema."""
        self.schema(said, text, where)
        self.verdicts[said["valid"]] += 1

    def pair(self, said: Mapping[str, Any], reader: str, writer: str, where: str) -> None:
        """Compare and count what both find in one pair, if both schemas are valid to both."""
        sides = [self.schema(said[side], text, where) for side, text in (("reader", reader), ("writer", writer))]
        if not all(sides):
            return
        ours = found(reader, writer)
        self.verdicts[not ours] += 1
        self.rules.update(one["type"] for one in ours)
        if "error" in said:
            assert "matches multiple fields" in said["error"], where
            assert [one["type"] for one in ours] == [FIELD_MATCHES_SEVERAL.id], where
        else:
            assert ours == said["findings"], (where, reader, writer)

    def __str__(self) -> str:
        rules = f", rules {dict(sorted(self.rules.items()))}" if self.rules else ""
        return f"{sum(self.verdicts.values())}, verdicts {dict(self.verdicts)}{rules}, excused {dict(self.excuses)}"


def digest(texts: Sequence[object]) -> str:
    """A digest of questions, to see that the same ones are meant."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def asked(java: AvroOracle) -> dict[str, Any]:
    """The questions of the share put to Java, and its answers."""
    schemas, both = list(schema_texts(SCHEMAS_KEPT)), list(pair_texts(PAIRS_KEPT))
    return {
        "questions": digest([schemas, both]),
        "schemas": [_brief(java.ask(text=text)) for text in schemas],
        "pairs": [_brief_pair(java.ask(reader=reader, writer=writer)) for reader, writer in both],
    }


PHRASES = ("fields not set yet", "matches multiple fields")
"""What of Java's error messages counts; the rest of them is not always the same."""
DIGESTS = frozenset({"MD5", "SHA-256", "PRAVEGA"})


def _brief(answer: dict[str, Any]) -> dict[str, Any]:
    error = answer.get("error", "")
    return {**answer, "error": "".join(phrase for phrase in PHRASES if phrase in error)} if error else answer


def _brief_pair(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without the longer digests of both sides, which can't be made smaller."""
    sides = {
        side: {name: told for name, told in _brief(answer[side]).items() if name not in DIGESTS}
        for side in ("reader", "writer")
    }
    return {**_brief(answer), **sides}


def packed(answers: Mapping[str, Any]) -> bytes:
    """The file's bytes."""
    return lzma.compress(json.dumps(answers, sort_keys=True).encode(), preset=9 | lzma.PRESET_EXTREME)


def stored() -> dict[str, Any]:
    """The answers of the file."""
    answers: dict[str, Any] = json.loads(lzma.decompress(FILE.read_bytes()))
    return answers


def kept() -> tuple[list[tuple[str, dict[str, Any]]], list[tuple[tuple[str, str], dict[str, Any]]]]:
    """The questions of the share, each with its answer; fails if the generator has changed since they were asked."""
    answers = stored()
    schemas, both = list(schema_texts(SCHEMAS_KEPT)), list(pair_texts(PAIRS_KEPT))
    assert answers["questions"] == digest([schemas, both]), "other schemas are generated now: run make oracle"
    return list(zip(schemas, answers["schemas"], strict=True)), list(zip(both, answers["pairs"], strict=True))


def rest() -> tuple[Iterator[str], Iterator[tuple[str, str]]]:
    """The questions of the long run that are not in the share."""
    return islice(schema_texts(SCHEMAS), SCHEMAS_KEPT, None), islice(pair_texts(PAIRS), PAIRS_KEPT, None)


if __name__ == "__main__":
    with avro_oracle() as oracle:
        FILE.write_bytes(packed(asked(oracle)))
    print(f"{FILE.relative_to(Path.cwd())}: {FILE.stat().st_size:,} bytes")
