"""The permissions that requests about sources and types of the metastore need."""

from collections.abc import Callable, Sequence
from typing import Any

from treaty.core.access.permissions import (
    ANY_SOURCE,
    PATH,
    SOURCE,
    TOPIC,
    Required,
    RequiredPermission,
    of_register,
    on_subject,
)
from treaty.core.access.rights import Permission, TopicPart
from treaty.core.messages import deleted_topics as t
from treaty.core.messages import metastore as m
from treaty.core.messages import plans as p
from treaty.core.messages import runners as r
from treaty.core.names import Subject
from treaty.core.sources import SchemaPin
from treaty.core.state.metastore.keys import canonical_path, key_of_name


def on_source(permission: Permission, name: str, path: str = "") -> RequiredPermission[str]:
    """Return the need of this permission on a source, by its name."""
    return RequiredPermission((permission,), SOURCE, key_of_name(name), path)


def on_path(permission: Permission, place: str, path: str = "") -> RequiredPermission[str]:
    """Return the need of this permission on the folder of a source, in any spelling."""
    return RequiredPermission((permission,), PATH, canonical_path(place), path)


def of_source(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on the request's source or type."""
    return lambda request: (on_source(permission, request.name, "/name"),)


def importable(required: Callable[[Any], Required]) -> Callable[[Any], Required]:
    """Require what `required` says, and importing where an import sends the request."""

    def of_request(request: Any) -> Required:
        needs = required(request)
        if not request.importer:
            return needs
        name = request.definition.name if isinstance(request, m.CreateSource) else request.name
        return (*needs, on_source("import", name, "/importer"))

    return of_request


def any_source(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on some source."""
    required = (RequiredPermission((permission,), ANY_SOURCE, None),)
    return lambda _request: required


def of_create_source(request: m.CreateSource) -> Required:
    """Require registering on the source, its topic and its subjects, reading what it pins, and querying what it reads."""
    defined = request.definition
    reads = () if defined.query is None else defined.query.reads
    bad = (on_source("register", f"{defined.name}_bad", "/definition/bad_rows"),) if defined.bad_rows else ()
    parts = [("key", defined.key, request.key_schema), ("value", defined.value, request.value_schema)]
    pins = [(f"/definition/{name}/pin", part.pin) for name, part, _ in parts if part is not None]
    pins.extend(("/definition/query/reads", pin) for read in reads for pin in (read.key, read.value))
    topic: list[RequiredPermission[Any]] = []
    if defined.connector == "kafka" and defined.place:
        kinds = ("value",) if defined.key is None else ("key", "value")
        topic = [
            RequiredPermission(("register",), TOPIC, TopicPart(defined.place, "", kind), "/definition/place")
            for kind in kinds
        ]
    elif defined.place:
        topic = [on_path("register", defined.place, "/definition/place")]
    required = (
        on_source("register", defined.name, "/definition/name"),
        *bad,
        *topic,
        *(need for _, _, schema in parts if schema is not None for need in of_register(schema)),
        *(on_source("query", read.source, "/definition/query/reads") for read in reads),
        *_on_pins(pins),
    )
    return tuple(dict.fromkeys(required))


def of_request_plan(request: p.RequestPlan) -> Required:
    """Require registering on the source, and on the values of its topic. What the plan then needs is required of the sender too,
    when the source is written.
    """
    topic: list[RequiredPermission[Any]] = []
    if request.place:
        topic = [RequiredPermission(("register",), TOPIC, TopicPart(request.place, "", "value"), "/place")]
    return (on_source("register", request.name, "/name"), *topic)


def of_lease_topics(request: t.LeaseTopics) -> Required:
    """Require planning of some source, and deleting the topics that the request is about."""
    topics = [
        RequiredPermission(("delete",), TOPIC, TopicPart(name, "", "value"), path)
        for path, names in (("/begin", request.begin), ("/gone", request.gone))
        for name in names
    ]
    return tuple(dict.fromkeys((*any_source("plan")(request), *topics)))


def of_change_source(request: m.ChangeSource) -> Required:
    """Require registering on the source, under both names, and reading the subjects of its pins."""
    pins = [
        (f"/{name}/pin", part.pin)
        for name, part in (("key", request.key), ("value", request.value))
        if part is not None
    ]
    named = (("/rename", request.rename), ("/swap", request.swap))
    renamed = [on_source("register", name, path) for path, name in named if name]
    schemas = [
        need for one in (request.key_schema, request.value_schema) if one is not None for need in of_register(one)
    ]
    return tuple(dict.fromkeys((on_source("register", request.name, "/name"), *renamed, *schemas, *_on_pins(pins))))


def of_list_dependents(request: m.ListDependents) -> Required:
    """Require reading the source; types are for everybody who reads a source."""
    return any_source("read")(request) if request.kind == "TYPE" else of_source("read")(request)


def of_assign_queries(request: r.AssignQueries) -> Required:
    """Require planning of the sources whose parts are assigned or taken; of some source where there are none."""
    named = (("take", request.take), ("release", request.release))
    needs = [
        on_source("plan", part.source, f"/{member}/{place}/source")
        for member, parts in named
        for place, part in enumerate(parts)
    ]
    return tuple(needs) or any_source("plan")(request)


def _on_pins(pins: Sequence[tuple[str, SchemaPin | None]]) -> Required:
    return tuple(on_subject("read", Subject(pin.context, pin.subject), path) for path, pin in pins if pin is not None)
