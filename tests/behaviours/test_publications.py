"""Versions with labels of SchemaVer, for every registry: order, patches, superseding, the policy of labels, drafts."""

import json
from typing import Any

import pytest

from treaty.client.connection import Connection
from treaty.core.messages.groups import ChangeSubject
from treaty.core.messages.schemaver import (
    DeletePublished,
    DraftFound,
    GetDraft,
    GetPublished,
    ListPublished,
    Publish,
    PublishedSchema,
    PublishedVersion,
    PutDraft,
)
from treaty.core.names import subject_of
from treaty.core.refusals import (
    Incompatible,
    InvalidSchema,
    InvalidSubject,
    InvalidVersion,
    LabelRefused,
    NotFound,
    Refusal,
)
from treaty.core.schema import Draft

pytestmark = pytest.mark.parametrize("connection", ["memory", "http"], indirect=True)
NAME = "com.acme/event/jsonschema"
SUBJECT = subject_of(NAME)
META = "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/jsonschema/1-0-0#"


def schema(*names: str, required: tuple[str, ...] = (), **more: Any) -> str:
    """A closed object with text properties."""
    properties = {name: {"type": "string"} for name in names}
    more = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return json.dumps({**more, "required": [*required]} if required else more)


def publish(it: Connection, label: str, text: str, name: str = NAME, **options: Any) -> PublishedVersion:
    return it.ask(Publish(subject_of(name), label, Draft(text, "JSON"), **options)).answer


def published(it: Connection, label: str) -> PublishedSchema:
    return it.ask(GetPublished(SUBJECT, label)).answer


def labels(it: Connection, **asked: Any) -> list[str]:
    return [f"{one.version.subject}/{one.label}" for one in it.ask(ListPublished(**asked)).answer.schemas]


def test_a_label_is_in_the_text_before_its_identity_is_computed(connection: Connection) -> None:
    made = publish(connection, "1-0-0", schema("a"))
    text = json.loads(made.schema.version.text)

    assert made.created
    assert text["self"] == {"vendor": "com.acme", "name": "event", "format": "jsonschema", "version": "1-0-0"}
    assert text["$schema"] == META
    assert dict(made.schema.version.names) == {"schemaver": "1-0-0"}
    again = publish(connection, "1-0-1", schema("a")).schema.version
    assert again.schema_id != made.schema.version.schema_id
    assert connection.version(NAME).text == again.text
    assert connection.version(NAME, "1-0-0").number == connection.version(NAME, f"{NAME}/1-0-0").number == 1


@pytest.mark.parametrize(
    ("there", "label", "rule"),
    [
        ([], "1-0-1", "LABEL_PRECEDING_MISSING"), ([], "2-0-0", "LABEL_PRECEDING_MISSING"),
        (["1-0-0"], "1-0-2", "LABEL_PRECEDING_MISSING"), (["1-0-0"], "1-2-0", "LABEL_PRECEDING_MISSING"),
        (["1-0-0"], "3-0-0", "LABEL_PRECEDING_MISSING"), (["1-0-0", "1-1-0"], "1-0-1", "LABEL_NOT_SEQUENTIAL"),
        (["1-0-0"], "1-0-0", "LABEL_EXISTS"),
    ],
)  # fmt: skip
def test_a_label_that_does_not_follow_is_refused(
    connection: Connection, there: list[str], label: str, rule: str
) -> None:
    for one in there:
        publish(connection, one, schema("a"))
    with pytest.raises(LabelRefused) as refused:
        publish(connection, label, schema("b"))
    assert refused.value.reason.rule == rule
    assert refused.value.reason.allowed
    assert len(labels(connection)) == len(there)


def test_labels_are_ordered_by_number(connection: Connection) -> None:
    for addition in range(11):
        publish(connection, f"1-0-{addition}", schema("a"))
    publish(connection, "2-0-0", schema("b"))
    publish(connection, "1-0-0", schema("c"), name="com.acme/action/jsonschema")
    publish(connection, "1-0-0", schema("c"), name="com.acmecorp/action/jsonschema")

    assert labels(connection, vendor="com.acme", name="event", model=1) == [f"{NAME}/1-0-{one}" for one in range(11)]
    assert labels(connection, vendor="com.acme")[0] == "com.acme/action/jsonschema/1-0-0"
    assert len(labels(connection, vendor="com.acme")) == 13
    assert len(labels(connection)) == 14
    first = labels(connection, limit=5)
    assert [*first, *labels(connection, after=(NAME, "1-0-3"))] == labels(connection)


def test_a_patch_is_a_new_id_at_the_same_number_and_the_old_id_answers(connection: Connection) -> None:
    old = publish(connection, "1-0-0", schema("a")).schema.version
    publish(connection, "1-0-1", schema("a", "b"))
    with pytest.raises(LabelRefused):
        publish(connection, "1-0-0", schema("a", "c"))
    patched = publish(connection, "1-0-0", schema("a", "c"), patch=True)
    new = patched.schema.version

    assert (patched.created, patched.patched, patched.schema.revision) == (False, True, 1)
    assert (new.number, new.ordinal) == (old.number, old.ordinal)
    assert new.schema_id not in {old.schema_id, 2}
    assert connection.schema(old.schema_id).text == old.text
    assert connection.version(NAME, 1).text == new.text == published(connection, "1-0-0").version.text
    assert not publish(connection, "1-0-0", schema("a", "c"), patch=True).patched
    back = publish(connection, "1-0-0", schema("a"), patch=True).schema
    assert (back.version.schema_id, back.revision) == (old.schema_id, 2)
    assert connection.versions(NAME) == (1, 2)

    connection.delete_version(NAME, 1)
    connection.delete_version(NAME, 1, permanent=True)
    for gone in (old.schema_id, new.schema_id):
        with pytest.raises(NotFound):
            connection.schema(gone)
    assert labels(connection) == [f"{NAME}/1-0-1"]


def test_chains_of_superseding_are_flat_and_never_go_backwards(connection: Connection) -> None:
    for label, supersedes in (
        ("1-0-0", ()),
        ("1-0-1", ("1-0-0",)),
        ("1-0-2", ("1-0-1",)),
        ("2-0-0", ()),
        ("1-0-3", ()),
    ):
        publish(connection, label, schema("a"), supersedes=supersedes)
    assert [published(connection, label).superseded_by for label in ("1-0-0", "1-0-1", "1-0-2")] == [
        "1-0-2",
        "1-0-2",
        "",
    ]
    assert published(connection, "1-0-2").supersedes == ("1-0-0", "1-0-1")

    publish(connection, "2-0-1", schema("a"), supersedes=("1-0-0",))
    publish(connection, "1-0-4", schema("a"), supersedes=("1-0-0", "1-0-1"))
    assert published(connection, "1-0-0").superseded_by == "2-0-1"
    assert published(connection, "1-0-1").superseded_by == "1-0-4"
    for label, rule in (("2-0-5", "SUPERSEDED_HIGHER"), ("1-0-9", "SUPERSEDED_HIGHER"), ("1-7-0", "SUPERSEDED_HIGHER")):
        with pytest.raises(LabelRefused) as refused:
            publish(connection, "1-0-5", schema("a"), supersedes=(label,))
        assert refused.value.reason.rule == rule
    with pytest.raises(LabelRefused, match="does not exist"):
        publish(connection, "2-0-2", schema("a"), supersedes=("1-5-0",))
    text = json.dumps({"$supersedes": ["1-0-3"], "$supersededBy": "9-0-0", **json.loads(schema("a"))})
    made = publish(connection, "1-0-5", text)
    assert made.schema.supersedes == ("1-0-3",)
    assert "supersede" not in made.schema.version.text


def test_the_policy_of_labels_names_the_label_that_would_do(connection: Connection) -> None:
    publish(connection, "1-0-0", schema("a"))
    assert publish(connection, "1-0-1", schema("a", "b")).warnings == ()
    (broken, other) = publish(connection, "1-0-2", schema("a", required=("a",))).warnings
    assert {broken.rule, other.rule} == {"SCHEMAVER_ADDITION"}
    assert broken.remedy == "the label 2-0-0"
    (smaller,) = publish(connection, "1-1-0", schema("a", "b", "c")).warnings
    assert (smaller.rule, smaller.remedy) == ("SCHEMAVER_SMALLER", "the label 1-0-3")

    connection.ask(ChangeSubject(SUBJECT, label_policy="refuse"))
    with pytest.raises(Incompatible) as refused:
        publish(connection, "1-1-1", schema("z", required=("z",)))
    assert refused.value.reason.allowed == "the label 2-0-0"
    assert publish(connection, "1-1-1", schema("a", "b", "c", "d")).warnings == ()


@pytest.mark.parametrize(
    ("name", "label", "text", "error"),
    [
        ("com.acme/event", "1-0-0", "{}", InvalidSubject), (":.x:com.acme/event/jsonschema", "1-0-0", "{}", InvalidSubject),
        (NAME, "1-0", "{}", InvalidVersion), (NAME, "01-0-0", "{}", InvalidVersion), (NAME, "0-0-0", "{}", InvalidVersion),
        (NAME, "1-0-2147483648", "{}", InvalidVersion), (NAME, "1-0-0", "{", InvalidSchema),
        (NAME, "1-0-0", '{"self": {"vendor": "b"}}', InvalidSchema), (NAME, "1-0-0", '{"$schema": "http://b.c/"}', InvalidSchema),
        (NAME, "1-0-0", '{"type": "nothing"}', InvalidSchema),
    ],
)  # fmt: skip
def test_what_can_not_be_published_is_refused(
    connection: Connection, name: str, label: str, text: str, error: type[Refusal]
) -> None:
    with pytest.raises(error):
        publish(connection, label, text, name=name)
    assert connection.subjects() == ()


def test_a_registration_publishes_what_its_text_says(connection: Connection) -> None:
    first = publish(connection, "1-0-0", schema("a")).schema.version
    assert connection.register(NAME, Draft(first.text, "JSON")).created is False
    second = Draft(first.text.replace('1-0-0"}', '1-0-1"}'), "JSON")
    assert dict(connection.register(NAME, second).version.names) == {"schemaver": "1-0-1"}
    for text in (first.text.replace('1-0-0"}', '1-0-3"}'), first.text.replace("event", "other"), schema("b")):
        with pytest.raises(InvalidSchema):
            connection.register(NAME, Draft(text, "JSON"))
    assert connection.versions(NAME) == (1, 2)


def test_public_and_private_never_mix(connection: Connection) -> None:
    assert publish(connection, "1-0-0", schema("a"), private=True).schema.private
    with pytest.raises(LabelRefused, match="private"):
        publish(connection, "1-0-1", schema("a"), private=False)
    assert publish(connection, "1-0-1", schema("a")).schema.private


def test_a_deleted_label_is_free_and_its_id_answers(connection: Connection) -> None:
    first = publish(connection, "1-0-0", schema("a")).schema.version
    assert connection.ask(DeletePublished(SUBJECT, "1-0-0")).answer.deleted
    assert not connection.ask(DeletePublished(SUBJECT, "1-0-0")).answer.deleted
    with pytest.raises(NotFound):
        published(connection, "1-0-0")
    second = publish(connection, "1-0-0", schema("b")).schema.version
    assert published(connection, "1-0-0").version.schema_id == second.schema_id != first.schema_id
    assert connection.schema(first.schema_id).text == first.text


def test_an_import_takes_order_and_gaps_and_tells_them(connection: Connection) -> None:
    connection.set_mode(NAME, "IMPORT")
    assert [one.rule for one in publish(connection, "1-0-3", schema("a")).warnings] == ["LABEL_PRECEDING_MISSING"]
    publish(connection, "1-1-0", schema("a"))
    late = publish(connection, "1-0-5", schema("a")).warnings
    assert [one.rule for one in late] == ["LABEL_PRECEDING_MISSING", "LABEL_NOT_SEQUENTIAL"]
    assert labels(connection) == [f"{NAME}/{one}" for one in ("1-0-3", "1-0-5", "1-1-0")]
    connection.set_mode(NAME, "READONLY")
    with pytest.raises(Refusal, match="read-only"):
        publish(connection, "1-1-1", schema("a"))


def test_drafts_are_stored_and_read(connection: Connection) -> None:
    stored = connection.ask(PutDraft(SUBJECT, 1, "{not even JSON", private=True)).answer
    assert isinstance(stored, DraftFound)
    assert connection.ask(GetDraft(SUBJECT, 1)).answer == stored
    assert connection.ask(PutDraft(SUBJECT, 1, "{}")).answer.text == "{}"
    with pytest.raises(NotFound):
        connection.ask(GetDraft(SUBJECT, 2))
    with pytest.raises(InvalidVersion):
        connection.ask(PutDraft(SUBJECT, 0, "{}"))
    assert connection.subjects() == ()
