"""Imports of versions by number over what is there: what others need is kept, and what takes its place is sound."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.toy import Bench, S, toy
from tests.worlds.drafts import described, referring
from tests.worlds.histories import purge
from tests.worlds.world import World, worlds
from treaty.core.handlers.versions import stored_versions
from treaty.core.invariants import find_violations
from treaty.core.messages.associations import Associate, AssociationSpec, Resource
from treaty.core.messages.encodings import AssignEncoding
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.schemaver import DeletePublished, GetPublished, Publish
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.transfers import ImportVersion
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import Encoded, NotPermitted, Referenced, Refusal
from treaty.core.state.schemaver_tables import SUPERSEDED
from treaty.core.state.state_tables import VERSION

USER, AWAY, ALIAS = Subject(".", "user"), Subject(".x", "user"), Subject(".", "alias")
FIRST, SECOND, THIRD, OTHER = toy("a"), toy("a", "b?"), toy("a", "b?", "c?"), toy("z")
THERE: list[Request[Any]] = [Register(S, one) for one in (FIRST, SECOND, THIRD)]
"""Versions 1 to 3, of which the second is imported over."""
USE = Register(USER, referring(FIRST, "s", 2))
USE_AWAY = Register(AWAY, referring(FIRST, ":.:s", 2))
NAME = Subject(".", "v/n/toy")

CASES: dict[str, tuple[list[Request[Any]], type[Refusal] | None]] = {
    "nobody needs it": ([], None),
    "referred": ([USE], Referenced),
    "referred from another context": ([USE_AWAY], Referenced),
    "referred by a deleted version": ([USE, DeleteVersion(USER, 1)], Referenced),
    "referred by an older version": ([USE, Register(USER, OTHER, force=ForceReason("ann", "another"))], Referenced),
    "referred by its own subject": ([Register(S, referring(FIRST, "s", 2))], Referenced),
    "deleted while nobody referred": ([DeleteVersion(S, 2)], None),
    "referred by a purged version": ([USE, DeleteSubject(USER), DeleteSubject(USER, permanent=True)], None),
    "another number is referred": ([Register(USER, referring(FIRST, "s", 1))], None),
    "encoded": ([AssignEncoding(S, 1)], Encoded),
    "encoded and deleted": ([AssignEncoding(S, 1), DeleteVersion(S, 2)], Encoded),
    "a hidden version goes along": ([DeleteVersion(S, 2), Register(S, SECOND)], None),
    "aliased": ([SetConfig(Scope(*ALIAS), Config(alias="s"))], None),
    "pinned by a topic": ([Associate(Resource("t", "ns", "id-t"), (AssociationSpec("value", S, "WEAK"),))], None),
    "compared from it on": ([SetConfig(Scope(*S), Config(validators=("policy:BackwardTill(1)",)))], None),
}  # fmt: skip


def entered(bench: Bench, *requests: Request[Any]) -> Bench:
    """The bench after the requests, in a subject that takes imports."""
    for request in requests:
        bench.do(request)
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    return bench


def hold_together(bench: Bench) -> None:
    """All rows are sound, and every version can be read with what it refers to, and registered again."""
    assert [str(one) for one in find_violations(bench.tables)] == []
    for subject in (S, USER, AWAY):
        for _, version in stored_versions(bench.tables, subject):
            found = bench.do(GetSchema(version.schema_id, subject))
            for used in found.references:
                target = subject.sibling(used.subject)
                assert bench.do(GetVersion(target, used.version, deleted=True)).number == used.version


@pytest.mark.parametrize("name", CASES)
def test_what_others_need_is_not_replaced(bench: Bench, name: str) -> None:
    requests, kind = CASES[name]
    entered(bench, *THERE, *requests)
    before, over = bench.tables.roots, Register(S, OTHER, number=2, schema_id=40)
    if kind is None:
        assert bench.do(over).version.number == 2
        assert bench.do(GetVersion(S, 2)).text == '["z"]'
    else:
        with pytest.raises(kind):
            bench.do(over)
        assert bench.tables.roots == before
    hold_together(bench)
    bench.do(SetMode(Scope(*S), None))
    bench.do(Register(USER, referring(toy("y?"), "s", 1), force=ForceReason("ann", "the next one")))


@pytest.mark.parametrize("name", CASES)
def test_an_import_of_a_group_replaces_nothing(bench: Bench, name: str) -> None:
    requests, _ = CASES[name]
    entered(bench, *THERE, *requests)
    before = bench.tables.roots
    for ordinal in (1, 8):
        with pytest.raises(NotPermitted):
            bench.do(ImportVersion(S, OTHER, ordinal, 3 if "deleted" in name or "hidden" in name else 2))
    assert bench.tables.roots == before
    hold_together(bench)


def test_a_number_behind_a_hidden_version_that_is_encoded_is_kept(bench: Bench) -> None:
    hidden = [AssignEncoding(S, 1), DeleteVersion(S, 2), Register(S, SECOND)]
    entered(bench, *THERE, *hidden)
    with pytest.raises(Encoded):
        bench.do(Register(S, OTHER, number=4, schema_id=40))


def test_a_former_text_that_is_referred_to_is_kept(bench: Bench) -> None:
    """A patch leaves the text that others refer to under the number of the version."""
    bench.do(Publish(NAME, "1-0-0", described(FIRST, "1")))
    bench.do(Register(USER, referring(FIRST, NAME.name, 1)))
    bench.do(Publish(NAME, "1-0-0", described(SECOND, "2"), patch=True))
    bench.do(SetMode(Scope(*NAME), "IMPORT", force=True))
    before = bench.tables.roots
    with pytest.raises(Referenced):
        bench.do(Register(NAME, OTHER, number=1, schema_id=40, names=(("schemaver", "1-0-5"),)))
    assert bench.tables.roots == before
    hold_together(bench)


def test_what_superseded_a_replaced_version_supersedes_nothing(bench: Bench) -> None:
    for label, draft, older in (("1-0-0", FIRST, ()), ("1-0-1", SECOND, ("1-0-0",)), ("1-0-2", THIRD, ("1-0-1",))):
        bench.do(Publish(NAME, label, described(draft, label), supersedes=older))
    bench.do(SetMode(Scope(*NAME), "IMPORT", force=True))
    bench.do(Register(NAME, OTHER, number=2, schema_id=40, names=(("schemaver", "1-0-5"),)))
    assert [str(one) for one in find_violations(bench.tables)] == []
    told = [bench.do(GetPublished(NAME, label)) for label in ("1-0-0", "1-0-2", "1-0-5")]
    assert [(one.version.number, one.supersedes, one.superseded_by) for one in told] == [
        (1, (), "1-0-2"),
        (3, ("1-0-0",), ""),
        (2, (), ""),
    ]


chosen = st.sampled_from([USE, USE_AWAY, *purge(USER, 1), *purge(S, 2), AssignEncoding(S, 1), AssignEncoding(S, 2),
                          Register(S, SECOND), DeleteVersion(S, 3), Register(USER, referring(SECOND, "s", 3))])  # fmt: skip
imports = st.builds(
    lambda draft, number, schema_id: Register(S, draft, number=number, schema_id=schema_id),
    st.sampled_from([OTHER, FIRST, toy("y")]), st.integers(1, 9), st.integers(1, 12),
)  # fmt: skip


@given(worlds(1), st.lists(st.one_of(chosen, imports), max_size=14))
def test_whatever_is_imported_over_whatever_all_holds_together(world: World, requests: list[Request[Any]]) -> None:
    bench = Bench()
    world.begin(bench.do, S)
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    for request in (*THERE, *requests):
        by_number = isinstance(request, Register) and request.schema_id >= 0
        bench.do(SetMode(Scope(*S), "IMPORT" if by_number else "READWRITE", force=True))
        _attempt(bench.do, request)
        hold_together(bench)


def _attempt(do: Callable[[Request[Any]], Any], request: Request[Any]) -> None:
    try:
        do(request)
    except Refusal:
        return


@pytest.mark.parametrize(
    ("deleted", "left"),
    [
        ("1-0-0", {"1-0-1": ((), "1-0-2"), "1-0-2": (("1-0-1",), "")}),
        ("1-0-1", {"1-0-0": ((), "1-0-2"), "1-0-2": (("1-0-0",), "")}),
        ("1-0-2", {"1-0-0": ((), ""), "1-0-1": ((), "")}),
    ],
)
@pytest.mark.parametrize("permanent", [False, True])
def test_a_deleted_version_neither_supersedes_nor_is_superseded(
    bench: Bench,
    deleted: str,
    left: dict[str, Any],
    permanent: bool,  # noqa: FBT001 - a parameter of the run
) -> None:
    """Of three: deleted softly, or for good."""
    for label, draft, older in (("1-0-0", FIRST, ()), ("1-0-1", SECOND, ("1-0-0",)), ("1-0-2", THIRD, ("1-0-1",))):
        bench.do(Publish(NAME, label, described(draft, label), supersedes=older))
    number = bench.do(GetPublished(NAME, deleted)).version.number
    bench.do(DeletePublished(NAME, deleted))
    if permanent:
        bench.do(DeleteVersion(NAME, number, permanent=True))
    found = {label: bench.do(GetPublished(NAME, label)) for label in left}
    assert {label: (one.supersedes, one.superseded_by) for label, one in found.items()} == left
    kept = {key.ordinal for key in bench.tables.keys(VERSION) if key.subject == NAME.name}
    rows = [bench.tables.get(SUPERSEDED, key) for key in bench.tables.keys(SUPERSEDED) if key.subject == NAME.name]
    assert {row.ordinal for row in rows if row is not None} <= kept, "no row leads to a version that is gone"
    assert [str(one) for one in find_violations(bench.tables)] == []


def test_a_version_is_not_replaced_by_one_that_refers_to_it() -> None:
    for number in (2, -1):  # by its number, and as the latest one
        bench = entered(Bench(), *THERE[:2])
        draft = referring(FIRST, "s", number)
        with pytest.raises(Referenced, match="cannot be replaced by a schema that refers to it"):
            bench.do(Register(S, draft, number=2, schema_id=90))
        assert bench.do(GetVersion(S, 2)).schema_id == 2
        assert not [*find_violations(bench.tables)]
        bench.do(Register(S, draft, number=3, schema_id=90))
