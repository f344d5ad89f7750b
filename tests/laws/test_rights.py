"""Rights as laws: what patterns and rules mean, and what every request needs."""

import importlib
import pkgutil
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.laws.holder import access, allowed
from tests.laws.toy import toy
from treaty.core import limits, messages
from treaty.core.access.authorized_view import FOUND, WALKED
from treaty.core.access.private_subjects import OWNED
from treaty.core.access.rights import (
    PERMISSIONS,
    Access,
    AccessRule,
    Permission,
    Rights,
    matches_pattern,
    with_included,
)
from treaty.core.messages import associations, contexts, encodings, groups, listings, policies, settings
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import Derive, ForceReason, Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS, refuse_unless_allowed
from treaty.core.policy import Level
from treaty.core.refusals import Forbidden
from treaty.core.schema import Reference
from treaty.core.state.state_tables import COUNTER_OF_SUBJECT, INDEXES, OUTCOME_BY_SEQUENCE, SUBJECT_PRIVATE
from treaty.core.state.values import PolicyValue


def kinds() -> set[type]:
    names = (one.name for one in pkgutil.walk_packages(messages.__path__, f"{messages.__name__}."))
    named = [one for module in map(importlib.import_module, names) for one in vars(module).values()]
    return {one for one in named if isinstance(one, type) and issubclass(one, Request)} - {Request}


def test_every_kind_of_request_is_declared_once() -> None:
    assert set(OPERATIONS) == kinds()
    assert all(one.request is kind for kind, one in OPERATIONS.items())


def test_a_declaration_says_what_its_request_says() -> None:
    for kind, one in OPERATIONS.items():
        (base,) = (base for base in getattr(kind, "__orig_bases__", ()) if get_args(base))
        assert get_args(base) == (one.answer,), f"{one.name} answers {one.answer}, and its request {base}"
        assert all(isinstance(getattr(limits, name), int) for name in one.limits), f"{one.name}: no limit"


def test_every_index_of_subjects_and_schemas_says_whose_rows_it_finds() -> None:
    walked = {one for one in INDEXES.values() if one.key_of is not None}
    tables = {"source", "type", "dropped", "planning", "topic", "assignment"}  # filtered by handlers
    of_sources = {one for one in INDEXES.values() if one.table in tables}
    assert set(INDEXES.values()) == set(FOUND) | walked | of_sources
    assert walked - set(WALKED) - of_sources == {OUTCOME_BY_SEQUENCE, COUNTER_OF_SUBJECT, SUBJECT_PRIVATE}
    assert {index.table for index in FOUND} <= {one.name for one in OWNED} | {"schema", "association", "config"}


def test_an_unknown_kind_of_request_is_refused() -> None:
    class Unheard(Request[int]):
        pass

    with pytest.raises(Forbidden, match="Unheard"):
        refuse_unless_allowed(access("admin"), "user:a", Unheard())


# ------------------------------------------------------------------------------------------------------- patterns


@pytest.mark.parametrize(
    ("pattern", "text", "fit"),
    [
        ("*", "", True),
        ("orders-*", "orders-value", True),
        ("orders-*", "orders-", True),
        ("orders-*", "orders", False),
        ("orders-*", "my-orders-x", False),
        ("*-value", "a-value\nb-value", True),
        ("*-value", "a-values", False),
        ("a*b*c", "aXXbYYbZZc", True),
        ("a*b*c", "acb", False),
        ("a*b", "ab", True),
        ("a*ab", "ab", False),
        ("?", "ß", True),
        ("?", "", False),
        ("a.c", "abc", False),
        ("[a]", "a", False),
        ("A", "a", False),
        ("a\\*", "a\\x", True),
    ],
)
def test_patterns(pattern: str, text: str, fit: object) -> None:
    assert matches_pattern(pattern, text) is fit


@given(st.lists(st.text("ab*?.", min_size=1, max_size=6), min_size=1, max_size=4), st.text("ab.", max_size=8))
def test_many_patterns_mean_what_each_of_them_says(patterns: list[str], name: str) -> None:
    together = access("read", subjects=patterns)
    assert together.may("read", Subject(".", name)) == any(matches_pattern(one, name) for one in patterns)
    assert together.may_somewhere("read", name) == any(matches_pattern(one, name) for one in patterns)
    assert together.may_whole("read", ".") == ("*" in patterns)


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=10))
def test_patterns_mean_what_the_plain_definition_says(pattern: str, text: str) -> None:
    def plain(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return plain(pattern[1:], text) or (bool(text) and plain(pattern, text[1:]))
        return bool(text) and pattern[0] in {"?", text[0]} and plain(pattern[1:], text[1:])

    assert matches_pattern(pattern, text) == plain(pattern, text)


def test_a_hostile_name_does_not_make_a_pattern_slow() -> None:
    assert not matches_pattern("a*" * 30 + "b", "a" * 4_096)  # a star that gives back would take years


# ---------------------------------------------------------------------------------------------------------- rules


def test_only_the_rules_that_name_somebody_hold_for_them() -> None:
    rules = (
        AccessRule(("user:alice",), with_included(["register"]), ("orders-*",)),
        AccessRule(("group:team",), with_included(["delete"])),
        AccessRule(("anonymous",), with_included(["read"]), ("public-*",)),
        AccessRule(("token:svc-*",), with_included(["admin"]), ("*",), ("*",)),
    )
    rights = Rights(rules, {"team": frozenset({"user:bob", "cert:*.team"})})
    seen = {
        name: rights.access(name).rules for name in ("user:alice", "user:bob", "cert:x.team", "anonymous", "cert:x")
    }
    assert seen == {
        "user:alice": (rules[0], rules[2]),
        "user:bob": (rules[1], rules[2]),
        "cert:x.team": (rules[1], rules[2]),
        "anonymous": (rules[2],),
        "cert:x": (rules[2],),
    }
    assert rights.access("token:svc-1", ("team",)).rules == (rules[1], rules[2], rules[3])
    assert rights.access("user:svc-1").rules == (rules[2],), "a user is no token of the same name"
    assert rights.access("user:bob") is rights.access("cert:y.team"), "who has the same rules has one class of rights"


SUBJECT = Subject(".", "orders-value")
TEAM = Subject(".team", "orders-value")
ASKED: dict[Permission, list[Request[Any]]] = {
    "read": [
        GetVersion(TEAM, 1),
        FindVersion(TEAM, ()),
        Lookup(TEAM, toy("a")),
        Check(TEAM, toy("a")),
        listings.ListVersions(TEAM),
        ReferencedBy(TEAM, 1),
        settings.GetConfig(Scope(*TEAM)),
        settings.GetMode(Scope(*TEAM)),
        encodings.ListCodecs(TEAM),
        encodings.GetEncoding(TEAM, 0),
        encodings.ListEncodings(TEAM),
        groups.GetSubject(TEAM),
        groups.GetOrdinal(TEAM, 0),
        groups.GetTypedVersion(TEAM, "TOY", "", 0),
        groups.ListGroupVersions(TEAM),
        groups.GetHistory(TEAM),
        groups.FindSameVersion(TEAM, toy("a")),
        groups.CheckReading(TEAM, toy("a")),
    ],
    "bump": [Derive(TEAM, 1), Register(TEAM, toy("a"))],
    "create": [],
    "register": [
        encodings.AddCodec(TEAM, encodings.CodecType("c")),
        encodings.AssignEncoding(TEAM, 0),
        groups.CreateSubject(TEAM, groups.GroupSettings("pravega")),
        groups.ChangeSubject(TEAM, properties=()),
        groups.ChangeSubject(TEAM),
    ],
    "delete": [DeleteVersion(TEAM, 1), DeleteSubject(TEAM), groups.RemoveSubject(TEAM), groups.DeleteOrdinal(TEAM, 0)],
    "config": [
        settings.SetConfig(Scope(*TEAM), Config()),
        settings.DeleteConfig(Scope(*TEAM)),
        groups.ChangeSubject(TEAM, level=Level()),
        groups.ChangeSubject(TEAM, previous=Level()),
        groups.ChangeSubject(TEAM, validators=()),
        groups.ChangeSubject(TEAM, follows="gold"),
    ],
    "mode": [settings.SetMode(Scope(*TEAM), "READONLY"), settings.DeleteMode(Scope(*TEAM))],
    "admin": [contexts.DeleteContext(".team")],
}


@pytest.mark.parametrize("given_", PERMISSIONS)
@pytest.mark.parametrize("wanted", ASKED)
def test_each_permission_allows_its_requests_and_no_others(given_: Permission, wanted: Permission) -> None:
    has = with_included([given_])
    for request in ASKED[wanted]:
        setting = {settings.GetConfig: "config", settings.GetMode: "mode"}.get(type(request))
        expected = wanted in has or setting in has
        assert allowed(access(given_, contexts=(".team",)), request) is expected, request
        assert not allowed(access(given_, contexts=(".", ".other", ".tea", ".teams")), request)
        if wanted != "admin":
            assert allowed(access(given_, subjects=("orders-*",), contexts=(".t*",)), request) is expected
            assert not allowed(access(given_, subjects=("other-*",), contexts=("*",)), request)
        assert not allowed(Access(()), request)


SOMEWHERE = [
    GetSchema(1), GetGuid("g"), GetGuidIds("g"), listings.ListSubjects(), listings.ListSchemas(), UsesOf(1), contexts.ListContexts(),
    settings.ListSettings(), groups.ListGroups(), groups.FindSameSchema(".", toy("a")),
]  # fmt: skip


@pytest.mark.parametrize("request_", [policies.GetPolicy("gold"), policies.ListPolicies()])
def test_policies_are_read_by_whoever_may_read_register_or_configure_something(request_: Request[Any]) -> None:
    for permission in ("read", "register", "config"):
        assert allowed(access(permission, subjects=("nothing-here",), contexts=(".x",)), request_)
    assert not allowed(access("mode"), request_)


def test_who_makes_a_context_could_register_anywhere_in_it() -> None:
    assert allowed(access("register", contexts=(".x",)), contexts.MakeContext(".x"))
    assert not allowed(access("register", contexts=(".y",)), contexts.MakeContext(".x"))
    assert not allowed(access("register", subjects=("a*",), contexts=(".x",)), contexts.MakeContext(".x"))
    assert not allowed(access("mode", "config", "delete", contexts=(".x",)), contexts.MakeContext(".x"))


def test_who_takes_ids_from_a_context_could_set_its_mode() -> None:
    assert allowed(access("register", "mode", contexts=(".x",)), contexts.MakeContext(".x", 5))
    assert not allowed(access("register", contexts=(".x",)), contexts.MakeContext(".x", 5))


def test_who_chooses_a_policy_could_set_the_config() -> None:
    chosen = Register(Subject(".", "s"), toy("a"), create_with=SubjectCreation(policy=Config(level="NONE")))
    wish = associations.AssociationSpec("value", chosen.subject, schema=chosen)
    for request in (chosen, associations.Associate(associations.Resource("n", "-", "r"), (wish,))):
        assert allowed(access("register", "config"), request)
        assert not allowed(access("register"), request)
        assert not allowed(access("config"), request)


@pytest.mark.parametrize("request_", SOMEWHERE, ids=lambda one: type(one).__name__)
def test_lists_and_ids_need_a_right_to_read_something(request_: Request[Any]) -> None:
    assert allowed(access("read", subjects=("nothing-here",), contexts=(".x",)), request_)
    assert not allowed(access("delete", "config", "mode"), request_)


@pytest.mark.parametrize(
    ("request_", "needed"),
    [
        (settings.SetConfig(Scope("."), Config()), access("config")),
        (settings.SetConfig(Scope(".x"), Config()), access("config", contexts=(".x",))),
        (settings.SetConfig(Scope("*"), Config()), access("config", contexts=("*",))),
        (settings.SetConfig(Scope("*", "s"), Config()), access("config", contexts=("*",))),
        (settings.SetMode(Scope("."), "READONLY"), access("mode")),
        (settings.SetMode(Scope("*"), "READONLY"), access("mode", contexts=("*",))),
        (policies.CreatePolicy("gold", PolicyValue()), access("config", contexts=("*",))),
        (policies.ChangePolicy("gold", PolicyValue()), access("config", contexts=("*",))),
        (policies.DeletePolicy("gold"), access("config", contexts=("*",))),
        (settings.DeleteMode(Scope(".x"), recursive=True), access("mode", contexts=(".x",))),
        (contexts.DeleteContext(".x"), access("admin", contexts=(".x",))),
        (settings.SetMode(Scope("."), "IMPORT"), access("mode", "delete")),
        (Register(SUBJECT, toy("a"), force=ForceReason("", "")), access("register", "config")),
        (DeleteVersion(SUBJECT, 1, permanent=True, force=True), access("delete", "config")),
        (DeleteSubject(SUBJECT, permanent=True, force=True), access("delete", "config")),
        (
            groups.CreateSubject(SUBJECT, groups.GroupSettings("pravega", policy=Config(level="NONE"))),
            access("register", "config"),
        ),
        (groups.ChangeSubject(SUBJECT, level=Level(), properties=()), access("register", "config")),
        (Register(SUBJECT, toy("a"), schema_id=7), access("register", "mode")),
        (Register(SUBJECT, toy("a"), time=7), access("register", "mode")),
        (
            Register(SUBJECT, toy("a", references=(Reference("r", ":.x:r", 1),))),
            Access((*access("register").rules, *access("read", contexts=(".x",)).rules)),
        ),
        (Check(SUBJECT, toy("a", references=(Reference("r", "r", 1),))), access("read")),
        (groups.CheckReading(SUBJECT, toy("a", references=(Reference("r", "r", 1),))), access("read")),
    ],
)
def test_requests_that_need_more_than_one_thing(request_: Request[Any], needed: Access) -> None:
    assert allowed(needed, request_)
    for rule in needed.rules:
        for less in sorted({"config", "mode", "delete", "register"} & rule.may):
            rest = tuple(one for one in needed.rules if one is not rule)
            left = rule.may - {less} - ({"read", "bump", "create"} if less == "register" else set())
            if "admin" in rule.may:
                continue
            assert not allowed(Access((*rest, AccessRule(rule.who, left, rule.subjects, rule.contexts))), request_), (
                less
            )
        narrow = AccessRule(rule.who, rule.may, ("nothing",), rule.contexts)
        assert not allowed(Access((*(one for one in needed.rules if one is not rule), narrow)), request_)
    assert not allowed(access(*PERMISSIONS, contexts=("?", ".??")), request_) or ".x" not in repr(request_)


@pytest.mark.parametrize(
    ("scope", "alias", "target"),
    [
        (Scope(".", "orders-a"), "victim", Subject(".", "victim")),
        (Scope(".", "orders-a"), ":.:victim", Subject(".", "victim")),
        (Scope(".", "orders-a"), ":.x:victim", Subject(".x", "victim")),
        (Scope(".x", "orders-a"), "victim", Subject(".x", "victim")),
        (Scope(".x", "orders-a"), ":.:victim", Subject(".", "victim")),
    ],
)
def test_who_names_an_alias_may_change_the_config_of_its_target(scope: Scope, alias: str, target: Subject) -> None:
    request = settings.SetConfig(scope, Config(alias=alias, level="FULL"))
    here = access("config", subjects=("orders-*",), contexts=(scope.context,))
    there = access("config", subjects=(target.name,), contexts=(target.context,))
    assert not allowed(here, request)
    assert not allowed(there, request)
    assert allowed(Access((*here.rules, *there.rules)), request)
    others = tuple(one for one in PERMISSIONS if one not in {"config", "admin"})
    weaker = access(*others, subjects=("*",), contexts=("*",))
    assert not allowed(Access((*here.rules, *weaker.rules)), request)
    assert allowed(here, settings.SetConfig(scope, Config(level="FULL"), clear=("alias",)))


NAMED = st.sampled_from(["orders", "orders-eu", "bills", "a"])
PATTERNS = st.lists(
    st.sampled_from(["*", "orders*", "orders-value", "*-key", "bills", "?-value", "orders"]), max_size=2
)


@given(
    NAMED,
    st.sampled_from(["x", "lkc"]),
    st.sampled_from(["key", "value"]),
    PATTERNS,
    st.sampled_from([(".",), (".x",), ("*",), (".y",), (".", ".lkc")]),
    st.none() | PATTERNS,
    st.sampled_from(PERMISSIONS),
)
@example("orders", "x", "value", ["orders-value"], (".y",), None, "register")
@example("orders", "x", "value", ["orders-value"], (".x",), None, "register")
def test_a_topic_is_bound_by_who_may_name_it_or_register_its_usual_subject(
    name: str,
    namespace: str,
    kind: str,
    subjects: list[str],
    contexts: tuple[str, ...],
    topics: list[str] | None,
    may: Permission,
) -> None:
    rule = AccessRule(
        ("user:a",), with_included([may]), tuple(subjects), contexts, None if topics is None else tuple(topics)
    )
    target = access("register", subjects=("elsewhere",), contexts=(".z",))
    wish = associations.AssociationSpec(kind, Subject(".z", "elsewhere"))
    bound = allowed(
        Access((*target.rules, rule)), associations.Associate(associations.Resource(name, namespace, "i"), (wish,))
    )
    if topics is not None:
        covered = any(matches_pattern(one, name) for one in topics)
    else:
        homes = [Subject(".", f"{name}-{kind}"), Subject(f".{namespace}", f"{name}-{kind}")]
        covered = any(access("register", subjects=subjects, contexts=contexts).may("register", one) for one in homes)
    assert bound is (covered and may in {"register", "admin"})


def test_a_rule_about_topics_alone_is_about_no_subject() -> None:
    alone = Access((AccessRule(("user:a",), with_included(["admin"]), (), ("*",), ("*",)),))
    for request in (*SOMEWHERE, *(one for many in ASKED.values() for one in many)):
        assert not allowed(alone, request), request
    assert not alone.sees_all
    assert not alone.enters(".")


def test_one_place_that_fits_a_context_of_one_letter_is_not_everywhere() -> None:
    assert not allowed(access("admin", contexts=("?",)), settings.SetConfig(Scope("*"), Config()))


def test_an_unqualified_name_may_be_read_in_another_context_but_not_written() -> None:
    elsewhere = access("register", "delete", contexts=(".x",))
    assert allowed(elsewhere, GetVersion(SUBJECT, 1))
    assert allowed(elsewhere, Lookup(SUBJECT, toy("a", references=(Reference("r", "r", 1),))))
    assert not allowed(elsewhere, Register(SUBJECT, toy("a")))
    assert not allowed(elsewhere, DeleteSubject(SUBJECT))
    assert not allowed(elsewhere, GetVersion(Subject(".y", "orders-value"), 1))


def test_a_refusal_does_not_depend_on_the_state() -> None:
    with pytest.raises(Forbidden) as told:
        refuse_unless_allowed(access("read"), "user:a", Register(SUBJECT, toy("a")))
    reason = told.value.reason
    assert reason.message == (
        "user:a is not allowed to do this: it needs the permission bump or create on subject 'orders-value'"
    )
    expected = ("RIGHTS", "orders-value", "register", "a rule that gives bump or create")
    assert (reason.rule, reason.subject, reason.new, reason.allowed) == expected
