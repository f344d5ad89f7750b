"""Associations as laws: batches, lists, and who may do what."""

from typing import Any

import pytest

from tests.laws.tied import NEXT, TOPIC, batch, listed, made, refused, schema, step, strong, weak
from tests.laws.toy import OTHER, Bench, S
from treaty.core import refusals as r
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.limits import ASSOCIATION_BATCH, ASSOCIATIONS_PER_RESOURCE
from treaty.core.messages import associations as t
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.request import Request
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden


@pytest.fixture
def bench() -> Bench:
    return made()


# ---------------------------------------------------------------------------------------------------------- batches


def test_steps_of_an_entry_follow_each_other_and_entries_stand_for_themselves(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (weak(kind="key"),)))
    first = t.ResourceChange(
        TOPIC,
        (step("CREATE", strong(OTHER)), step("UPSERT", strong(kind="key")), step("DELETE", t.AssociationSpec("key"))),
    )
    wrong = t.ResourceChange(
        NEXT, (step("CREATE", weak(Subject(".", "new"), schema=schema())), step("CREATE", weak(OTHER)))
    )
    last = t.ResourceChange(NEXT, (step("UPSERT", weak(S, "key")),))
    before = len(bench.commits)
    results = bench.do(batch(first, wrong, last)).results

    assert len(bench.commits) == before + 1, "one commit for all that is not refused"
    assert [association.kind for association in results[0].done.bound] == ["value"]  # type: ignore[union-attr]  # fails if there is none
    assert results[1].refused is not None
    assert isinstance(results[1].refused.error, r.ResourceAssociated | r.StronglyAssociated)
    assert listed(bench) == [("value", "other", "STRONG")]
    assert listed(bench, NEXT) == [("key", "s", "WEAK")]
    assert bench.do(ListSubjects(Subject(".", ""))).names == ("other", "s"), "the refused entry has left nothing"


def test_a_batch_of_refusals_writes_nothing(bench: Bench) -> None:
    before = len(bench.commits)
    results = bench.do(
        batch(t.ResourceChange(TOPIC, (step("DELETE", t.AssociationSpec()),)), t.ResourceChange(TOPIC, ()))
    ).results

    assert [result.refused and result.refused.kind for result in results] == [
        "association-not-found",
        "invalid-association",
    ]
    assert len(bench.commits) == before


def test_a_batch_that_comes_twice_is_done_once(bench: Bench) -> None:
    request = batch(
        t.ResourceChange(TOPIC, (step("CREATE", strong(schema=schema("a?", "e?"))),)),
        t.ResourceChange(TOPIC, (step("CREATE", weak(OTHER)),)),
    )
    answer = bench.do(request, "same")
    before = dict(bench.tables.roots)

    assert bench.do(request, "same") == answer
    assert bench.tables.roots == before
    delete = batch(t.ResourceChange(TOPIC, (step("DELETE", t.AssociationSpec(), cascade=True),)))
    gone = bench.do(delete, "again")
    assert bench.do(delete, "again") == gone, "though there is nothing left to delete"
    late = bench.do(request, "same").results[0].done
    assert late is not None
    assert [(association.subject, association.schema and association.schema.number) for association in late.bound] == [
        ("s", 2)
    ]


def test_a_command_about_one_resource_that_comes_twice_is_done_once(bench: Bench) -> None:
    request = t.Associate(TOPIC, (strong(schema=schema("a?", "e?")), weak(OTHER, "key")))
    answer = bench.do(request, "same")
    assert bench.do(request, "same") == answer
    bench.do(t.Dissociate("id-1"), "gone")
    assert bench.do(t.Dissociate("id-1"), "gone").numbers == ()


def test_a_batch_has_so_many_entries_and_no_more(bench: Bench) -> None:
    change = t.ResourceChange(TOPIC, (step("DELETE", t.AssociationSpec()),))
    assert "cannot be null or empty" in str(refused(bench, batch()))
    assert "at most 100 in one batch" in str(refused(bench, batch(*[change] * (ASSOCIATION_BATCH + 1))))
    assert "at most 100 in one batch" in str(
        refused(bench, t.GetAssociations((t.ListAssociations(t.OfId("i")),) * (ASSOCIATION_BATCH + 1)))
    )
    long = t.ResourceChange(TOPIC, (step("UPSERT", weak()),) * (ASSOCIATIONS_PER_RESOURCE + 1))
    (result,) = bench.do(batch(long)).results
    assert result.refused is not None
    assert result.refused.kind == "too-many-associations"


def test_a_batch_of_questions(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (strong(), weak(OTHER, "key"))))
    bench.do(t.Associate(t.Resource("orders", "elsewhere", "id-3"), (weak(OTHER),)))
    gets = (
        t.ListAssociations(t.OfId("id-1")),
        t.ListAssociations(t.OfName("orders", "elsewhere")),
        t.ListAssociations(t.OfId("id-1"), kinds=("key",)),
        t.ListAssociations(t.OfName("orders")),
        t.ListAssociations(t.OfId("none")),
        t.ListAssociations(t.OfSubject(S)),
    )
    results = bench.do(t.GetAssociations(gets, schemas=True)).results

    assert [result.done and [each.subject for each in result.done.bound] for result in results] == [
        ["other", "s"], ["other"], ["other"], None, None, None,
    ]  # fmt: skip
    assert results[0].done is not None
    assert [association.schema and association.schema.text for association in results[0].done.bound] == [
        '["b?"]',
        '["a?"]',
    ]
    assert [result.refused and result.refused.kind for result in results[3:]] == [
        "invalid-association", "association-not-found", "invalid-association",
    ]  # fmt: skip
    plain = bench.do(t.GetAssociations(gets[:1])).results[0].done
    assert plain is not None
    assert [association.schema for association in plain.bound] == [None, None]


# ------------------------------------------------------------------------------------------------------------ lists


def test_lists_by_subject_by_name_and_by_id(bench: Bench) -> None:
    def of(place: t.OfSubject | t.OfName | t.OfId, **more: Any) -> list[str]:
        associations = bench.do(t.ListAssociations(place, **more)).associations
        return [
            f"{association.resource.namespace}/{association.resource.name}.{association.kind}"
            for association in associations
        ]

    others = of(t.OfName("-", "-"))
    bench.do(t.Associate(TOPIC, (weak(), weak(OTHER, "key"))))
    bench.do(t.Associate(NEXT, (weak(),)))
    bench.do(t.Associate(t.Resource("orders", "zone", "id-3"), (weak(),)))
    everything = ["lkc/orders.key", "lkc/orders.value", "lkc/payments.value", "zone/orders.value"]
    assert of(t.OfSubject(S)) == everything[1:]
    assert of(t.OfName("orders")) == [everything[0], everything[1], everything[3]]
    assert of(t.OfName("orders", "lkc")) == everything[:2]
    assert of(t.OfName("-", "lkc")) == everything[:3]
    assert of(t.OfName("-", "-")) == sorted([*others, *everything])
    assert of(t.OfId("id-1")) == everything[:2]
    assert of(t.OfId("id-1"), kinds=("value",)) == everything[1:2]
    assert of(t.OfId("id-1"), type="queue") == []
    assert of(t.OfId("id-1"), lifecycle="STRONG") == []
    assert of(t.OfName("-"), offset=1, limit=2) == everything[1:3]
    assert of(t.OfSubject(Subject(".", "none"))) == of(t.OfName("none")) == of(t.OfId("none")) == []


# ----------------------------------------------------------------------------------------------------------- rights


def access(*may: Permission, subjects: tuple[str, ...] = ("*",)) -> Access:
    return Access((AccessRule(("user:a",), with_included(may), subjects, (".",)),))


def asked(bench: Bench, request: Request[Any], who: Access) -> Any:
    verdict = decide(bench.tables, Command(request, "another", 1, "user:a", who), bench.engine)
    return verdict.answer if isinstance(verdict, Decision) else verdict


def test_what_may_not_be_read_is_not_listed_and_not_deleted(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (weak(), weak(OTHER, "key"))))
    seen = access("register", subjects=("s", "orders-*"))

    for place in (t.OfId("id-1"), t.OfName("orders"), t.OfName("-", "-")):
        assert [association.subject for association in asked(bench, t.ListAssociations(place), seen).associations] == [
            "s"
        ]
    (result,) = asked(bench, t.GetAssociations((t.ListAssociations(t.OfId("id-1")),)), seen).results
    assert [association.subject for association in result.done.bound] == ["s"]
    hidden = asked(bench, t.Dissociate("id-1", kinds=("key",)), seen)
    assert isinstance(hidden, r.AssociationNotFound)
    verdict = decide(bench.tables, Command(t.Dissociate("id-1"), "another", 1, "user:a", seen), bench.engine)
    assert isinstance(verdict, Decision)
    assert [row.key for row in verdict.rows if row.table == "association"] == [("id-1", "value", "s")]


def test_deleting_needs_what_the_state_says(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (strong(), weak(OTHER, "key"))))

    reads = Access((*access("read").rules, *access("register", subjects=("other", "orders-key", "orders-value")).rules))
    no = asked(bench, t.Dissociate("id-1"), reads)
    assert isinstance(no, Forbidden)
    assert "permission register on subject 's'" in str(no)
    registers = access("register")
    assert "permission delete on subject 's'" in str(asked(bench, t.Dissociate("id-1", cascade=True), registers))
    assert asked(bench, t.Dissociate("id-1", cascade=True), access("register", "delete")).numbers == ()


def test_each_entry_of_a_batch_needs_its_own_rights(bench: Bench) -> None:
    mine = access("register", subjects=("s", "orders-*", "payments-*"))
    request = batch(
        t.ResourceChange(TOPIC, (step("CREATE", weak(OTHER, schema=schema())),)),
        t.ResourceChange(NEXT, (step("CREATE", weak()),)),
    )
    first, second = asked(bench, request, mine).results

    assert first.refused.kind == "forbidden"
    assert second.done is not None
