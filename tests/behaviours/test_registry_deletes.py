"""How versions and subjects go: hidden first, then for good, and what stays."""

from itertools import permutations

import pytest

from tests.behaviours.test_registry import BAD, V1, V2, V3, record
from treaty.client.connection import Connection
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import subject_of
from treaty.core.refusals import (
    AlreadyDeleted,
    NotDeletedFirst,
    NotEmpty,
    Referenced,
    SchemaNotFound,
    SettingNotFound,
    SubjectNotFound,
    VersionNotFound,
)
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Reference

MONEY = record("cents:long", name="shop.Money")
PRICED = Draft(record("price:shop.Money", name="shop.Priced"), references=(Reference("shop.Money", "money", 1),))


@pytest.fixture
def orders(connection: Connection) -> Connection:
    for text in (V1, V2, V3):
        connection.register("orders", text)
    return connection


def test_a_hidden_version_is_gone_from_lists_and_stays_by_id(orders: Connection) -> None:
    second = orders.version("orders", 2)
    assert orders.delete_version("orders", 2) == (2,)
    assert orders.versions("orders") == (1, 3)
    assert orders.versions("orders", "all") == (1, 2, 3)
    assert orders.versions("orders", "deleted") == (2,)
    with pytest.raises(VersionNotFound):
        orders.version("orders", 2)
    with pytest.raises(SchemaNotFound):
        orders.lookup("orders", V2)
    hidden = orders.version("orders", 2, deleted=True)
    assert hidden.deleted
    assert hidden.text == second.text
    assert orders.lookup("orders", V2, deleted=True).number == 2
    assert orders.schema(second.schema_id).text == second.text
    assert orders.by_guid(second.guid).text == second.text
    assert orders.uses(second.schema_id) == ()
    assert orders.uses(second.schema_id, visible="all") == (("orders", 2),)


def test_latest_may_be_deleted_by_that_name(orders: Connection) -> None:
    assert orders.delete_version("orders", -1) == (3,)
    assert orders.version("orders").number == 2


def test_each_step_of_deleting_comes_once(orders: Connection) -> None:
    with pytest.raises(NotDeletedFirst):
        orders.delete_version("orders", 2, permanent=True)
    orders.delete_version("orders", 2)
    with pytest.raises(AlreadyDeleted):
        orders.delete_version("orders", 2)
    assert orders.delete_version("orders", 2, permanent=True) == (2,)
    with pytest.raises(VersionNotFound):
        orders.delete_version("orders", 2, permanent=True)
    assert orders.versions("orders", "all") == (1, 3)
    with pytest.raises(SchemaNotFound):
        orders.schema(2)
    with pytest.raises(SubjectNotFound):
        orders.delete_version("nobody", 1)


def test_a_deletion_that_comes_twice_is_done_once(orders: Connection) -> None:
    request, call = DeleteVersion(subject_of("orders"), 2), CallOptions(command_id="del")
    first = orders.ask(request, call)
    again = orders.ask(request, call)
    assert first.answer == again.answer
    whole = orders.ask(DeleteSubject(subject_of("orders")), CallOptions(command_id="all"))
    assert orders.ask(DeleteSubject(subject_of("orders")), CallOptions(command_id="all")).answer == whole.answer


def test_a_schema_that_comes_back_after_hiding_has_its_id_and_a_new_number(orders: Connection) -> None:
    orders.delete_version("orders", 3)
    back = orders.register("orders", V3)
    assert back.created
    assert (back.version.number, back.version.schema_id) == (4, 3)
    assert orders.versions("orders", "all") == (1, 2, 4)


def test_a_schema_that_comes_back_after_purging_has_a_new_id(orders: Connection) -> None:
    guid = orders.version("orders", 3).guid
    orders.delete_version("orders", 3)
    orders.delete_version("orders", 3, permanent=True)
    back = orders.register("orders", V3).version
    assert (back.number, back.schema_id, back.guid) == (3, 4, guid)
    with pytest.raises(SchemaNotFound):
        orders.schema(3)


def test_hidden_versions_bind_nobody(orders: Connection) -> None:
    orders.delete_subject("orders")
    assert orders.register("orders", BAD).version.number == 4


def test_a_subject_goes_whole(orders: Connection) -> None:
    with pytest.raises(NotDeletedFirst):
        orders.delete_subject("orders", permanent=True)
    orders.set_level("orders", "FULL")
    assert orders.delete_subject("orders") == (1, 2, 3)
    with pytest.raises(AlreadyDeleted):
        orders.delete_subject("orders")
    with pytest.raises(SubjectNotFound):
        orders.version("orders")
    with pytest.raises(SubjectNotFound):
        orders.versions("orders")
    assert orders.subjects() == ()
    assert orders.subjects(visible="all") == ("orders",)
    assert orders.subjects(visible="deleted") == ("orders",)
    assert orders.versions("orders", "all") == (1, 2, 3)
    assert [one.number for one in orders.schemas(visible="all")] == [1, 2, 3]
    assert orders.schemas() == ()
    assert orders.delete_subject("orders", permanent=True) == (1, 2, 3)
    assert orders.subjects(visible="all") == ()
    with pytest.raises(SubjectNotFound):
        orders.delete_subject("orders")
    with pytest.raises(SettingNotFound):
        orders.config("orders", resolve=False)
    again = orders.register("orders", V1).version
    assert (again.number, again.schema_id) == (1, 4)


@pytest.mark.parametrize("hidden", [(1, 2, 3), (1, 2), (2, 3), (1, 3)])
def test_a_subject_goes_with_the_last_of_its_versions_hidden_ones_among_them(
    registry: Connection, hidden: tuple[int, ...]
) -> None:
    """In whatever order they are deleted for good: until then those that are left, and the level, stay as they are."""
    for order in permutations((1, 2, 3)):
        for text in (V1, V2, V3):
            registry.register("orders", text)
        registry.set_level("orders", "FULL")
        for number in hidden:
            registry.delete_version("orders", number)
        for place, number in enumerate(order, 1):
            if number not in hidden:
                registry.delete_version("orders", number)
            assert registry.delete_version("orders", number, permanent=True) == (number,)
            remaining = tuple(sorted(order[place:]))
            if remaining:
                assert registry.versions("orders", "all") == remaining
                assert registry.config("orders", resolve=False).level == "FULL"
        assert registry.subjects(visible="all") == ()
        with pytest.raises(SettingNotFound):
            registry.config("orders", resolve=False)


def test_permanent_deletion_takes_what_was_hidden_before(orders: Connection) -> None:
    orders.delete_version("orders", 1)
    assert orders.delete_subject("orders") == (2, 3)
    assert orders.delete_subject("orders", permanent=True) == (1, 2, 3)


def test_what_others_refer_to_stays(connection: Connection) -> None:
    connection.register("money", MONEY)
    user = connection.register("priced", PRICED).version
    with pytest.raises(Referenced, match="money"):
        connection.delete_version("money", 1)
    with pytest.raises(Referenced, match="money"):
        connection.delete_subject("money")
    connection.delete_subject("priced")
    assert connection.referenced_by("money", 1) == ()
    assert connection.referenced_by("money", 1, deleted=True) == (user.schema_id,)
    connection.delete_version("money", 1)
    with pytest.raises(Referenced):
        connection.delete_version("money", 1, permanent=True)
    assert connection.schema(user.schema_id).references == PRICED.references
    connection.delete_subject("priced", permanent=True)
    assert connection.delete_version("money", 1, permanent=True) == (1,)


def test_a_context_goes_when_it_is_empty(connection: Connection) -> None:
    connection.register(":.shop:orders", V1)
    with pytest.raises(NotEmpty):
        connection.delete_context(".shop")
    connection.delete_subject(":.shop:orders")
    with pytest.raises(NotEmpty):
        connection.delete_context(".shop")
    connection.delete_subject(":.shop:orders", permanent=True)
    connection.delete_context(".shop")
    assert connection.contexts() == (".",)
