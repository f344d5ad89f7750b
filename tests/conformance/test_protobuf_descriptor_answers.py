"""Descriptors that no compiler wrote get the verdict of protoc: recorded answers, and asked anew in the long run."""

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from tests.oracle.protobuf_descriptors import KEPT, WHOLE, Answer, asked, hand_made, kept, mutants, ours, outcome
from treaty.core.finding import Diagnostic
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.format import FORMAT
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.parser import parse_schema

BY_HAND = hand_made()


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    return kept()


def tallied(answers: Iterable[Answer]) -> Counter[str]:
    """Outcomes by their words; raises at the first descriptor about which the two differ."""
    found: Counter[str] = Counter()
    for one in answers:
        word = outcome(one)
        assert not word.startswith("!"), f"{word}\n{base64.b64encode(one.files).decode()}"
        found[word] += 1
    return found


@pytest.mark.parametrize("at", [pytest.param(at, id=name) for at, (name, _) in enumerate(BY_HAND)])
def test_a_hand_made_descriptor_gets_the_verdict_of_protoc(at: int, answers: list[Answer]) -> None:
    assert answers[at].files == BY_HAND[at][1], "make oracle asks anew"
    tallied(answers[at : at + 1])


def test_changed_descriptors_get_the_verdict_of_protoc(answers: list[Answer], figure: Callable[[str], None]) -> None:
    found = tallied(answers[len(BY_HAND) :])

    figure(f"protobuf: {dict(found)} of changed descriptors as protoc says")
    count = found.total()
    assert count >= 0.8 * KEPT
    assert found["accepted"] >= 0.2 * count
    assert found["refused"] >= 0.4 * count
    assert found["no text"] <= 0.1 * count
    assert found["custom option left out"] <= 0.03 * count


def test_what_is_accepted_says_the_same_as_a_text(answers: list[Answer]) -> None:
    count = 0
    for one in answers:
        schema = ours(one.files) if one.said.descriptor is not None else None
        if isinstance(schema, ProtoSchema):
            again = parse_schema(ResolvedSchema("PROTOBUF", FORMAT.views["resolved"](schema)), strict=True)
            assert sorted(_facts(again)) == sorted(_facts(schema))
            count += 1

    assert count >= 100


def _facts(schema: ProtoSchema) -> Iterator[str]:
    """Fields and oneofs of a file, a line each."""
    waiting = [(schema.file.package, one) for one in schema.file.messages]
    while waiting:
        scope, message = waiting.pop()
        inside = {id(field): oneof.name for oneof in message.oneofs for field in oneof.fields}
        for field in message.all_fields:
            where = f"{scope}.{message.name} {inside.get(id(field), '')}"
            yield f"{where} {field.label} {field.key} {field.type} {field.name} {field.number}"
        waiting += ((f"{scope}.{message.name}", one) for one in message.messages)


def _set(bad: FileDescriptorProto) -> str:
    root = FileDescriptorProto(name="root.proto", dependency=["bad.proto"])
    root.message_type.add(name="Root")
    return base64.b64encode(FileDescriptorSet(file=[bad, root]).SerializeToString()).decode()


def test_an_import_that_came_along_is_judged_too() -> None:
    bad = FileDescriptorProto(name="bad.proto")
    message = bad.message_type.add(name="Bad")
    message.oneof_decl.add(name="choice")
    field = message.field.add(name="a", number=1, oneof_index=0)
    field.type = FieldDescriptorProto.TYPE_INT32
    parse_schema(ResolvedSchema("PROTOBUF", _set(bad)), strict=True)

    for index in (1, -1):
        field.oneof_index = index
        with pytest.raises(InvalidSchemaError) as refused:
            parse_schema(ResolvedSchema("PROTOBUF", _set(bad)), strict=True)
        fault = refused.value.faults[0]
        assert (fault.rule, fault.path) == ("DESCRIPTOR_INVALID", "Bad.a")
        assert "bad.proto" in fault.message

    parse_schema(ResolvedSchema("PROTOBUF", _set(bad)), strict=False)  # what is stored is read as it was


def test_an_import_that_came_along_and_is_not_needed_is_not_judged() -> None:
    spare = FileDescriptorProto(name="spare.proto")
    spare.message_type.add(name="Bad").oneof_decl.add(name="empty")
    root = FileDescriptorProto(name="root.proto")
    root.message_type.add(name="Root")
    text = base64.b64encode(FileDescriptorSet(file=[spare, root]).SerializeToString()).decode()

    assert parse_schema(ResolvedSchema("PROTOBUF", text), strict=True).file.messages[0].name == "Root"


def test_every_fault_of_a_descriptor_has_a_path_and_says_what_would_be_right(answers: list[Answer]) -> None:
    for one in answers[: len(BY_HAND)]:
        found = ours(one.files)
        if isinstance(found, Diagnostic):
            assert found.message
            assert found.expected


@pytest.mark.soak
def test_many_more_descriptors_get_the_verdict_of_protoc(figure: Callable[[str], None]) -> None:
    by_hand = tallied(asked([files for _, files in BY_HAND]))
    found = tallied(asked(list(mutants(range(KEPT, WHOLE)))))

    assert found["protoc crashed"] <= 0.01 * found.total()
    figure(f"protobuf: {dict(by_hand + found)} of changed descriptors as protoc says")
