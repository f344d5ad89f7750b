"""What any registry does with versions, whoever stands behind the door: a node in this process, or a server."""

import json

import pytest

from treaty.client.connection import Connection
from treaty.core.messages.listings import ListSchemas
from treaty.core.messages.registration import ExpectedVersion, ForceReason, Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import DeleteVersion, GetVersion, Lookup
from treaty.core.names import subject_of
from treaty.core.refusals import (
    Incompatible,
    InvalidSchema,
    InvalidVersion,
    NotFound,
    NotLatest,
    SchemaNotFound,
    SubjectNotFound,
    TooLarge,
    VersionNotFound,
)
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet


def record(*fields: str, name: str = "shop.Order") -> str:
    """A record; a field is ``name:type``, and ``name:type?`` has a default."""
    listed = []
    for field in fields:
        word, _, kind = field.partition(":")
        optional = kind.endswith("?")
        member = {"name": word, "type": ["null", kind[:-1]] if optional else kind}
        listed.append(member | ({"default": None} if optional else {}))
    return json.dumps({"type": "record", "name": name, "fields": listed})


V1 = record("id:long")
V2 = record("id:long", "note:string?")
V3 = record("id:long", "note:string?", "price:double?")
BAD = record("id:long", "must:string")


def test_a_new_schema_becomes_version_one(connection: Connection) -> None:
    made = connection.register("orders", V1)
    version = made.version
    assert made.created
    assert (version.subject, version.number, version.ordinal, version.schema_id) == ("orders", 1, 0, 1)
    assert version.text == '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}'
    assert (version.format, version.deleted) == ("AVRO", False)
    assert len(version.guid) == 36
    assert version.time > 1_600_000_000_000
    assert connection.version("orders") == version
    assert connection.version("orders", 1) == version
    assert connection.lookup("orders", V1) == version


def test_the_same_schema_again_is_the_same_version(connection: Connection) -> None:
    first = connection.register("orders", V1)
    again = connection.register("orders", json.dumps(json.loads(V1), indent=3))
    assert not again.created
    assert again.version == first.version
    assert connection.versions("orders") == (1,)


def test_each_new_schema_is_the_next_version(connection: Connection) -> None:
    made = [connection.register("orders", text).version for text in (V1, V2, V3)]
    assert [(one.number, one.ordinal, one.schema_id) for one in made] == [(1, 0, 1), (2, 1, 2), (3, 2, 3)]
    assert connection.versions("orders") == (1, 2, 3)
    assert connection.version("orders").number == 3
    assert connection.register("orders", V1).version.number == 1


def test_one_schema_has_one_id_in_all_subjects_of_a_context(connection: Connection) -> None:
    one = connection.register("orders", V1).version
    two = connection.register("refunds", V1).version
    assert (one.schema_id, one.guid) == (two.schema_id, two.guid)
    assert connection.uses(one.schema_id) == (("orders", 1), ("refunds", 1))
    other = connection.register(":.shop:orders", V2).version
    connection.register(":.shop:orders", V1)
    assert other.schema_id == 1
    assert connection.ids_of(one.guid) == ((".", 1), (".shop", 2))


def test_a_schema_is_found_by_id_and_by_guid(connection: Connection) -> None:
    made = connection.register("orders", V1).version
    by_id = connection.schema(made.schema_id)
    assert (by_id.text, by_id.guid, by_id.subject, by_id.number) == (made.text, made.guid, "orders", 1)
    by_guid = connection.by_guid(made.guid)
    assert (by_guid.text, by_guid.schema_id, by_guid.context) == (made.text, made.schema_id, ".")
    assert by_guid.subject == ""
    connection.register("orders", V2)
    assert connection.ask(GetSchema(1, max_id=True)).answer.max_id == 2
    assert connection.schema(1, "orders").number == 1


def test_what_is_not_there_is_not_found(connection: Connection) -> None:
    made = connection.register("orders", V1).version
    for absent in (7, 2**31 - 1, 2**40, 0, -5):
        with pytest.raises(SchemaNotFound):
            connection.schema(absent)
    with pytest.raises(SchemaNotFound):
        connection.uses(7)
    with pytest.raises(SchemaNotFound):
        connection.by_guid("00000000-0000-0000-0000-000000000000")
    with pytest.raises(SchemaNotFound):
        connection.by_guid("no guid at all")
    assert connection.ids_of("00000000-0000-0000-0000-000000000000") == ()
    with pytest.raises(SubjectNotFound) as caught:
        connection.version("nobody")
    assert caught.value.reason.subject == "nobody"
    with pytest.raises(SubjectNotFound):
        connection.versions("nobody")
    with pytest.raises(SubjectNotFound):
        connection.lookup("nobody", V1)
    with pytest.raises(VersionNotFound) as missing:
        connection.version("orders", 2)
    assert missing.value.reason.version == "2"
    with pytest.raises(SchemaNotFound):
        connection.lookup("orders", V2)
    with pytest.raises(SubjectNotFound):
        connection.referenced_by("nobody", 1)
    assert connection.version("orders") == made


@pytest.mark.parametrize("number", [0, -2, -100, 2**31, 2**40])
def test_what_can_be_no_version_number_is_invalid(connection: Connection, number: int) -> None:
    connection.register("orders", V1)
    with pytest.raises(InvalidVersion):
        connection.version("orders", number)
    with pytest.raises(InvalidVersion):
        connection.delete_version("orders", number)
    with pytest.raises(InvalidVersion):
        connection.check("orders", V1, number)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ""),
        ("{", ""),
        ('"nothing"', ""),
        ('{"type":"record","name":"R"}', ""),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":"number"}]}', "/fields/0/type"),
        ('{"type":"record","name":"R","fields":[{"name":"a b","type":"int"}]}', "/fields/0/name"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}', "/fields/0/default"),
    ],
)
def test_a_text_that_is_no_schema_says_where(connection: Connection, text: str, path: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        connection.register("orders", text)
    assert caught.value.reason.message
    if path:
        assert path in [fault.path for fault in caught.value.faults]
    with pytest.raises(InvalidSchema):
        connection.check("orders", text)
    with pytest.raises(SubjectNotFound):
        connection.version("orders")


def test_an_incompatible_schema_is_refused_with_its_findings(connection: Connection) -> None:
    connection.register("orders", V1)
    with pytest.raises(Incompatible) as caught:
        connection.register("orders", BAD)
    refusal = caught.value
    assert refusal.reason.subject == "orders"
    assert str(refusal).startswith("the schema is incompatible with orders: READER_FIELD_MISSING_DEFAULT_VALUE: ")
    assert refusal.findings[0].rule == "READER_FIELD_MISSING_DEFAULT_VALUE"
    assert refusal.findings[0].path == "/fields/1"
    assert refusal.findings[0].remedy
    assert any("oldSchemaVersion: 1" in line for line in refusal.reason.details)
    assert connection.versions("orders") == (1,)


def test_a_check_says_the_same_and_writes_nothing(connection: Connection) -> None:
    connection.register("orders", V1)
    good, bad = connection.check("orders", V2), connection.check("orders", BAD)
    assert good.compatible
    assert (good.messages, good.findings) == ((), ())
    assert not bad.compatible
    with pytest.raises(Incompatible) as caught:
        connection.register("orders", BAD)
    assert bad.findings == caught.value.findings
    assert bad.messages == caught.value.reason.details
    assert connection.check("nobody", BAD).compatible
    assert connection.check("nobody", BAD, -1).compatible
    assert not connection.check("orders", BAD, 1).compatible
    assert not connection.check("orders", BAD, -1).compatible
    with pytest.raises(VersionNotFound):
        connection.check("orders", V2, 9)
    with pytest.raises(VersionNotFound):
        connection.check("nobody", V2, 1)
    assert connection.versions("orders") == (1,)


def test_a_forced_version_skips_the_policy(connection: Connection) -> None:
    connection.register("orders", V1)
    made = connection.register("orders", BAD, force=ForceReason("ada", "the topic is empty"))
    assert made.version.number == 2


def test_only_the_levels_range_is_compared(connection: Connection) -> None:
    texts = [record("a:int?"), record("a:int?", "b:int?"), record("b:int?", "a:string?")]
    for text in texts[:2]:
        connection.register("orders", text)
    connection.set_level("orders", "BACKWARD")
    assert not connection.check("orders", texts[2]).compatible
    connection.set_level("orders", "NONE")
    assert connection.check("orders", texts[2]).compatible
    connection.register("orders", texts[2])
    connection.set_level("orders", "FULL_TRANSITIVE")
    assert not connection.check("orders", record("a:string?", "c:int?")).compatible
    connection.set_level("orders", "FULL")
    assert connection.check("orders", record("a:string?", "c:int?")).compatible


def test_who_expects_another_latest_version_is_refused(connection: Connection) -> None:
    first = connection.register("orders", V1, expected=ExpectedVersion("number", -1)).version
    with pytest.raises(NotLatest) as caught:
        connection.register("orders", V2, expected=ExpectedVersion("number", -1))
    assert (caught.value.reason.old, caught.value.reason.new) == ("number 1", "number -1")
    connection.register("orders", V2, expected=ExpectedVersion("schema_id", first.schema_id))
    connection.register("orders", V3, expected=ExpectedVersion("ordinal", 1))
    assert connection.versions("orders") == (1, 2, 3)


def test_the_number_of_a_version_may_be_guarded(connection: Connection) -> None:
    subject = subject_of("orders")
    assert connection.ask(Register(subject, Draft(V1), number=1)).answer.version.number == 1
    with pytest.raises(InvalidSchema, match="not one more than previous"):
        connection.ask(Register(subject, Draft(V2), number=3))
    assert connection.ask(Register(subject, Draft(V2), number=2)).answer.version.number == 2


def test_properties_metadata_and_rules_come_back(connection: Connection) -> None:
    metadata = Metadata((("shop.Order.id", ("KEY", "PII")),), (("owner", "ada"), ("team", "x")), ("owner",))
    rule = Rule("check", "CONDITION", "WRITE", "CEL", "a doc", ("PII",), (("k", "v"),), "id > 0", "NONE", "ERROR", True)
    rules = RuleSet(domain=(rule,), migration=(Rule("up", "TRANSFORM", "UPGRADE", "JSONATA"),))
    plain = connection.register("orders", V1).version
    made = connection.register(
        "orders", Draft(V1, metadata=metadata, rules=rules), properties=(("color", "red"),)
    ).version
    assert made.schema_id != plain.schema_id
    assert (made.metadata, made.rules, made.properties) == (metadata, rules, (("color", "red"),))
    assert connection.version("orders", 2) == made
    assert connection.schema(made.schema_id).rules == rules
    assert connection.find("orders", (("owner", "ada"),)) == made
    assert connection.find("orders", (("owner", "ada"), ("team", "x"))) == made
    with pytest.raises(SchemaNotFound):
        connection.find("orders", (("owner", "bob"),))
    with pytest.raises(SubjectNotFound):
        connection.find("nobody", (("owner", "ada"),))
    inherited = connection.register("orders", V2).version
    assert (inherited.metadata, inherited.rules) == (metadata, rules)
    changed = connection.register("orders", Draft("", metadata=Metadata(properties=(("owner", "bob"),)))).version
    assert changed.text == inherited.text


def test_references_are_kept_as_sent_and_must_exist(connection: Connection) -> None:
    money = record("cents:long", name="shop.Money")
    order = record("price:shop.Money")
    with pytest.raises(InvalidSchema, match=r"shop\.Money"):
        connection.register("orders", order)
    missing = Draft(order, references=(Reference("shop.Money", "money", 1),))
    with pytest.raises(InvalidSchema, match='No schema reference found for subject "money" and version 1'):
        connection.register("orders", missing)
    connection.register("money", money)
    made = connection.register("orders", missing).version
    assert made.references == (Reference("shop.Money", "money", 1),)
    assert connection.schema(made.schema_id).references == made.references
    assert connection.referenced_by("money", 1) == (made.schema_id,)
    assert connection.referenced_by("orders", 1) == ()
    latest = connection.register("orders2", Draft(order, references=(Reference("shop.Money", "money", -1),))).version
    assert latest.references == made.references
    assert latest.schema_id == made.schema_id


def test_subjects_are_listed_by_prefix_and_context(connection: Connection) -> None:
    for name in ("orders-value", "orders-key", "refunds-value", ":.shop:orders-value"):
        connection.register(name, V1)
    assert connection.subjects() == (":.shop:orders-value", "orders-key", "orders-value", "refunds-value")
    assert connection.subjects("") == ("orders-key", "orders-value", "refunds-value")
    assert connection.subjects("orders") == ("orders-key", "orders-value")
    assert connection.subjects(":.shop:") == (":.shop:orders-value",)
    assert connection.subjects(":*:orders-v") == (":.shop:orders-value", "orders-value")
    assert connection.subjects("nothing") == ()
    assert connection.contexts() == (".", ".shop")
    assert connection.contexts(".s") == (".shop",)


def test_an_unqualified_name_is_looked_for_in_other_contexts(connection: Connection) -> None:
    made = connection.register(":.shop:orders", V1).version
    assert connection.version("orders") == made
    assert connection.lookup("orders", V1) == made
    assert connection.versions("orders") == (1,)
    with pytest.raises(SubjectNotFound):
        connection.version(":.other:orders")


def test_versions_of_many_subjects_are_listed_in_pages(connection: Connection) -> None:
    for subject in ("a", "b", "c"):
        for text in (V1, V2):
            connection.register(subject, text)
    listed = connection.schemas()
    assert [(one.subject, one.number) for one in listed] == [(s, n) for s in "abc" for n in (1, 2)]
    assert listed[1] == connection.version("a", 2)
    assert [(one.subject, one.number) for one in connection.schemas(latest=True)] == [("a", 2), ("b", 2), ("c", 2)]
    assert [(one.subject, one.number) for one in connection.schemas("b")] == [("b", 1), ("b", 2)]
    page = connection.ask(ListSchemas(offset=1, limit=2)).answer.versions
    assert [(one.subject, one.number) for one in page] == [("a", 2), ("b", 1)]


@pytest.mark.parametrize("size", [1_100_000, 5_000_000])
def test_a_text_past_the_limit_is_refused(connection: Connection, size: int) -> None:
    with pytest.raises(TooLarge):
        connection.register("orders", record("id:long")[:-1] + f', "doc": "{"x" * size}"}}')
    assert connection.subjects() == ()


def test_a_command_that_comes_twice_is_done_once(connection: Connection) -> None:
    subject, call = subject_of("orders"), CallOptions(command_id="one-command")
    first = connection.ask(Register(subject, Draft(V1)), call)
    again = connection.ask(Register(subject, Draft(V1)), call)
    assert again.answer.version == first.answer.version
    assert again.answer.created
    told = connection.outcome("one-command")
    assert (told.command_id, told.sequence) == ("one-command", first.token.sequence)
    with pytest.raises(NotFound):
        connection.outcome("nobody's")


def test_a_command_that_may_be_under_way_is_remembered_though_it_changes_nothing(connection: Connection) -> None:
    subject = subject_of("orders")
    first = connection.ask(Register(subject, Draft(V1)))
    connection.ask(Register(subject, Draft(V1)), CallOptions(command_id="quiet"))
    with pytest.raises(NotFound):
        connection.outcome("quiet")
    again = connection.ask(Register(subject, Draft(V1)), CallOptions(command_id="slow", again=True))
    assert (again.answer.version, again.answer.created) == (first.answer.version, False)
    assert connection.outcome("slow").sequence == again.token.sequence
    connection.ask(DeleteVersion(subject, 1))
    late = connection.ask(Register(subject, Draft(V1)), CallOptions(command_id="slow"))
    assert (late.answer.version.number, late.answer.created) == (1, False)
    assert connection.subjects() == ()


def test_a_registration_that_comes_again_tells_its_own_version_though_that_is_gone(connection: Connection) -> None:
    subject, call = subject_of("orders"), CallOptions(command_id="slow")
    connection.register("orders", V1)
    first = connection.ask(Register(subject, Draft(V2)), call)
    for permanent in (False, True):
        connection.delete_subject("orders", permanent=permanent)
    other = connection.register("orders", V2)
    again = connection.ask(Register(subject, Draft(V2)), call)
    assert (first.answer.version.number, other.version.number) == (2, 1)
    assert again.answer.version.number == 2
    assert (again.answer.version.schema_id, again.answer.created) == (first.answer.version.schema_id, True)


def test_an_answer_is_as_new_as_its_token_says(connection: Connection) -> None:
    subject = subject_of("orders")
    made = connection.ask(Register(subject, Draft(V1)))
    assert made.token.sequence == 1
    read = connection.ask(GetVersion(subject, 1), CallOptions(after=made.token))
    assert read.token.sequence >= 1
    assert read.token.identity == made.token.identity
    later = connection.ask(Register(subject, Draft(V2)))
    assert later.token.sequence == 2
    for consistency in ("latest", "eventual"):
        found = connection.ask(Lookup(subject, Draft(V2)), CallOptions(consistency=consistency, after=later.token))
        assert found.answer.number == 2
