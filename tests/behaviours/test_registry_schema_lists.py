"""Lists of schemas with what stands beside them, the same through every door."""

from treaty.client.connection import Connection
from treaty.core.messages.associations import Associate, AssociationSpec, Resource
from treaty.core.messages.listings import ListSchemas, Versions
from treaty.core.messages.settings import Config
from treaty.core.names import Subject, subject_of
from treaty.core.schema import Draft, Rule, RuleSet

CEL = RuleSet(migration=(Rule("m", type="JSONATA", mode="UPGRADE"),), domain=(Rule("d", type="CEL"),))


def listed(connection: Connection, request: ListSchemas) -> tuple[list[str], Versions]:
    told = connection.ask(request).answer
    return [f"{one.subject}/{one.number}" for one in told.versions], told


def filled(connection: Connection) -> None:
    connection.register("a", '"int"')
    connection.set_level("a", "NONE")
    connection.register("a", Draft('"string"', rules=CEL))
    connection.register("b", '"long"')
    connection.register(":.x:c", '"int"')
    topic = Resource("t", "lkc", "t1")
    connection.ask(Associate(topic, (AssociationSpec("value", subject_of("b"), "STRONG"),)))
    connection.ask(Associate(Resource("u", "lkc", "u1"), (AssociationSpec("key", subject_of("a"), "WEAK"),)))


def test_aliases_are_told_beside_each_version(connection: Connection) -> None:
    filled(connection)
    for name in ("nick", "by-name"):
        connection.set_config(name, Config(alias="a"))
    connection.set_config(":.x:far", Config(alias=":.:b"))
    connection.set_config(":.x:near", Config(alias="c"))
    names, told = listed(connection, ListSchemas(Subject("*", ""), aliases=True))
    assert names == [":.x:c/1", "a/1", "a/2", "b/1"]
    assert told.aliases == ((":.x:near",), ("by-name", "nick"), ("by-name", "nick"), (":.x:far",))
    assert told.associations == ()
    connection.set_config("nick", Config(), clear=("alias",))
    connection.delete_config(":.x:far")
    assert listed(connection, ListSchemas(latest=True, aliases=True))[1].aliases == (("by-name",), ())


def test_rules_and_associations_say_which_versions_are_listed(connection: Connection) -> None:
    filled(connection)
    assert listed(connection, ListSchemas(rule_type="CEL"))[0] == ["a/2"]
    assert listed(connection, ListSchemas(rule_type="JSONATA"))[0] == ["a/2"]
    assert listed(connection, ListSchemas(rule_type="cel"))[0] == []
    assert listed(connection, ListSchemas(resource_type="topic"))[0] == ["a/1", "a/2", "b/1"]
    assert listed(connection, ListSchemas(resource_type="table"))[0] == []
    assert listed(connection, ListSchemas(kinds=("key",)))[0] == ["a/1", "a/2"]
    assert listed(connection, ListSchemas(kinds=("key", "value"), latest=True))[0] == ["a/2", "b/1"]
    names, told = listed(connection, ListSchemas(lifecycles=("STRONG",)))
    assert names == ["b/1"]
    assert [(one.resource.name, one.kind, one.lifecycle) for one in told.associations[0]] == [("t", "value", "STRONG")]
    every = ListSchemas(Subject("*", ""), lifecycles=("NONE", "WEAK"))
    names, told = listed(connection, every)
    assert names == [":.x:c/1", "a/1", "a/2"]
    assert [len(one) for one in told.associations] == [0, 1, 1]
    assert listed(connection, ListSchemas(resource_type="topic", offset=1, limit=1))[0] == ["a/2"]


def test_associations_beside_a_version_are_those_that_the_list_asks_for(connection: Connection) -> None:
    filled(connection)
    strict = Resource("w", "lkc", "w1")
    connection.ask(Associate(strict, (AssociationSpec("value", subject_of("a"), "WEAK"),)))
    _, answer = listed(connection, ListSchemas(kinds=("key",), latest=True))
    assert [[(found.resource.name, found.kind) for found in row] for row in answer.associations] == [[("u", "key")]]
    connection.ask(Associate(Resource("x", "lkc", "x1"), (AssociationSpec("key", subject_of(":.x:c"), "STRONG"),)))
    every = ListSchemas(Subject("*", ""), lifecycles=("STRONG", "NONE"), latest=True)
    names, answer = listed(connection, every)
    assert names == [":.x:c/1", "b/1"]
    assert all(found.lifecycle == "STRONG" for row in answer.associations for found in row)
