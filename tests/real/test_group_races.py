"""Races for groups between three servers over one log: versions, encoding ids and policies, asked as Pravega's clients ask."""

import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real.linear.stores import STORES
from tests.real.running import Running, serving
from tests.real.test_races import CLIENTS, TYPES, Client, record, together

SERVERS = 3
FEW, MANY = 3, 100
"""Rounds of each race in `make test` and in the soak."""
AVRO = {"serializationFormat": "Avro", "fullTypeName": "Avro"}
BACKENDS = [pytest.param(name, marks=[pytest.mark.jvm] if name.startswith("kafka") else []) for name in STORES]
Told = list[tuple[int, Any]]
"""Statuses and bodies, one of each client."""


@contextmanager
def servers_over(backend: str, folder: Path) -> Iterator[list[Running]]:
    store = STORES[backend](folder)
    try:
        with ExitStack() as stack:
            options = ("--log", store.url, *store.options)
            yield [stack.enter_context(serving(folder, *options)) for _ in range(SERVERS)]
    finally:
        store.stop()


def schema_of(kind: Any) -> dict[str, Any]:
    data = base64.b64encode(record("Fight", kind).encode()).decode()
    return {"type": "Fight", "serializationFormat": AVRO, "schemaData": data, "properties": {}}


def make_group(client: Client, name: str, policy: str) -> None:
    properties = {"serializationFormat": AVRO, "compatibility": {"policy": policy}, "allowMultipleTypes": False}
    assert client.ask("POST", "/v1/groups", {"groupName": name, "groupProperties": properties})[0] == 201


@dataclass(frozen=True, slots=True)
class Race:
    """What all clients do at once in a round, and what is true of a group afterwards."""

    policy: str
    prepare: Callable[[Client, str], None]
    work: Callable[[int, Client, str], tuple[int, Any]]
    judge: Callable[[Told, list[Running], str], None]


def run(servers: list[Running], name: str, race: Race, rounds: int) -> None:
    """Run all rounds of a race; a group of its own is there for each."""
    groups = [f"{name}-{turn}" for turn in range(rounds)]
    with Client(servers[0].port) as first:
        for group in groups:
            make_group(first, group, race.policy)
            race.prepare(first, group)
    told: list[Told] = [[] for _ in groups]

    def work(number: int, client: Client, barrier: threading.Barrier) -> None:
        for turn, group in enumerate(groups):
            barrier.wait()
            told[turn].append(race.work(number, client, group))

    together(servers, work)
    for group, answers in zip(groups, told, strict=True):
        assert len(answers) == CLIENTS
        race.judge(answers, servers, group)


# ------------------------------------------------------------------------------------------------------------- races


def nothing(client: Client, group: str) -> None:
    del client, group


def add(number: int, client: Client, group: str) -> tuple[int, Any]:
    return client.ask("POST", f"/v1/groups/{group}/schemas", schema_of(TYPES[number]))


def one_won(told: Told, servers: list[Running], group: str) -> None:
    won = [body for status, body in told if status == 201]
    assert sorted(status for status, _ in told) == [201, *[409] * (CLIENTS - 1)]
    assert (won[0]["id"], won[0]["version"]) == (0, 0)
    for server in servers:
        listed = server.get(f"/v1/groups/{group}/schemas/versions")["schemas"]
        assert [one["versionInfo"] for one in listed] == won


def with_codecs(client: Client, group: str) -> None:
    assert add(0, client, group)[0] == 201
    for number in range(CLIENTS):
        path = f"/v1/groups/{group}/codecTypes"
        assert client.ask("POST", path, {"name": f"codec-{number}", "properties": {}})[0] == 201


def encode(codec: str, client: Client, group: str) -> tuple[int, Any]:
    version = {"type": "Fight", "serializationFormat": "Avro", "version": 0, "id": 0}
    return client.ask("PUT", f"/v1/groups/{group}/encodings", {"versionInfo": version, "codecType": codec})


def one_encoding(told: Told, servers: list[Running], group: str) -> None:
    assert told == [(200, {"encodingId": 0})] * CLIENTS
    for server in servers:
        assert server.get(f"/v1/groups/{group}/encodings/0")["codecType"]["name"] == "codec-0"


def an_encoding_for_each(told: Told, servers: list[Running], group: str) -> None:
    assert {status for status, _ in told} == {200}
    assert sorted(body["encodingId"] for _, body in told) == [*range(CLIENTS)], "without a gap"
    for server in servers:
        found = [server.get(f"/v1/groups/{group}/encodings/{one}")["codecType"]["name"] for one in range(CLIENTS)]
        assert sorted(found) == [f"codec-{number}" for number in range(CLIENTS)]


def change_or_add(number: int, client: Client, group: str) -> tuple[int, Any]:
    """One client changes the policy and then adds; the others add twice, so that some come before and some after."""
    if number == 0:
        body = {"compatibility": {"policy": "FullTransitive"}, "previousCompatibility": {"policy": "AllowAny"}}
        assert client.ask("PUT", f"/v1/groups/{group}/compatibility", body)[0] == 200
        status, told = add(0, client, group)
        there = client.ask("GET", f"/v1/groups/{group}/schemas/versions")[1]["schemas"]
        assert status == (201 if len(there) == 1 and there[0]["schemaInfo"] == schema_of(TYPES[0]) else 409), told
        return status, told
    first = add(number, client, group)
    assert first[0] in {201, 409}
    again = add(number, client, group)
    assert again[0] == 201 if first[0] == 201 else again[0] == 409, "a refused one stays so under the stricter policy"
    return first


def none_was_smuggled_in(told: Told, servers: list[Running], group: str) -> None:
    """All are incompatible with each other: only the first may have come under the policy that compares."""
    for server in servers:
        history = server.get(f"/v1/groups/{group}/history")["history"]
        policies = [one["compatibility"]["policy"] for one in history]
        assert set(policies[1:]) <= {"AllowAny"}
        assert policies[:1] in (["AllowAny"], ["FullTransitive"])
        assert policies[0] == "AllowAny" or len(policies) == 1, "what follows the change was compared"
        assert [one["versionInfo"]["id"] for one in history] == [*range(len(history))]
        assert len(history) == sum(status == 201 for status, _ in told)
        assert server.get(f"/v1/groups/{group}")["compatibility"]["policy"] == "FullTransitive"


RACES = {
    "incompatible": Race("Full", nothing, add, one_won),
    "encoding": Race("AllowAny", with_codecs, lambda _, client, group: encode("codec-0", client, group), one_encoding),
    "encodings": Race(
        "AllowAny",
        with_codecs,
        lambda number, client, group: encode(f"codec-{number}", client, group),
        an_encoding_for_each,
    ),
    "policy": Race("AllowAny", nothing, change_or_add, none_was_smuggled_in),
}


def run_all(backend: str, folder: Path, rounds: int) -> None:
    with servers_over(backend, folder) as servers:
        for name, race in RACES.items():
            run(servers, name, race, rounds)
        roots = {server.get("/readyz")["sequence"]: server.get("/status")["node"]["state_root"] for server in servers}
        assert len(roots) == 1


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_of_those_who_race_one_is_right_everywhere(backend: str, tmp_path: Path) -> None:
    run_all(backend, tmp_path, FEW)


@pytest.mark.soak
@pytest.mark.parametrize("backend", BACKENDS)
def test_of_those_who_race_often_one_is_right_everywhere(backend: str, tmp_path: Path) -> None:
    run_all(backend, tmp_path, MANY)
