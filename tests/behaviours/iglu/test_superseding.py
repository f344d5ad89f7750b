"""A version that was published with what it supersedes: the resolver follows through every door to a registry of Treaty."""

import json
from typing import Any, TypeVar

import pytest

import treaty
from tests.behaviours.served import Served
from treaty import Resolver
from treaty.client.connection import Connection
from treaty.client.iglu import IgluNotFoundError, IgluRegistry, ResolverConfig, http_registry, treaty_registry
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import GetPublished, Publish
from treaty.core.names import subject_of
from treaty.core.refusals import Forbidden
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft

A = TypeVar("A")
NAME = "com.acme/click/jsonschema"
OLD, NEW = f"iglu:{NAME}/1-0-0", f"iglu:{NAME}/1-0-1"


def publish(label: str, *supersedes: str, **options: Any) -> Publish:
    """A request to publish a version whose one member is called after it."""
    text = json.dumps({"type": "object", "properties": {label: {"type": "string"}}, "additionalProperties": False})
    return Publish(subject_of(NAME), label, Draft(text, "JSON"), supersedes=supersedes, **options)


def resolver(*registries: IgluRegistry) -> Resolver:
    return Resolver(ResolverConfig(0), registries=registries)


@pytest.mark.parametrize(
    "connection", ["memory", "sqlite", "asyncio-memory", "http", "asyncio-http", "peer"], indirect=True
)
def test_a_version_that_is_superseded_leads_to_the_later_one(connection: Connection) -> None:
    for request in (publish("1-0-0"), publish("1-0-1", "1-0-0")):
        connection.ask(request)
    mine = resolver(treaty_registry("own", connection))

    found = mine.lookup(OLD, superseding=True)
    assert (str(found.used_key), [*found.document["properties"]]) == (NEW, ["1-0-1"])
    assert [*mine.lookup(OLD).document["properties"]] == ["1-0-0"]
    judged = mine.validate({"schema": OLD, "data": {"1-0-1": "x"}})
    assert (judged.outcome, str(judged.superseded_by)) == ("valid", "1-0-1")
    assert [str(one.version) for one in mine.list_schemas("com.acme", "click", 1).schemas] == ["1-0-0", "1-0-1"]
    with pytest.raises(IgluNotFoundError):
        mine.lookup(f"iglu:{NAME}/1-0-2")


def test_a_registry_of_treaty_and_its_door_of_iglu_have_the_same_documents(server: Served) -> None:
    for request in (publish("1-0-0"), publish("1-0-1", "1-0-0"), publish("1-0-0", patch=True), publish("2-0-0")):
        server.ask(request, CALL)
    with treaty.connect(server.url) as connection:
        ours = resolver(treaty_registry("own", connection))
        with resolver(http_registry("iglu", f"{server.url}/api")) as theirs:
            for key in (OLD, NEW, f"iglu:{NAME}/2-0-0"):
                assert ours.lookup(key).document == theirs.lookup(key).document
                assert ours.lookup(key, superseding=True).used_key == theirs.lookup(key, superseding=True).used_key


def test_a_registry_with_the_api_of_confluent_alone_has_the_versions_and_nothing_supersedes_them(
    older_server: Served,
) -> None:
    for request in (publish("1-0-0"), publish("1-0-1", "1-0-0")):
        older_server.ask(request, CALL)
    with treaty.connect(older_server.url) as connection:
        found = resolver(treaty_registry("old", connection)).lookup(OLD, superseding=True)
    assert (found.superseded_by, [*found.document["properties"]]) == (None, ["1-0-0"])


class Outsider:
    """A registry for a caller who has no right to read the subject: it refuses what names it, and lists the others."""

    def __init__(self, registry: Connection) -> None:
        self._registry = registry

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        if isinstance(request, GetPublished):
            raise Forbidden.of("READ", "no")
        return self._registry.ask(request, call)

    def close(self) -> None:
        pass


def test_what_the_caller_may_not_read_is_not_there() -> None:
    with treaty.connect("memory:") as nothing, pytest.raises(IgluNotFoundError):
        resolver(treaty_registry("own", Outsider(nothing))).lookup(OLD)
