"""Groups that lose what they have: a subject is removed, or outlives its versions, and a version is deleted by its ordinal."""

from collections.abc import Callable

import pytest

from tests.laws.grouped import S, create, get
from tests.laws.toy import Bench, put, toy
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.command import Command
from treaty.core.decide import decide
from treaty.core.invariants import find_violations
from treaty.core.messages.associations import Associate, AssociationSpec, Dissociate, Resource
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType, GetEncoding, ListCodecs
from treaty.core.messages.groups import DeleteOrdinal, RemoveSubject
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config, Scope, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import (
    AlreadyDeleted,
    NoLiveVersion,
    Referenced,
    Refusal,
    SubjectAssociated,
    SubjectNotFound,
    VersionNotFound,
)
from treaty.core.schema import Reference
from treaty.core.state.state_tables import CODEC, COUNTER, ENCODING, VERSION, encodings_key


def test_a_subject_goes_with_all_that_is_its_own() -> None:
    bench = Bench()
    create(bench, policy=Config(level="NONE"))
    put(bench, S, "a")
    put(bench, S, "b")
    bench.do(AddCodec(S, CodecType("gzip")))
    assert [bench.do(AssignEncoding(S, at, "gzip")).encoding_id for at in (0, 1)] == [0, 1]
    bench.do(DeleteVersion(S, 1))
    bench.do(SetMode(Scope(*S), "READWRITE"))
    assert bench.do(RemoveSubject(S)).removed
    assert not bench.do(RemoveSubject(S)).removed
    assert not [*bench.tables.keys(VERSION), *bench.tables.keys(ENCODING), *bench.tables.keys(CODEC)]
    assert [*bench.tables.keys(COUNTER)].count(encodings_key(S)) == 1
    with pytest.raises(SubjectNotFound):
        get(bench)
    create(bench)
    assert (get(bench).config, bench.do(ListCodecs(S)).codecs) == (Config(), ())
    assert put(bench, S, "a").ordinal == 0
    assert bench.do(AssignEncoding(S, 0)).encoding_id == 2, "an encoding id is given once under a name"
    with pytest.raises(Refusal):
        bench.do(GetEncoding(S, 0))
    assert [*find_violations(bench.tables)] == []


def test_what_others_refer_to_is_not_removed() -> None:
    bench = Bench()
    create(bench)
    put(bench, S, "a")
    for name in ("t", "u"):
        user = Subject(".", name)
        bench.do(Register(user, toy(name, references=(Reference("s", "s", 1),))))
    with pytest.raises(Referenced) as refused:
        bench.do(RemoveSubject(S))
    assert refused.value.reason.old == "t version 1, u version 1"
    for name in ("t", "u"):
        bench.do(RemoveSubject(Subject(".", name)))
    assert bench.do(RemoveSubject(S)).removed


def test_a_removal_names_only_users_that_the_caller_may_read() -> None:
    bench = Bench()
    create(bench)
    put(bench, S, "a")
    bench.do(Register(Subject(".", "secret"), toy("b", references=(Reference("s", "s", 1),))))
    access = Access((AccessRule(("user:a",), with_included(["delete"]), ("s",)),))
    told = decide(bench.tables, Command(RemoveSubject(S), "c", 1, "user:a", access), bench.engine)
    assert isinstance(told, Referenced)
    assert "secret" not in repr(told.reason)


def test_what_an_association_holds_is_not_removed() -> None:
    bench = Bench()
    create(bench)
    put(bench, S, "a")
    bench.do(Associate(Resource("t", "ns", "id-t"), (AssociationSpec("value", S),)))
    with pytest.raises(SubjectAssociated):
        bench.do(RemoveSubject(S))
    with pytest.raises(NoLiveVersion):
        bench.do(DeleteOrdinal(S, 0))
    bench.do(Dissociate("id-t"))
    assert bench.do(RemoveSubject(S)).removed


def test_a_schema_may_refer_to_its_own_subject() -> None:
    bench = Bench()
    create(bench, policy=Config(level="NONE"))
    put(bench, S, "a")
    bench.do(Register(S, toy("b", references=(Reference("s", "s", 1),))))
    assert bench.do(RemoveSubject(S)).removed


def purge_by_versions(bench: Bench) -> None:
    for number in (1, 2):
        bench.do(DeleteVersion(S, number))
        bench.do(DeleteVersion(S, number, permanent=True, force=True))


def purge_by_subject(bench: Bench) -> None:
    bench.do(DeleteSubject(S))
    bench.do(DeleteSubject(S, permanent=True, force=True))


def purge_by_import(bench: Bench) -> None:
    bench.do(DeleteSubject(S))
    bench.do(SetMode(Scope(*S), "IMPORT"))
    bench.do(SetMode(Scope(*S), None))


def purge_by_association(bench: Bench) -> None:
    bench.do(Associate(Resource("t", "ns", "id-t"), (AssociationSpec("value", S, "STRONG"),)))
    bench.do(Dissociate("id-t", cascade=True))


@pytest.mark.parametrize("purge", [purge_by_versions, purge_by_subject, purge_by_import, purge_by_association])
@pytest.mark.parametrize("origin", ["pravega", "confluent"])
def test_subjects_of_other_doors_stay_without_versions(origin: str, purge: Callable[[Bench], None]) -> None:
    """With settings, codecs, and the count of ordinals; those made by Confluent's API go with their last version."""
    bench = Bench()
    policy = Config(level="NONE")
    bench.do(Register(S, toy("a"), create_with=SubjectCreation(origin, policy=policy)))
    put(bench, S, "b")
    bench.do(AddCodec(S, CodecType("gzip")))
    purge(bench)
    assert [*bench.tables.keys(VERSION)] == []
    assert bench.do(ListSubjects(visible="all")).names == ()
    if origin == "confluent":
        with pytest.raises(SubjectNotFound):
            get(bench)
    else:
        assert (get(bench).config, get(bench).latest) == (policy, -1)
        assert bench.do(ListCodecs(S)).codecs == (CodecType("gzip"),)
        assert (put(bench, S, "a").ordinal, put(bench, S, "b").number) == (2, 2)
    assert [*find_violations(bench.tables)] == []


# ------------------------------------------------------------------------------------------------------ ordinals


@pytest.mark.parametrize("origin", ["pravega", "confluent"])
def test_a_scope_that_is_opened_for_imports_keeps_subjects_without_versions(origin: str) -> None:
    bench = Bench()
    create(bench, origin=origin)
    bench.do(SetMode(Scope("."), "IMPORT"))
    assert get(bench).origin == origin


def test_a_version_is_deleted_softly_by_its_ordinal() -> None:
    bench = Bench()
    create(bench)
    put(bench, S, "a")
    put(bench, S, "a", "b?")
    told = bench.do(DeleteOrdinal(S, 1), "mine")
    assert (told.ordinal, told.number, told.deleted) == (1, 2, True)
    assert bench.do(DeleteOrdinal(S, 1), "mine") == told, "the same command is answered alike"
    assert get(bench).latest == 0
    with pytest.raises(AlreadyDeleted):
        bench.do(DeleteOrdinal(S, 1))
    for missing in (DeleteOrdinal(S, 7), DeleteOrdinal(S, -1)):
        with pytest.raises(VersionNotFound):
            bench.do(missing)
    with pytest.raises(SubjectNotFound):
        bench.do(DeleteOrdinal(Subject(".", "nobody"), 0))
    assert put(bench, S, "a", "b?").ordinal == 2, "what is added again is another version"


def test_a_version_that_others_refer_to_is_not_deleted_by_its_ordinal() -> None:
    bench = Bench()
    create(bench)
    put(bench, S, "a")
    bench.do(Register(Subject(".", "t"), toy("b", references=(Reference("s", "s", 1),))))
    with pytest.raises(Referenced):
        bench.do(DeleteOrdinal(S, 0))
