"""Opaque schemas of the largest size on every log: as they were sent, after a restart, a dump, a restore and a state file."""

import asyncio
import base64
import http.client
import json
import random
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from click.testing import CliRunner

from tests.real.running import Running, serving
from tests.servers import postgres
from treaty.assemble import open_node
from treaty.cli.main import group
from treaty.core import limits
from treaty.core.command import Command
from treaty.core.messages.groups import CreateSubject, GetOrdinal, GroupSettings
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config
from treaty.core.names import Subject
from treaty.core.schema import Draft
from treaty.node.node import Node
from treaty.wire.peer.batch import (
    KnownAccess,
    decode_batch,
    decode_replies,
    decode_reply,
    encode_batch,
    encode_command,
    encode_replies,
)
from treaty.wire.peer.message import DecidedReply, ForwardedCommand

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

S = Subject(".", "s")
SIZE = limits.OPAQUE_BYTES
SENT = (random.Random(8).randbytes(SIZE), (b'say "a"\n, ' * SIZE)[:SIZE])
"""Bytes that are no text, and a text of which much has to be escaped as JSON."""


def register(data: bytes) -> Register:
    return Register(S, Draft("", "XML", type_name="T", data=data), create_with=SubjectCreation("pravega"))


def is_kept(data: bytes, found: object, text: str) -> bool:
    return data == (text.encode() if found is None else found)


def ask(server: Running, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Ask over a connection of its own; return the status and the JSON of the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", urlsplit(server.base).port or 0, timeout=60)) as connection:
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")


async def write(node: Node) -> None:
    await node.ask(CreateSubject(S, GroupSettings("pravega", policy=Config(level="NONE"))))
    for at, data in enumerate(SENT):
        assert (await node.ask(register(data))).answer.version.ordinal == at
    again = (await node.ask(register(SENT[0]))).answer
    assert (again.created, again.version.ordinal) == (False, 0)


async def read(node: Node) -> None:
    for at, data in enumerate(SENT):
        found = (await node.ask(GetOrdinal(S, at))).answer
        assert is_kept(data, found.data, found.text), at


def write_and_read(url: str) -> None:
    async def work() -> None:
        async with open_node(url, alone=True) as node:
            await write(node)
            await read(node)
        async with open_node(url, alone=True) as node:
            await read(node)

    asyncio.run(work())


def check(url: str) -> None:
    async def work() -> None:
        async with open_node(url, alone=True) as node:
            await read(node)

    asyncio.run(work())


def run(*words: str) -> None:
    done = CliRunner().invoke(group, list(words))
    assert done.exit_code == 0, done.output


def test_it_is_kept_in_a_file_and_survives_a_dump_a_restore_and_a_state_file(tmp_path: Path) -> None:
    log, dump, restored = (str(tmp_path / name) for name in ("log.db", "log.dump", "restored.db"))
    write_and_read(f"sqlite://{log}")
    run("log", "dump", f"sqlite://{log}", dump)
    run("log", "restore", dump, f"sqlite://{restored}")
    check(f"sqlite://{restored}")
    run("log", "state", f"sqlite://{log}")
    check(f"sqlite://{log}")


@pytest.mark.slow
def test_postgresql_keeps_it() -> None:
    write_and_read(f"{postgres.shared().url}?schema=large-{uuid4().hex[:8]}")


@pytest.mark.jvm
@pytest.mark.parametrize("writers", ["any", "owner"])
def test_a_topic_keeps_it(kafka: "Kafka", topic: str, writers: str) -> None:
    write_and_read(f"kafka://{kafka.bootstrap}/{topic}.log?writers={writers}")


def test_nodes_forward_it() -> None:
    async def work() -> None:
        async with open_node("memory:") as node:
            await node.ask(CreateSubject(S, GroupSettings("pravega", policy=Config(level="NONE"))))
            for data in SENT:
                sent = ForwardedCommand(Command(register(data), "c", int(time.time()), "ann"), 5.0, 0)
                (arrived,) = decode_batch(encode_batch([encode_command(sent)]), KnownAccess())
                assert isinstance(arrived, ForwardedCommand)
                assert arrived.command.request == sent.command.request
                reply = DecidedReply(await node.ask(arrived.command.request))
                ((_, json),) = decode_replies(encode_replies([(0, reply)]))
                assert decode_reply(json, arrived.command.request) == reply

    asyncio.run(work())


def test_pravegas_clients_send_it_and_get_it_back(tmp_path: Path) -> None:
    custom = {"serializationFormat": "Custom", "fullTypeName": "Xml"}
    group_ = {"serializationFormat": custom, "compatibility": {"policy": "AllowAny"}, "allowMultipleTypes": False}
    with serving(tmp_path, "--log", "memory:") as server:
        assert ask(server, "POST", "/v1/groups", {"groupName": "g", "groupProperties": group_})[0] == 201
        for at, data in enumerate(SENT):
            schema = {"type": "T", "serializationFormat": custom, "schemaData": base64.b64encode(data).decode()}
            added = ask(server, "POST", "/v1/groups/g/schemas", {**schema, "properties": {"note": "x" * 100_000}})
            assert (added[0], added[1]["id"]) == (201, at)
            assert ask(server, "POST", "/v1/groups/g/schemas/versions/find", schema)[1]["id"] == at
            assert ask(server, "GET", f"/v1/groups/g/schemas/schema/{at}")[1]["schemaData"] == schema["schemaData"]
        larger = {**schema, "schemaData": base64.b64encode(data + b"x").decode()}
        status, told = ask(server, "POST", "/v1/groups/g/schemas", larger)
        assert (status, told["reasons"]) == (400, [f"OPAQUE_BYTES: {SIZE + 1} bytes"])
        larger = {**schema, "schemaData": "A" * limits.OPAQUE_BODY_BYTES}
        status, told = ask(server, "POST", "/v1/groups/g/schemas", larger)
        assert (status, "OPAQUE_BODY_BYTES" in told["message"]) == (413, True)
