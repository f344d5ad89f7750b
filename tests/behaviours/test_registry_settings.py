"""Config and mode: where they hold, what they change, and how they are forgotten."""

from dataclasses import replace

import pytest

from tests.behaviours.test_registry import BAD, V1, V2, V3
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, InvalidSetting, InvalidSubject, NotPermitted, SettingNotFound
from treaty.core.schema import Draft, Metadata


def register_as(connection: Connection, subject: str, text: str, schema_id: int, number: int = 0) -> tuple[int, int]:
    """Register with an id, as importers do; returns id and number."""
    request = Register(subject_of(subject), Draft(text), schema_id=schema_id, number=number)
    version = connection.ask(request).answer.version
    return version.schema_id, version.number


def test_the_level_in_force_comes_from_the_nearest_scope(connection: Connection) -> None:
    assert connection.config().level == "BACKWARD"
    assert connection.config("orders").level == "BACKWARD"
    with pytest.raises(SettingNotFound):
        connection.config("orders", resolve=False)
    connection.set_level("*", "FULL")
    assert connection.config(":.shop:orders").level == "FULL"
    connection.set_level(":.shop:", "NONE")
    assert connection.config(":.shop:orders").level == "NONE"
    connection.set_level(":.shop:orders", "FORWARD")
    assert connection.config(":.shop:orders").level == "FORWARD"
    assert connection.config(":.shop:orders", resolve=False).level == "FORWARD"
    connection.set_level("", "BACKWARD_TRANSITIVE")
    assert connection.config("orders").level == "BACKWARD_TRANSITIVE"
    assert connection.delete_config(":.shop:orders").level == "FORWARD"
    assert connection.config(":.shop:orders").level == "NONE"
    assert connection.delete_config("").level == "BACKWARD_TRANSITIVE"
    assert connection.config("orders").level == "FULL"
    with pytest.raises(SettingNotFound):
        connection.delete_config("orders")


def test_a_change_of_config_keeps_the_rest(connection: Connection) -> None:
    metadata = Metadata(properties=(("owner", "ada"),))
    connection.set_config("orders", Config(level="FULL", normalize=True, alias="other", default_metadata=metadata))
    stored = connection.set_config("orders", Config(group="major"), clear=("alias", "normalize"))
    assert stored == Config(level="FULL", group="major", default_metadata=metadata)
    assert connection.config("orders", resolve=False) == stored


def test_defaults_and_overrides_of_metadata_go_into_new_versions(connection: Connection) -> None:
    connection.set_config(
        "orders",
        Config(
            default_metadata=Metadata(properties=(("a", "1"), ("b", "1"))),
            override_metadata=Metadata(properties=(("c", "9"),)),
        ),
    )
    sent = Metadata(properties=(("b", "2"), ("c", "2")))
    made = connection.register("orders", Draft(V1, metadata=sent)).version
    assert made.metadata == Metadata(properties=(("a", "1"), ("b", "2"), ("c", "9")))


def test_a_group_compares_only_its_own(connection: Connection) -> None:
    connection.set_config("orders", Config(group="major"))
    connection.register("orders", Draft(V1, metadata=Metadata(properties=(("major", "1"),))))
    connection.register("orders", Draft(BAD, metadata=Metadata(properties=(("major", "2"),))))
    with pytest.raises(Incompatible):
        connection.register("orders", Draft(BAD, metadata=Metadata(properties=(("major", "1"),))))


def test_a_level_changes_what_is_admitted_at_once(connection: Connection) -> None:
    connection.register("orders", V1)
    with pytest.raises(Incompatible):
        connection.register("orders", BAD)
    connection.set_level("orders", "NONE")
    assert connection.register("orders", BAD).version.number == 2


def test_settings_that_do_not_exist_are_refused(connection: Connection) -> None:
    with pytest.raises(InvalidSetting) as caught:
        connection.set_level("orders", "SIDEWAYS")
    assert "full_transitive" in str(caught.value).lower()
    with pytest.raises(InvalidSetting):
        connection.set_mode("orders", "SIDEWAYS")
    with pytest.raises(InvalidSetting):
        connection.set_mode("orders", "FORWARD")
    with pytest.raises(InvalidSubject):
        connection.set_level("__EMPTY", "FULL")
    with pytest.raises(InvalidSetting):
        connection.set_config("orders", Config(policy="KIND"))


def test_a_readonly_scope_takes_no_change_but_of_its_mode(connection: Connection) -> None:
    made = connection.register("orders", V1)
    connection.set_mode("orders", "READONLY")
    assert connection.mode("orders") == "READONLY"
    assert connection.register("orders", V1).version == made.version
    assert connection.check("orders", V2).compatible
    for attempt in (
        lambda: connection.register("orders", V2),
        lambda: connection.delete_version("orders", 1),
        lambda: connection.delete_subject("orders"),
        lambda: connection.set_level("orders", "NONE"),
    ):
        with pytest.raises(NotPermitted) as caught:
            attempt()
        assert caught.value.reason.allowed
    assert connection.delete_mode("orders") == "READONLY"
    assert connection.register("orders", V2).version.number == 2


def test_the_mode_in_force_comes_from_the_nearest_scope(connection: Connection) -> None:
    assert connection.mode("orders") == "READWRITE"
    with pytest.raises(SettingNotFound):
        connection.mode("orders", resolve=False)
    connection.set_mode("*", "READONLY")
    assert connection.mode(":.shop:orders") == "READONLY"
    connection.set_mode(":.shop:", "READWRITE")
    connection.register(":.shop:orders", V1)
    with pytest.raises(NotPermitted):
        connection.register("orders", V1)
    assert connection.set_mode("*", None) is None
    connection.register("orders", V1)
    connection.set_mode("orders", "READONLY")
    connection.set_mode("", "READONLY")
    connection.delete_mode("", recursive=True)
    assert connection.mode("orders") == "READWRITE"
    with pytest.raises(SettingNotFound):
        connection.delete_mode("orders")


def test_ids_are_given_by_the_sender_only_when_importing(connection: Connection) -> None:
    with pytest.raises(NotPermitted, match="not in import mode"):
        register_as(connection, "orders", V1, 50)
    connection.set_mode("orders", "IMPORT")
    with pytest.raises(NotPermitted, match="not in read-write mode"):
        connection.register("orders", V1)
    assert register_as(connection, "orders", V1, 50, 3) == (50, 3)
    assert register_as(connection, "orders", BAD, 51, 7) == (51, 7)
    with pytest.raises(NotPermitted, match="Overwrite new schema with id 50"):
        register_as(connection, "orders", V2, 50, 8)
    connection.set_mode("orders", "READWRITE")
    made = connection.register("others", V3).version
    assert made.schema_id == 52
    assert connection.versions("orders") == (3, 7)


def test_importing_wants_an_empty_scope_or_force(connection: Connection) -> None:
    connection.register("orders", V1)
    with pytest.raises(NotPermitted, match="existing subjects"):
        connection.set_mode("orders", "IMPORT")
    assert connection.set_mode("orders", "IMPORT", force=True) == "IMPORT"


def test_normalising_is_asked_for_or_configured(connection: Connection) -> None:
    text = '{"type":"record","name":"a.R","fields":[{"name":"x","type":{"type":"string","zz":1,"aa":2}}]}'
    plain = connection.register("plain", text).version
    asked = connection.register("asked", text, normalize=True).version
    connection.set_config("configured", Config(normalize=True))
    configured = connection.register("configured", text).version
    assert asked.text == configured.text != plain.text
    assert replace(asked, subject="", time=0) == replace(configured, subject="", time=0)
