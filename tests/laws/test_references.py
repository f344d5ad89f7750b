"""References: what they mean in another context, and what they keep, whatever the states and numbers of both sides."""

from dataclasses import replace

import pytest

from tests.laws.toy import Bench, S, fields_of, toy
from tests.worlds.drafts import described, referring
from tests.worlds.world import World
from treaty.core.handlers.drafts.schemas import resolve_schema
from treaty.core.handlers.versions import schema_row
from treaty.core.invariants import find_violations
from treaty.core.messages.encodings import AssignEncoding, GetEncoding
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.schemas import ReferencedBy
from treaty.core.messages.schemaver import Publish
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import Encoded, Referenced
from treaty.core.schema import Reference

USER, AWAY = Subject(".", "user"), Subject(".x", "user")
FORCE = ForceReason("ann", "another one")


def meaning(bench: Bench, subject: Subject, number: int) -> tuple[str, ...]:
    """The fields of a version, those of what it refers to included."""
    found = bench.do(GetVersion(subject, number, deleted=True))
    schema = schema_row(bench.tables, subject.context, found.schema_id)
    return fields_of(resolve_schema(bench.tables, subject.context, schema))


@pytest.mark.parametrize("former", ["nothing", "purged", "imported"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_reference_to_another_context_means_what_stands_there(bench: Bench, former: str, number: int) -> None:
    """Ids are counted by context: the id of the target is another schema in the context of who refers."""
    World(neighbours=(), former=former).begin(bench.do, S)
    near = [bench.do(Register(Subject(".x", f"near{at}"), toy(f"near{at}"))).version for at in range(12)]
    targets = [
        bench.do(Register(S, toy(*(f"t{at}?" for at in range(count))), force=FORCE)).version for count in (1, 2, 3)
    ]
    target = targets[number - 1]
    user = bench.do(Register(AWAY, referring(toy("own"), ":.:s", target.number))).version
    assert [one.text for one in near] == [f'["near{at}"]' for at in range(12)]
    assert meaning(bench, AWAY, user.number) == ("own", *(f"t{at}?" for at in range(number)))
    chain = bench.do(Register(USER, referring(toy("end"), ":.x:user", user.number))).version
    assert meaning(bench, USER, chain.number) == ("end", "own", *(f"t{at}?" for at in range(number)))


@pytest.mark.parametrize("context", [".", ".x"])
@pytest.mark.parametrize("which", [1, 2, 3])
def test_nothing_that_is_referred_to_goes(bench: Bench, context: str, which: int) -> None:
    """By its version or with its subject: softly while its user is live, for good while its user is there at all."""
    for count in range(3):
        bench.do(Register(S, toy("a", *(f"f{at}?" for at in range(count)))))
    user = Subject(context, "user")
    bench.do(Register(user, referring(toy("a"), ":.:s", which)))
    for request in (DeleteVersion(S, which), DeleteSubject(S)):
        with pytest.raises(Referenced):
            bench.do(request)
    bench.do(DeleteSubject(user))
    bench.do(DeleteSubject(S))
    for request in (DeleteVersion(S, which, permanent=True), DeleteSubject(S, permanent=True)):
        with pytest.raises(Referenced):
            bench.do(request)
    assert meaning(bench, user, 1) == ("a", "a", *(f"f{at}?" for at in range(which - 1)))
    bench.do(DeleteSubject(user, permanent=True))
    bench.do(DeleteSubject(S, permanent=True))
    assert [str(one) for one in find_violations(bench.tables)] == []


def test_a_reference_inside_a_subject_holds_nothing_but_its_version(bench: Bench) -> None:
    for draft in (toy("a"), referring(toy("b?"), "s", 1), toy("c?")):
        bench.do(Register(S, draft, force=FORCE))
    with pytest.raises(Referenced):
        bench.do(DeleteVersion(S, 1))
    bench.do(DeleteSubject(S))
    bench.do(DeleteSubject(S, permanent=True))
    assert [*find_violations(bench.tables)] == []


def test_former_texts_and_hidden_versions_are_kept_for_who_refers_to_them(bench: Bench) -> None:
    """Of three texts of one label, with metadata and rules, each has a user or an encoding."""
    name = Subject(".", "v/n/toy")
    texts = [described(toy("a"), "1"), described(toy("a"), "2"), described(toy("a", "b?"), "3")]
    users = [Subject(".", f"user{at}") for at in range(3)]
    for at, text in enumerate(texts):
        bench.do(Publish(name, "1-0-0", text, patch=at > 0))
        bench.do(Register(users[at], referring(toy(f"u{at}"), name.name, 1)))
        bench.do(AssignEncoding(name, 0))
    assert [meaning(bench, user, 1) for user in users] == [("u0", "a"), ("u1", "a"), ("u2", "a", "b?")]
    references = [bench.do(GetVersion(user, 1)).references for user in users]
    assert {one.version for (one,) in references} == {1}
    with pytest.raises(Referenced):
        bench.do(DeleteVersion(name, 1))
    for user in users:
        bench.do(DeleteSubject(user))
    bench.do(DeleteSubject(name))
    for user in users[::-1]:
        with pytest.raises(Referenced):
            bench.do(DeleteSubject(name, permanent=True, force=True))
        bench.do(DeleteSubject(user, permanent=True))
    with pytest.raises(Encoded):
        bench.do(DeleteSubject(name, permanent=True))
    bench.do(DeleteSubject(name, permanent=True, force=True))
    assert [*find_violations(bench.tables)] == []


def test_payloads_keep_the_text_of_their_encoding(bench: Bench) -> None:
    """Of three texts of one label, each with an encoding of its own."""
    name = Subject(".", "v/n/toy")
    texts = [described(toy("a"), "1"), described(toy("a"), "2"), described(toy("a", "b?"), "3")]
    ids = []
    for at, text in enumerate(texts):
        bench.do(Publish(name, "1-0-0", text, patch=at > 0))
        ids.append(bench.do(AssignEncoding(name, 0)).encoding_id)
    found = [bench.do(GetEncoding(name, one)).version for one in ids]
    assert [(one.text, one.metadata, one.rules) for one in found] == [
        (shown, text.metadata, text.rules) for shown, text in zip(('["a"]', '["a"]', '["a","b?"]'), texts, strict=True)
    ]


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_deleted_version_that_is_referred_to_is_never_hidden(bench: Bench, which: int) -> None:
    """It keeps its number for who refers to it when its schema is registered again."""
    texts = [toy("a", *(f"f{at}?" for at in range(count))) for count in range(3)]
    for text in texts:
        bench.do(Register(S, text))
    bench.do(Register(USER, referring(toy("a"), "s", which)))
    bench.do(DeleteSubject(USER))
    bench.do(DeleteSubject(S))
    again = [bench.do(Register(S, text)).version.number for text in texts]
    assert again == [4, 5, 6]
    assert bench.do(ListVersions(S, "all")).numbers == (which, 4, 5, 6)
    assert bench.do(GetVersion(S, which, deleted=True)).deleted
    assert bench.do(ReferencedBy(S, which, deleted=True)).ids != ()


def test_a_user_of_a_former_text_holds_nothing_else(bench: Bench) -> None:
    """The version itself has another text since, to which nobody refers: it may be deleted softly."""
    name = Subject(".", "v/n/toy")
    bench.do(Publish(name, "1-0-0", described(toy("a"), "1")))
    bench.do(Register(USER, referring(toy("u"), name.name, 1)))
    bench.do(Publish(name, "1-0-0", described(toy("a", "b?"), "2"), patch=True))
    bench.do(DeleteVersion(name, 1))
    assert meaning(bench, USER, 1) == ("u", "a")
    with pytest.raises(Referenced):
        bench.do(DeleteVersion(name, 1, permanent=True))


@pytest.mark.parametrize("links", [0, 1, 2])
@pytest.mark.parametrize("order", [(".", ".x", ".y"), (".y", ".", ".x")], ids=["up", "turned"])
def test_references_to_several_contexts_mean_what_each_has_by_the_same_id(
    bench: Bench, order: tuple[str, ...], links: int
) -> None:
    """Ids are counted by context, so schemas of several ones have one id: those that are referred to, and those on the way there."""
    ids = set()
    for context in order:
        made = bench.do(Register(Subject(context, "t"), toy(f"of{context}?"))).version
        for link in range(links):
            made = bench.do(
                Register(Subject(context, f"link{link}"), referring(toy(), made.subject, made.number))
            ).version
        ids.add(made.schema_id)
    assert len(ids) == 1
    last = f"link{links - 1}" if links else "t"
    references = tuple(Reference(context, f":{context}:{last}", 1) for context in order)
    user = bench.do(Register(Subject(".user", "user"), replace(toy("own"), references=references))).version
    assert meaning(bench, Subject(".user", "user"), user.number) == ("own", *(f"of{context}?" for context in order))
