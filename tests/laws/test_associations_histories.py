"""Associations as laws: what holds whatever is bound, registered and deleted."""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.laws.tied import NEXT, TOPIC, batch, schema
from tests.laws.toy import Bench, toy
from tests.worlds.world import World, worlds
from treaty.core.handlers.versions import visible_versions
from treaty.core.invariants import find_violations
from treaty.core.messages import associations as t
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Refusal
from treaty.core.schema import Reference
from treaty.core.state.association_table import ASSOCIATION
from treaty.core.state.values import Association

# ---------------------------------------------------------------------------------------------- whatever happens

NAMES = (Subject(".", "a"), Subject(".", "b"), Subject(".lkc", "orders-value"))
RESOURCES = (TOPIC, NEXT, t.Resource("orders", "zone", "id-3"), t.Resource("payments", "lkc", "id-1"))


@st.composite
def wished(draw: st.DrawFn) -> t.AssociationSpec:
    text = draw(st.sampled_from(["p?", "q?", "r"]))
    references = (Reference("r", str(draw(st.sampled_from(NAMES))), -1),) if draw(st.integers(0, 4)) == 0 else ()
    return t.AssociationSpec(
        draw(st.sampled_from(t.KINDS)),
        draw(st.sampled_from([*NAMES, None])),
        draw(st.sampled_from(["", "STRONG", "WEAK"])),
        draw(st.sampled_from([None, None, True, False])),
        schema(text, references=references) if draw(st.booleans()) else None,
    )


@st.composite
def steps(draw: st.DrawFn) -> Request[Any]:
    resource, subject = draw(st.sampled_from(RESOURCES)), draw(st.sampled_from(NAMES))
    wishes = tuple(draw(st.lists(wished(), min_size=1, max_size=2)))
    match draw(st.integers(0, 10)):
        case 0 | 1 | 2:
            return t.Associate(resource, wishes, update=draw(st.booleans()))
        case 3:
            return t.Dissociate(resource.id, kinds=draw(st.sampled_from([(), ("key",)])), cascade=draw(st.booleans()))
        case 4 | 5:
            kinds: tuple[t.Op, ...] = ("CREATE", "UPSERT", "DELETE")
            ops = st.sampled_from(kinds)
            operations = tuple(t.AssociationChange(draw(ops), wish, draw(st.booleans())) for wish in wishes)
            return batch(
                t.ResourceChange(resource, operations),
                t.ResourceChange(draw(st.sampled_from(RESOURCES)), operations[:1]),
            )
        case 6:
            references = (Reference("r", str(draw(st.sampled_from(NAMES))), -1),) if draw(st.booleans()) else ()
            return Register(subject, toy(draw(st.sampled_from(["p?", "q?"])), references=references))
        case 7:
            return DeleteSubject(subject, draw(st.booleans()))
        case 8 | 9:
            permanent = draw(st.integers(0, 3)) == 0
            return DeleteVersion(subject, 1 if permanent else draw(st.sampled_from([LATEST, 1])), permanent)
        case _:
            return SetMode(Scope(*subject), draw(st.sampled_from(["READONLY", "IMPORT", None])), draw(st.booleans()))


def hold(bench: Bench) -> None:
    """Every law about associations that rows can show."""
    rows = {key: bench.tables.get(ASSOCIATION, key) for key in bench.tables.keys(ASSOCIATION)}
    values = [value for value in rows.values() if isinstance(value, Association)]
    assert len(values) == len(rows)
    for key, value in rows.items():
        assert isinstance(value, Association)
        assert key[1:] == (value.kind, value.subject)
        assert visible_versions(bench.tables, subject_of(value.subject)), f"{value.subject} has no live version"
        assert value.lifecycle == "STRONG" or not value.frozen
        assert value.created <= value.updated
    kinds = Counter((key[0], key[1]) for key in rows)
    names = Counter((value.namespace, value.resource, value.kind) for value in values)
    assert not [name for name, times in (kinds + Counter(names)).items() if times > 1]
    assert len({key[0] for key in rows}) == len({(value.namespace, value.resource) for value in values})
    assert len({value.guid for value in values}) == len(values)
    shared = Counter(value.subject for value in values)
    assert all(shared[value.subject] == 1 for value in values if value.lifecycle == "STRONG")
    assert not list(find_violations(bench.tables))


@given(worlds(2), st.lists(steps(), min_size=1, max_size=25))
@examples(300)
def test_whatever_happens_associations_stay_sound(world: World, requests: list[Request[Any]]) -> None:
    bench = Bench()
    world.begin(bench.do, NAMES[0])
    for request in requests:
        roots = dict(bench.tables.roots)
        try:
            bench.do(request)
        except Refusal:
            assert bench.tables.roots == roots
        hold(bench)


def undated(answer: object) -> str:
    """An answer without the times of its versions: a rehearsed one has none."""
    return re.sub(r"\btime=\d+", "", repr(answer))


@given(worlds(1), st.lists(steps(), min_size=1, max_size=12), steps())
def test_a_dry_run_says_what_the_real_run_does(world: World, before: list[Request[Any]], request: Request[Any]) -> None:
    if not isinstance(request, t.Associate | t.Dissociate | t.ChangeAssociations):
        return
    bench = Bench()
    world.begin(bench.do, NAMES[0])
    for association in before:
        with suppress(Refusal):
            bench.do(association)
    rehearsed = bench.verdict(replace(request, dry_run=True), "same")
    real = bench.verdict(request, "same")
    if isinstance(real, Refusal) or isinstance(rehearsed, Refusal):
        assert type(real) is type(rehearsed)
        assert str(real) == str(rehearsed)
    else:
        assert rehearsed.rows == ()
        assert undated(rehearsed.answer) == undated(real.answer)
