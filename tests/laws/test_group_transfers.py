"""Export, import, promotion: a registry that comes out of a dump says of every group what the first one said.

Groups are random: settings, versions of several formats and types in several spellings, deletions, policies, codecs,
encodings, names, removals. All that a group has is compared by export, and again as each API reads it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.worlds.drafts import records
from tests.worlds.world import PAGES, World, worlds
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.dump import read_lines, write_lines
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.promotion import promote, promotion
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import read
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import policies as p
from treaty.core.messages import schemaver as s
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, VersionFound
from treaty.core.names import Subject
from treaty.core.policy import ALL, LATEST, Level, VersionRange
from treaty.core.refusals import NotFound, Refusal
from treaty.core.schema import Draft, Metadata
from treaty.core.state.values import PolicyValue

CLICK = Subject(".", "com.acme/click/jsonschema")
SUBJECTS = (Subject(".", "g"), Subject(".x", "g"), Subject(".", "plain"))
POLICIES = st.sampled_from(["gold", "silver"])
RECORD = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
IMPORTING = 'syntax = "proto3"; import "k.proto"; message M { K k = 1; }'
DRAFTS = (
    Draft('"int"'),
    Draft(' "int"'),
    Draft('{"type":"int"}'),
    Draft(RECORD),
    Draft(RECORD.replace(":", ": "), metadata=Metadata(properties=(("owner", "ada"),))),
    Draft(RECORD.replace('"R"', '"S"')),
    Draft('{"type":"object"}', "JSON", type_name="label"),
    Draft('{ "type": "object" }', "JSON", type_name="other"),
    Draft('syntax = "proto3"; message M { int32 a = 1; }', "PROTOBUF"),
    Draft("", "THRIFT", type_name="T", data=b"\xff\x00"),
    Draft("", "THRIFT", type_name="T", data=b"struct {}"),
    Draft(IMPORTING, "PROTOBUF", imports=(("k.proto", 'syntax = "proto3"; message K {}'),)),
)
LEVELS = (
    Level(),
    Level(LATEST),
    Level(ALL, LATEST),
    Level(deny=True),
    Level(VersionRange("till", 0)),
    Level(VersionRange("till", 1), VersionRange("till", 2)),
)


def requests() -> st.SearchStrategy[Request[Any]]:
    subject, ordinal = st.sampled_from(SUBJECTS), st.integers(0, 5)
    codec = st.sampled_from(["gzip", "own"])
    chosen = st.builds(
        g.GroupSettings,
        st.sampled_from(["pravega", "schema-repo", "treaty"]),
        st.sampled_from(["across", "one", "many"]),
        identity=st.sampled_from(["canonical", "normalised", "exact"]),
        policy=st.sampled_from(
            [None, Config(level="NONE"), Config(level="NONE"), Config(exact_level=Level(deny=True))]
        ),
        properties=st.sampled_from([(), (("team", "a"),), (("treaty.format", "AVRO"),)]),
        schemes=st.sampled_from([(), (), ("md5",), ("sequence", "sha-256")]),
    )
    register = st.builds(
        Register,
        subject,
        st.sampled_from(DRAFTS),
        force=st.sampled_from([None, ForceReason("bob", "moved")]),
        properties=st.sampled_from([(), (("p", "1"),)]),
        names=st.sampled_from([(), (), (("own", "first"),), (("own", "second"), ("other", "first"))]),
    )
    return st.one_of(
        register,
        register,
        register,
        st.builds(g.CreateSubject, subject, chosen),
        st.builds(g.ChangeSubject, subject, st.sampled_from(LEVELS)),
        st.builds(p.CreatePolicy, POLICIES, st.sampled_from([PolicyValue(), PolicyValue(LATEST, ALL, False, "type")])),
        st.builds(g.ChangeSubject, subject, follows=POLICIES),
        st.builds(g.DeleteOrdinal, subject, ordinal),
        st.builds(g.RemoveSubject, subject),
        st.builds(DeleteVersion, subject, st.integers(1, 4), st.booleans(), force=st.booleans()),
        st.builds(DeleteSubject, subject),
        st.builds(e.AddCodec, subject, st.builds(e.CodecType, codec, st.just((("level", "9"),)))),
        st.builds(e.AssignEncoding, subject, ordinal, st.sampled_from(["", "gzip", "own"])),
        st.builds(e.AssignEncoding, subject, ordinal, st.just("")),
    )


def label_requests() -> st.SearchStrategy[Request[Any]]:
    """Requests about a subject with labels: publications that supersede, patches, deletions, and what one says of labels."""
    text = st.sampled_from(['{"type":"object"}', '{ "type": "string" }', '{"type":"string","maxLength":9}'])
    label = st.sampled_from(["1-0-0", "1-0-1", "1-0-2", "2-0-0"])
    publish = st.builds(
        s.Publish,
        st.just(CLICK),
        label,
        st.builds(Draft, text, st.just("JSON")),
        st.sampled_from([None, None, True]),
        st.sampled_from([(), ("1-0-0",), ("1-0-0", "1-0-1")]),
        st.booleans(),
    )
    return st.one_of(
        publish,
        publish,
        publish,
        st.builds(s.DeletePublished, st.just(CLICK), label),
        st.builds(g.ChangeSubject, st.just(CLICK), label_policy=st.sampled_from(["warn", "refuse"])),
        st.builds(g.ChangeSubject, st.just(CLICK), follows=POLICIES),
    )


@contextmanager
def filled(script: list[Request[Any]]) -> Iterator[Connection]:
    with connect("memory:") as registry:
        for request in (g.CreateSubject(SUBJECTS[0], g.GroupSettings("pravega", "many", identity="exact")), *script):
            try:
                registry.ask(request)
            except Refusal:
                continue
        yield registry


def told(image: RegistryImage) -> tuple[Any, ...]:
    """All that an image says, apart from the mark of who imports."""
    kept = tuple(replace(one, version=replace(one.version, imported=False)) for one in image.whole_versions)
    return image.groups, kept, image.configs, image.modes, image.contexts, image.highest, image.policies


def as_read(registry: Connection, subject: Subject) -> list[Any]:
    """What each API of groups reads."""

    def unmarked(one: VersionFound) -> VersionFound:
        return replace(one, imported=False)

    try:
        group = registry.ask(g.GetSubject(subject)).answer
    except NotFound:
        return []
    seen: list[Any] = [group, registry.ask(e.ListCodecs(subject)).answer]
    seen += [unmarked(one) for one in registry.ask(g.ListGroupVersions(subject)).answer.versions]
    history = registry.ask(g.GetHistory(subject)).answer.versions
    seen += [(unmarked(one.version), one.policy) for one in history]
    for number in range(8):
        try:
            seen.append(unmarked(registry.ask(g.GetOrdinal(subject, number)).answer))
        except NotFound:
            seen.append(None)
        try:
            encoding = registry.ask(e.GetEncoding(subject, number)).answer
            seen.append((unmarked(encoding.version), encoding.codec))
        except NotFound:
            seen.append(None)
    return seen


def published(registry: Connection) -> list[Any]:
    """What Iglu's API reads of labels."""
    found = registry.ask(s.ListPublished()).answer.schemas
    return [replace(one, version=replace(one.version, imported=False)) for one in found]


def assert_moves(script: list[Request[Any]]) -> None:
    with filled(script) as source, connect("memory:") as target:
        image = read(source)
        carried = read_lines(write_lines(image))
        assert carried.problems == ()
        report = write(carried, target)
        assert report.problems == ()
        assert report.written == report.plan.size
        back = read(target)
        assert told(back) == told(image)
        assert [*write_lines(back)] == [*write_lines(image)]
        assert write(image, target).written == 0, "what is there already is no change"
        assert published(target) == published(source)
        for subject in SUBJECTS:
            assert as_read(target, subject) == as_read(source, subject)
            assert_goes_on_alike(source, target, subject)


def assert_goes_on_alike(source: Connection, target: Connection, subject: Subject) -> None:
    """Ids and numbers that were ever given are given to nobody else, in the copy as in the source."""
    for registry in (source, target):
        registry.set_mode(f":{subject.context}:", None)
    wish = Register(subject, Draft('"double"'), force=ForceReason("me", "next"))
    outcomes = [_after(registry, wish) for registry in (source, target)]
    assert outcomes[0] == outcomes[1]


def _after(registry: Connection, wish: Register) -> Any:
    try:
        made = registry.ask(wish).answer.version
        encoding = registry.ask(e.AssignEncoding(wish.subject, made.ordinal)).answer
    except Refusal as no:
        return no.reason.rule
    return made.schema_id, made.number, made.ordinal, made.type_version, encoding


def errands() -> st.SearchStrategy[list[Request[Any]]]:
    """Requests that belong together: what random ones alone come to too rarely."""

    def errand(subject: Subject, draft: Draft, number: int) -> list[list[Request[Any]]]:
        add, gone = Register(subject, draft, force=ForceReason("bob", "moved")), DeleteVersion(subject, number)
        encode = [
            e.AddCodec(subject, e.CodecType("gzip", (("level", "9"),))),
            e.AssignEncoding(subject, number - 1, "gzip"),
        ]
        return [
            [add, gone, replace(gone, permanent=True, force=True)],
            [add, *encode, gone, add],
            [add, *encode, g.RemoveSubject(subject), g.CreateSubject(subject, g.GroupSettings("pravega")), add],
        ]

    made = st.builds(errand, st.sampled_from(SUBJECTS), st.sampled_from(DRAFTS), st.integers(1, 3))
    return made.flatmap(st.sampled_from)


SINGLE = st.one_of(requests(), requests(), label_requests())
STEPS = st.one_of(SINGLE.map(lambda one: [one]), SINGLE.map(lambda one: [one]), errands())
SCRIPTS = st.lists(STEPS, min_size=3, max_size=14).map(lambda steps: [one for step in steps for one in step])


GROUP = SUBJECTS[0]
WHOLE: list[Request[Any]] = [
    Register(GROUP, DRAFTS[0]),
    e.AddCodec(GROUP, e.CodecType("gzip", (("level", "9"),))),
    e.AssignEncoding(GROUP, 0, "gzip"),
    g.DeleteOrdinal(GROUP, 0),
    Register(GROUP, DRAFTS[0]),
    g.ChangeSubject(GROUP, Level()),
    Register(GROUP, DRAFTS[4], names=(("own", "first"),)),
    e.AssignEncoding(GROUP, 2),
    g.ChangeSubject(GROUP, Level(VersionRange("till", 1))),
]
"""A group with something of everything: a hidden version with an encoding, names, bytes, policies that changed."""
JSON = Draft('{"title":"a"}', "JSON")
LABELS: list[Request[Any]] = [
    p.CreatePolicy("gold", PolicyValue(LATEST)),
    g.ChangeSubject(GROUP, follows="gold"),
    s.Publish(CLICK, "1-0-0", JSON, private=True),
    s.Publish(CLICK, "1-0-1", replace(JSON, text='{"title":"b"}')),
    s.Publish(CLICK, "1-0-0", replace(JSON, text='{"title":"patched"}'), patch=True),
    s.Publish(CLICK, "1-0-2", JSON, supersedes=("1-0-1",)),
    g.ChangeSubject(CLICK, label_policy="refuse"),
    g.CreateSubject(SUBJECTS[2], g.GroupSettings("treaty", schemes=("md5",))),
    Register(SUBJECTS[2], DRAFTS[-1]),
]
"""A subject that follows a named policy; a private one with labels, a patch and a superseded version; one whose versions have
computed names, with a set of files.
"""


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(2), SCRIPTS)
@example(World(neighbours=()), WHOLE)
@example(World(neighbours=()), LABELS)
@example(World(pages=tuple((name, sizes[0]) for name, sizes in PAGES.items())), [])
def test_random_groups_come_out_of_a_dump_as_they_were(world: World, script: list[Request[Any]]) -> None:
    """With what was there before, and however many rows a page has."""
    before = world.requests(SUBJECTS[2], records)
    with world.paged():
        assert_moves([*before, *script])


@pytest.mark.soak
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS)
def test_very_many_random_groups_come_out_of_a_dump_as_they_were(script: list[Request[Any]]) -> None:
    assert_moves(script)


GONE: list[Request[Any]] = [
    Register(GROUP, DRAFTS[0]),
    Register(GROUP, DRAFTS[6]),
    e.AssignEncoding(GROUP, 0),
    e.AssignEncoding(GROUP, 1),
    DeleteVersion(GROUP, 2),
    DeleteVersion(GROUP, 2, permanent=True, force=True),
]
"""A group whose last version and encoding are gone."""


def test_what_is_gone_counts_in_the_copy() -> None:
    assert_moves(GONE)


def test_a_removed_subject_has_used_up_its_encoding_ids_in_the_copy() -> None:
    other = SUBJECTS[1]
    assert_moves([*GONE, g.RemoveSubject(GROUP), Register(other, DRAFTS[0]), e.AssignEncoding(other, 0)])
    assert_moves([*GONE, g.RemoveSubject(GROUP), Register(GROUP, DRAFTS[0])])


def test_encoding_ids_are_used_up_where_a_copy_still_has_the_subject_or_removed_it_too() -> None:
    with filled(GONE) as source, connect("memory:") as target:
        write(read(source), target)
        source.ask(g.RemoveSubject(GROUP))
        assert write(read(source), target).written == 0, "the copy knows these numbers, and keeps its group"
        assert target.group("g").subject == "g"
        target.ask(g.RemoveSubject(GROUP))
        for _ in range(2):
            source.ask(Register(GROUP, DRAFTS[0]))
            source.ask(e.AssignEncoding(GROUP, 0))
            source.ask(g.RemoveSubject(GROUP))
        report = write(read(source), target)
        assert (report.written, report.problems) == (2, ()), (
            "the encoding ids of the group, the schema ids of its context"
        )
        assert_goes_on_alike(source, target, GROUP)


def test_a_version_keeps_two_names_of_one_scheme() -> None:
    named = Register(SUBJECTS[2], DRAFTS[0], names=(("own", "first"),))
    assert_moves([named, replace(named, names=(("own", "second"), ("other", "first")))])


def test_a_policy_of_the_same_name_stays_as_it_is_in_the_target() -> None:
    with filled(LABELS) as source, connect("memory:") as target:
        target.ask(p.CreatePolicy("gold", PolicyValue(ALL)))
        report = write(read_lines(write_lines(read(source))), target)
        assert [one.where for one in report.problems] == ["policy gold"]
        assert target.ask(p.GetPolicy("gold")).answer.policy == PolicyValue(ALL)
        group = target.group("g")
        assert (group.level, group.config.follows) == (Level(LATEST), None)


def test_versions_are_promoted_to_a_subject_that_follows_a_policy() -> None:
    with filled([Register(SUBJECTS[2], DRAFTS[0])]) as source, connect("memory:") as target:
        target.ask(p.CreatePolicy("gold", PolicyValue(LATEST)))
        target.ask(g.CreateSubject(SUBJECTS[2], g.GroupSettings("confluent", policy=Config(follows="gold"))))
        with connect("memory:") as rehearsal:
            done = promote(promotion(source, [SUBJECTS[2]], ".", "."), target, rehearsal)
        assert done.problems == ()
        assert target.group("plain").config.follows == "gold"


def test_a_private_subject_is_promoted_as_a_private_one() -> None:
    with filled(LABELS) as source, connect("memory:") as target:
        plan = promotion(source, [CLICK], ".", ".", every=True)
        with connect("memory:") as rehearsal:
            done = promote(plan, target, rehearsal)
        assert done.problems == ()
        group = target.group(CLICK.name)
        assert (group.order, group.private, group.label_policy) == ("schemaver", True, "refuse")
        assert [one.label for one in published(target)] == ["1-0-0", "1-0-1", "1-0-2"]
        assert [one.superseded_by for one in published(target)] == ["", "1-0-2", ""]


def assert_promotes(script: list[Request[Any]]) -> None:
    """From development to production: types, bytes, names, properties and codecs go along, and a second run writes nothing."""
    with filled(script) as source, connect("memory:") as target:
        target.set_level("", "NONE")
        for every in (False, True):
            try:
                plan = promotion(source, [SUBJECTS[0]], ".", ".prod", every=every)
            except NotFound:
                return
            with connect("memory:") as rehearsal:
                done = promote(plan, target, rehearsal)
            if done.problems:  # the target compares in another order, or by another policy
                assert every or "incompatible" in done.problems[0].why or "types" in done.problems[0].why
                return
            last = done.steps[-1]
            there = target.ordinal(":.prod:g", last[1].version.ordinal)
            kept = ("text", "format", "type_name", "data", "properties", "metadata")
            sent = last[0].source
            assert [getattr(there, name) for name in kept] == [getattr(sent, name) for name in kept]
            before = told(read(target))
            with connect("memory:") as rehearsal:
                again = promote(plan, target, rehearsal)
            assert again.problems == ()
            assert told(read(target)) == before
            group, copy = source.group("g"), target.group(":.prod:g")
            assert (copy.types, copy.identity, copy.origin) == (group.types, group.identity, group.origin)
            assert target.codecs(":.prod:g") == source.codecs("g")


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS)
@example(WHOLE)
def test_random_groups_are_promoted_once(script: list[Request[Any]]) -> None:
    assert_promotes(script)
