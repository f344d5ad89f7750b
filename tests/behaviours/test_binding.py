"""Texts bound to the texts they need: what is missing, what goes in circles, what is there twice."""

import json
from typing import TypeVar

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.references import fetch_resolved_schema
from treaty.core.limits import REFERENCE_DEPTH
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import subject_of
from treaty.core.refusals import TooLarge
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft, Reference
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.avro.format import FORMAT
from treaty.formats.format import InvalidSchemaError
from treaty.formats.resolution import find_conflicts, resolve_references

A = TypeVar("A")


def record(name: str, *types: str) -> str:
    fields = [{"name": f"f{at}", "type": one} for at, one in enumerate(types)]
    return json.dumps({"type": "record", "name": name, "fields": fields})


def test_names_are_followed_to_the_end_and_each_text_is_read_once() -> None:
    given = {"B": record("B", "C"), "C": record("C", "int"), "Unneeded": "not even a schema"}

    meaning = resolve_references(FORMAT, record("A", "B", "C"), given)

    assert [one.name for one in meaning.bindings] == ["B", "C"]
    assert meaning.bindings[0].meaning.bindings[0].meaning is meaning.bindings[1].meaning
    assert FORMAT.show(FORMAT.parse(meaning, True), False).type_name == "A"


def test_all_missing_names_are_told_with_their_places() -> None:
    with pytest.raises(InvalidSchemaError) as wrong:
        resolve_references(FORMAT, record("A", "B", "org.C"), {"D": record("D", "int")})

    assert [(one.rule, one.path) for one in wrong.value.faults] == [
        ("REFERENCE_MISSING", "/fields/0/type"),
        ("REFERENCE_MISSING", "/fields/1/type"),
    ]
    assert "'org.C'" in wrong.value.faults[1].message
    assert "given are: D" in wrong.value.faults[1].expected


def test_who_needs_a_missing_name_is_told() -> None:
    with pytest.raises(InvalidSchemaError, match="needed by 'B'"):
        resolve_references(FORMAT, record("A", "B"), {"B": record("B", "C")})


def test_a_circle_is_told_from_where_it_begins() -> None:
    given = {"B": record("B", "C"), "C": record("C", "D"), "D": record("D", "C")}

    with pytest.raises(InvalidSchemaError, match=r"circle: C -> D -> C"):
        resolve_references(FORMAT, record("A", "B"), given)


def test_a_chain_has_a_limit() -> None:
    given = {f"N{at}": record(f"N{at}", f"N{at + 1}") for at in range(REFERENCE_DEPTH + 5)}

    with pytest.raises(InvalidSchemaError) as wrong:
        resolve_references(FORMAT, record("A", "N0"), given)

    assert wrong.value.faults[0].rule == "REFERENCES_TOO_DEEP"


def test_two_texts_under_one_name_are_a_conflict_and_the_same_text_twice_is_none() -> None:
    one, other = ResolvedSchema("AVRO", record("C", "int")), ResolvedSchema("AVRO", record("C", "long"))

    def schema(left: ResolvedSchema, right: ResolvedSchema) -> ResolvedSchema:
        user = ResolvedSchema("AVRO", record("B", "C"), (ResolvedReference("C", "c", 2, right),))
        return ResolvedSchema(
            "AVRO", record("A", "C", "B"), (ResolvedReference("C", "c", 1, left), ResolvedReference("B", "b", 1, user))
        )

    assert find_conflicts(schema(one, one)) == ()
    (fault,) = find_conflicts(schema(one, other))
    assert (fault.rule, fault.message) == (
        "REFERENCE_CONFLICT",
        "the name 'C' leads to different schemas: c version 1 and c version 2",
    )


def test_shared_references_are_walked_once() -> None:
    here = ResolvedSchema("AVRO", record("N", "int"))
    for at in range(60):
        here = ResolvedSchema(
            "AVRO", record(f"N{at}"), (ResolvedReference("l", "l", 1, here), ResolvedReference("r", "r", 1, here))
        )

    assert len(find_conflicts(here)) == 2


def test_a_registry_follows_each_shared_reference_once_and_no_chain_past_the_limit() -> None:
    def schema(at: int) -> tuple[str, tuple[Reference, ...]]:
        before = tuple(one for one in range(max(0, at - 3), at))
        return record(f"N{at}", *([f"N{one}" for one in before] or ["int"])), tuple(
            Reference(f"N{one}", f"n{one}", 1) for one in before
        )

    with connect("memory:") as registry:
        for at in range(REFERENCE_DEPTH + 1):
            text, references = schema(at)
            registry.ask(Register(subject_of(f"n{at}"), Draft(text, references=references)))

        text, references = schema(REFERENCE_DEPTH + 1)
        with pytest.raises(TooLarge, match="chain of references"):
            registry.ask(Register(subject_of("past"), Draft(text, references=references)))


class Counting:
    """A registry that counts what it is asked."""

    def __init__(self, registry: Connection) -> None:
        self.registry = registry
        self.asked = 0

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        self.asked += 1
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


def test_a_program_fetches_each_shared_reference_once() -> None:
    with connect("memory:") as registry:
        for at in range(REFERENCE_DEPTH + 1):
            before = tuple(Reference(f"N{one}", f"n{one}", 1) for one in range(max(0, at - 3), at))
            text = record(f"N{at}", *(one.name for one in before)) if before else record("N0", "int")
            registry.register(f"n{at}", Draft(text, references=before))
        counting = Counting(registry)
        last = registry.version(f"n{REFERENCE_DEPTH}")

        meaning = fetch_resolved_schema(counting, "AVRO", last.text, last.references, subject_of(last.subject))
        assert counting.asked == REFERENCE_DEPTH
        assert FORMAT.show(FORMAT.parse(meaning, False), False).type_name == f"N{REFERENCE_DEPTH}"
