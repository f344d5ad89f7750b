"""What a caller hears who may read everything but private subjects: refusals and outcomes do not tell of one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.laws.private_bench import ADMIN, NICK, OUTER, RECORD, USED, USER, VENDOR, private_bench, verdict
from tests.laws.toy import Bench
from treaty.core.access.api_key_rules import rule_of_key
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.contexts import DeleteContext
from treaty.core.messages.encodings import AssignEncoding
from treaty.core.messages.groups import CreateSubject, DeleteOrdinal, GroupSettings, RemoveSubject
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.policies import CreatePolicy, DeletePolicy
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import DeletePublished, GetDraft, GetPublished, Publish, PutDraft
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ListSettings,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.transfers import ExportSubjects, ImportSubject
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden, NotEmpty, NotFound, NotPermitted, Referenced, SettingNotFound
from treaty.core.schema import Draft, Reference
from treaty.core.state.values import PolicyValue


@pytest.fixture
def bench() -> Bench:
    return private_bench()


def test_a_private_schema_keeps_what_it_refers_to_and_is_not_named(bench: Bench) -> None:
    refused = verdict(bench, DeletePublished(USED, "1-0-0"))
    assert isinstance(refused, Referenced)
    assert refused.reason.old == ""
    named = verdict(bench, DeletePublished(USED, "1-0-0"), None)
    assert isinstance(named, Referenced)
    assert named.reason.old.startswith("p/user/avro version 1")


TAKEN: Mapping[str, Request[Any]] = {
    "a published schema": DeletePublished(USED, "1-0-0"),
    "a version": DeleteVersion(USED, 1),
    "a version by its ordinal": DeleteOrdinal(USED, 0),
    "the versions": DeleteSubject(USED),
    "the subject": RemoveSubject(USED),
}
"""Commands that take away what a private schema refers to."""


@pytest.mark.parametrize("taken", TAKEN)
def test_a_user_is_named_to_who_may_read_it_and_to_nobody_else(bench: Bench, taken: str) -> None:
    for access, is_named in ((ADMIN, False), (VENDOR, True), (None, True)):
        refused = verdict(bench, TAKEN[taken], access)
        assert isinstance(refused, Referenced)
        assert ("p/user/avro" in repr(refused.reason)) == is_named


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


# ------------------------------------------------------------------------------------------------------------- aliases


def told(bench: Bench, request: Any, access: Access | None = ADMIN) -> Any:
    """The answer, or the class of the refusal; what is decided is applied."""
    bench.clock += 1
    found = decide(bench.tables, Command(request, f"t{bench.clock}", 1, "user:root", access), bench.engine)
    if not isinstance(found, Decision):
        return type(found)
    if found.rows:
        bench.apply(found.rows)
    return found.answer


@pytest.fixture
def aliased(bench: Bench) -> Bench:
    bench.do(SetConfig(Scope(*NICK), Config(alias=USER.name)))
    return bench


def test_the_alias_of_a_private_subject_leads_nowhere_for_who_may_not_read_it(aliased: Bench) -> None:
    bench = aliased
    for access in (None, VENDOR):
        assert told(bench, GetVersion(NICK, 1), access).subject == USER.name
        assert told(bench, GetConfig(Scope(*NICK)), access).config.alias == USER.name
    missing = verdict(bench, GetVersion(NICK, 1))
    assert isinstance(missing, NotFound)
    assert missing.reason.subject == "nick"
    assert isinstance(verdict(bench, GetPublished(NICK, "1-0-0")), NotFound)
    assert isinstance(verdict(bench, GetConfig(Scope(*NICK))), SettingNotFound)
    assert "nick" not in {one.name for one in told(bench, ListSettings()).settings}
    bench.do(SetConfig(Scope(*NICK), Config(normalize=True)))
    assert told(bench, GetConfig(Scope(*NICK))).config == Config(level="BACKWARD", normalize=True)
    (own,) = [one.config for one in told(bench, ListSettings()).settings if one.name == "nick"]
    assert own == Config(normalize=True)


def test_what_a_config_says_of_a_private_subject_stays_when_others_change_it(aliased: Bench) -> None:
    bench, scope = aliased, Scope(*NICK)
    assert told(bench, SetConfig(scope, Config(level="FULL"))).config == Config(level="FULL")
    assert told(bench, GetConfig(scope), VENDOR).config == Config(level="FULL", alias=USER.name)
    assert told(bench, DeleteConfig(scope)).config == Config(level="FULL")
    assert told(bench, GetConfig(scope)) is SettingNotFound
    assert told(bench, GetConfig(scope), VENDOR).config.alias == USER.name
    assert told(bench, SetConfig(scope, Config(alias=USED.name))).config.alias == USED.name
    assert told(bench, GetVersion(NICK, 1), VENDOR).subject == USED.name
    assert told(bench, SetConfig(scope, Config(alias=USER.name))) is Forbidden
    assert told(bench, SetConfig(scope, Config(alias_for_deks=USER.name))) is Forbidden


def test_who_does_not_see_the_alias_makes_a_subject_of_that_name(aliased: Bench) -> None:
    bench = aliased
    assert told(bench, Register(NICK, RECORD)).version.subject == "nick"
    assert told(bench, GetVersion(NICK, 1), VENDOR).subject == USER.name
    assert told(bench, DeleteSubject(NICK)).numbers == (1,)
    assert told(bench, RemoveSubject(NICK)).removed
    assert told(bench, GetVersion(NICK, 1), VENDOR).subject == USER.name


# ------------------------------------------------------------------------------------------------------------ outcomes


def test_an_outcome_about_a_private_subject_stays_private_after_it_is_gone(bench: Bench) -> None:
    gone = Subject(".", "p/gone/avro")
    bench.do(CreateSubject(gone, GroupSettings("iglu", order="schemaver"), private=True), "made")
    bench.do(Publish(gone, "1-0-0", RECORD), "published")
    for command_id in ("registered", "deleted", "removed"):
        bench.do(
            {
                "registered": Register(gone, RECORD, names=(("schemaver", "1-0-1"),)),
                "deleted": DeleteSubject(gone),
                "removed": RemoveSubject(gone),
            }[command_id],
            command_id,
        )
    bench.do(DeletePublished(USER, "1-0-0"))
    bench.do(RemoveSubject(USER))
    every = Access((AccessRule(("user:root",), with_included(["admin"]), ("*",), ("*",), private=True),))
    for command_id in ("made", "published", "registered", "deleted", "removed", "user"):
        assert told(bench, GetOutcome(command_id, "")).members == (), command_id
        assert told(bench, GetOutcome(command_id, ""), every).members, command_id
    assert told(bench, GetOutcome("used", "")).members, "a public one is no secret where nothing private is left"


def test_an_export_names_no_private_subject_that_is_gone(bench: Bench) -> None:
    for name, private in (("p/gone/avro", True), ("p/open/avro", False)):
        subject = Subject(".", name)
        bench.do(CreateSubject(subject, GroupSettings("confluent"), private=private))
        bench.do(Register(subject, RECORD))
        bench.do(AssignEncoding(subject, 0, ""))
        bench.do(DeleteSubject(subject))
        bench.do(DeleteSubject(subject, permanent=True, force=True))
    bench.do(DeletePublished(USER, "1-0-0"))
    bench.do(RemoveSubject(USER))
    exported = ExportSubjects(Subject("*", ""))
    every = {one.subject: one for one in told(bench, exported, VENDOR).subjects if one.removed}
    assert {name: one.private for name, one in every.items()} == {"p/gone/avro": True, "p/open/avro": False}
    assert [one.subject for one in told(bench, exported).subjects if one.removed] == ["p/open/avro"]
    target, gone = Bench(), every["p/gone/avro"]
    target.do(SetMode(Scope("."), "IMPORT"))
    target.do(ImportSubject(Subject(".", gone.subject), gone.settings, gone.highest, gone.private, removed=True))
    assert [one.private for one in told(target, exported, None).subjects] == [True]
    assert told(target, exported).subjects == ()


def test_a_repeated_command_is_answered_without_what_its_sender_may_not_read_now(bench: Bench) -> None:
    gone = Subject(".", "p/gone/avro")
    command = Command(
        Publish(gone, "1-0-0", Draft('{"type":"record","name":"Hush","fields":[]}', "AVRO"), private=True),
        "again", 1, "user:root", VENDOR,
    )  # fmt: skip
    first = decide(bench.tables, command, bench.engine)
    assert isinstance(first, Decision)
    bench.apply(first.rows)
    for access, text in ((VENDOR, True), (ADMIN, False)):
        again = decide(bench.tables, replace(command, access=access), bench.engine)
        assert isinstance(again, Decision)
        assert again.repeated
        assert bool(again.answer.schema.version.text) is text
    for request in (DeleteSubject(gone), RemoveSubject(gone)):
        bench.do(request)
    again = decide(bench.tables, command, bench.engine)
    assert isinstance(again, Decision)
    assert again.answer.schema.version.text == ""


# ------------------------------------------------------------------------------------------- what others would tell of it


def test_a_public_schema_does_not_refer_to_a_private_one(bench: Bench) -> None:
    hush = Subject(".", "p/hush/avro")
    bench.do(Publish(hush, "1-0-0", RECORD, private=True))
    draft = Draft(OUTER, "AVRO", (Reference("R", hush.name, 1),))
    for request in (
        Register(Subject(".", "plain"), draft),
        Publish(Subject(".", "p/new/avro"), "1-0-0", draft),
        Publish(USED, "1-0-0", draft, patch=True),
    ):
        refused = verdict(bench, request, None)
        assert isinstance(refused, NotPermitted)
        assert refused.reason.rule == "REFERENCE_PRIVATE"
    assert isinstance(verdict(bench, Publish(USER, "1-0-1", draft), None), Decision)


def test_who_may_change_settings_by_a_wildcard_and_read_nothing_sees_no_private_subject(bench: Bench) -> None:
    blind = Access((AccessRule(("user:root",), with_included(["config", "mode", "delete"]), ("*",), ("*",)),))
    bench.do(SetConfig(Scope(*USER), Config(level="FULL")))
    bench.do(SetMode(Scope(*USER), "READWRITE"))
    assert told(bench, GetConfig(Scope(*USER)), blind) is SettingNotFound
    assert told(bench, GetMode(Scope(*USER)), blind) is SettingNotFound
    assert told(bench, GetConfig(Scope(*USED)), blind).config.level == "NONE"
    bench.do(SetConfig(Scope(*NICK), Config(alias=USER.name, normalize=True)))
    assert told(bench, GetConfig(Scope(*NICK)), blind).config.alias is None


def test_a_policy_a_mode_and_a_context_are_not_told_by_private_subjects(bench: Bench) -> None:
    bench.do(CreatePolicy("strict", PolicyValue()))
    bench.do(SetConfig(Scope(*USER), Config(follows="strict")))
    refused = verdict(bench, DeletePolicy("strict"))
    assert isinstance(refused, NotPermitted)
    assert "user" not in f"{refused.reason.message} {refused.reason.old}"
    bench.do(SetMode(Scope(*USER), "READONLY"))
    told(bench, DeleteMode(Scope("."), recursive=True))
    assert told(bench, GetMode(Scope(*USER)), VENDOR).mode == "READONLY"
    bench.do(CreateSubject(Subject(".x", "p/far/avro"), GroupSettings("iglu"), private=True))
    assert told(bench, DeleteContext(".x")) is NotEmpty
