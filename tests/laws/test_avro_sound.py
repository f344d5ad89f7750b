"""What Treaty calls compatible in Avro is read: schemas of many types that refer to each other, and the bytes of their values."""

import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fastavro
import pytest

from tests.event_records import EndlessError, Judge, RecordPairs, Types, draw_value, has_other_names, has_twins
from tests.laws.test_avro_programs import made
from tests.oracle.avro_treaty import model
from treaty.client.serializers import avro_codec
from treaty.client.serializers.errors import BadRecordError
from treaty.formats.avro.compatibility import compare
from treaty.formats.budget import StepBudget, StepsError, use_budget

VALUES = 2
"""Values of each old schema."""


FAILED = "fastavro takes a name for a definition, or the other way round"
"""It does where one schema defines a type at its first field and the other one at a later field."""

UNREADABLE = "no value of the reader: "


@dataclass
class Counts:
    """What came of many pairs."""

    pairs: int = 0
    compatible: int = 0
    large: int = 0
    values: int = 0
    by_fastavro: int = 0
    by_name: int = 0
    """Values that the deserializer does not read, as in Java: a branch of the same full name decides, and the verdict takes any other one
    of the same last name (`NAMESPACE_CHANGED` in docs/formats/avro.md)."""

    def judge(self, seed: int) -> None:
        """Make a pair and compare it; where it is compatible, write values and read them."""
        chance = random.Random(seed)
        old, new = RecordPairs(chance).make()
        writer, reader = (model(path.write_text()) for path in (old, new))
        self.pairs += 1
        try:
            with use_budget(StepBudget()):
                findings = compare(reader, writer)
        except StepsError:
            self.large += 1
            findings = compare(reader, writer)
        if not findings:
            self.compatible += 1
            self.judge_values(old, new, chance, f"seed {seed}")

    def judge_values(self, old: Types, new: Types, chance: random.Random, where: str) -> None:
        """The values are what they were by fastavro; where names decide or it fails by a fault of its own, by the deserializer."""
        for _ in range(VALUES):
            try:
                value = draw_value(old, old.root, chance)
            except EndlessError:
                continue
            data = write_value(old, value)
            self.values += 1
            fault = read_by_fastavro(old, new, data, value)
            self.by_fastavro += not fault
            if fault == FAILED or has_other_names(old, new):
                fault = read_by_treaty(old, new, data, value)
            if fault.startswith(UNREADABLE) and has_twins(new):
                self.by_name += 1
                continue
            assert not fault, f"{where}: {fault}\nold {old.write_text()}\nnew {new.write_text()}\nvalue {value!r}"

    def check(self, figure: Callable[[str], None]) -> None:
        """Enough of all kinds has come."""
        figure(
            f"{self.pairs} pairs, {self.compatible} compatible, {self.large} beyond the small budget; "
            f"{self.values} values, {self.by_fastavro} read by fastavro, {self.by_name} lost by name"
        )
        assert self.pairs / 4 < self.compatible < self.pairs
        assert self.large
        assert self.values > self.pairs
        assert self.by_fastavro > 0.85 * self.values
        assert self.by_name <= 0.005 * self.values


def parsed(types: Types) -> Any:
    return fastavro.parse_schema(json.loads(types.write_text()))


def write_value(types: Types, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, parsed(types), value)
    return out.getvalue()


def read_by_fastavro(old: Types, new: Types, data: bytes, value: Any) -> str:
    try:
        read = fastavro.schemaless_reader(io.BytesIO(data), parsed(old), parsed(new), return_record_name=True)
    except (KeyError, TypeError):
        return FAILED
    except (ValueError, fastavro.read.SchemaResolutionError) as error:
        return repr(error)
    return Judge(old, new, by_fastavro=True).find_fault(value, read)


def read_by_treaty(old: Types, new: Types, data: bytes, value: Any) -> str:
    writer, reader = (made(json.loads(path.write_text())) for path in (old, new))
    try:
        read = avro_codec.read_slowly(writer, reader, (data, 1), tagged=True)
    except BadRecordError as bad:
        return f"{UNREADABLE}{bad.message}"
    return Judge(old, new, by_fastavro=False).find_fault(value, read)


def test_what_is_compatible_is_read(figure: Callable[[str], None]) -> None:
    counts = Counts()
    for seed in range(80, 200):
        counts.judge(seed)
    counts.check(figure)


@pytest.mark.soak
def test_what_is_compatible_is_read_at_length(figure: Callable[[str], None]) -> None:
    counts = Counts()
    for seed in range(1_000, 21_000):
        counts.judge(seed)
    counts.check(figure)


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("int", "string", 1),
        (["null", "int"], "int", None),
        (["null", "acme.A"], ["null", "acme.B"], ("acme.A", {"x": 1})),
        ("acme.A", "acme.C", {"x": 1}),
        ("acme.E", "acme.F", "b"),
    ],
    ids=str,
)
def test_the_judge_finds_what_is_not_read(old: Any, new: Any, value: Any) -> None:
    named: dict[str, Any] = {
        "acme.A": {"type": "record", "name": "acme.A", "fields": [{"name": "x", "type": "int"}]},
        "acme.B": {"type": "record", "name": "acme.B", "fields": [{"name": "x", "type": "int"}]},
        "acme.C": {"type": "record", "name": "acme.C", "aliases": ["acme.A"], "fields": [{"name": "y", "type": "int"}]},
        "acme.E": {"type": "enum", "name": "acme.E", "symbols": ["a", "b"]},
        "acme.F": {"type": "enum", "name": "acme.F", "aliases": ["acme.E"], "symbols": ["a"]},
    }
    sides = Types(named, old), Types(named, new)
    data = write_value(sides[0], value)
    assert read_by_treaty(*sides, data, value)
    assert Judge(*sides, by_fastavro=True).find_fault(value, value)
    assert not Judge(sides[0], sides[0], by_fastavro=True).find_fault(value, value)


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}


def test_what_was_assumed_for_a_branch_that_does_not_fit_is_forgotten() -> None:
    """Java 1.12.1 calls the two compatible, and then can't read the value: "Found int, expecting string"."""
    old_b, new_b = record("s.B", a=["null", "s.A"]), record("s.B", a=["null", "x.A"])
    old = Types({"s.A": record("s.A", b="s.B", c="int"), "s.B": old_b, "W": record("W", u="s.A", b="s.B")}, "W")
    branches = {"x.A": record("x.A", b="s.B", c="string"), "y.A": record("y.A", c="int"), "s.B": new_b}
    new = Types({**branches, "W": record("W", u=["x.A", "y.A"], b="s.B")}, "W")
    inner = {"b": {"a": None}, "c": 1}
    value = {"u": inner, "b": {"a": ("s.A", inner)}}

    assert read_by_treaty(old, new, write_value(old, value), value)
    findings = compare(model(new.write_text()), model(old.write_text()))
    assert [(finding.rule, finding.path) for finding in findings] == [
        ("MISSING_UNION_BRANCH", "/fields/1/type/fields/0/type/1")
    ]

    kept = Types({**new.named, "W": record("W", u=["x.A", "y.A"])}, "W")
    assert not compare(model(kept.write_text()), model(old.write_text()))


def test_a_branch_of_the_full_name_decides_where_another_one_would_do() -> None:
    """The verdict takes any branch, as `SchemaCompatibility` does; the deserializer, as Java's reader, the one of the full name."""
    written, small = ({"type": "enum", "name": "n.E", "symbols": list(symbols)} for symbols in ("ab", "a"))
    old = Types({"n.E": written, "W": record("W", e="n.E")}, "W")
    new = Types({"n.E": small, "m.E": {**written, "name": "m.E"}, "W": record("W", e=["n.E", "m.E"])}, "W")

    assert not compare(model(new.write_text()), model(old.write_text()))
    assert not read_by_treaty(old, new, write_value(old, {"e": "a"}), {"e": "a"})
    assert read_by_treaty(old, new, write_value(old, {"e": "b"}), {"e": "b"}).startswith(UNREADABLE)
