"""Tags inside schemas, and versions made out of others: the same through every door."""

import json

import pytest

from treaty.client.connection import Connection
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.settings import Config
from treaty.core.names import subject_of
from treaty.core.refusals import InvalidRules, InvalidSchema, SubjectNotFound, TooLarge, VersionNotFound
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet, TaggedPath

ORDERS = subject_of("orders")
ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"who","type":"string"}]}'
PII = TaggedPath("Order.who", "sr_field", ("PII",))
OWNED = TaggedPath("Order", "sr_record", ("GDPR", "OWNED"))


def tagged_text() -> str:
    order = json.loads(ORDER)
    order["fields"][1]["confluent:tags"] = ["PII"]
    order["confluent:tags"] = ["GDPR", "OWNED"]
    return json.dumps(order, separators=(",", ":"))


def test_a_version_is_made_out_of_another_in_one_step(connection: Connection) -> None:
    first = connection.register("orders", ORDER).version
    made = connection.derive("orders", add_tags=(PII, OWNED))

    assert made.created
    assert (made.version.number, made.version.text) == (2, tagged_text())
    assert made.version.metadata == Metadata(properties=(("confluent:version", "2"),))
    assert connection.version("orders") == made.version
    assert connection.version("orders", 1) == first, "the old one stays as it is"
    assert connection.version("orders", find_tags=("*",)).tags == (OWNED, PII)
    assert connection.version("orders", find_tags=("OWNED", "X")).tags == (OWNED,), "with all of its tags"
    assert connection.version("orders", find_tags=("X",)).tags == ()
    by_id = connection.ask(GetSchema(made.version.schema_id, find_tags=("PII",))).answer
    assert by_id.tags == (PII,)

    back = connection.derive("orders", remove_tags=(PII, OWNED), number=3).version
    assert (back.number, back.text) == (3, ORDER)
    assert connection.derive("orders", 1).version == back, "only the number in its metadata would differ"


def test_registrations_add_remove_and_carry_tags_on(connection: Connection) -> None:
    made = connection.ask(Register(ORDERS, Draft(ORDER), add_tags=(PII, OWNED))).answer
    assert made.version.text == tagged_text()
    again = connection.ask(Register(ORDERS, Draft(ORDER), add_tags=(OWNED, PII))).answer
    assert not again.created
    assert again.version == made.version

    wider = ORDER[:-2] + ',{"name":"note","type":"string","default":""}]}'
    carried = connection.ask(Register(ORDERS, Draft(wider), propagate_tags=True)).answer.version
    assert connection.version("orders", find_tags=("*",)).tags == (OWNED, PII)
    assert carried.number == 2
    shorter = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
    request = Register(
        ORDERS, Draft(shorter), propagate_tags=True, remove_tags=(TaggedPath("Order", "sr_record", ("OWNED",)),)
    )
    connection.ask(request)
    assert connection.version("orders", find_tags=("*",)).tags == (TaggedPath("Order", "sr_record", ("GDPR",)),)


def test_what_is_sent_twice_under_one_id_is_made_once(connection: Connection) -> None:
    connection.register("orders", ORDER)
    request, call = Derive(ORDERS, 1, number=2, add_tags=(PII,)), CallOptions(command_id="twice")
    made = connection.ask(request, call).answer
    assert connection.ask(request, call).answer == made
    assert connection.version("orders").number == 2


def test_references_and_settings_count_for_what_is_made_out_of_a_version(connection: Connection) -> None:
    connection.register("names", '{"type":"enum","name":"Name","symbols":["A"]}')
    text = '{"type":"record","name":"R","fields":[{"name":"n","type":"Name"}]}'
    connection.register("orders", Draft(text, references=(Reference("Name", "names", 1),)))
    connection.set_config("orders", Config(override_metadata=Metadata(properties=(("team", "x"),))))
    made = connection.derive("orders", add_tags=(TaggedPath("R.n", "sr_field", ("PII",)),), metadata=Metadata()).version
    assert made.references == (Reference("Name", "names", 1),)
    assert made.metadata == Metadata(properties=(("confluent:version", "2"), ("team", "x")))
    with pytest.raises(InvalidSchema, match="'Name'"):  # it is another schema's, and tagged there
        connection.derive("orders", add_tags=(TaggedPath("Name", "sr_record", ("PII",)),))


def test_what_leads_nowhere_is_refused_with_what_would(connection: Connection) -> None:
    connection.register("orders", ORDER)
    with pytest.raises(InvalidSchema) as caught:
        connection.derive("orders", add_tags=(TaggedPath("Order.how", "sr_field", ("PII",)),))
    assert caught.value.faults[0].rule == "TAG_ENTITY_UNKNOWN"
    assert "Order.who" in caught.value.faults[0].expected
    with pytest.raises(SubjectNotFound):
        connection.derive("nobody")
    with pytest.raises(VersionNotFound):
        connection.derive("orders", 2)
    with pytest.raises(InvalidSchema, match="not one more"):
        connection.derive("orders", number=3)
    with pytest.raises(TooLarge) as large:
        connection.derive("orders", add_tags=(PII,) * 1001)
    assert large.value.reason.rule == "TAGGED"
    rules = RuleSet(domain=(Rule("r", type="T"),))
    with pytest.raises(InvalidRules, match="should be omitted"):
        connection.ask(Derive(ORDERS, 1, rules=rules, merge_rules=rules))
    assert connection.version("orders").number == 1


def test_rules_are_merged_and_removed_by_name(connection: Connection) -> None:
    old = RuleSet(domain=(Rule("a", type="T"), Rule("b", type="T"), Rule("c", type="T")))
    connection.register("orders", Draft(ORDER, rules=old))
    new = RuleSet(domain=(Rule("d", type="U"), Rule("b", type="U")))
    made = connection.ask(Derive(ORDERS, 1, merge_rules=new, remove_rules=("c", "unknown"))).answer.version
    assert made.rules == RuleSet(domain=(Rule("a", type="T"), Rule("d", type="U"), Rule("b", type="U")))
    bare = connection.ask(Derive(ORDERS, 1, remove_rules=("a", "b", "c"))).answer.version
    assert bare.rules is None
