"""Topics and the subjects they are bound to: the same through every door."""

import pytest

from treaty.client.connection import Connection
from treaty.core.messages import associations as t
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.names import subject_of
from treaty.core.refusals import (
    AssociationNotFound,
    Forbidden,
    Frozen,
    Incompatible,
    InvalidAssociation,
    InvalidSchema,
    NoLiveVersion,
    NotPermitted,
    Referenced,
    Refusal,
    ResourceAssociated,
    StronglyAssociated,
    SubjectAssociated,
    SubjectNotFound,
)
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Metadata, Reference

ORDERS = t.Resource("orders", "lkc-1", "id 1/ü")
USERS = t.Resource("users", "lkc-1", "id-2")
NUMBER = '{"type":"record","name":"N","fields":[{"name":"n","type":"int"}]}'
WIDER = '{"type":"record","name":"N","fields":[{"name":"n","type":"int"},{"name":"m","type":"int","default":0}]}'
USES = '{"type":"record","name":"M","fields":[{"name":"n","type":"N"}]}'
OTHER = '{"type":"record","name":"N","fields":[{"name":"x","type":"string"}]}'


def schema(text: str = NUMBER, references: tuple[Reference, ...] = ()) -> Register:
    return Register(subject_of(""), Draft(text, references=references))


def wish(subject: str | None, kind: str = "value", **members: object) -> t.AssociationSpec:
    return t.AssociationSpec(kind, None if subject is None else subject_of(subject), **members)  # type: ignore[arg-type]  # facts


def test_a_topic_is_bound_with_its_schemas(connection: Connection) -> None:
    done = connection.associate(
        ORDERS,
        wish("k", "key", lifecycle="WEAK", schema=schema('"string"')),
        wish(None, lifecycle="STRONG", schema=schema()),
    )

    assert done.resource == ORDERS
    assert [(one.subject, one.kind, one.lifecycle, one.frozen) for one in done.bound] == [
        ("k", "key", "WEAK", False),
        (":.lkc-1:orders-value", "value", "STRONG", False),
    ]
    assert [one.schema for one in done.bound] == [connection.version("k"), connection.version(":.lkc-1:orders-value")]


def test_what_is_bound_is_found_from_each_side(connection: Connection) -> None:
    connection.associate(ORDERS, wish("k", "key", schema=schema()), wish(":.c:v", schema=schema()))
    connection.associate(USERS, wish("k", "key"))
    key, value = connection.associations(t.OfId(ORDERS.id))

    assert (key.subject, key.kind, key.resource, key.lifecycle) == ("k", "key", ORDERS, "WEAK")
    assert value.subject == ":.c:v"
    assert key.guid != value.guid
    assert 0 < key.created == key.updated
    assert connection.associations(":.c:v") == (value,)
    assert connection.associations(t.OfSubject(subject_of("k")), limit=1) == (key,)
    (second,) = connection.associations("k", offset=1)
    assert connection.associations("k", offset=-1, limit=0) == (key, second)
    assert connection.associations(t.OfName("-"), limit=5_000) == (key, value, second)
    assert second.resource == USERS
    assert connection.associations(t.OfName("orders")) == (key, value)
    assert connection.associations(t.OfName("orders", "lkc-1"), kinds=("value",)) == (value,)
    assert connection.associations(t.OfName("-", "lkc-1"), kinds=("key", "value")) == (key, value, second)
    assert connection.associations(t.OfName("-")) == (key, value, second)
    assert connection.associations(t.OfName("orders", "lkc-2")) == ()
    assert connection.associations(t.OfName("-"), lifecycle="STRONG") == ()
    assert connection.associations("nothing") == connection.associations(t.OfId("nothing")) == ()


def test_an_association_changes_and_goes(connection: Connection) -> None:
    connection.associate(ORDERS, wish("v", schema=schema()))
    done = connection.associate(ORDERS, wish("v", lifecycle="STRONG", frozen=True, schema=schema(WIDER)), update=True)

    assert (done.bound[0].lifecycle, done.bound[0].frozen) == ("STRONG", True)
    assert connection.versions("v") == (1, 2)
    with pytest.raises(Frozen, match="type  'value' is frozen for subject 'v'"):
        connection.dissociate(ORDERS.id)
    connection.associate(ORDERS, wish("v", frozen=False), update=True)
    connection.dissociate(ORDERS.id, "value")
    assert connection.associations("v") == ()
    assert connection.subjects() == ("v",)
    with pytest.raises(AssociationNotFound, match="Association for 'id 1/ü' not found"):
        connection.dissociate(ORDERS.id)


def test_a_cascade_takes_the_subject_too(connection: Connection) -> None:
    connection.associate(ORDERS, wish("v", frozen=True, schema=schema()), wish("k", "key", schema=schema('"int"')))
    connection.dissociate(ORDERS.id, cascade=True, dry_run=True)
    assert len(connection.associations(t.OfId(ORDERS.id))) == 2
    connection.dissociate(ORDERS.id, cascade=True)

    assert connection.subjects(visible="all") == ("k",)
    with pytest.raises(SubjectNotFound):
        connection.version("v")


def test_a_dry_run_tells_what_would_be(connection: Connection) -> None:
    nameless = t.Resource("orders", "lkc-1")
    done = connection.associate(nameless, wish("v", schema=schema()), dry_run=True)

    assert done.resource == nameless
    assert done.bound[0].schema is not None
    assert done.bound[0].schema.text == NUMBER
    assert connection.subjects() == ()
    with pytest.raises(NoLiveVersion):
        connection.associate(nameless, wish("v"), dry_run=True)


def test_what_cannot_be_is_told(connection: Connection) -> None:
    connection.register("v", NUMBER)
    connection.register("w", NUMBER)
    connection.associate(ORDERS, wish("v", lifecycle="STRONG"))
    cases: list[tuple[type[Refusal], t.Resource, t.AssociationSpec]] = [
        (ResourceAssociated, ORDERS, wish("w")),
        (SubjectAssociated, USERS, wish("v", lifecycle="STRONG")),
        (StronglyAssociated, USERS, wish("v")),
        (NoLiveVersion, USERS, wish("none")),
        (Incompatible, USERS, wish("w", schema=schema(OTHER))),
        (InvalidSchema, USERS, wish("w", schema=schema("nonsense"))),
        (NotPermitted, USERS, wish("w", schema=schema(USES, (Reference("N", "v", 1),)))),
        (InvalidAssociation, t.Resource("", "n", "i"), wish("w")),
        (InvalidAssociation, USERS, wish("w", "header")),
        (InvalidAssociation, USERS, wish("w", lifecycle="LOOSE")),
        (InvalidAssociation, USERS, wish("w", lifecycle="WEAK", frozen=True)),
    ]
    for kind, resource, wished in cases:
        with pytest.raises(kind) as told:
            connection.associate(resource, wished)
        assert type(told.value) is kind, wished
        assert told.value.reason.rule
    with pytest.raises(InvalidAssociation, match="property: 'subject', detail: cannot be changed"):
        connection.associate(ORDERS, wish("w"), update=True)


def test_an_associated_subject_stays(connection: Connection) -> None:
    connection.associate(ORDERS, wish("v", schema=schema()))

    with pytest.raises(SubjectAssociated, match="An association already exists for subject 'v'"):
        connection.delete_subject("v")
    with pytest.raises(NoLiveVersion, match="No active"):
        connection.delete_version("v", 1)
    connection.register("w", Draft('"int"', references=(Reference("N", "v", 1),)))
    connection.associate(ORDERS, wish("v", lifecycle="STRONG"), update=True)
    with pytest.raises(NotPermitted, match="Subject 'v' has a strong association and cannot be referenced"):
        connection.register("x", Draft('"int"', references=(Reference("N", "v", 1),)))
    with pytest.raises(Referenced):
        connection.dissociate(ORDERS.id, cascade=True)


def test_a_batch_says_of_each_entry_what_became_of_it(connection: Connection) -> None:
    connection.register("v", NUMBER)
    results = connection.change_associations(
        t.ResourceChange(
            ORDERS,
            (
                t.AssociationChange("CREATE", wish("v")),
                t.AssociationChange("UPSERT", wish("k", "key", schema=schema())),
            ),
        ),
        t.ResourceChange(USERS, (t.AssociationChange("CREATE", wish("v", schema=schema(OTHER))),)),
        t.ResourceChange(USERS, (t.AssociationChange("CREATE", wish("v", schema=schema("nonsense"))),)),
        t.ResourceChange(
            USERS, (t.AssociationChange("CREATE", wish("v")), t.AssociationChange("DELETE", t.AssociationSpec()))
        ),
        t.ResourceChange(ORDERS, (t.AssociationChange("DELETE", t.AssociationSpec("key"), cascade=True),)),
    )

    assert [one.refused and one.refused.kind for one in results] == [None, "incompatible", "invalid-schema", None, None]
    assert [one.done and [each.kind for each in one.done.bound] for one in results] == [
        ["value", "key"], None, None, [], [],
    ]  # fmt: skip
    refused = results[1].refused
    assert refused is not None
    assert isinstance(refused.error, Incompatible)
    assert refused.error.findings
    assert connection.subjects() == ("k", "v")
    assert [one.kind for one in connection.associations(t.OfName("-"))] == ["value"]
    dry = connection.change_associations(
        t.ResourceChange(USERS, (t.AssociationChange("CREATE", wish("v")),)), dry_run=True
    )
    assert dry[0].done is not None
    assert len(connection.associations("v")) == 1


def test_many_are_asked_for_at_once(connection: Connection) -> None:
    connection.associate(ORDERS, wish("v", schema=schema()), wish("k", "key", schema=schema('"int"')))
    gets = (
        t.ListAssociations(t.OfId(ORDERS.id)),
        t.ListAssociations(t.OfName("orders"), kinds=("key",), lifecycle="WEAK"),
        t.ListAssociations(t.OfName("users", "lkc-1")),
    )
    first, second, third = connection.find_associations(gets, schemas=True)

    assert first.done is not None
    assert [one.schema for one in first.done.bound] == [connection.version("k"), connection.version("v")]
    assert second.done is not None
    assert [one.subject for one in second.done.bound] == ["k"]
    assert third.refused is not None
    assert isinstance(third.refused.error, AssociationNotFound)
    assert not isinstance(third.refused.error, Forbidden)
    with pytest.raises(InvalidAssociation, match="'requests', detail: cannot be null or empty"):
        connection.find_associations(())


def test_a_command_that_comes_twice_is_done_once(connection: Connection) -> None:
    once = t.ChangeAssociations(
        (
            t.ResourceChange(ORDERS, (t.AssociationChange("CREATE", wish("v", lifecycle="STRONG", schema=schema())),)),
            t.ResourceChange(USERS, (t.AssociationChange("DELETE", t.AssociationSpec()),)),
        )
    )
    call = CallOptions(command_id="once")
    told = connection.ask(once, call)
    again = connection.ask(once, call)
    assert again.answer == told.answer
    gone = t.ChangeAssociations(
        (t.ResourceChange(ORDERS, (t.AssociationChange("DELETE", t.AssociationSpec(), cascade=True),)),)
    )
    assert (
        connection.ask(gone, CallOptions(command_id="gone")).answer
        == connection.ask(gone, CallOptions(command_id="gone")).answer
    )
    assert connection.subjects(visible="all") == ()
    create = t.Associate(ORDERS, (wish("v", schema=schema()),))
    assert (
        connection.ask(create, CallOptions(command_id="c")).answer
        == connection.ask(create, CallOptions(command_id="c")).answer
    )
    delete = t.Dissociate(ORDERS.id)
    connection.ask(delete, CallOptions(command_id="d"))
    connection.ask(delete, CallOptions(command_id="d"))


def test_all_that_a_schema_can_carry_comes_along(connection: Connection) -> None:
    connection.register("r", NUMBER)
    draft = Draft(
        '{"type":"record","name":"R","fields":[{"name":"n","type":"N"}]}',
        references=(Reference("N", "r", 1),),
        metadata=Metadata(properties=(("owner", "me"),)),
    )
    register = Register(subject_of(""), draft, True, force=ForceReason("me", "because"), properties=(("p", "q"),))
    (one,) = connection.associate(ORDERS, wish("v", schema=register)).bound

    assert one.schema == connection.version("v")
    assert one.schema is not None
    assert (one.schema.references, one.schema.metadata) == (draft.references, draft.metadata)
    assert one.schema.properties == (("p", "q"),)
