"""Which commands of a script a question depends on: each member of each command that names something, by itself."""

from dataclasses import replace

import pytest

from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import SchemaAssertion, ScriptMember
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.core.sources import SchemaPin, SourceColumn, SourcePart
from treaty.metastore.execution.prefix import ANYTHING, list_needed, names_asked, names_in

SOURCE = frozenset({"source s", "source s_bad"})
OTHER = frozenset({"source t", "source t_bad"})
DRAFT = Register(subject_of(":.team:r"), Draft('"int"'))
PINNED = SourcePart("AVRO", pin=SchemaPin(".team", "p", 1, 0, 1))
COLUMN = SourceColumn("c", "MAP<STRING, ARRAY<STRUCT<a: Inner>>>")
DEFINED = m.SourceDefinition("S", "STREAM", "", (SourceColumn("v", "INT"),))
CREATE, CHANGE = m.CreateSource(DEFINED), m.ChangeSource("S")
NAMES: dict[str, tuple[ScriptMember, frozenset[str]]] = {
    "create": (ScriptMember(create=CREATE), SOURCE),
    "a pin of the key": (ScriptMember(create=m.CreateSource(replace(DEFINED, key=PINNED))), SOURCE | {"subject :.team:p"}),
    "a pin of the value": (ScriptMember(create=m.CreateSource(replace(DEFINED, value=PINNED))), SOURCE | {"subject :.team:p"}),
    "a schema of the key": (ScriptMember(create=replace(CREATE, key_schema=DRAFT)), SOURCE | {"subject :.team:r"}),
    "a schema of the value": (ScriptMember(create=replace(CREATE, value_schema=DRAFT)), SOURCE | {"subject :.team:r"}),
    "a part without a pin": (ScriptMember(create=m.CreateSource(replace(DEFINED, key=SourcePart("KAFKA")))), SOURCE),
    "types of columns": (ScriptMember(create=m.CreateSource(replace(DEFINED, columns=(COLUMN,)))), SOURCE | {"type inner"}),
    "change": (ScriptMember(change=CHANGE), SOURCE),
    "another name": (ScriptMember(change=replace(CHANGE, rename="T")), SOURCE | OTHER),
    "a swap": (ScriptMember(change=replace(CHANGE, swap="T")), SOURCE | OTHER),
    "another pin of the key": (ScriptMember(change=replace(CHANGE, key=PINNED)), SOURCE | {"subject :.team:p"}),
    "another pin of the value": (ScriptMember(change=replace(CHANGE, value=PINNED)), SOURCE | {"subject :.team:p"}),
    "a later schema of the key": (ScriptMember(change=replace(CHANGE, key_schema=DRAFT)), SOURCE | {"subject :.team:r"}),
    "a later schema of the value": (ScriptMember(change=replace(CHANGE, value_schema=DRAFT)), SOURCE | {"subject :.team:r"}),
    "types of added columns": (ScriptMember(change=replace(CHANGE, columns=(m.SourceColumnChange("add", COLUMN),))), SOURCE | {"type inner"}),
    "state": (ScriptMember(state=m.SetSourceState("S", "PAUSED")), SOURCE),
    "drop": (ScriptMember(drop=m.DropSource("S")), SOURCE),
    "drop with readers": (ScriptMember(drop=m.DropSource("S", cascade=True)), SOURCE | {ANYTHING}),
    "undrop": (ScriptMember(undrop=m.UndropSource("S")), SOURCE | {ANYTHING}),
    "create type": (ScriptMember(create_type=m.CreateType("Outer", "STRUCT<a: Inner, b: ARRAY<Other>>")), frozenset({"type outer", "type inner", "type other"})),
    "drop type": (ScriptMember(drop_type=m.DropType("Outer")), frozenset({"type outer"})),
    "assertion": (ScriptMember(assertion=SchemaAssertion("s", 0, exists=True)), frozenset()),
}  # fmt: skip


@pytest.mark.parametrize("what", NAMES)
def test_a_command_names_what_it_may_change_and_what_it_needs(what: str) -> None:
    member, names = NAMES[what]
    assert names_in(member) == names


QUESTIONS = {
    m.DescribeSource("S"): "source s",
    m.DescribeType("Outer"): "type outer",
    GetPin(subject_of(":.team:r")): "subject :.team:r",
    GetVersion(subject_of(":.team:r"), 1): "subject :.team:r",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_needs_the_commands_that_name_it_and_what_these_name(question: object) -> None:
    name = QUESTIONS[question]  # type: ignore[index]
    assert names_asked(question) == {name}
    apart, first, second, of_all = frozenset({"source x"}), frozenset({"type y"}), frozenset({"type y", name}), frozenset({ANYTHING})  # fmt: skip
    all_before = isinstance(question, GetPin | GetVersion)
    assert list_needed([], question) == list_needed([apart], question) == ()
    assert list_needed([apart, first, second, apart], question) == ((0, 1, 2) if all_before else (1, 2))
    assert list_needed([apart, second, first], question) == ((0, 1) if all_before else (1,))
    assert list_needed([apart, of_all, apart], question) == ((0, 1) if all_before else (1,))
    assert list_needed([apart, of_all | apart, apart], question) == (0, 1)
