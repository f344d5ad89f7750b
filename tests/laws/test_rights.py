"""Rights as laws: what may not be read leaves no trace in any answer, and every request has its needs."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.toy import Bench, toy
from treaty.core import associating
from treaty.core import requests as q
from treaty.core import rights as core_rights
from treaty.core.answers import Config, Contexts
from treaty.core.command import Command, Decision
from treaty.core.decide import LAWS, decide
from treaty.core.names import Subject, subject_of
from treaty.core.needs import NEEDS, needs, refuse_unless_allowed
from treaty.core.refusals import Forbidden, Refusal
from treaty.core.requests import Force, Request, Scope
from treaty.core.resource import Resource
from treaty.core.rights import PERMISSIONS, Access, Permission, Rights, Rule, complete, fits
from treaty.core.rows import Row as CoreRow
from treaty.core.rows import encode_row
from treaty.core.schema import Reference
from treaty.core.seen import FOUND, OWNED
from treaty.core.tables import DictTables
from treaty.core.values import Schema
from treaty.core.view import INDEXES


def access(*may: Permission, subjects: Iterable[str] = ("*",), contexts: Iterable[str] = (".",)) -> Access:
    return Access((Rule(("user:a",), complete(may), tuple(subjects), tuple(contexts)),))


def kinds() -> set[type]:
    named = (*vars(q).values(), *vars(associating).values())
    return {one for one in named if isinstance(one, type) and issubclass(one, Request)} - {Request}


def test_every_kind_of_request_has_its_needs() -> None:
    assert set(NEEDS) == set(LAWS) == kinds()


def test_every_index_of_subjects_and_schemas_says_whose_rows_it_finds() -> None:
    assert set(INDEXES) - set(FOUND) == {"outcome.sequence"}
    assert all(INDEXES[index].table in OWNED | {"schema", "association", "config"} for index in FOUND)


def test_an_unknown_kind_of_request_is_refused() -> None:
    class Unheard(Request[int]):
        pass

    with pytest.raises(Forbidden, match="Unheard"):
        needs(Unheard())


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
    assert fits(pattern, text) is fit


@given(st.lists(st.text("ab*?.", min_size=1, max_size=6), min_size=1, max_size=4), st.text("ab.", max_size=8))
def test_many_patterns_mean_what_each_of_them_says(patterns: list[str], name: str) -> None:
    together = access("read", subjects=patterns)
    assert together.may("read", Subject(".", name)) == any(fits(one, name) for one in patterns)
    assert together.may_somewhere("read", name) == any(fits(one, name) for one in patterns)
    assert together.may_whole("read", ".") == ("*" in patterns)


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=10))
def test_patterns_mean_what_the_plain_definition_says(pattern: str, text: str) -> None:
    def plain(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return plain(pattern[1:], text) or (bool(text) and plain(pattern, text[1:]))
        return bool(text) and pattern[0] in {"?", text[0]} and plain(pattern[1:], text[1:])

    assert fits(pattern, text) == plain(pattern, text)


def test_a_hostile_name_does_not_make_a_pattern_slow() -> None:
    assert not fits("a*" * 30 + "b", "a" * 4_096)  # a star that gives back would take years


# ---------------------------------------------------------------------------------------------------------- rules


def test_only_the_rules_that_name_somebody_hold_for_them() -> None:
    rules = (
        Rule(("user:alice",), complete(["register"]), ("orders-*",)),
        Rule(("group:team",), complete(["delete"])),
        Rule(("anonymous",), complete(["read"]), ("public-*",)),
        Rule(("token:svc-*",), complete(["admin"]), ("*",), ("*",)),
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
        q.GetVersion(TEAM, 1),
        q.FindVersion(TEAM, ()),
        q.Lookup(TEAM, toy("a")),
        q.Check(TEAM, toy("a")),
        q.ListVersions(TEAM),
        q.ReferencedBy(TEAM, 1),
        q.GetConfig(Scope(*TEAM)),
        q.GetMode(Scope(*TEAM)),
    ],
    "register": [q.Register(TEAM, toy("a"))],
    "delete": [q.DeleteVersion(TEAM, 1), q.DeleteSubject(TEAM)],
    "config": [q.SetConfig(Scope(*TEAM), Config()), q.DeleteConfig(Scope(*TEAM))],
    "mode": [q.SetMode(Scope(*TEAM), "READONLY"), q.DeleteMode(Scope(*TEAM))],
    "admin": [q.DeleteContext(".team")],
}


def allowed(access: Access, request: Request[Any]) -> bool:
    try:
        refuse_unless_allowed(access, "user:a", request)
    except Forbidden:
        return False
    return True


@pytest.mark.parametrize("given_", PERMISSIONS)
@pytest.mark.parametrize("wanted", PERMISSIONS)
def test_each_permission_allows_its_requests_and_no_others(given_: Permission, wanted: Permission) -> None:
    has = complete([given_])
    for request in ASKED[wanted]:
        settings = {q.GetConfig: "config", q.GetMode: "mode"}.get(type(request))
        expected = wanted in has or settings in has
        assert allowed(access(given_, contexts=(".team",)), request) is expected, request
        assert not allowed(access(given_, contexts=(".", ".other", ".tea", ".teams")), request)
        if wanted != "admin":
            assert allowed(access(given_, subjects=("orders-*",), contexts=(".t*",)), request) is expected
            assert not allowed(access(given_, subjects=("other-*",), contexts=("*",)), request)
        assert not allowed(Access(()), request)


SOMEWHERE = [
    q.GetSchema(1), q.GetGuid("g"), q.GetGuidIds("g"), q.ListSubjects(), q.ListSchemas(), q.UsesOf(1), q.ListContexts(),
]  # fmt: skip


@pytest.mark.parametrize("request_", SOMEWHERE, ids=lambda one: type(one).__name__)
def test_lists_and_ids_need_a_right_to_read_something(request_: Request[Any]) -> None:
    assert allowed(access("read", subjects=("nothing-here",), contexts=(".x",)), request_)
    assert not allowed(access("delete", "config", "mode"), request_)


@pytest.mark.parametrize(
    ("request_", "needed"),
    [
        (q.SetConfig(Scope("."), Config()), access("config")),
        (q.SetConfig(Scope(".x"), Config()), access("config", contexts=(".x",))),
        (q.SetConfig(Scope("*"), Config()), access("config", contexts=("*",))),
        (q.SetConfig(Scope("*", "s"), Config()), access("config", contexts=("*",))),
        (q.SetMode(Scope("."), "READONLY"), access("mode")),
        (q.SetMode(Scope("*"), "READONLY"), access("mode", contexts=("*",))),
        (q.DeleteMode(Scope(".x"), recursive=True), access("mode", contexts=(".x",))),
        (q.DeleteContext(".x"), access("admin", contexts=(".x",))),
        (q.SetMode(Scope("."), "IMPORT"), access("mode", "delete")),
        (q.Register(SUBJECT, toy("a"), force=Force("", "")), access("register", "config")),
        (
            q.Register(SUBJECT, toy("a", references=(Reference("r", ":.x:r", 1),))),
            Access((*access("register").rules, *access("read", contexts=(".x",)).rules)),
        ),
        (q.Check(SUBJECT, toy("a", references=(Reference("r", "r", 1),))), access("read")),
    ],
)
def test_requests_that_need_more_than_one_thing(request_: Request[Any], needed: Access) -> None:
    assert allowed(needed, request_)
    for rule in needed.rules:
        for less in complete(rule.may):
            rest = tuple(one for one in needed.rules if one is not rule)
            left = rule.may - {less} - ({"register"} if less == "read" else set())
            if less == "admin" or ("admin" in rule.may) or (less == "read" and "register" not in rule.may):
                continue
            assert not allowed(Access((*rest, Rule(rule.who, left, rule.subjects, rule.contexts))), request_), less
        narrow = Rule(rule.who, rule.may, ("nothing",), rule.contexts)
        assert not allowed(Access((*(one for one in needed.rules if one is not rule), narrow)), request_)
    assert not allowed(access(*PERMISSIONS, contexts=("?", ".??")), request_) or ".x" not in repr(request_)


def test_one_place_that_fits_a_context_of_one_letter_is_not_everywhere() -> None:
    assert not allowed(access("admin", contexts=("?",)), q.SetConfig(Scope("*"), Config()))


def test_an_unqualified_name_may_be_read_in_another_context_but_not_written() -> None:
    elsewhere = access("register", "delete", contexts=(".x",))
    assert allowed(elsewhere, q.GetVersion(SUBJECT, 1))
    assert allowed(elsewhere, q.Lookup(SUBJECT, toy("a", references=(Reference("r", "r", 1),))))
    assert not allowed(elsewhere, q.Register(SUBJECT, toy("a")))
    assert not allowed(elsewhere, q.DeleteSubject(SUBJECT))
    assert not allowed(elsewhere, q.GetVersion(Subject(".y", "orders-value"), 1))


def test_a_refusal_does_not_depend_on_the_state() -> None:
    with pytest.raises(Forbidden) as told:
        refuse_unless_allowed(access("read"), "user:a", q.Register(SUBJECT, toy("a")))
    reason = told.value.reason
    assert reason.message == (
        "user:a is not allowed to do this: it needs the permission register on subject 'orders-value'"
    )
    assert (reason.rule, reason.subject, reason.new, reason.allowed) == (
        "RIGHTS", "orders-value", "Register", "a rule that gives register",
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- no trace left

CONTEXTS = (".", ".x", ".y")
NAMES = ("a", "b", "secret-a", "secret-b")
SUBJECTS = tuple(Subject(context, name) for context in CONTEXTS for name in NAMES)


@st.composite
def histories(draw: st.DrawFn) -> list[Request[Any]]:
    """Registrations with references, and deletions of both kinds."""
    steps: list[Request[Any]] = []
    for _ in range(draw(st.integers(1, 12))):
        subject = draw(st.sampled_from(SUBJECTS))
        if draw(st.integers(0, 4)) == 0:
            resource = Resource(*draw(st.sampled_from([("t", "ns", "1"), ("u", "ns", "2"), ("t", "zone", "3")])))
            wish = associating.Wish(
                draw(st.sampled_from(["key", "value"])), subject, draw(st.sampled_from(["", "STRONG"]))
            )
            steps.append(associating.Associate(resource, (wish,)))
        elif draw(st.integers(0, 4)):
            target = draw(st.sampled_from(SUBJECTS))
            references = (Reference("r", str(target), draw(st.integers(1, 2))),) if draw(st.booleans()) else ()
            steps.append(q.Register(subject, toy(draw(st.sampled_from(["p?", "q?"])), references=references)))
        elif draw(st.booleans()):
            steps.append(q.DeleteSubject(subject, draw(st.booleans())))
        else:
            steps.append(q.DeleteVersion(subject, draw(st.integers(1, 2)), draw(st.booleans())))
    return steps


def built(steps: Iterable[Request[Any]]) -> Bench:
    bench = Bench()
    for step in steps:
        try:
            bench.do(step)
        except Refusal:
            continue
    return bench


def without_hidden(bench: Bench, access: Access) -> DictTables:
    """The same tables as if nobody had ever made what may not be read; schemas that others refer to stay."""
    full = bench.tables
    readable = {key for key in full.keys("version") if access.may("read", Subject(str(key[0]), str(key[1])))}
    left = {(key[0], full.get("version", key).schema_id) for key in readable}  # type: ignore[union-attr]
    waiting = list(left)
    while waiting:
        key = waiting.pop()
        schema = full.get("schema", key)
        assert isinstance(schema, Schema)
        for used in schema.references:
            target = (Subject(str(key[0]), "").sibling(used.subject).context, used.schema_id)
            if target not in left:
                left.add(target)
                waiting.append(target)
    rows = [CoreRow("version", key, full.get("version", key)) for key in readable]
    rows += [CoreRow("schema", key, full.get("schema", key)) for key in left]
    rows += [
        CoreRow("subject", key, full.get("subject", key))
        for key in full.keys("subject")
        if key[:2] in {one[:2] for one in readable}
    ]
    rows += [
        CoreRow("association", key, full.get("association", key))
        for key in full.keys("association")
        if access.may("read", subject_of(str(key[2])))
    ]
    rows += [CoreRow(table, key, full.get(table, key)) for table in ("context", "counter") for key in full.keys(table)]
    tables = DictTables()
    tables.load([encode_row(row) for row in rows], full.position)
    return tables


def questions(bench: Bench) -> list[Request[Any]]:
    guids = sorted({bench.tables.get("schema", key).guid for key in bench.tables.keys("schema")})  # type: ignore[union-attr]
    asked: list[Request[Any]] = [q.ListSubjects(), q.ListSubjects(Subject(".", ""), "all"), q.ListContexts()]
    asked += [
        q.ListSchemas(Subject("*", ""), visible, latest) for visible in get_args(q.Visible) for latest in (False, True)
    ]
    asked += [q.ListSchemas(Subject("*", ""), offset=1, limit=2)]
    asked += [one for guid in guids for one in (q.GetGuid(guid), q.GetGuidIds(guid))]
    places: list[Any] = [associating.OfId("1"), associating.OfId("2")]
    places += [associating.OfName(name, namespace) for name in ("t", "-") for namespace in ("ns", "zone", "-")]
    places += [associating.OfSubject(subject) for subject in SUBJECTS]
    lists = tuple(associating.ListAssociations(place) for place in places)
    asked += [*lists, associating.GetAssociations(lists, schemas=True)]
    for subject in (None, *SUBJECTS):
        for schema_id in (1, 2, 3):
            asked += [q.GetSchema(schema_id, subject), q.UsesOf(schema_id, subject, "all")]
    for subject in SUBJECTS:
        asked += [
            q.GetVersion(subject, q.LATEST),
            q.GetVersion(subject, 1, deleted=True),
            q.ListVersions(subject, "all"),
        ]
        asked += [q.FindVersion(subject, ()), q.ReferencedBy(subject, 1, deleted=True)]
        for reference in (Subject(".", "secret-a"), Subject(".x", "a")):
            draft = toy("p?", references=(Reference("r", str(reference), 1),))
            asked += [q.Lookup(subject, draft), q.Check(subject, draft)]
        asked += [q.Lookup(subject, toy("p?")), q.Check(subject, toy("q?"))]
    return asked


def told(tables: DictTables, bench: Bench, request: Request[Any], access: Access | None) -> object:
    verdict = decide(tables, Command(request, "c", 1, access=access), bench.grammar)
    if isinstance(verdict, Refusal):
        return type(verdict), verdict.reason
    assert isinstance(verdict, Decision)
    return verdict.answer


@given(
    histories(), st.sampled_from(["*", "a", "secret-*", "?"]), st.sampled_from([(".",), (".x",), ("*",), (".", ".y")])
)
def test_what_may_not_be_read_leaves_no_trace(
    steps: list[Request[Any]], pattern: str, contexts: tuple[str, ...]
) -> None:
    bench = built(steps)
    reader = access("read", subjects=(pattern,), contexts=contexts)
    reduced = without_hidden(bench, reader)
    for request in questions(bench):
        if allowed(reader, request):
            assert told(bench.tables, bench, request, reader) == told(reduced, bench, request, reader), request


@given(histories())
def test_who_may_read_everything_sees_what_nobody_asks_about(steps: list[Request[Any]]) -> None:
    bench = built(steps)
    everything = access("read", contexts=("*",))
    for request in questions(bench):
        assert told(bench.tables, bench, request, everything) == told(bench.tables, bench, request, None), request


@given(histories())
def test_who_may_read_nothing_that_is_there_is_told_nothing(steps: list[Request[Any]]) -> None:
    bench = built(steps)
    nothing = access("read", subjects=("not-there",), contexts=("*",))
    found = [told(bench.tables, bench, request, nothing) for request in questions(bench) if allowed(nothing, request)]
    for one in found:
        if isinstance(one, tuple):
            assert one[0].__name__.endswith("NotFound"), one
        elif isinstance(one, associating.AssociationResults):
            assert not any(each.done for each in one.results), one
        elif not isinstance(one, Contexts):  # names of contexts that fit; the door leaves out those without a subject
            assert not any(asdict(one).values()), one  # type: ignore[call-overload]  # answers are dataclasses


def test_a_planted_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law above can fail: with schemas unfiltered, an id of a secret subject is told."""
    bench = built([q.Register(Subject(".", "secret-a"), toy("p?"))])
    reader = access("read", subjects=("a",))
    request = q.GetSchema(1)
    hidden = told(bench.tables, bench, request, reader)
    monkeypatch.setattr(core_rights.Access, "may", lambda *_facts: True)
    assert told(bench.tables, bench, request, reader) != hidden
