"""Listings say what the rows say, in order, and pages of any size come to the same."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.laws.toy import EMPTY, Bench, S, ToyGrammar, put, toy
from treaty.core.access.rights import AccessRule, Rights
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.limits import COUNTER, NAME_LENGTH, TIME_AHEAD
from treaty.core.messages.contexts import ContextMade, ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.request import Request, Visible
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.settings import Config, ListSettings, Scope, ScopeSetting, SetConfig, SetMode
from treaty.core.messages.versions import DeleteVersion, GetVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.policy import ForcedRegistration
from treaty.core.refusals import InvalidSubject, NotPermitted, TooLarge
from treaty.core.schema import Rule, RuleSet
from treaty.core.state import values
from treaty.core.state.commit import Position
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.tables import DictTables

A = TypeVar("A")

names = st.sampled_from(["", "a", "ab", "b", ":", ":b", "!", "/", "aé", "z"])
contexts = st.sampled_from([".", ".a", ".a-b", ".b"])
subjects = st.builds(Subject, contexts, names)
states = st.sampled_from(["live", "live", "soft", "hidden"])
histories = st.dictionaries(subjects, st.lists(states, min_size=1, max_size=3), max_size=12)
prefixes = st.builds(Subject, contexts | st.just("*"), st.sampled_from(["", "a", ":", "x", "ab"]))
visibles = st.sampled_from(get_args(Visible))
ANYWHERE = Subject("*", "")
GONE = {
    Subject(".", name): made
    for name, made in (("a", ["soft"]), ("ab", ["live", "soft"]), ("b", ["soft"]), ("z", ["live"]))
}
"""Subjects that are deleted, and others that are not, in turns."""
SHOWN = {"live": {"live"}, "all": {"live", "soft"}, "deleted": {"soft"}}


def tables_of(history: dict[Subject, list[str]]) -> DictTables:
    rows = [Row("schema", (context, 1), values.Schema("g", "TOY", "[]", "l")) for context in (".", ".a", ".a-b", ".b")]
    for subject, made in history.items():
        rows.append(Row("context", (subject.context,), values.Context()))
        rows.append(Row("subject", tuple(subject), values.SubjectValue(1)))
        rows += [
            Row("version", (*subject, 1, at), values.Version(at + 1, 1, "TOY", state=state))
            for at, state in enumerate(made)
        ]
    tables = DictTables()
    tables.apply([encode_row(row) for row in rows], Position(b"i" * 16, 1, b"d" * 32))
    return tables


def ask(tables: DictTables, request: Request[A]) -> A:
    decision = decide(tables, Command(request, "c", 1), ToyGrammar())
    assert isinstance(decision, Decision)
    answer: A = decision.answer
    return answer


def begins(subject: Subject, prefix: Subject) -> bool:
    return prefix.context in {"*", subject.context} and subject.name.startswith(prefix.name)


def paged(ask_page: Callable[[Any], Sequence[A]], size: int, place: Callable[[A], Any]) -> list[A]:
    """What pages of a size come to, each behind the last entry of the one before."""
    found: list[A] = []
    while True:
        page = ask_page(place(found[-1]) if found else None)
        assert len(page) <= size
        found += page
        if len(page) < size:
            return found


@given(histories, prefixes, visibles, st.integers(0, 4), st.integers(0, 5))
@example(GONE, ANYWHERE, "live", 1, 1)
@example(GONE, ANYWHERE, "deleted", 1, 1)
def test_subjects(history: dict[Subject, list[str]], prefix: Subject, visible: Visible, size: int, offset: int) -> None:
    tables = tables_of(history)
    expected = sorted(
        str(one)
        for one, made in history.items()
        if begins(one, prefix) and SHOWN[visible] & set(made) and not (visible == "deleted" and "live" in made)
    )
    whole = ListSubjects(prefix, visible)

    assert list(ask(tables, whole).names) == expected
    assert list(ask(tables, replace(whole, offset=offset, limit=size)).names) == expected[offset : offset + size]
    pages = paged(lambda after: ask(tables, replace(whole, limit=size or 1, after=after)).names, size or 1, str)
    assert pages == expected


def place_of(one: VersionFound) -> tuple[str, int]:
    return one.subject, one.number


@given(histories, prefixes, visibles, st.booleans(), st.integers(0, 4), st.integers(0, 5))
@example(GONE, ANYWHERE, "live", True, 1, 1)
@example(GONE, ANYWHERE, "deleted", True, 1, 1)
@example(GONE, ANYWHERE, "all", True, 1, 1)
def test_versions(
    history: dict[Subject, list[str]], prefix: Subject, visible: Visible, latest: object, size: int, offset: int
) -> None:
    tables = tables_of(history)
    expected: list[tuple[str, int]] = []
    for subject in sorted(filter(lambda one: begins(one, prefix), history), key=str):
        numbers = [at for at, state in enumerate(history[subject], 1) if state in SHOWN[visible]]
        expected += [(str(subject), number) for number in (numbers[-1:] if latest else numbers)]
    whole = ListSchemas(prefix, visible, latest=bool(latest))

    assert [place_of(one) for one in ask(tables, whole).versions] == expected
    some = ask(tables, replace(whole, offset=offset, limit=size)).versions
    assert [place_of(one) for one in some] == expected[offset : offset + size]
    pages = paged(lambda after: ask(tables, replace(whole, limit=size or 1, after=after)).versions, size or 1, place_of)
    assert [place_of(one) for one in pages] == expected


@EMPTY
def test_a_page_goes_on_where_the_one_before_ended_whatever_came_and_went(bench: Bench) -> None:
    for name in "abcdef":
        put(bench, Subject(".", name), "x")
    first = bench.do(ListSubjects(limit=3)).names
    bench.do(DeleteVersion(Subject(".", "a"), 1))
    bench.do(DeleteVersion(Subject(".", "c"), 1))
    put(bench, Subject(".", "b0"), "x")

    assert first == ("a", "b", "c")
    assert bench.do(ListSubjects(limit=3, after="c")).names == ("d", "e", "f")


def scope_of(one: ScopeSetting) -> Scope:
    return Scope(one.context, one.name)


@pytest.fixture
def settled(bench: Bench) -> Bench:
    """Settings at every kind of scope: of subjects that are there, and of some that never were."""
    put(bench, Subject(".", "s"), "x")
    put(bench, Subject(".a", "s"), "x")
    put(bench, Subject(".a", "t"), "y")
    put(bench, Subject(".b", "s"), "x")
    bench.do(DeleteVersion(Subject(".b", "s"), 1))
    bench.do(DeleteVersion(Subject(".b", "s"), 1, permanent=True))
    for scope in (Scope("*"), Scope("."), Scope(".c"), Scope(".", "never"), Scope(".a", "t"), Scope(".d", "t1")):
        bench.do(SetConfig(scope, Config(level="FULL")))
    for scope in (Scope("*"), Scope(".a"), Scope(".", "s"), Scope(".a", "t"), Scope(".", "zz")):
        bench.do(SetMode(scope, "READONLY"))
    return bench


FULL = Config(level="FULL")
ALL = [
    ScopeSetting(".", None, FULL, None, 1),
    ScopeSetting(".a", None, None, "READONLY", 2),
    ScopeSetting(".b", None, None, None, 1),
    ScopeSetting(".c", None, FULL),
    ScopeSetting("*", None, FULL, "READONLY"),
    ScopeSetting(".", "never", FULL),
    ScopeSetting(".", "s", None, "READONLY"),
    ScopeSetting(".", "zz", None, "READONLY"),
    ScopeSetting(".a", "t", FULL, "READONLY"),
    ScopeSetting(".d", "t1", FULL),
]


@EMPTY
def test_settings_are_listed_at_every_scope_and_contexts_always_with_the_highest_id_they_gave(settled: Bench) -> None:
    assert list(settled.do(ListSettings()).settings) == ALL


@pytest.mark.parametrize(
    ("prefix", "shown"),
    [
        (Subject(".a", ""), [1, 8]),
        (Subject(".", ""), [0, 5, 6, 7]),
        (Subject(".", "z"), [7]),
        (Subject(".c", ""), [3]),
        (Subject(".a", "x"), []),
        (Subject("*", "t"), [8, 9]),
    ],
    ids=str,
)
def test_settings_under_a_prefix(settled: Bench, prefix: Subject, shown: list[int]) -> None:
    assert list(settled.do(ListSettings(prefix)).settings) == [ALL[at] for at in shown]


@pytest.mark.parametrize("size", range(1, 11))
@pytest.mark.parametrize("prefix", [Subject("*", ""), Subject(".a", ""), Subject(".", "")], ids=str)
def test_pages_of_settings(settled: Bench, size: int, prefix: Subject) -> None:
    whole = list(settled.do(ListSettings(prefix)).settings)
    pages = paged(lambda after: settled.do(ListSettings(prefix, limit=size, after=after)).settings, size, scope_of)
    assert pages == whole
    assert list(settled.do(ListSettings(prefix, offset=1, limit=size)).settings) == whole[1 : 1 + size]


def test_only_settings_of_what_may_be_read_are_listed(settled: Bench) -> None:
    rights = Rights((AccessRule(("user:a",), frozenset({"read"}), ("t*", "n*"), (".a",)),))
    command = Command(ListSettings(), "c", 1, access=rights.access("user:a"))
    decision = decide(settled.tables, command, settled.engine)

    assert isinstance(decision, Decision)
    unseen = replace(ALL[0], highest_id=0)  # its ids belong to what may not be read
    assert list(decision.answer.settings) == [unseen, *(ALL[at] for at in (1, 4, 8))]


@pytest.mark.parametrize(
    "subject", [Subject(".", ":.x:s"), Subject(".", ":*:s"), Subject(".a:b", "s"), Subject("a", "s")], ids=repr
)
def test_a_name_that_reads_as_another_one_is_no_name(bench: Bench, subject: Subject) -> None:
    assert subject_of(str(subject)) != subject
    with pytest.raises(InvalidSubject):
        put(bench, subject, "x")


@EMPTY
def test_a_context_is_made_for_who_imports_and_gives_no_id_that_counts_as_given(bench: Bench) -> None:
    with pytest.raises(NotPermitted, match="not in import mode"):
        bench.do(MakeContext(".a", 7))
    bench.do(SetMode(Scope(".a"), "IMPORT"))
    assert bench.do(MakeContext(".a", 7)) == ContextMade(".a", 7)
    before = bench.tables.sequence
    assert bench.do(MakeContext(".a", 3)) == ContextMade(".a", 7)
    assert bench.do(MakeContext(".a")) == ContextMade(".a", 7)
    assert bench.tables.sequence == before
    bench.do(SetMode(Scope(".a"), None))

    assert bench.do(ListContexts()).names == (".", ".a")
    assert put(bench, Subject(".a", "s"), "x").schema_id == 8


@pytest.mark.parametrize("name", ["a", "*", ".__GLOBAL", ".a:b", ".a\n", "." + "a" * NAME_LENGTH])
def test_a_context_that_no_subject_could_be_in_is_not_made(bench: Bench, name: str) -> None:
    bench.do(SetMode(Scope("*"), "FORWARD"))
    with pytest.raises(InvalidSubject):
        bench.do(MakeContext(name))
    with pytest.raises(TooLarge):
        bench.do(MakeContext(".a", COUNTER + 1))


def test_a_time_of_registration_is_told_by_who_imports_and_lies_in_the_past(bench: Bench) -> None:
    with pytest.raises(NotPermitted, match="not in import mode") as caught:
        put(bench, S, "x", time=5)
    assert caught.value.reason.rule == "TIME_NOT_IMPORTED"
    bench.do(SetMode(Scope("."), "IMPORT"))
    with pytest.raises(NotPermitted, match="future"):
        put(bench, S, "x", time=2_000 + TIME_AHEAD, schema_id=1)

    assert put(bench, S, "x", time=5, schema_id=1).time == 5
    assert put(bench, S, "y", time=0, schema_id=2).time == 0
    assert put(bench, S, "z", schema_id=3).time >= 1_000
    assert bench.do(GetVersion(S, 1)).imported


def test_who_forced_a_version_is_told(bench: Bench) -> None:
    put(bench, S, "x")
    forced = put(bench, S, "y", force=ForceReason("alice", "it burns"))

    assert forced.forced == bench.do(GetVersion(S, 2)).forced == ForcedRegistration("alice", "it burns")
    assert bench.do(GetVersion(S, 1)).forced is None


def test_many_subjects_with_one_schema_do_not_slow_down_the_next(bench: Bench) -> None:
    for at in range(20):
        put(bench, Subject(".", f"s{at:02}"), "x")
    bench.do(DeleteVersion(Subject(".", "s00"), 1))

    assert bench.do(GetSchema(1)).subject == "s01"
    assert bench.do(GetSchema(1, Subject(".", "s07"))).subject == "s07"
    assert bench.do(GetSchema(1, Subject(".", "s00"))).deleted
    assert bench.do(GetSchema(1, Subject(".", "other"))).subject == "s01"
    assert not bench.do(Register(Subject(".", "s05"), toy("x"))).created


@pytest.mark.parametrize("group", ["migration", "domain", "encoding"])
def test_schemas_are_listed_by_the_type_of_any_of_their_rules(bench: Bench, group: str) -> None:
    """The rule asked for is the only one, or the last one beside rules of all groups."""
    one, two, three = ((Rule(each, type="CEL"),) for each in ("migration", "domain", "encoding"))
    others = RuleSet(one, two, three)
    sets = {"alone": RuleSet(), "beside": others}
    for name, rules in sets.items():
        asked: dict[str, Any] = {group: (*getattr(rules, group), Rule("asked", type="ENCRYPT"))}
        bench.do(Register(Subject(".", f"{group} {name}"), toy("a", rules=replace(rules, **asked))))
    bench.do(Register(Subject(".", "none"), toy("a", rules=others)))
    found = bench.do(ListSchemas(rule_type="ENCRYPT")).versions
    assert [one.subject for one in found] == [f"{group} {name}" for name in sets]
