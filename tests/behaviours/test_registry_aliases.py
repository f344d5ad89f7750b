"""Aliases: a subject that stands for another one, the same through every door."""

import pytest

from tests.behaviours.test_registry import V1, V2, V3
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema, UsesOf
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import DeleteVersion, GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import SettingNotFound, SubjectNotFound
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Metadata, Reference


def alias(connection: Connection, name: str, target: str) -> None:
    connection.set_config(name, Config(alias=target))


def test_every_request_about_a_subject_follows_its_alias(connection: Connection) -> None:
    alias(connection, "nick", "orders")
    made = connection.register("nick", V1).version
    assert made.subject == "orders"
    assert connection.subjects() == ("orders",)
    connection.register("orders", V2)

    assert connection.version("nick").number == 2
    assert connection.version("nick", 1) == connection.version("orders", 1)
    assert connection.versions("nick") == (1, 2)
    assert connection.lookup("nick", V1).subject == "orders"
    assert connection.check("nick", V3).compatible == connection.check("orders", V3).compatible
    assert connection.referenced_by("nick", 1) == ()
    assert connection.ask(GetSchema(made.schema_id, subject_of("nick"))).answer.subject == "orders"
    assert connection.ask(UsesOf(made.schema_id, subject_of("nick"))).answer.uses == (("orders", 1),)
    assert connection.derive("nick", metadata=Metadata(properties=(("a", "b"),))).version.subject == "orders"
    assert connection.delete_version("nick", 1) == (1,)
    assert connection.delete_subject("nick") == (2, 3)
    with pytest.raises(SubjectNotFound, match="'orders'"):
        connection.version("nick")


def test_an_alias_leads_one_step_and_stays_in_its_context(connection: Connection) -> None:
    for name, target in (("a", "b"), ("b", "c"), (":.shop:a", "b"), ("far", ":.shop:b")):
        alias(connection, name, target)
    assert connection.register("a", V1).version.subject == "b"
    assert connection.register(":.shop:a", V1).version.subject == ":.shop:b"
    assert connection.register("far", V2).version.subject == ":.shop:b"
    assert connection.register("b", V2).version.subject == "c"
    assert connection.lookup("a", V1).subject == "b", "the alias of b is not followed any further"
    assert connection.subjects() == (":.shop:b", "b", "c")


def test_settings_are_those_of_the_alias_itself_and_what_is_set_above_is_no_alias(connection: Connection) -> None:
    connection.register("orders", V1)
    alias(connection, "nick", "orders")
    connection.set_config("nick", Config(level="FULL"))
    connection.set_mode("nick", "READONLY")
    assert connection.config("nick", resolve=False) == Config(level="FULL", alias="orders")
    with pytest.raises(SettingNotFound):
        connection.config("orders", resolve=False)
    assert connection.register("nick", V2).version.subject == "orders", "the mode in force is that of orders"
    connection.set_config("", Config(alias="elsewhere"))
    connection.set_config(":.shop:", Config(alias="elsewhere"))
    assert connection.register("plain", V1).version.subject == "plain"
    assert connection.register(":.shop:plain", V1).version.subject == ":.shop:plain"
    connection.set_mode("nick", None)
    connection.set_config("nick", Config(), clear=("alias",))
    with pytest.raises(SubjectNotFound, match="'nick'"):
        connection.version("nick")


def test_references_mean_what_they_name_and_no_alias(connection: Connection) -> None:
    connection.register("names", '{"type":"enum","name":"Name","symbols":["A"]}')
    connection.register("others", '{"type":"enum","name":"Other","symbols":["B"]}')
    text = '{"type":"record","name":"R","fields":[{"name":"n","type":"Name"}]}'
    alias(connection, "names", "others")
    made = connection.register("orders", Draft(text, references=(Reference("Name", "names", 1),))).version
    assert made.references == (Reference("Name", "names", 1),)
    exact = connection.ask(GetVersion(subject_of("names"), 1, exact=True)).answer
    assert exact.subject == "names"
    assert "Name" in exact.text
    assert connection.version("names", 1).subject == "others"


def test_importers_mean_the_subject_itself(connection: Connection) -> None:
    connection.register("nick", V1)
    alias(connection, "nick", "orders")
    made = connection.ask(Register(subject_of("nick"), Draft(V2), exact=True)).answer.version
    assert (made.subject, made.number) == ("nick", 2)
    assert connection.ask(DeleteVersion(subject_of("nick"), 1, exact=True)).answer.numbers == (1,)
    assert connection.ask(GetVersion(subject_of("nick"), 2, exact=True)).answer == made
    with pytest.raises(SubjectNotFound, match="'orders'"):
        connection.versions("nick")


def test_what_is_sent_again_under_its_id_is_the_same_command_whatever_the_alias_says_now(
    connection: Connection,
) -> None:
    alias(connection, "nick", "orders")
    request, call = Register(subject_of("nick"), Draft(V1)), CallOptions(command_id="once")
    made = connection.ask(request, call).answer
    alias(connection, "nick", "invoices")
    assert connection.ask(request, call).answer == made
    assert connection.subjects() == ("orders",)


def test_an_alias_that_is_set_at_one_door_holds_for_writes_at_the_other(doors: tuple[Connection, Connection]) -> None:
    one, other = doors
    for number in range(3):
        alias(one, "nick", f"target-{number}")
        assert other.register("nick", V1).version.subject == f"target-{number}"
        one, other = other, one
