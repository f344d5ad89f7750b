"""Lists of the client are whole, however many rows a page has."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.worlds.drafts import records
from tests.worlds.world import PAGES, World
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.api_keys import read_keys
from treaty.core.messages import groups as g
from treaty.core.messages.listings import ListSchemas, ListSubjects
from treaty.core.messages.policies import ListPolicies
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import ListPublished
from treaty.core.messages.settings import ListSettings
from treaty.core.messages.transfers import ExportSubjects, ExportVersions
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft
from treaty.core.state.values import PolicyValue


def keys_of(registry: Connection) -> tuple[Any, ...]:
    keys = read_keys(registry)
    assert isinstance(keys, tuple)
    return keys


NAMES = [f"n{at}" for at in range(5)]
LISTS: dict[str, Callable[[Connection], tuple[Any, ...]]] = {
    "groups": lambda it: it.groups(),
    "settings": lambda it: it.settings(),
    "policies": lambda it: it.policies(),
    "encodings": lambda it: it.encodings("packed"),
    "labels": lambda it: it.list_published(),
    "labels of a vendor": lambda it: it.list_published("com.acme"),
    "labels of a model": lambda it: it.list_published("com.acme", "n1", "jsonschema", 1),
    "keys": lambda it: it.api_keys(),
    "keys of a transfer": keys_of,
}


@pytest.fixture(scope="module")
def registry() -> Iterator[Connection]:
    """An irregular registry with at least five rows in each list."""
    with connect("memory:") as opened:
        World().begin(opened.ask, None, records)
        opened.create_subject("packed", g.GroupSettings("pravega"))
        opened.register("packed", '"int"')
        for name in NAMES:
            opened.add_codec("packed", name)
        for at, name in enumerate(NAMES):
            opened.create_policy(name, PolicyValue(deny=True))
            opened.set_level(name, "FULL")
            opened.assign_encoding("packed", 0, NAMES[-1 - at])
            opened.add_api_keys("com.acme", {f"{at:x}" * 64: "READ"})
            for label in ("1-0-0", "1-0-1", "2-0-0"):
                opened.publish(f"com.acme/{name}/jsonschema", label, Draft(f'{{"title":"{label}"}}', "JSON"))
        yield opened


class Patient:
    """A registry that is asked for so many pages at most."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner
        self.left = 100

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        self.left -= 1
        assert self.left, "pages without end"
        return self.inner.ask(request, call)

    def close(self) -> None:
        """Leave the registry open."""


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_whole_whatever_the_size_of_its_pages(registry: Connection, name: str, size: int) -> None:
    whole = LISTS[name](registry)
    assert len(whole) >= 2
    with World(pages=tuple((page, size) for page in PAGES if page != "EXPORT_CHARACTERS")).paged():
        assert LISTS[name](Connection(Patient(registry))) == whole


ROWS_OF: dict[str, tuple[Any, str]] = {
    "groups": (g.ListGroups(), "groups"),
    "labels": (ListPublished(), "schemas"),
    "subjects to be moved": (ExportSubjects(), "subjects"),
    "versions to be moved": (ExportVersions(), "versions"),
    "names": (ListSubjects(), "names"),
    "versions": (ListSchemas(), "versions"),
    "settings": (ListSettings(), "settings"),
    "policies": (ListPolicies(), "policies"),
}


@pytest.mark.parametrize("name", ROWS_OF)
def test_a_page_has_as_many_rows_as_are_asked_for(registry: Connection, name: str) -> None:
    """None where none or fewer are asked for; the first ones else."""
    request, member = ROWS_OF[name]
    whole = getattr(registry.ask(request).answer, member)
    assert len(whole) >= 5
    for limit in (-1, 0, 1, 3, len(whole) - 1, len(whole), len(whole) + 1):
        page = getattr(registry.ask(replace(request, limit=limit)).answer, member)
        assert page == whole[: max(limit, 0)], limit
