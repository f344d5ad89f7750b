"""Data of one schema read with another: every pair that Treaty calls compatible is put to the libraries with examples."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

from tests.oracle import avro_fastavro
from tests.oracle.avro_answers import pair_texts
from tests.oracle.avro_treaty import model
from tests.oracle.java import AvroOracle
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.data.example import generate_example
from treaty.formats.avro.data.value import check_value
from treaty.formats.avro.format import LINTS
from treaty.formats.avro.model import AvroRecord, AvroSchema, simple_of
from treaty.formats.format import InvalidSchemaError

VALUES = 2
"""Examples of each writer."""


@dataclass(frozen=True)
class Sample:
    """A reader and a writer that fit, and a value of the writer in JSON encoding."""

    reader: AvroSchema
    writer: AvroSchema
    value: str

    @property
    def where(self) -> str:
        """All of it, to try it by hand."""
        return f"\nreader {self.reader.text}\nwriter {self.writer.text}\nvalue  {self.value}"


def samples(wanted: int) -> Iterator[list[Sample]]:
    """The samples of so many compatible pairs whose writer has a value."""
    return islice(_samples(), wanted)


def _samples() -> Iterator[list[Sample]]:
    for size in count(1):
        # The generator begins anew with every size; what has been seen is skipped.
        for texts in islice(pair_texts(size * 50_000), (size - 1) * 50_000, None):
            try:
                reader, writer = map(model, texts)
                values = [] if compare(reader, writer) else [generate_example(writer, seed) for seed in range(VALUES)]
            except InvalidSchemaError:
                continue
            except ValueError:  # no finite value
                continue
            if values:
                yield [Sample(reader, writer, value) for value in values]


@dataclass
class Tally:
    """How many values were read, and how many were not for reasons that have a name."""

    pairs: int = 0
    read: int = 0
    excuses: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return f"{self.pairs} pairs, {self.read} values read, excused {dict(self.excuses)}"


def by_fastavro(wanted: int) -> Tally:
    """Write with the writer and read with the reader by fastavro; fails for what has no excuse."""
    tally = Tally()
    for group in samples(wanted):
        tally.pairs += 1
        for sample in group:
            if avro_fastavro.refused(sample.writer) or avro_fastavro.refused(sample.reader):
                tally.excuses["SCHEMA_REFUSED"] += 1
                continue
            data = avro_fastavro.written(sample.writer, sample.value)
            try:
                found = avro_fastavro.read(data, sample.writer, sample.reader)
            except UnicodeDecodeError:
                tally.excuses["BYTES_NOT_UTF8"] += 1
                continue
            root = sample.reader.resolve(sample.reader.root)
            if isinstance(root, AvroRecord):
                assert set(found) == {one.name for one in root.fields}, sample.where
            tally.read += 1
    return tally


GAPS: Mapping[str, str] = {
    "BYTES_NOT_UTF8": "Bytes that are no UTF-8 and are read as a string: Java puts in replacement characters.",
    "SCHEMA_REFUSED": "A schema that Java reads and fastavro does not, for instance with 3 as the default of a float.",
}
"""Where fastavro can't read what Java reads."""


def by_java(java: AvroOracle, wanted: int) -> Tally:
    """The same by Java, from the JSON encoding and back into it; what it reads is a value of the reader to Treaty."""
    tally = Tally()
    for group in samples(wanted):
        tally.pairs += 1
        for sample in group:
            said = java.ask(reader=sample.reader.text, writer=sample.writer.text, value=sample.value)
            if "error" in said:
                excuse = next((name for name, fits in CONTRADICTIONS.items() if fits(said, sample)), None)
                assert excuse, (said, sample.where)
                tally.excuses[excuse] += 1
                continue
            assert said["whole"], sample.where
            (found,) = json.loads(said["read"])
            assert not check_value(sample.reader, json.dumps(found)), (said, sample.where)
            _same_data(bytes.fromhex(said["data"]), sample)
            tally.read += 1
    return tally


def _same_data(data: bytes, sample: Sample) -> None:
    """What Java wrote is what fastavro would have written, but for the order of a map."""
    if not avro_fastavro.refused(sample.writer):
        ours = avro_fastavro.written(sample.writer, sample.value)
        assert len(ours) == len(data), sample.where
        if ours != data:
            both = (avro_fastavro.read(one, sample.writer, sample.writer) for one in (ours, data))
            assert next(both) == next(both), sample.where


def _other_default(_: Mapping[str, Any], sample: Sample) -> bool:
    """Whether a union of the reader has a default that is not of its first branch."""
    return any(LINTS[name].find(sample.reader) for name in ("DEFAULT_NULL_FIRST", "UNION_DEFAULT_FIRST"))


def _other_namespace(said: Mapping[str, Any], sample: Sample) -> bool:
    """Whether Java does not find a type that the reader has in another namespace and without an alias."""
    found = re.match(r"AvroTypeException: Found ([\w.]+), expecting", said["error"])
    if found is None or found[1] in sample.reader.names:
        return False
    return simple_of(found[1]) in map(simple_of, sample.reader.names)


def _array_default(said: Mapping[str, Any], _: Sample) -> bool:
    """Whether Java looks for the elements of a union instead of its branch's, as it does for empty defaults."""
    return str(said["error"]).startswith("AvroRuntimeException: Not an array: [")


CONTRADICTIONS: Mapping[str, Callable[[Mapping[str, Any], Sample], bool]] = {
    "ARRAY_DEFAULT_IN_UNION": _array_default,
    "DEFAULT_NOT_OF_FIRST_BRANCH": _other_default,
    "NAMESPACE_CHANGED": _other_namespace,
}
"""Where Java's reader contradicts Java's own word on compatibility, which is what Treaty follows."""
