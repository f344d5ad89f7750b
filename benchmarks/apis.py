"""The APIs of Pravega and schema-repo beside Confluent's on one server: CPU of the server process for each request.

Every figure is a pair: the same work asked through another API and through Confluent's, in turns of 160 requests each, whose order
changes from turn to turn. Every API has subjects of its own, and every schema is new, so that no one finds what another one made.
Reads by id are those that the server has to decide: none of them comes from the response cache.
"""

import base64
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from benchmarks.http import CONNECTIONS, FRESH, evolved
from benchmarks.load import Server, ask, different, request, treaty
from benchmarks.register import schema
from benchmarks.row import Row, against_turns
from treaty.core.limits import OPAQUE_BYTES

SUBJECTS = 40
"""Subjects of each API."""
ROUND = 160
TURNS = 9
LARGE_TURNS = 5
READ_GOAL, ADD_GOAL = 1.2, 1.1


@dataclass(frozen=True, slots=True)
class ApiRequests:
    """The requests of one API: a subject, a version of it, and a read. A subject is named by its number."""

    create: Callable[[str], list[bytes]]
    add: Callable[[str, str], bytes]
    read: Callable[[str, int], bytes]
    """Of the version with an ordinal."""


def _json(method: str, target: str, body: object) -> bytes:
    return request(method, target, json.dumps(body).encode())


def _plain(method: str, target: str, body: str, media: str) -> bytes:
    data = body.encode()
    head = f"Accept: */*\r\nContent-Type: {media}\r\nContent-Length: {len(data)}\r\n\r\n"
    return f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n{head}".encode() + data


def _confluent(level: str) -> ApiRequests:
    return ApiRequests(
        lambda name: [_json("PUT", f"/config/{name}", {"compatibility": level})],
        lambda name, text: _json("POST", f"/subjects/{name}/versions", {"schema": text}),
        lambda name, ordinal: request("GET", f"/subjects/{name}/versions/{ordinal + 1}?deleted=true"),
    )


def _pravega(policy: str, *, many: bool = False) -> ApiRequests:
    kind = {"serializationFormat": "Avro", "fullTypeName": "Avro"}
    settings = {"serializationFormat": kind, "compatibility": {"policy": policy}, "allowMultipleTypes": many}

    def add(name: str, text: str) -> bytes:
        label, data = json.loads(text)["name"], base64.b64encode(text.encode()).decode()
        full = f"{json.loads(text).get('namespace', '')}.{label}".strip(".")
        body = {"type": full, "serializationFormat": kind, "schemaData": data, "properties": {}}
        return _json("POST", f"/v1/groups/{name}/schemas", body)

    return ApiRequests(
        lambda name: [_json("POST", "/v1/groups", {"groupName": name, "groupProperties": settings})],
        add,
        lambda name, ordinal: request("GET", f"/v1/groups/{name}/schemas/schema/{ordinal}"),
    )


SCHEMA_REPO = ApiRequests(
    lambda name: [_plain("PUT", f"/schema-repo/{name}", "", "application/x-www-form-urlencoded")],
    lambda name, text: _plain("PUT", f"/schema-repo/{name}/register", text, "text/plain"),
    lambda name, ordinal: request("GET", f"/schema-repo/{name}/id/{ordinal}"),
)

PAIRS: Mapping[str, tuple[ApiRequests, ApiRequests]] = {
    "Pravega, AllowAny": (_pravega("AllowAny"), _confluent("NONE")),
    "Pravega, Backward": (_pravega("Backward"), _confluent("BACKWARD")),
    "Pravega, Backward, many types": (_pravega("Backward", many=True), _confluent("BACKWARD")),
    "schema-repo": (SCHEMA_REPO, _confluent("NONE")),
}
"""What is measured, and Confluent's way to do the same."""


def run() -> list[Row]:
    """Add a schema, and get one by id; add opaque bytes of the largest size to a file."""
    with treaty("memory:") as server:
        rows = [row for number, name in enumerate(PAIRS) for row in _measure(server, number, name)]
    return [*rows, *_measure_large()]


def _measure_large() -> Iterator[Row]:
    kind = {"serializationFormat": "Custom", "fullTypeName": "Xml"}
    settings = {"serializationFormat": kind, "compatibility": {"policy": "AllowAny"}, "allowMultipleTypes": True}
    draw = random.Random(8)
    with tempfile.TemporaryDirectory() as folder, treaty(f"sqlite://{folder}/registry.db") as server:
        ask(server.port, _json("POST", "/v1/groups", {"groupName": "large", "groupProperties": settings}))
        for size in (OPAQUE_BYTES // 8, OPAQUE_BYTES):
            texts = [base64.b64encode(draw.randbytes(size)).decode() for _ in range(LARGE_TURNS)]
            bodies = [{"type": "T", "serializationFormat": kind, "schemaData": text} for text in texts]
            requests = [_json("POST", "/v1/groups/large/schemas", body) for body in bodies]
            spent = [different(server, [request], 1)[0] for request in requests]
            yield Row(f"Pravega: add opaque bytes of {size >> 20} MiB, SQLite", median(spent), "ms CPU")


def _measure(server: Server, number: int, name: str) -> Iterator[Row]:
    sides = PAIRS[name]
    for side, api in enumerate(sides):
        for there in range(SUBJECTS):
            subject = _subject(number, side, there)
            for data in (*api.create(subject), api.add(subject, schema(FRESH * (number + 1) + side * 1000 + there))):
                ask(server.port, data)
    added: tuple[list[float], list[float]] = ([], [])
    read: tuple[list[float], list[float]] = ([], [])
    for turn in range(TURNS):
        for side in (0, 1) if turn % 2 else (1, 0):
            names = [_subject(number, side, at % SUBJECTS) for at in range(ROUND)]
            first = FRESH * (number + 1) + turn * ROUND
            requests = [
                sides[side].add(subject, _text(number, side, at, first + at)) for at, subject in enumerate(names)
            ]
            added[side].append(different(server, requests, CONNECTIONS)[0])
            asked = [sides[side].read(subject, turn * (ROUND // SUBJECTS)) for subject in names[:SUBJECTS]]
            read[side].append(different(server, asked, CONNECTIONS)[0])
    yield against_turns(f"{name}: add a schema, against Confluent's API", *added, unit="ms CPU", goal=ADD_GOAL)
    yield against_turns(f"{name}: get a schema by id, against Confluent's API", *read, unit="ms CPU", goal=READ_GOAL)


def _subject(number: int, side: int, there: int) -> str:
    return f"events-{number}-{side}-{there}"


def _text(number: int, side: int, there: int, fresh: int) -> str:
    return evolved(FRESH * (number + 1) + side * 1000 + there % SUBJECTS, fresh)


if __name__ == "__main__":
    for row in run():
        print(f"{row.name:<80} {row.value:8.3f} {row.baseline or 0:8.3f} {row.ratio or 0:6.3f} {row.interval}")
