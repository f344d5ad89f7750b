"""Promotion as a law: a dry run says what the run does, and what is promoted means in the target what it meant in the source."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.laws.test_group_transfers import CLICK, LABELS, filled
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.promotion import PromotionResult, promote, promotion
from treaty.core.messages import groups as g
from treaty.core.messages import schemaver as s
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import Subject, subject_of
from treaty.core.schema import Draft, Reference

MONEY = json.dumps({"type": "record", "name": "Money", "fields": [{"name": "cents", "type": "long"}]})
ORDER = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "price", "type": "Money"}]})
PLAIN = Subject(".", "plain")
TEXTS = ('"int"', '"string"')


@contextmanager
def registry() -> Iterator[Connection]:
    """A registry with money in two contexts: the second version in that of development, the first in the shared one."""
    with connect("memory:") as opened:
        opened.set_level(":.dev:", "NONE")
        opened.register(":.dev:money", '"string"')
        opened.register(":.dev:money", MONEY)
        opened.register(":.shared:money", MONEY)
        yield opened


def carry(
    source: Connection, target: Connection, subject: Subject, to: str = ".", *, every: bool = False
) -> PromotionResult:
    """Promote a subject; the dry run before has to come to the same."""
    plan = promotion(source, [subject], subject.context, to, every=every)
    with connect("memory:") as rehearsal:
        planned = promote(plan, target, rehearsal, dry_run=True)
    with connect("memory:") as rehearsal:
        done = promote(plan, target, rehearsal)
    assert bool(planned.problems) == bool(done.problems), (planned.problems, done.problems)
    numbers = [[(str(step.target), one.version.number) for step, one in each.steps] for each in (planned, done)]
    assert numbers[0] == numbers[1]
    return done


@pytest.mark.parametrize("to", [".", ".prod"])
@pytest.mark.parametrize(
    ("written", "number", "context", "expected"),
    [
        ("money", 2, "", "money"),
        (":.dev:money", 2, "", ":{}:money"),
        (":.shared:money", 1, ".shared", ":.shared:money"),
    ],
    ids=["a bare name", "a qualified name", "another context"],
)
def test_a_reference_leads_to_the_same_schema_as_before(
    to: str, written: str, number: int, context: str, expected: str
) -> None:
    with registry() as source:
        source.register(":.dev:order", Draft(ORDER, references=(Reference("Money", written, number),)))
        done = carry(source, source, Subject(".dev", "order"), to)
        (reference,) = source.version(str(Subject(to, "order"))).references

        assert done.problems == ()
        home = subject_of(reference.subject, to)
        assert source.version(str(home), reference.version).text == source.version(":.shared:money").text
        assert home == Subject(context or to, "money")
        if to != ".":
            assert reference.subject == expected.format(to)


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("origin", ["confluent", "pravega", "schema-repo", "treaty"])
def test_a_subject_is_created_as_it_is_in_the_source(origin: str, *, private: bool) -> None:
    script = [g.CreateSubject(PLAIN, g.GroupSettings(origin), private), Register(PLAIN, Draft(TEXTS[0]))]
    with filled(script) as source, connect("memory:") as target:
        assert carry(source, target, PLAIN, ".prod").problems == ()
        before, after = source.group("plain"), target.group(":.prod:plain")
        assert (after.origin, after.private) == (before.origin, before.private) == (origin, private)


@pytest.mark.parametrize("level", ["", "NONE", "FULL"])
@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("origin", ["confluent", "schema-repo"])
def test_a_dry_run_says_what_the_config_of_the_target_refuses(origin: str, level: str, *, exists: bool) -> None:
    script: list[Request[Any]] = [g.CreateSubject(PLAIN, g.GroupSettings(origin, policy=Config(level="NONE")))]
    script += [Register(PLAIN, Draft(text)) for text in TEXTS]
    with filled(script) as source, connect("memory:") as target:
        if exists:
            target.ask(g.CreateSubject(PLAIN, g.GroupSettings(origin)))
        if level:
            target.ask(SetConfig(Scope(*PLAIN), Config(level=level)))
        done = carry(source, target, PLAIN, every=True)
        assert bool(target.subjects()) != bool(done.problems)


def labels_of(registry: Connection) -> dict[str, tuple[str, str]]:
    """Return the text of each label, and the label that supersedes it."""
    schemas = registry.ask(s.ListPublished("com.acme", "click")).answer.schemas
    return {one.label: (one.version.text, one.superseded_by) for one in schemas}


def test_the_latest_label_alone_supersedes_nothing_that_is_there() -> None:
    with filled(LABELS) as source, filled(LABELS[2:4]) as target:
        before = labels_of(target)
        assert carry(source, target, CLICK).problems == ()
        assert labels_of(target) == before | {"1-0-2": labels_of(source)["1-0-2"]}


def test_a_label_that_has_another_schema_in_the_target_is_refused() -> None:
    with filled(LABELS) as source, connect("memory:") as target:
        target.ask(s.Publish(CLICK, "1-0-0", Draft('{"title":"other"}', "JSON"), private=True))
        before = labels_of(target)
        done = carry(source, target, CLICK, every=True)

        assert ["1-0-0" in one.why for one in done.problems] == [True]
        assert labels_of(target) == before


def test_in_another_context_a_family_has_no_labels() -> None:
    with filled(LABELS) as source, connect("memory:") as target:
        target.set_level("", "NONE")
        done = carry(source, target, CLICK, ".prod", every=True)

        assert done.problems == ()
        copies = [target.version(f":.prod:{CLICK.name}", number).text for number in (1, 2, 3)]
        assert copies == [source.version(CLICK.name, number).text for number in (1, 2, 3)]
