"""A patch is answered with the version as it is then, and is refused what a new version of that text would be refused."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from tests.laws.toy import OTHER, Bench, Typed, toy
from tests.worlds.drafts import OPAQUE, described, referring
from treaty.core import limits
from treaty.core.invariants import find_violations
from treaty.core.messages.associations import Associate, AssociationSpec, Resource
from treaty.core.messages.groups import FORMAT, CreateSubject, GroupSettings
from treaty.core.messages.registration import ForceReason, Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.schemaver import SCHEMAVER, GetPublished, Publish
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import Lookup
from treaty.core.names import Subject
from treaty.core.refusals import Refusal, SchemaNotFound
from treaty.core.schema import Draft
from treaty.core.state import state_tables as t

NAME = Subject(".", "v/n/toy")
TEXTS = {
    "plain": toy("a"),
    "described": described(toy("a"), "1"),
    "described otherwise": described(toy("a"), "2"),
    "spelled otherwise": Draft('[ "a" ]', "TOY"),
    "longer": toy("a", "b?"),
    "with a reference": referring(toy("a"), OTHER.name, 1),
    "of another format": Draft("a\n", OPAQUE),
    "of bytes": Draft("", OPAQUE, data=b"\xff"),
}


def read_back(bench: Bench, label: str, answer: Any) -> None:
    """The answer is what is read by its label, all rows are sound, and versions of one type are told apart."""
    schema = bench.do(GetPublished(NAME, label))
    if not answer.patched or schema.version.format == OPAQUE:  # the bytes as sent are not answered again
        schema, answer = (replace(side, version=replace(side.version, data=None)) for side in (schema, answer.schema))
        assert schema == answer
    else:
        assert schema == answer.schema
    assert [str(violation) for violation in find_violations(bench.tables)] == []
    rows = [bench.tables.get(t.VERSION, key) for key in bench.tables.keys(t.VERSION)]
    typed = [(row.format, row.type_name, row.type_version) for row in rows if row is not None and row.state == "live"]
    assert len({*typed}) == len(typed)


@pytest.mark.parametrize(("first", "second"), [*itertools.permutations(TEXTS, 2)])
def test_a_patch_is_answered_as_it_is_read(first: str, second: str) -> None:
    """What a text says of itself counts, or what the former one said; nothing else of that is left."""
    bench = Bench()
    bench.engine = Typed()
    bench.do(Register(OTHER, toy("o")))
    names = ((SCHEMAVER, "1-0-0"),)
    creation = SubjectCreation("iglu", order=SCHEMAVER, policy=Config(level="NONE"))
    bench.do(Register(NAME, TEXTS[first], names=names, create_with=creation, force=ForceReason("ann", "")))
    read_back(bench, "1-0-1", bench.do(Publish(NAME, "1-0-1", TEXTS[second] if first < second else toy("z"))))
    before = bench.do(GetPublished(NAME, "1-0-0"))
    for text, is_repeated in ((second, False), (second, True), (first, False)):
        answer = bench.do(Publish(NAME, "1-0-0", TEXTS[text], patch=True))
        version, former = answer.schema.version, before.version
        assert not answer.created
        assert answer.patched == (answer.schema.version.guid != former.guid)
        assert not (answer.patched and is_repeated)
        assert answer.schema.revision == before.revision + answer.patched
        assert (version.number, version.ordinal, version.time) == (1, 0, former.time)
        assert (version.metadata, version.rules) == (
            TEXTS[text].metadata or former.metadata,
            TEXTS[text].rules or former.rules,
        )
        read_back(bench, "1-0-0", answer)
        before = answer.schema


@pytest.mark.parametrize("place", [0, 1])
def test_a_former_text_says_whose_it_was_and_the_new_one_is_found_by_what_it_is(place: int) -> None:
    bench, labels = Bench(), ("1-0-0", "1-0-1")
    settings = GroupSettings("iglu", order=SCHEMAVER, identity="normalised", policy=Config(level="NONE"))
    bench.do(CreateSubject(NAME, settings))
    for label, name in zip(labels, "xy", strict=True):
        bench.do(Publish(NAME, label, toy(name)))
    for names in (("c", "b"), ("e", "d")):
        bench.do(Publish(NAME, labels[place], toy(*names), patch=True))
        assert bench.do(Lookup(NAME, toy(*names[::-1]))).ordinal == place
        rows = [bench.tables.get(t.VERSION, key) for key in bench.tables.keys(t.VERSION)]
        assert {row.revision_of for row in rows if row is not None and row.state == "hidden"} == {place}
    assert isinstance(bench.verdict(Lookup(NAME, toy("b", "c"))), SchemaNotFound)


def test_former_texts_go_where_there_are_many_and_never_the_text_that_is_in_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text comes back again and again, after the version that had it first is gone."""
    monkeypatch.setattr(limits, "VERSIONS_KEPT_PER_SUBJECT", 4)
    monkeypatch.setattr(limits, "VERSIONS_DROPPED", 2)
    bench = Bench()
    bench.do(Publish(NAME, "1-0-0", toy("a")))
    for number in range(12):
        answer = bench.do(Publish(NAME, "1-0-0", toy("a", *["b?"] * (number % 3)), patch=True))
        read_back(bench, "1-0-0", answer)
        assert bench.do(GetSchema(answer.schema.version.schema_id)).text == answer.schema.version.text
        assert len([*bench.tables.keys(t.VERSION)]) <= 4


STRONG, HUSH, REFUSING = Subject(".", "strong"), Subject(".", "hush"), Config(validators=("NAME_SHORT",))
WISHES: dict[str, tuple[list[Request[Any]], Draft, str]] = {
    "a subject that goes with its topic": (
        [
            Register(STRONG, toy("s")),
            Associate(Resource("t", "ns", "id"), (AssociationSpec("value", STRONG, "STRONG"),)),
        ],
        referring(toy("a"), STRONG.name, 1),
        "REFERENCE_STRONG",
    ),
    "a private subject": (
        [Register(HUSH, toy("s"), create_with=SubjectCreation(private=True))],
        referring(toy("a"), HUSH.name, 1),
        "REFERENCE_PRIVATE",
    ),
    "a missing version": ([], referring(toy("a"), "nothing", 1), "REFERENCE_NOT_FOUND"),
    "another format than that of the subject": ([], Draft("a", OPAQUE), "SUBJECT_FORMAT"),
    "another type than that of the subject": ([], toy("a", type_name="U"), "TYPE_NOT_ALLOWED"),
    "what a validator finds": ([SetConfig(Scope(*NAME), REFUSING)], toy("a-very-long-name"), "NAME_SHORT"),
    "what does not parse": ([], Draft("[", "TOY"), "JSON"),
    "bad rules": ([], described(toy("a"), "!"), "RULE_INVALID"),
    "a subject that is read-only": ([SetMode(Scope(*NAME), "READONLY")], toy("b"), "MODE_READONLY"),
}
"""What comes before, a draft that refers to such a subject or is such a text, and the rule by which it is refused."""


@pytest.mark.parametrize("name", WISHES)
def test_a_patch_is_refused_what_a_new_version_is_refused(name: str) -> None:
    requests, draft, rule = WISHES[name]
    bench = Bench()
    settings = GroupSettings(
        "iglu", types="one", order=SCHEMAVER, properties=((FORMAT, "TOY"),), policy=Config(level="NONE")
    )
    for request in (CreateSubject(NAME, settings), Publish(NAME, "1-0-0", toy("x", type_name="T")), *requests):
        bench.do(request)
    refusal, patch_refusal = (
        bench.verdict(Publish(NAME, label, draft, patch=label == "1-0-0"), "asked") for label in ("1-0-1", "1-0-0")
    )
    for verdict in (refusal, patch_refusal):
        assert isinstance(verdict, Refusal)
        assert verdict.reason.rule == rule
    assert type(patch_refusal) is type(refusal)
