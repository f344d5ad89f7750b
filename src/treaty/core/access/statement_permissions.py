"""The permissions that one kind of request about sources and types of the metastore needs."""

from collections.abc import Sequence
from typing import Any

from treaty.core.access.permissions import TOPIC, Required, RequiredPermission, on_subject
from treaty.core.access.request_permissions import of_register
from treaty.core.access.rights import TopicPart
from treaty.core.access.source_permissions import any_source, on_path, on_source
from treaty.core.messages.metastore import deleted_topics as t
from treaty.core.messages.metastore import plans as p
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore import sources as m
from treaty.core.names import Subject
from treaty.core.sources import SchemaPin


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
        need
        for schema in (request.key_schema, request.value_schema)
        if schema is not None
        for need in of_register(schema)
    ]
    return tuple(dict.fromkeys((on_source("register", request.name, "/name"), *renamed, *schemas, *_on_pins(pins))))


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
