"""What subjects may be called, for every registry."""

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_reader import read
from treaty.core.messages.settings import Config, DeleteMode, GetConfig, Scope, SetConfig
from treaty.core.refusals import InvalidSubject

V1 = '"int"'
V2 = '"long"'

INVISIBLE = [
    "pay\u200bments",
    "\u202estnemyap",
    "pay\u2028ments",
    "pay\u00adments",
    "\ufeffpay",
    "p\u2066ay",
    "pay\U000e0061",
]


@pytest.mark.parametrize("name", ["__GLOBAL", "__EMPTY", "a\nb", "\x00", ":.__GLOBAL:x", "x" * 5000, *INVISIBLE])
def test_a_name_that_no_subject_may_have_is_refused(connection: Connection, name: str) -> None:
    with pytest.raises(InvalidSubject):
        connection.register(name, V1)
    assert connection.subjects() == ()


@pytest.mark.parametrize("name", INVISIBLE)
def test_no_alias_has_a_name_that_looks_like_another_one(connection: Connection, name: str) -> None:
    connection.register("payments", V1)
    for change in (Config(alias="payments"), Config(level="NONE")):
        with pytest.raises(InvalidSubject):
            connection.ask(SetConfig(Scope(".", name), change))
    connection.ask(SetConfig(Scope(".", name), Config(), clear=("alias",)))  # changes nothing
    connection.set_mode(name, "IMPORT")  # an import keeps names, and configs with them
    connection.ask(SetConfig(Scope(".", name), Config(alias="payments")))
    connection.set_mode(name, "READWRITE")
    connection.ask(SetConfig(Scope(".", name), Config(alias="")))


def test_an_imported_name_stays_as_it_was(connection: Connection) -> None:
    name = INVISIBLE[0]
    connection.set_mode(name, "IMPORT")
    made = connection.register(name, V1, schema_id=7, number=3).version
    connection.set_mode(name, "READWRITE")

    assert (made.subject, made.number) == (name, 3)
    assert connection.register(name, V2).version.number == 4  # the subject is there


@pytest.mark.parametrize(
    "name",
    ["a/b", "a b", "a%2Fb", "a+b", "Käse & Brot", "日本", "?x=1#y", "a:b", "..", "a;b,c", "latest", ":.ctx:a/b", "*"],
)
def test_any_other_name_goes_there_and_back(connection: Connection, name: str) -> None:
    made = connection.register(name, V1).version
    assert made.subject == name
    assert connection.subjects() == (name,)
    assert connection.version(name, 1) == made
    assert connection.lookup(name, V1) == made
    connection.set_level(name, "FULL")
    assert connection.config(name, resolve=False).level == "FULL"
    assert connection.delete_subject(name) == (1,)


def test_an_import_of_nothing_but_an_alias_keeps_its_name(connection: Connection) -> None:
    alias = Scope(".", INVISIBLE[0])
    with connect("memory:") as source:
        source.register("payments", V1)
        assert write(read(source), connection).problems == ()
        source.set_mode(INVISIBLE[0], "IMPORT")
        source.ask(SetConfig(alias, Config(alias="payments")))
        source.ask(DeleteMode(alias))
        assert write(read(source), connection).problems == ()
    assert connection.ask(GetConfig(alias)).answer.config.alias == "payments"
