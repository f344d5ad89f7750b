"""What a caller hears who may read everything but private subjects: refusals and outcomes do not tell of one."""

from typing import Any

import pytest

from tests.laws.test_policy_cases import Engine
from tests.laws.toy import Bench
from treaty.core.access.api_key_rules import rule_of_key
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.schemaver import DeletePublished, GetDraft, Publish, PutDraft
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden, NotFound, Referenced
from treaty.core.requests import GetOutcome
from treaty.core.schema import Draft, Reference

ADMIN = Access((AccessRule(("user:root",), with_included(["admin"]), ("*",), ("*",)),))
USED, USER = Subject(".", "p/used/avro"), Subject(".", "p/user/avro")
RECORD = Draft('{"type":"record","name":"R","fields":[]}', "AVRO")
OUTER = '{"type":"record","name":"O","fields":[{"name":"r","type":"R"}]}'


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.engine = Engine()
    made.do(Publish(USED, "1-0-0", RECORD), "used")
    made.do(Publish(USER, "1-0-0", Draft(OUTER, "AVRO", (Reference("R", USED.name, 1),)), private=True), "user")
    return made


def verdict(bench: Bench, request: Any, access: Access | None = ADMIN) -> Any:
    return decide(bench.tables, Command(request, "c", 1, "user:root", access), bench.engine)


def test_a_private_schema_keeps_what_it_refers_to_and_is_not_named(bench: Bench) -> None:
    refused = verdict(bench, DeletePublished(USED, "1-0-0"))
    assert isinstance(refused, Referenced)
    assert refused.reason.old == ""
    named = verdict(bench, DeletePublished(USED, "1-0-0"), None)
    assert isinstance(named, Referenced)
    assert named.reason.old.startswith("p/user/avro version 1")


def test_an_outcome_does_not_tell_of_a_private_subject(bench: Bench) -> None:
    for command_id in ("used", "user"):
        told = verdict(bench, GetOutcome(command_id, ""))
        assert isinstance(told, Decision)
        assert told.answer.members == ()
        assert verdict(bench, GetOutcome(command_id, ""), None).answer.members


def test_a_patch_tells_the_version_that_a_reference_means(bench: Bench) -> None:
    for request in (
        Publish(USER, "1-0-0", Draft(f" {OUTER}", "AVRO", (Reference("R", USED.name, -1),)), patch=True),
        Publish(USER, "1-0-1", Draft(OUTER, "AVRO", (Reference("R", USED.name, -1),))),
    ):
        told = bench.do(request)
        assert [one.version for one in told.schema.version.references] == [1]


def test_a_private_draft_is_neither_read_nor_replaced_by_who_may_not_read_it(bench: Bench) -> None:
    bench.do(PutDraft(USED, 1, "{}", private=True))
    assert isinstance(verdict(bench, GetDraft(USED, 1)), NotFound)
    assert isinstance(verdict(bench, PutDraft(USED, 1, "[]")), Forbidden)
    assert isinstance(verdict(bench, PutDraft(USED, 2, "[]", private=True)), Forbidden)
    assert isinstance(verdict(bench, PutDraft(USED, 2, "[]")), Decision)


def test_a_key_of_every_vendor_reads_what_is_private_and_one_of_another_vendor_does_not() -> None:
    for vendor, reads in (("*", True), ("p", True), ("q", False)):
        access = Access((rule_of_key(ApiKeyFound("a" * 64, vendor, "READ")),))
        assert access.may("read", USER, private=True) is reads
        assert not access.may("create", USER, private=True)
        assert not access.sees_private
