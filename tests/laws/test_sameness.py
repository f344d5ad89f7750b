"""Is this schema here already? A registration and a look-up say the same, for every request, format and config."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.laws.test_admission_formats import Real
from tests.laws.toy import Bench, S
from treaty.core.command import Decision
from treaty.core.handlers.versions import highest_number, latest_version
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import ForceReason, Register, RegisteredVersion
from treaty.core.messages.request import LATEST
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteVersion, Lookup, VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import NotPermitted, Refusal
from treaty.core.schema import VERSION_PROPERTY, Draft, Metadata, Reference, Rule, RuleSet, has_same_extras

BASE = Subject(".", "base")
MANY = 21_000
"""Requests in the long run."""


def avro(*fields: str, **members: Any) -> str:
    listed = [{"name": name, "type": "int", "default": 0} for name in fields]
    return json.dumps({"type": "record", "name": "R", **members, "fields": listed})


DECIMALS = (
    '{"type":"bytes","scale":4,"precision":17,"logicalType":"decimal"}',
    '{"type":"bytes","logicalType":"decimal","precision":17,"scale":4}',
)
INNER = '{"type":"record","name":"Inner","fields":[{"name":"i","type":"int"}]}'
PROTO = 'syntax = "proto3"; package p; '
TEXTS: dict[str, tuple[tuple[str, bool], ...]] = {
    "AVRO": (
        (avro("a"), False),
        (avro("a", aliases=["A", "B"], x=1, y={"k": 1, "l": 2}), False),
        (avro("a", y={"l": 2, "k": 1}, x=1, aliases=["B", "A"]), False),
        (avro("a", aliases=["A", "B"], x=1.0, y={"k": 1, "l": 2}), False),
        (avro("a", "b"), False),
        *((f'{{"type":"record","name":"R","fields":[{{"name":"d","type":{one}}}]}}', False) for one in DECIMALS),
        ('{"type":"record","name":"R","fields":[{"name":"i","type":"Inner"}]}', True),
        (f'{{"type":"record","name":"R","fields":[{{"name":"i","type":{INNER}}}]}}', False),
    ),
    "JSON": (
        ('{"type":"object","properties":{"a":{"type":"integer"}}}', False),
        ('{"properties": {"a":{"type":"integer"}}, "type":"object"}', False),
        ('{"type": "object", "properties":{"a":{"type":"string"}}}', False),
        ('{"type":"object","properties":{"a":{"$ref":"Inner"}}}', True),
    ),
    "PROTOBUF": (
        (PROTO + "message M { int32 a = 1; string b = 2; }", False),
        (PROTO + "message M {\n string b = 2;\n int32 a = 1;\n}", False),
        (PROTO + "message M { string a = 1; }", False),
        (PROTO + 'import "Inner"; message M { Inner a = 1; }', True),
    ),
}
"""Texts of each format, some of which are the same schema, and whether they refer to the inner one."""
INNERS = {"AVRO": INNER, "JSON": '{"type":"integer"}', "PROTOBUF": PROTO + "message Inner { int32 i = 1; }"}
RULES = tuple(RuleSet(domain=(Rule("r", mode="WRITE", type="CEL", expr=word),)) for word in "de")


def says(**properties: str) -> Metadata:
    return Metadata(properties=tuple(sorted(properties.items())))


def numbered(number: str, **properties: str) -> Metadata:
    return says(**{VERSION_PROPERTY: number}, **properties)


METADATA = (
    None, None, None, Metadata(), says(k="1"), says(k="2"), says(owner="d"), Metadata(tags=(("a", ("PII",)),)),
    Metadata(properties=(("k", "1"),), sensitive=("k",)), numbered("1"), numbered("2"), numbered("-1"), numbered("0"),
    numbered("1", k="1"), numbered("03"), numbered("none"),
)  # fmt: skip
CONFIGS = (
    Config(level="NONE"), Config(level="FULL"), Config(group="k"), Config(normalize=True), Config(default_metadata=says(owner="d")),
    Config(override_metadata=says(k="1")), Config(default_rules=RULES[0]), Config(override_rules=RULES[1]),
    Config(override_metadata=numbered("1")),
)  # fmt: skip


@dataclass(frozen=True)
class Sent:
    """A request: which text, what goes with it, and the number that it names."""

    text: int
    metadata: Metadata | None
    rules: RuleSet | None
    number: int = 0
    normalize: bool | None = None

    def draft(self, format_: str) -> Draft:
        text, refers = TEXTS[format_][self.text % len(TEXTS[format_])]
        references = (Reference("Inner", "base", 1),) if refers else ()
        return Draft(text, format_, references, self.metadata, self.rules)


sents = st.builds(
    Sent,
    st.integers(0, 8),
    st.sampled_from(METADATA),
    st.sampled_from((None, None, None, *RULES)),
    st.sampled_from((0, 0, 0, 0, -1, -1, 1, 2, 3, 4)),
    st.sampled_from((None, None, True)),
)
steps = st.lists(sents | st.sampled_from(CONFIGS) | st.integers(1, 3), max_size=7)


def prepare(format_: str, past: Iterable[Sent | Config | int]) -> Bench:
    """A subject with a past: registrations, most of them forced, settings, and versions that were softly deleted."""
    bench = Bench()
    bench.engine = Real()
    bench.do(Register(BASE, Draft(INNERS[format_], format_)))
    for step in past:
        if isinstance(step, Config):
            bench.do(SetConfig(Scope(*S), step))
            continue
        try:
            if isinstance(step, int):
                bench.do(DeleteVersion(S, step))
            else:
                force = ForceReason("me", "the past")
                bench.do(Register(S, step.draft(format_), step.normalize, number=min(step.number, 0), force=force))
        except Refusal:  # it is not there, or does not fit
            continue
    return bench


def found_by(bench: Bench, sent: Sent, format_: str, *, deleted: bool = False) -> VersionFound | None:
    told = bench.verdict(Lookup(S, sent.draft(format_), sent.normalize, deleted))
    return told.answer if isinstance(told, Decision) else None


def latest_and_next(bench: Bench) -> tuple[int, int]:
    """The number of the latest live version, 0 without one, and the number that comes next."""
    latest = latest_version(bench.tables, S)
    return 0 if latest is None else latest[1].number, highest_number(bench.tables, S) + 1


def registered(bench: Bench, sent: Sent, format_: str) -> Decision[RegisteredVersion] | Refusal:
    return bench.verdict(Register(S, sent.draft(format_), sent.normalize, number=sent.number), "asked")


@pytest.mark.parametrize("format_", TEXTS)
@examples(120)
@given(past=steps, sent=sents)
def test_a_registration_and_a_look_up_say_the_same(format_: str, past: list[Sent | Config | int], sent: Sent) -> None:
    compare(format_, past, sent)


@pytest.mark.soak
@pytest.mark.parametrize("format_", TEXTS)
@settings(max_examples=MANY // len(TEXTS))
@given(past=steps, sent=sents)
def test_they_say_the_same_of_many_requests(format_: str, past: list[Sent | Config | int], sent: Sent) -> None:
    compare(format_, past, sent)


def compare(format_: str, past: list[Sent | Config | int], sent: Sent) -> None:
    """Hold what a registration says against what a look-up says."""
    bench = prepare(format_, past)
    found = found_by(bench, sent, format_)
    told = registered(bench, sent, format_)
    there = told.answer.version if isinstance(told, Decision) and not told.answer.created else None
    latest, next_one = latest_and_next(bench)

    if sent.number == 0:
        if there is not None:
            assert found is not None
            assert found.number == there.number
        elif found is not None and isinstance(told, Decision):
            made = told.answer.version  # the config gives it what the version from before has not
            extras = ((made.metadata, made.rules), (found.metadata, found.rules), found.number)
            assert not has_same_extras(*extras)
            assert any(isinstance(one, Config) for one in past)
    elif there is not None:
        assert sent.number == LATEST
        assert there.number == latest
    elif isinstance(told, Decision):
        made = told.answer.version
        assert made.number == next_one
        assert sent.number in {LATEST, next_one}
        assert made.metadata is not None
        assert made.metadata.get(VERSION_PROPERTY) == str(next_one)
    if sent.number > 0 and sent.number != next_one:
        assert isinstance(told, Refusal)
    if there is not None:
        assert found_by(bench, sent, format_, deleted=True) is not None


@pytest.mark.parametrize("format_", TEXTS)
@examples(80)
@given(past=steps, sent=sents, group=st.sampled_from((None, "k", "owner")))
def test_what_a_check_with_the_latest_refuses_is_refused(
    format_: str, past: list[Sent | Config | int], sent: Sent, group: str | None
) -> None:
    bench = prepare(format_, [*past, Config(level="FULL", group=group)])
    checked = bench.verdict(Check(S, sent.draft(format_), LATEST, sent.normalize))
    told = registered(bench, sent, format_)

    if isinstance(checked, Decision) and not checked.answer.compatible and isinstance(told, Decision):
        assert sent.number == 0
        assert not told.answer.created
        assert found_by(bench, sent, format_) is not None


@pytest.mark.parametrize("format_", TEXTS)
@examples(80)
@given(past=steps, sent=sents)
def test_a_number_in_metadata_is_that_of_the_version_which_is_found(
    format_: str, past: list[Sent | Config | int], sent: Sent
) -> None:
    found = found_by(prepare(format_, past), sent, format_)

    number = None if sent.metadata is None else sent.metadata.get(VERSION_PROPERTY)
    if found is not None and number is not None and Config(override_metadata=numbered("1")) not in past:
        has = None if found.metadata is None else found.metadata.get(VERSION_PROPERTY)
        assert has == number if has is not None else int(number) == found.number


@pytest.mark.parametrize("format_", TEXTS)
@examples(80)
@given(past=steps, sent=sents)
def test_only_what_is_there_without_a_number_comes_before_the_mode(
    format_: str, past: list[Sent | Config | int], sent: Sent
) -> None:
    bench = prepare(format_, past)
    free = registered(bench, sent, format_)
    bench.do(SetMode(Scope(*S), "READONLY"))
    held = registered(bench, sent, format_)

    if isinstance(held, Decision):
        assert sent.number == 0
        assert isinstance(free, Decision)
        assert held.answer == free.answer
        assert not free.answer.created
    elif isinstance(free, Decision) and not free.answer.created and sent.number == 0:
        completing = {replace(one, level=None, group=None, normalize=None) for one in past if isinstance(one, Config)}
        assert completing - {Config()}, "a config that adds something is asked after the mode"
        assert isinstance(held, NotPermitted)
