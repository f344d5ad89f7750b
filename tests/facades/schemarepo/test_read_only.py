"""A server that only reads: reads pass and see what others write, changes are refused with a sentence."""

import asyncio

import httpx2
import pytest

from tests.facades.schemarepo.conversations import JAVA, TEXT
from treaty.api.application import build_application
from treaty.api.protection import ActiveProtection
from treaty.assemble import open_node
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.names import Subject
from treaty.core.schema import Draft

CHANGES = [
    ("PUT", "/schema-repo/new", b"", {}),
    ("PUT", "/schema-repo/a/register", b'"long"', TEXT),
    ("PUT", "/schema-repo/a/register_if_latest/0", b'"long"', TEXT),
    ("POST", "/avro-1124/schemas/new?schema=%22long%22", b"", {}),
    ("POST", "/avro-1124/schemas/groups/a?schema=%22long%22&force_override=true", b"", {}),
]
READS = {
    "/schema-repo": "a\n",
    "/schema-repo/a": "",
    "/schema-repo/a/latest": '0\t"int"',
    "/schema-repo/a/all": '0\t"int"\n',
    "/schema-repo/a/id/0": '"int"',
    "/avro-1124/schemas": "a\n",
    "/avro-1124/schemas/a": "1\n",
    "/avro-1124/schemas/a/1": '"int"',
    "/avro-1124/schemas/a/latest": '"int"',
}


@pytest.mark.parametrize("by_mode", [False, True], ids=["server", "mode"])
def test_reads_pass_and_changes_are_refused(*, by_mode: bool) -> None:
    async def run() -> None:
        async with open_node("memory:") as node:
            protection = None if by_mode else ActiveProtection(read_only=True)
            transport = httpx2.ASGITransport(app=build_application(node, protection=protection).dispatcher)
            await node.ask(Register(Subject(".", "a"), Draft('"int"')))  # elsewhere
            if by_mode:
                await node.ask(SetMode(Scope("."), "READONLY"))
            async with httpx2.AsyncClient(transport=transport, base_url="http://t", headers={"accept": JAVA}) as http:
                for path, text in READS.items():
                    got = await http.get(path)
                    assert (got.status_code, got.text) == (200, text), path
                for method, path, body, headers in CHANGES:
                    got = await http.request(method, path, content=body, headers=headers)
                    assert (got.status_code, "read-only" in got.text) == (403, True), (path, got.text)
                for path, text in READS.items():
                    assert (await http.get(path)).text == text, path

    asyncio.run(run())
