"""Which subject a row belongs to, table by table: what is hidden, refused and noted of private subjects follows from it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.laws.private_bench import ADMIN, NICK, OUTER, RECORD, USED, USER, VENDOR, private_bench
from tests.laws.toy import Bench
from treaty.core.access.authorized_view import FOUND, WALKED, AuthorizedView, readable_view
from treaty.core.access.private_subjects import (
    PublicView,
    refuse_hidden_changes,
    refuse_unless_private_creator,
    subject_of_row,
    touches_private,
)
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages.associations import Associate, AssociationSpec, Resource
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType
from treaty.core.messages.policies import CreatePolicy
from treaty.core.messages.registration import ForceReason, Register, SubjectCreation
from treaty.core.messages.schemaver import Publish, PutDraft
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden
from treaty.core.schema import Draft, Reference
from treaty.core.state import state_tables as t
from treaty.core.state.association_table import ASSOCIATION
from treaty.core.state.rows import Row, make_row
from treaty.core.state.schemaver_tables import DRAFT
from treaty.core.state.table import Key
from treaty.core.state.values import ConfigValue, Counter, PolicyValue
from treaty.core.state.view import ALL_KEYS, Overlay

NAMING = [name for name, table in t.TABLES.items() if "subject" in dict(table.parts)]
"""Tables whose keys have a subject among their parts."""
FAR, OPEN, FAR_NICK = Subject(".x", "p/far/avro"), Subject(".x", "open"), Subject(".x", "nick")
PRIVATE = {USER, FAR}
OTHER = '{"type":"record","name":"Other","fields":[]}'
SPACED = Draft(f" {RECORD.text}", "AVRO")


def key_about(name: str, subject: Subject, **parts: str) -> Key:
    """A key of a table with a subject in it, by the names of its parts."""
    table = t.TABLES[name]
    known = {"context": subject.context, "subject": subject.name, "scope": "subject", **parts}
    if table is ASSOCIATION:  # it has no part for the context
        known["subject"] = str(subject)
    return tuple.__new__(table.key, [known.get(part, kind()) for part, kind in table.parts])


@pytest.fixture
def bench() -> Bench:
    return private_bench()


@pytest.mark.parametrize("name", t.TABLES)
def test_a_row_is_of_the_subject_that_its_key_names(name: str) -> None:
    for subject in (Subject(".", "s"), Subject(".x", "s")):
        key = key_about(name, subject, generation="", number="") if name in NAMING else ("a", "b", "c")
        assert subject_of_row(t.TABLES[name], key) == (subject if name in NAMING else None)


@pytest.mark.parametrize("scope", ["context", "everywhere"])
def test_settings_above_subjects_and_the_ids_of_a_context_are_of_no_subject(scope: str) -> None:
    for table in (t.CONFIG, t.MODE):
        assert subject_of_row(table, key_about(table.name, Subject(".x", ""), scope=scope)) is None
    assert subject_of_row(t.COUNTER, t.ids_key(".x")) is None


@pytest.mark.parametrize("name", NAMING)
def test_a_command_touches_what_is_private_by_any_row_of_it(bench: Bench, name: str) -> None:
    view = PublicView(bench.tables, ADMIN)
    for subject, is_touched in ((USER, True), (USED, False), (NICK, False)):
        row = Row(name, key_about(name, subject), None)
        other = Row(name, key_about(name, Subject(".x", "s")), None)
        assert touches_private(bench.tables, None, (other, row)) == is_touched
        assert touches_private(bench.tables, subject, ()) == is_touched
        if is_touched:
            with pytest.raises(Forbidden):
                refuse_hidden_changes(view, (other, row), "user:root", "x")
        else:
            refuse_hidden_changes(view, (other, row), "user:root", "x")
    assert not touches_private(Bench().tables, USER, (Row(name, key_about(name, USER), None),))


def test_the_first_private_subject_touches_what_is_private(bench: Bench) -> None:
    """The row that makes it is not there yet."""
    row = bench.tables.get(t.SUBJECT, USER)
    assert touches_private(Bench().tables, None, (Row(t.SUBJECT.name, USER, row),))
    assert not touches_private(Bench().tables, None, (Row(t.SUBJECT.name, USED, bench.tables.get(t.SUBJECT, USED)),))


# --------------------------------------------------------------------------------------------------------------- views


def furnished() -> Bench:
    """A registry in which a public and a private subject have rows in every table, in two contexts."""
    bench = private_bench()
    bench.do(CreatePolicy("strict", PolicyValue()))
    refers = Draft(OUTER, "AVRO", (Reference("R", USED.name, 1),))
    for subject, draft, private in ((USED, RECORD, False), (USER, refers, True)):
        bench.do(Publish(subject, "1-0-1", draft, supersedes=("1-0-0",)))
        bench.do(AddCodec(subject, CodecType("gzip")))
        bench.do(AssignEncoding(subject, 0, "gzip"))
        bench.do(PutDraft(subject, 1, "{}", private=private))
        bench.do(SetConfig(Scope(*subject), Config(follows="strict")))
        bench.do(SetMode(Scope(*subject), "READWRITE"))
        bench.do(Associate(Resource(subject.name, "cluster", subject.name), (AssociationSpec(subject=subject),)))
        for text in (OTHER.replace("Other", "Former"), OTHER):
            bench.do(Publish(subject, "1-0-1", Draft(text, "AVRO"), patch=True))
    for subject in (FAR, OPEN):
        creation = SubjectCreation(identity="normalised", private=subject in PRIVATE)
        bench.do(Register(subject, SPACED, create_with=creation))
        bench.do(Register(subject, Draft(OTHER.replace("Other", subject.name[-4:]), "AVRO"), force=ForceReason("", "")))
        bench.do(DeleteVersion(subject, 2))
    bench.do(SetConfig(Scope(*NICK), Config(alias=USED.name)))
    for context in (".x", ".", "*"):
        bench.do(SetConfig(Scope(context), Config(level="FULL")))
        bench.do(SetMode(Scope(context), "READWRITE"))
    return bench


def reader(subjects: str, context: str = "*", *, private: bool = False) -> Access:
    return Access((AccessRule(("user:a",), with_included(["read"]), (subjects,), (context,), private=private),))


READERS = {
    "everything": reader("*", private=True),
    "everything public": ADMIN,
    "a vendor": VENDOR,
    "one subject": reader("p/used/avro"),
    "a private one": reader("p/user/avro"),
    "one context": reader("*", ".x"),
    "nothing that is there": reader("q/*", ".y"),
}
"""Callers who may read some of it, and with which private subjects."""


@pytest.fixture(scope="module")
def full() -> Bench:
    return furnished()


def is_readable(access: Access, subject: Subject) -> bool:
    return access.may("read", subject) and (subject not in PRIVATE or access.may("read", subject, private=True))


def readable_entries(bench: Bench, access: Access, order: Any) -> list[Key]:
    """The entries of an order that follow from rows of readable subjects; those of settings above subjects are left out."""
    table = next(table for table in t.TABLES.values() if order is table or order in table.indexes)
    entries: set[Key] = set()
    for key in bench.tables.keys(table):
        subject = subject_of_row(table, key)
        if subject is not None and is_readable(access, subject):
            entries.update([key] if order is table else order.entries(key, bench.tables.get(table, key)))
    return sorted(entries)


@pytest.mark.parametrize("name", READERS)
def test_a_walk_shows_what_is_of_readable_subjects_up_and_down(full: Bench, name: str) -> None:
    access = READERS[name]
    view = readable_view(full.tables, access)
    for order in WALKED:
        entries = [entry for entry in view.walk(order, *ALL_KEYS) if entry[0] not in {"context", "everywhere"}]
        assert entries == readable_entries(full, access, order), order.name
        assert [*view.walk(order, *ALL_KEYS, reverse=True)][::-1] == [*view.walk(order, *ALL_KEYS)]


@pytest.mark.parametrize("name", READERS)
def test_settings_of_a_context_are_listed_for_who_may_read_something_in_it(full: Bench, name: str) -> None:
    access = READERS[name]
    view = readable_view(full.tables, access)
    contexts = [context for context in (".", ".x") if context == "." or access.enters(context)]
    for order in (t.CONFIG, t.MODE):
        above = [key[:2] for key in view.walk(order, *ALL_KEYS) if key[0] != "subject"]
        assert above == [*(("context", context) for context in contexts), ("everywhere", "*")]
    assert sorted(view.keys(t.CONTEXT)) == [(context,) for context in (".", ".x") if access.enters(context)]


def users(bench: Bench, schema: Key) -> Iterator[Subject]:
    """The subjects of which a version has a schema."""
    for key in bench.tables.keys(t.VERSION):
        version = bench.tables.get(t.VERSION, key)
        if version is not None and (key.context, version.schema_id) == schema:
            yield Subject(key.context, key.subject)


@pytest.mark.parametrize("name", READERS)
def test_an_index_shows_rows_of_readable_subjects_and_schemas_that_they_use(full: Bench, name: str) -> None:
    access = READERS[name]
    view, indexes = readable_view(full.tables, access), set()
    for table in t.TABLES.values():
        for index in {*table.indexes} & {*FOUND}:
            for key in full.tables.keys(table):
                subject = subject_of_row(table, key)
                subjects = [*users(full, key)] if subject is None else [subject]
                is_shown = any(is_readable(access, subject) for subject in subjects)
                for entry in index.entries(key, full.tables.get(table, key)):
                    keys = [*view.find(index, entry)]
                    assert (key in keys) == is_shown, (index.name, key)
                    assert [*view.find(index, entry, key[:1])] == [other for other in keys if other[0] == key[0]]
                    indexes.add(index)
    assert indexes == {*FOUND}


@pytest.mark.parametrize("name", [name for name in READERS if name != "everything"])
def test_what_says_nothing_of_subjects_is_neither_listed_nor_found(full: Bench, name: str) -> None:
    """Handlers reach such rows by keys alone, or look at all rows and leave out what may not be read by themselves."""
    view = readable_view(full.tables, READERS[name])
    for table in t.TABLES.values():
        if table.name not in NAMING and table is not t.CONTEXT:
            assert [*view.keys(table)] == []
        for key in full.tables.keys(table):
            for index in {*table.indexes} - {*FOUND}:
                for entry in index.entries(key, full.tables.get(table, key)) if index.key_of is None else ():
                    assert [*view.find(index, entry)] == []
    for order in {*t.ORDERS.values()} - {*WALKED}:
        assert [*view.walk(order, *ALL_KEYS)] == []


@pytest.mark.parametrize("name", READERS)
def test_keys_and_rows_are_those_of_readable_subjects(full: Bench, name: str) -> None:
    access = READERS[name]
    view = readable_view(full.tables, access)
    for table in (t.TABLES[name] for name in NAMING):
        if table in {t.CONFIG, t.MODE, t.COUNTER}:  # they are walked, or asked for by key
            continue
        assert sorted(view.keys(table)) == readable_entries(full, access, table)


@pytest.mark.parametrize("name", READERS)
def test_the_highest_id_is_that_of_a_readable_version(full: Bench, name: str) -> None:
    access = READERS[name]
    view = readable_view(full.tables, access)
    for context in (".", ".x"):
        rows = [(key, full.tables.get(t.VERSION, key)) for key in full.tables.keys(t.VERSION) if key.context == context]
        ids = [
            row.schema_id
            for key, row in rows
            if row is not None and is_readable(access, Subject(key.context, key.subject))
        ]
        assert view.get(t.COUNTER, t.ids_key(context)) == Counter(max(ids, default=0))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("other", ["everything public", "a vendor"])
def test_what_a_caller_may_read_of_a_view_of_another_caller_is_what_is_there(
    full: Bench, name: str, other: str
) -> None:
    """A private subject that the other one does not see is private all the same, and may be this one's."""
    access = READERS[name]
    view, plain = AuthorizedView(PublicView(full.tables, READERS[other]), access), AuthorizedView(full.tables, access)
    assert view.base is full.tables
    for table in t.TABLES.values():
        assert [*view.keys(table)] == [*plain.keys(table)]
        for key in full.tables.keys(table):
            assert view.get(table, key) == plain.get(table, key)
            for index in (index for index in table.indexes if index.key_of is None):
                for entry in index.entries(key, full.tables.get(table, key)):
                    assert [*view.find(index, entry)] == [*plain.find(index, entry)]
    for order in t.ORDERS.values():
        assert [*view.walk(order, *ALL_KEYS)] == [*plain.walk(order, *ALL_KEYS)]


@pytest.mark.parametrize("name", NAMING)
def test_a_command_does_not_see_a_row_of_a_private_subject_but_of_a_topic(full: Bench, name: str) -> None:
    table, verdicts = t.TABLES[name], set()
    view = PublicView(full.tables, ADMIN)
    for key in full.tables.keys(table):
        subject = subject_of_row(table, key)
        is_hidden = subject in PRIVATE and table is not ASSOCIATION
        assert (view.get(table, key) is None) == is_hidden, key
        verdicts.add(is_hidden)
        for index in (index for index in table.indexes if index.key_of is None):
            for entry in index.entries(key, full.tables.get(table, key)):
                keys = [*view.find(index, entry)]
                assert [*view.find(index, entry, key[:1])] == [other for other in keys if other[0] == key[0]]
    assert True in verdicts or table is ASSOCIATION
    if table.ordered and table is not DRAFT:  # commands ask for a draft by its number
        keys = [*view.walk(table, *ALL_KEYS)]
        assert [key for key in keys if subject_of_row(table, key) in PRIVATE] == []
        assert [*view.walk(table, *ALL_KEYS, reverse=True)] == keys[::-1]


# -------------------------------------------------------------------------------------------------- aliases and creation


@pytest.mark.parametrize("member", ["alias", "alias_for_deks"])
@pytest.mark.parametrize(
    ("own", "alias"), [(NICK, USER.name), (NICK, str(FAR)), (FAR_NICK, f":.:{USER.name}"), (FAR_NICK, FAR.name)]
)
def test_the_name_of_a_private_subject_is_hidden_and_refused_in_any_spelling(
    full: Bench, own: Subject, alias: str, member: str
) -> None:
    bare = ConfigValue(normalize=True)
    key, value = t.ScopeKey("subject", *own), replace(bare, **{member: alias})  # type: ignore[arg-type]  # a text
    row, bench = make_row(t.CONFIG, key, value), Overlay(full.tables)
    bench.put([row])
    for access, is_shown in ((ADMIN, False), (VENDOR, True)):
        for view in (PublicView(bench, access), readable_view(bench, access)):
            config = view.get(t.CONFIG, key)
            assert config == (value if is_shown else bare)
    with pytest.raises(Forbidden):
        refuse_hidden_changes(PublicView(full.tables, ADMIN), [row], "user:root", "set-config")
    refuse_hidden_changes(PublicView(full.tables, VENDOR), [row], "user:root", "set-config")


@pytest.mark.parametrize("creates", [("*", False), ("*", True), ("p/*", False), ("q/*", False)])
@pytest.mark.parametrize("reads", [("p/*", False), ("*", True)])
def test_a_private_subject_is_made_by_who_may_create_subjects_of_its_vendor(
    creates: tuple[str, bool], reads: tuple[str, bool]
) -> None:
    """To read what is private there is not enough."""
    wishes: tuple[tuple[Permission, tuple[str, bool]], ...] = (("create", creates), ("read", reads))
    rules = [
        AccessRule(("*",), with_included([permission]), (subjects,), private=private)
        for permission, (subjects, private) in wishes
    ]
    try:
        refuse_unless_private_creator(Access(tuple(rules)), "user:a", USER, "register")
        is_refused = False
    except Forbidden:
        is_refused = True
    assert is_refused == (creates not in {("*", True), ("p/*", False)})
