"""What Java reads of values written with one schema and read with another: asked, kept as data, compared with the deserializer.

The schemas are those of `avro_unions`, in which names decide. `make oracle` asks anew.
"""

import json
import lzma
import random
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tests.oracle.avro_answers import digest, packed
from tests.oracle.avro_treaty import described, found
from tests.oracle.avro_unions import definitions, union_pairs, value_of
from tests.oracle.java import AvroOracle, avro_oracle
from treaty.client.serializers import avro_codec
from treaty.client.serializers.avro_codec import AvroCodec, make_avro_codec
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.core.names import Subject
from treaty.core.registry import Registry

FILE = Path(__file__).parents[1] / "conformance" / "data" / "avro-java-values.json.xz"
SEED = 20260321
PAIRS, KEPT = 5_000, 400
"""Pairs of schemas of the long run, and those whose answers are kept."""
VALUES = 3
"""Values of each writer."""
NO_REGISTRY = cast("Registry", None)
"""A schema without references asks no registry."""


@dataclass(frozen=True)
class Question:
    """A writer, a reader and a value of the writer in JSON encoding."""

    writer: Any
    reader: Any
    value: Any

    def ask(self, java: AvroOracle) -> dict[str, Any]:
        """Put it to Java; of an error its class is kept."""
        texts = {name: json.dumps(getattr(self, name)) for name in ("writer", "reader", "value")}
        answer = java.ask(**texts)
        if "error" in answer:
            return {"data": answer.get("data"), "error": answer["error"].partition(":")[0]}
        assert answer["whole"]
        return {"data": answer["data"], "read": json.loads(answer["read"])[0]}


def questions(seed: int, count: int) -> Iterator[Question]:
    """The questions about so many pairs."""
    for at, (writer, reader) in enumerate(union_pairs(seed, count)):
        chance = random.Random(at)
        if not described(json.dumps(writer))["valid"] or not described(json.dumps(reader))["valid"]:
            continue
        for _ in range(VALUES):
            try:
                yield Question(writer, reader, value_of(writer, definitions(writer), chance))
            except (RecursionError, IndexError):  # no end, or a union without branches
                continue


def asked(java: AvroOracle) -> dict[str, Any]:
    """The questions of the share put to Java, and its answers."""
    every = list(questions(SEED, KEPT))
    told = digest([[one.writer, one.reader, one.value] for one in every])
    return {"questions": told, "answers": [one.ask(java) for one in every]}


def stored() -> dict[str, Any]:
    """The answers of the file."""
    answers: dict[str, Any] = json.loads(lzma.decompress(FILE.read_bytes()))
    return answers


def kept() -> list[tuple[Question, dict[str, Any]]]:
    """The questions of the share, each with its answer; fails if the generator has changed since they were asked."""
    answers, every = stored(), list(questions(SEED, KEPT))
    told = digest([[one.writer, one.reader, one.value] for one in every])
    assert answers["questions"] == told, "other schemas are generated now: run make oracle"
    return list(zip(every, answers["answers"], strict=True))


def plain(node: Any) -> Any:
    """A schema without logical types, which Java's reader does not look at."""
    if isinstance(node, dict):
        return {
            name: plain(member) for name, member in node.items() if name not in {"logicalType", "scale", "precision"}
        }
    return [plain(member) for member in node] if isinstance(node, list) else node


def made(schema: Any) -> AvroCodec:
    """A schema ready for the codec."""
    return make_avro_codec(NO_REGISTRY, json.dumps(schema), (), Subject(".", ""))


DIFFERENCES: Mapping[str, str] = {
    "READ_THOUGH_INCOMPATIBLE": """\
Java's reader takes a whole payload of a record of any name; `SchemaCompatibility`, the specification and Treaty ask for the
name or an alias there.""",
    "BYTES_NOT_UTF8": "Java puts in replacement characters for bytes that are no UTF-8; Treaty calls the record bad.",
    "FULL_NAME_FIRST": """\
Java reads two unions by position where they differ in namespaces alone, and an alias wins over a name that is there; Treaty goes
by the full name first.""",
    "NAMESPACE_CHANGED": """\
Java refuses what `SchemaCompatibility` calls compatible, or leaves a renamed field to its default, because its reader looks for
full names; Treaty reads it.""",
}
"""Differences that are meant."""


@dataclass
class Tally:
    """What was compared, and what differs for a reason that has a name."""

    read: int = 0
    refused: int = 0
    invalid: int = 0
    excuses: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return f"{self.read} values alike, {self.refused} refused by both, {self.invalid} not asked, excused {dict(self.excuses)}"

    def compare(self, question: Question, answer: Mapping[str, Any]) -> None:
        """Read what Java wrote as Java read it."""
        try:
            writer, reader = made(plain(question.writer)), made(plain(question.reader))
        except BadValueError:
            self.invalid += 1
            return
        if answer.get("data") is None:
            self.invalid += 1  # a schema that Java does not take
            return
        try:
            value = decoded(writer, reader, bytes.fromhex(answer["data"]))
        except BadRecordError as bad:
            self.compare_refusal(question, answer, bad)
            return
        if "error" in answer:
            moved = is_moved(question) or is_swapped(question)
            excuse = "" if findings(question) and not moved else "NAMESPACE_CHANGED"
            assert excuse, (value, question, answer)
            self.excuses[excuse] += 1
            return
        differences = list(unlike(reader.payload, reader.named, answer["read"], value))
        if not differences:
            self.read += 1
            return
        excuse = "FULL_NAME_FIRST" if is_by_full_name(question, differences) else ""
        moved = is_moved(question) or is_swapped(question)
        if not excuse and moved and '"aliases"' in json.dumps(question.reader):
            excuse = "NAMESPACE_CHANGED"
        assert excuse, (differences, question, answer, value)
        self.excuses[excuse] += 1

    def compare_refusal(self, question: Question, answer: Mapping[str, Any], bad: BadRecordError) -> None:
        """What Treaty refuses Java refuses too, or there is a reason."""
        if "error" in answer:
            self.refused += 1
            return
        excuse = excuse_refusal(question, bad)
        assert excuse, (bad, question, answer)
        self.excuses[excuse] += 1


def decoded(writer: AvroCodec, reader: AvroCodec, data: bytes) -> tuple[Any, Any]:
    """The value with the names of branches (without defaults), and without; both ways of reading agree."""
    if writer.raw:
        data = bytes(avro_codec.read_slowly(writer, None, (data, 1), tagged=False))  # type: ignore[call-overload]  # bytes
    values = []
    for tagged in (True, False):
        values.append(avro_codec.read_payload(writer, reader, data, 1, tagged=tagged))
        slow = avro_codec.add_length(data) if writer.raw else data
        again = avro_codec.read_slowly(writer, reader, (slow, 1), tagged=tagged)
        assert repr(again) == repr(values[-1]), (again, values[-1])
    return values[0], values[1]


MISSING = object()


def unlike(node: Any, named: Mapping[str, Any], java: Any, value: tuple[Any, Any]) -> Iterator[Any]:
    """The places where Treaty's value is not Java's, which is in JSON encoding."""
    node = named.get(node, node) if isinstance(node, str) else node
    tagged, bare = value
    if isinstance(node, list):
        yield from _unlike_branch(node, named, java, value)
        return
    kind = node if isinstance(node, str) else node["type"]
    match kind:
        case "record":
            if set(bare) != set(java):
                yield node["name"], java, bare
                return
            for each in node["fields"]:
                name = each["name"]
                inner = MISSING if tagged is MISSING else tagged.get(name, MISSING)
                yield from unlike(each["type"], named, java[name], (inner, bare[name]))
        case "array":
            tags = [MISSING] * len(bare) if tagged is MISSING else tagged
            if len(java) != len(bare):
                yield "items", java, bare
            for one, *both in zip(java, tags, bare, strict=False):
                yield from unlike(node["items"], named, one, (both[0], both[1]))
        case "map":
            if set(java) != set(bare):
                yield "keys", java, bare
                return
            for key, one in java.items():
                yield from unlike(
                    node["values"], named, one, (MISSING if tagged is MISSING else tagged[key], bare[key])
                )
        case _:
            wanted = _leaf(kind, java)
            if repr(wanted) != repr(bare):
                yield kind, wanted, bare


def _unlike_branch(node: list[Any], named: Mapping[str, Any], java: Any, value: tuple[Any, Any]) -> Iterator[Any]:
    tagged, bare = value
    if java is None:
        if bare is not None:
            yield "null", java, bare
        return
    ((name, inside),) = java.items()
    if tagged is not MISSING and len([each for each in node if each != "null"]) > 1:
        if not isinstance(tagged, tuple) or tagged[0] != name:
            yield "branch", java, tagged
            return
        tagged = tagged[1]
    branch = next(each for each in node if (each if isinstance(each, str) else each.get("name", each["type"])) == name)
    yield from unlike(branch, named, inside, (tagged, bare))


def _leaf(kind: str, java: Any) -> Any:
    if kind in {"bytes", "fixed"}:
        return java.encode("latin-1")
    if kind in {"float", "double"}:
        java = float(java)
    return struct.unpack("<f", struct.pack("<f", java))[0] if kind == "float" else java


def excuse_refusal(question: Question, bad: BadRecordError) -> str:
    """Why Treaty refuses what Java reads."""
    if bad.code == RecordErrorCode.MALFORMED and "utf-8" in bad.message.lower():
        return "BYTES_NOT_UTF8"
    if findings(question):
        return "READ_THOUGH_INCOMPATIBLE"
    return "FULL_NAME_FIRST" if is_swapped(question) else ""


def findings(question: Question) -> list[Any]:
    """The findings of a comparison."""
    return list(found(json.dumps(plain(question.reader)), json.dumps(plain(question.writer))))


def is_moved(question: Question) -> bool:
    """Whether the writer has a named type whose full name the reader neither has nor knows as an alias."""
    reader = definitions(question.reader)
    known = {*reader, *(alias for one in reader.values() for alias in one.get("aliases", ()))}
    return not set(definitions(question.writer)) <= known


def is_swapped(question: Question) -> bool:
    """Whether a record of the writer and one of the reader have the full name in common and other fields."""
    old, new = definitions(question.writer), definitions(question.reader)
    return any(old[name].get("fields") != new[name].get("fields") for name in old.keys() & new.keys())


def is_by_full_name(question: Question, differences: list[Any]) -> bool:
    """Whether Treaty chose the type or field of the name that the writer has, and Java another one."""
    names = definitions(question.writer)
    if all(place == "branch" and isinstance(ours, tuple) and ours[0] in names for place, _, ours in differences):
        return True
    return any(
        alias in present
        for one in definitions(question.reader).values()
        for present in [{field["name"] for field in one.get("fields", ())}]
        for field in one.get("fields", ())
        for alias in field.get("aliases", ())
    )


if __name__ == "__main__":
    with avro_oracle() as oracle:
        FILE.write_bytes(packed(asked(oracle)))
    print(f"{FILE.relative_to(Path.cwd())}: {FILE.stat().st_size:,} bytes")
