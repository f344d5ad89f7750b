"""Search over HTTP and in the terminal: a server keeps the index, and shows of it what the caller may read."""

import asyncio
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.facades.doors import Door, basic, door, write_passwords
from treaty import connect
from treaty.api.protection import ProtectionSettings
from treaty.assemble.runtime import index_builder, open_node
from treaty.assemble.search import keep_index, place_index
from treaty.cli.main import group
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.search import Search
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.core.refusals import Unavailable
from treaty.core.schema import Draft
from treaty.core.sources import SourceColumn
from treaty.node.node import Node
from treaty.web.index.storage import remove_index

RULES = """[basic]
file = "passwords"
[[rule]]
who = "user:all"
may = "admin"
contexts = "*"
private = true
[[rule]]
who = "user:some"
may = "read"
subjects = "?pen*"
sources = ["clicks"]
"""
PATH = "/treaty/v1/search"


def draft(name: str) -> Draft:
    return Draft(json.dumps({"type": "record", "name": name, "fields": [{"name": "email", "type": "string"}]}))


def node_of(it: Door) -> Node:
    node = it.app.node
    assert isinstance(node, Node)
    return node


async def furnish(it: Door) -> None:
    ask = it.app.node.ask
    for name in ("open-a", "open-b", "shut-a"):
        await ask(Register(Subject(".", name), draft("R" + name[-1])))
    secret = Register(Subject(".", "open-secret"), draft("S"), create_with=SubjectCreation(private=True))
    await ask(secret)
    for name in ("clicks", "hidden"):
        await ask(m.CreateSource(m.SourceDefinition(name, "STREAM", "", (SourceColumn("email", "STRING"),))))


async def found(it: Door, query: str, who: dict[str, str]) -> Any:
    """The answer of a search, once the index has what was written."""
    end = time.monotonic() + 30
    while True:
        status, told = await it.ask("GET", f"{PATH}?{query}", who)
        if status != 503 and (status != 200 or told["sequence"] >= node_of(it).follower.position.sequence):
            return told
        assert time.monotonic() < end, told
        await asyncio.sleep(0.1)


def names_of(told: Any) -> list[str]:
    return sorted(one["name"] for one in told["hits"])


def test_hits_counts_and_facets_are_of_what_the_caller_may_read(tmp_path: Path) -> None:
    write_passwords(tmp_path / "passwords", all="secret", some="secret", none="secret")
    (tmp_path / "rights.toml").write_text(RULES)
    indexed = place_index(tmp_path / "state", None, 0, enabled=True)
    assert indexed is not None

    async def run() -> None:
        async with door(ProtectionSettings(tmp_path / "rights.toml")) as it:
            node_of(it)._schemas.index = indexed.file
            async with keep_index(indexed, node_of(it)):
                await furnish(it)
                every = await found(it, "q=field:email", basic("all"))
                some = await found(it, "q=field:email", basic("some"))
                assert names_of(every) == ["clicks", "hidden", "open-a", "open-b", "open-secret", "shut-a"]
                assert names_of(some) == ["clicks", "open-a", "open-b"]
                assert (every["count"], some["count"]) == (6, 3)
                assert some["facets"] == {
                    "kind": {"subject": 2, "source": 1},
                    "format": {"AVRO": 2},
                    "context": {".": 2},
                    "origin": {"confluent": 2},
                }
                for query in ("q=secret", "q=shut", "q=subject:shut", "q=hidden", "q=kind:source+hidden"):
                    nothing = await found(it, query, basic("some"))
                    assert (nothing["hits"], nothing["count"], nothing["facets"]) == ([], 0, {}), query
                page = await found(it, "q=email&limit=1", basic("some"))
                following = await found(it, f"q=email&limit=1&after={page['next']}", basic("some"))
                assert sorted(names_of(page) + names_of(following)) == ["open-a", "open-b"]
                assert await it.code("GET", f"{PATH}?q=email", basic("none")) == 40301
                for query in ("q=nosuch:x", "q=", "q=kind:nosuch"):
                    status, told = await it.ask("GET", f"{PATH}?{query}", basic("all"))
                    assert (status, told["error"]["reason"]["path"]) == (400, "/q"), told
                assert await it.code("GET", f"{PATH}?q=x&limit=0", basic("all")) == 400
                await it.app.node.ask(DeleteSubject(Subject(".", "open-a")))
                told = await it.ask("GET", f"{PATH}?q=field:email", basic("some"))
                assert "open-a" not in names_of(told[1])

    asyncio.run(run())
    assert oct((tmp_path / "state-index").stat().st_mode)[-3:] == "600"


def test_a_large_index_is_built_by_another_process_and_then_kept_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, state = f"sqlite://{tmp_path / 'log.db'}", tmp_path / "log.db-state"
    with connect(url) as registry:
        for name in ("a", "b"):
            registry.register(name, draft(name))
    monkeypatch.setattr("treaty.web.index.maintenance.APART", 2)
    build, built = index_builder(url, state), list[int]()

    async def counted_build() -> None:
        await build()
        built.append(state.with_name("log.db-state-index").stat().st_ino)

    async def run() -> None:
        for name, expected in (("c", ["a", "b", "c"]), ("d", ["a", "b", "c", "d"])):
            place = place_index(state, None, 0, enabled=True)
            assert place is not None
            async with open_node(url, state=state, index=place.file) as node, keep_index(place, node, counted_build):
                await until_found(node, expected[:-1])
                await node.ask(Register(Subject(".", name), draft(name)))
                await until_found(node, expected)

    asyncio.run(run())
    assert built == [state.with_name("log.db-state-index").stat().st_ino], "once, and what came later was put into it"


def test_an_index_that_was_built_by_hand_or_removed_beside_a_server_is_kept(tmp_path: Path) -> None:
    """`treaty log state --index` puts another file in the place of the one that the server has open."""
    url, state = f"sqlite://{tmp_path / 'log.db'}", tmp_path / "log.db-state"

    async def run() -> None:
        place = place_index(state, None, 0, enabled=True)
        assert place is not None
        async with open_node(url, state=state, index=place.file) as node, keep_index(place, node):
            await node.ask(Register(Subject(".", "a"), draft("a")))
            await until_found(node, ["a"])
            copy = tmp_path / "copy"
            copy.write_bytes(place.path.read_bytes())
            copy.replace(place.path)
            await node.ask(Register(Subject(".", "b"), draft("b")))
            await until_found(node, ["a", "b"])
            remove_index(place.path)
            await until_found(node, ["a", "b"])

    asyncio.run(run())


async def until_found(node: Node, names: list[str]) -> None:
    """Wait until a search finds these subjects."""
    end = time.monotonic() + 60
    while True:
        with suppress(Unavailable):
            reply = await node.ask(Search("field:email"))
            if sorted(hit.name for hit in reply.answer.hits) == names:
                return
        assert time.monotonic() < end
        await asyncio.sleep(0.1)


def test_without_an_index_a_search_is_refused_by_name(tmp_path: Path) -> None:
    assert place_index(tmp_path / "state", None, 0, enabled=False) is None

    async def run() -> None:
        async with door(ProtectionSettings()) as it:
            status, told = await it.ask("GET", f"{PATH}?q=a")
            assert status == 503
            assert "keeps no search index" in told["message"]

    asyncio.run(run())
    connect(f"sqlite:///{tmp_path}/log.db").close()
    result = CliRunner().invoke(group, ["search", "a", "--registry", f"sqlite:///{tmp_path}/log.db"])
    assert result.exit_code == 2
    assert "keeps no search index" in result.stderr
