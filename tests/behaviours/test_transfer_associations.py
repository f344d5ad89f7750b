"""Moving associations: out of a topic's dump and into one, between registries, with what a target can't take."""

import json
from collections.abc import Callable
from typing import Any

from tests.behaviours.scripted import Say, Seen, scripted
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.dump import read_lines, write_lines
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_reader import read
from treaty.core.messages import associations as t
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft

GUID = "0a1b2c3d-0000-4000-8000-000000000001"


def line(key: dict[str, Any], value: dict[str, Any] | None) -> bytes:
    return json.dumps({"key": key, "value": value}).encode() + b"\n"


def schema(subject: str, schema_id: int, *, deleted: bool = False) -> bytes:
    key = {"keytype": "SCHEMA", "subject": subject, "version": 1, "magic": 1}
    return line(key, {"subject": subject, "version": 1, "id": schema_id, "schema": '"int"', "deleted": deleted})


def tie(subject: str, kind: str = "value", name: str = "orders", **more: Any) -> bytes:
    resource = {"resourceName": name, "resourceNamespace": "lkc-1", "resourceType": "topic", "associationType": kind}
    key = {"keytype": "ASSOC", "tenant": "default", **resource, "subject": subject, "magic": 0}
    if more.pop("gone", False):
        return line(key, None)
    value = {"subject": subject, "tenant": "default", "guid": GUID, **resource, "resourceId": f"id-{name}"}
    return line(key, {**value, "lifecycle": "WEAK", "frozen": False, "createTs": 5, "updateTs": 7, **more})


DUMP = [
    schema("v", 1), schema(":.c:k", 1), schema("gone", 1, deleted=True),
    tie("other"), tie("other", gone=True),
    tie("v", lifecycle="STRONG", frozen=True), tie(":.c:k", "key", guid=GUID.replace("1", "2")),
    tie("gone", name="users", guid=GUID.replace("1", "3")),
]  # fmt: skip


def test_a_dump_goes_in_with_its_associations_and_comes_out_the_same() -> None:
    with connect("memory:") as registry:
        report = write(read_lines(DUMP), registry)
        key, value = registry.associations(t.OfName("orders"))

        assert (value.guid, value.subject, value.lifecycle, value.frozen) == (GUID, "v", "STRONG", True)
        assert (value.created, value.updated, key.subject) == (5, 7, ":.c:k")
        assert [str(one) for one in report.problems] == [
            "value of users in lkc-1: not written: No active (non-deleted) version exists for subject 'gone'"
        ]
        again = read(registry)
        assert again.associations == (key, value)
        back = read_lines(write_lines(again))
        assert back.associations == again.associations
        assert b"".join(write_lines(back)) == b"".join(write_lines(again))
        assert write(back, registry).plan.size == 0, "what is there is left alone"
        assert registry.mode(resolve=False) == "READWRITE", "given back"


def test_a_record_of_an_association_is_what_confluents_registry_writes() -> None:
    (one,) = (each for each in write_lines(read_lines([schema("v", 1), tie("v")])) if b"ASSOC" in each)
    told = json.loads(one)

    assert list(told["key"]) == [
        "keytype", "tenant", "resourceName", "resourceNamespace", "resourceType", "associationType", "subject", "magic",
    ]  # fmt: skip
    assert told == json.loads(tie("v"))


def test_what_is_bound_otherwise_is_a_conflict_and_stays() -> None:
    with connect("memory:") as registry:
        registry.register("w", '"int"')
        registry.associate(t.Resource("orders", "lkc-1", "id-orders"), t.AssociationSpec(subject=subject_of("w")))
        report = write(read_lines([schema("v", 1), tie("v")]), registry)

        assert [str(one) for one in report.problems] == [
            "value of orders in lkc-1: not written: the target binds it to w, WEAK"
        ]
        assert [one.subject for one in registry.associations(t.OfName("orders"))] == ["w"]


def filled(registry: Connection) -> None:
    schema_of = Register(subject_of(""), Draft('"int"'))
    for number in range(3):
        resource = t.Resource(f"t{number}", "lkc-1", f"id-{number}")
        registry.associate(resource, t.AssociationSpec(subject=subject_of("shared"), schema=schema_of))
    registry.associate(
        t.Resource("t0", "lkc-1", "id-0"), t.AssociationSpec("key", subject_of(":.c:k"), schema=schema_of)
    )


def test_associations_move_from_one_registry_to_another_where_subjects_are_read_only() -> None:
    with connect("memory:") as source, connect("memory:") as target:
        filled(source)
        target.set_mode("", "READONLY")
        dry = write(read(source), target, dry_run=True)
        assert len(dry.plan.associations) == 4
        assert target.associations(t.OfName("-")) == ()
        report = write(read(source), target)

        assert report.problems == ()
        assert read(target).associations == read(source).associations
        assert target.mode(resolve=False) == "READONLY"
        assert write(read(source), target).plan.size == 0


def test_a_prefix_keeps_its_own_associations() -> None:
    with connect("memory:") as source:
        filled(source)

        assert [one.subject for one in read(source, subject_of(":.c:")).associations] == [":.c:k"]
        assert len(read(source, subject_of("shar")).associations) == 3
        assert read(source, subject_of("other")).associations == ()


def foreign(**known: object) -> Callable[[Seen], Say]:
    """A registry that knows these addresses (two underscores for a slash), contexts and the settings of everything."""
    paths = {"/" + name.replace("__", "/"): body for name, body in known.items()}
    paths |= {"/contexts": ["."], "/config": {"compatibilityLevel": "BACKWARD"}, "/mode": {"mode": "READWRITE"}}

    def answer(seen: Seen) -> Say:
        path = seen.target.partition("?")[0]
        if path in paths:
            return Say(200, paths[path])
        code = {"config": 40408, "mode": 40409}.get(path.split("/")[1], 404)
        return Say(404, {"error_code": code, "message": "HTTP 404 Not Found"})

    return answer


def test_another_registry_is_asked_for_each_subject_where_it_does_not_list_all() -> None:
    version = {"subject": "v", "version": 1, "id": 1, "schema": '"int"'}
    bound = json.loads(tie("v"))["value"]
    server = foreign(schemas=[version], **{"associations__resources__-__-": []}, associations__subjects__v=[bound])
    with scripted(server) as script, connect(script.url) as registry:
        snapshot = read(registry)
    assert [(one.subject, one.guid, one.created) for one in snapshot.associations] == [("v", GUID, 5)]


def test_a_registry_without_associations_has_none() -> None:
    version = {"subject": "v", "version": 1, "id": 1, "schema": '"int"'}
    with scripted(foreign(schemas=[version])) as script, connect(script.url) as registry:
        snapshot = read(registry)
    assert (len(snapshot.versions), snapshot.associations) == (1, ())
