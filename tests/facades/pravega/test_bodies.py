"""Bodies of Pravega's registry without a server: branches of unions, sets of descriptors, policies, names and tokens."""

import base64
import json
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from hypothesis import given
from hypothesis import strategies as st

from treaty.core.policy import ALL, LATEST, NONE, Level, VersionRange
from treaty.core.refusals import Invalid
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.format import FORMAT as AVRO
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.descriptor_sets import select_file
from treaty.wire.pravega.avro_unions import narrow_union
from treaty.wire.pravega.groups import START, context_of, group_name, name_after, page_token, subject_of
from treaty.wire.pravega.policies import compatibility_body, level_of

E = {"type": "enum", "name": "E", "namespace": "a", "symbols": ["X"]}
R: dict[str, Any] = {"type": "record", "name": "a.R", "fields": [{"name": "e", "type": ["null", "E"]}]}
DEEP = {
    "type": "record",
    "name": "D",
    "fields": [{"name": "r", "type": {"type": "map", "values": "a.R"}}, {"name": "e", "type": "a.E"}],
}


def narrowed(union: object, name: str) -> Any:
    return json.loads(narrow_union(json.dumps(union), name))


@pytest.mark.parametrize(
    ("union", "name", "expected"),
    [
        ([E, R], "a.E", E),
        ([E, R], "a.R", {**R, "fields": [{"name": "e", "type": ["null", {**E, "name": "E", "namespace": "a"}]}]}),
        ([R, "null"], "a.R", R),
        ([E, R], "a.None", [E, R]),
        ([E, R], "", [E, R]),
        (R, "a.R", R),
        ([{"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}, E], "L", None),
    ],
)
def test_the_branch_of_a_type_stands_alone(union: Any, name: str, expected: Any) -> None:
    assert narrowed(union, name) == (union[0] if expected is None else expected)


def test_types_of_other_branches_are_defined_once_where_they_are_first_used() -> None:
    text = narrow_union(json.dumps([E, R, DEEP]), "D")
    assert text.count('"symbols"') == 1
    model = AVRO.parse(ResolvedSchema("AVRO", text), True)
    whole = {"type": "record", "name": "D", "fields": [
        {"name": "r", "type": {"type": "map", "values": {**R, "fields": [{"name": "e", "type": ["null", E]}]}}},
        {"name": "e", "type": "a.E"},
    ]}  # fmt: skip
    assert AVRO.show(model, True) == AVRO.show(AVRO.parse(ResolvedSchema("AVRO", json.dumps(whole)), True), True)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "7", '["string", "null"]', '[{"type": "record", "name": 7}]'])
def test_what_is_no_union_of_named_types_is_left_to_the_registry(text: str) -> None:
    assert narrow_union(text, "a.R") == text


def file(name: str, *needs: str, package: str = "p", message: str = "") -> FileDescriptorProto:
    made = FileDescriptorProto(name=name, package=package, syntax="proto3", dependency=needs)
    if message:
        made.message_type.add(name=message).nested_type.add(name="Inner")
    return made


def chosen(files: list[FileDescriptorProto], type_name: str) -> list[str]:
    return [one.name for one in FileDescriptorSet.FromString(select_file(joined(files), type_name)).file]


def joined(files: list[FileDescriptorProto]) -> bytes:
    return FileDescriptorSet(file=files).SerializeToString()


def test_a_set_is_cut_to_what_a_type_needs_with_its_own_file_last() -> None:
    files = [file("c", "a", "b", message="C"), file("b", "a", message="B"), file("a", message="A"), file("d")]
    assert chosen(files, "p.C") == ["a", "b", "c"]
    assert chosen(files, "p.C.Inner") == ["a", "b", "c"]
    assert chosen(files, "p.A") == ["a"]
    assert chosen(files, "") == ["a", "b", "c"]
    assert chosen([file("x", "google/protobuf/any.proto", message="X")], "p.X") == ["x"]
    assert chosen([file("", package="", message="X")], "X") == ["default"]


@pytest.mark.parametrize(
    ("data", "type_name"),
    [
        (b"", ""),
        (b"\xff", ""),
        (joined([file("a")]), ""),
        (joined([file("a", message="A")]), "A"),
        (joined([file("a", message="A")]), "p.B"),
        (joined([file("a", "b", message="A")]), "p.A"),
        (joined([file("a", "b", message="A"), file("b", "a", message="B")]), "p.A"),
    ],
)
def test_sets_that_have_no_schema_of_a_type(data: bytes, type_name: str) -> None:
    with pytest.raises(InvalidSchemaError):
        select_file(data, type_name)


RANGES = st.sampled_from([NONE, LATEST, ALL]) | st.integers(0, 9).map(lambda at: VersionRange("till", at))
LEVELS = st.builds(Level, RANGES, RANGES) | st.just(Level(deny=True))


@given(LEVELS)
def test_every_level_has_a_policy_that_says_the_same(level: Level) -> None:
    assert level_of(compatibility_body(level, {})) == level


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1), st.sampled_from([".", ".x", "..", ".ü"]))
def test_a_token_is_read_in_its_namespace_alone(name: str, context: str) -> None:
    token = page_token(context, name)
    assert name_after(context, token) == name
    with pytest.raises(Invalid):
        name_after(f"{context}y", token)
    changed = ("B" if token[0] == "A" else "A") + token[1:]
    with pytest.raises(Invalid):
        name_after(context, changed)


def test_the_first_token_is_zero() -> None:
    assert page_token(".", "") == START
    assert name_after(".", START) == name_after(".", "") == ""
    for token in ("=", "ü", "AAAA", base64.urlsafe_b64encode(b"12345678name").decode().rstrip("=")):
        with pytest.raises(Invalid):
            name_after(".", token)


@pytest.mark.parametrize("namespace", ["", "x", ".x", ".", "ü", "a/b"])
def test_a_namespace_is_a_context_letter_by_letter(namespace: str) -> None:
    subject = subject_of(namespace, "g")
    assert subject.context == (f".{namespace}" if namespace else ".")
    assert group_name(str(subject), context_of(namespace)) == "g"


@pytest.mark.parametrize(
    ("namespace", "group"), [("a:b", "g"), ("a\n", "g"), ("", ""), ("", ":.x:g"), ("", ":*:"), ("x", "a\0")]
)
def test_names_that_no_group_has(namespace: str, group: str) -> None:
    with pytest.raises(Invalid):
        subject_of(namespace, group)
