"""Hot reads with rights: from memory for those who may read, and never for anybody else, whoever asked before."""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from socket import create_server
from types import SimpleNamespace
from typing import TypeVar

import pytest

from tests.facades.doors import Provider, write_passwords
from tests.facades.peers import PLAIN, Peer
from tests.facades.twin import Fixed
from treaty.api import response_cache
from treaty.api.application import ServerApplication, build_application
from treaty.api.http_server import ListenerSettings, serve
from treaty.api.protection import ProtectionSettings, open_protection
from treaty.api.response_cache import BLOCKS, ResponseCache
from treaty.core.limits import HOT_BLOCKS
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.names import Subject
from treaty.core.refusals import SchemaNotFound
from treaty.core.registry import CALL, CallOptions, Reply

A = TypeVar("A")

RIGHTS = """
{anonymous}
[basic]
file = "passwords"
remember = {remember}
[bearer]
issuer = "https://id.example.org/"
audience = "treaty"
keys = "keys"
leeway = 0
[[rule]]
who = ["user:ada", "user:eve", "token:alice"]
may = ["read"]
[[rule]]
who = ["user:other"]
may = ["read"]
subjects = ["other-*"]
"""


class Keeper(Fixed):  # a twin that knows of rights: the schema it tells is of subject s
    """A member whose answers depend on who asks, as a node's do."""

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        reply = await super().ask(request, call)
        hidden = call.access is not None and not call.access.may("read", Subject(".", "s"))
        if isinstance(request, GetSchema) and hidden:
            raise SchemaNotFound.of("SCHEMA_NOT_FOUND", "Schema not found")
        return reply


def word(name: str, password: str = "secret") -> bytes:
    return b"Authorization: Basic " + base64.b64encode(f"{name}:{password}".encode()) + b"\r\n"


class Server:
    def __init__(self, app: ServerApplication, member: Keeper, port: int, folder: Path) -> None:
        self.app, self.member, self.port, self.folder = app, member, port, folder

    @asynccontextmanager
    async def peer(self) -> AsyncIterator[Peer]:
        peer = Peer(*await asyncio.open_connection("127.0.0.1", self.port))
        yield peer
        await peer.close()

    @property
    def facts(self) -> tuple[int, int]:
        return self.app.cache.hits, len(self.member.asked)


Story = Callable[[Server], Awaitable[None]]


def play(
    folder: Path,
    story: Story,
    provider: Provider,
    *,
    anonymous: bool = False,
    remember: float = 300,
    access_log: bool = False,
) -> None:
    async def run() -> None:
        write_passwords(folder / "passwords", ada="secret", eve="secret", other="secret")
        (folder / "keys").write_text(provider.jwks("k1"))
        text = "anonymous = true\n" if anonymous else ""
        (folder / "rights.toml").write_text(RIGHTS.format(anonymous=text, remember=remember))
        async with open_protection(ProtectionSettings(folder / "rights.toml")) as guards:
            member = Keeper()
            app = build_application(member, protection=guards)
            listener, stopping = create_server(("127.0.0.1", 0)), asyncio.Event()
            served = asyncio.create_task(serve(app, ListenerSettings(listener, access_log), stopping))
            try:
                await story(Server(app, member, listener.getsockname()[1], folder))
            finally:
                stopping.set()
                await served

    asyncio.run(run())


IDS = b"/schemas/ids/7"


def test_who_has_the_same_rights_shares_answers_and_nobody_else_gets_them(tmp_path: Path, provider: Provider) -> None:
    async def story(it: Server) -> None:
        async with it.peer() as peer, it.peer() as second:
            answer = await peer.ask(IDS, PLAIN + word("ada"))
            assert answer.startswith(b"HTTP/1.1 200")
            assert it.facts == (0, 1)
            assert await peer.ask(IDS, PLAIN + word("ada")) == answer
            assert await second.ask(IDS, PLAIN + word("ada")) == answer
            assert it.facts == (2, 1)
            for stranger in (
                b"",
                word("ada", "wrong"),
                word("nobody"),
                b"Authorization: Basic x\r\n",
                b"Authorization: Bearer x\r\n",
            ):
                for _ in range(2):
                    assert (await second.ask(IDS, PLAIN + stranger)).startswith(b"HTTP/1.1 401")
            for _ in range(2):
                own = await second.ask(b"/subjects/other-s/versions/3", PLAIN + word("other"))
                assert own.startswith(b"HTTP/1.1 200")
            assert it.facts[0] == 3, "they have hot reads of their own"
            for _ in range(2):
                assert (await second.ask(IDS, PLAIN + word("other"))).startswith(b"HTTP/1.1 404")
            assert it.facts[0] == 3
            asked = it.facts[1]
            assert await peer.ask(IDS, PLAIN + word("eve")) == answer
            assert it.facts == (3, asked + 1), "eve is looked at once, on the slow path"
            target = b"/subjects/s/versions/3"
            await peer.ask(target, PLAIN + word("eve"))
            before = it.facts
            await peer.ask(target, PLAIN + word("ada"))
            assert it.facts == (before[0] + 1, before[1]), "and then has what ada has: they have one class of rights"
            assert await peer.ask(IDS, PLAIN + word("ada")) == answer

    play(tmp_path, story, provider)


def test_requests_in_one_packet_do_not_lend_each_other_their_credentials(tmp_path: Path, provider: Provider) -> None:
    async def story(it: Server) -> None:
        def request(target: bytes, extra: bytes = b"") -> bytes:
            return b"GET " + target + b" HTTP/1.1\r\n" + PLAIN + extra + b"\r\n"

        async with it.peer() as peer:
            for _ in range(2):  # the second time ada's would come from memory
                for first, second in ((IDS, IDS), (b"/subjects", b"/subjects"), (IDS, b"/subjects")):
                    peer.writer.write(request(first, word("ada")) + request(second) + request(first, word("ada")))
                    told = [await peer.answer() for _ in range(3)]
                    assert [one[9:12] for one in told] == [b"200", b"401", b"200"]
                await peer.ask(IDS, PLAIN + word("ada"))

    play(tmp_path, story, provider)


def test_no_credentials_are_kept_in_the_memo(tmp_path: Path, provider: Provider) -> None:
    async def story(it: Server) -> None:
        async with it.peer() as peer:
            await peer.ask(IDS, PLAIN + word("ada"))
            memo = it.app.cache
            assert memo.blocks
            kept = repr((memo.blocks, memo.variants, memo.until)).encode()
            assert word("ada").split()[2] not in kept
            assert all(len(block) == 32 for block in memo.blocks)
            assert memo.most_blocks == HOT_BLOCKS != BLOCKS

    play(tmp_path, story, provider)


def test_memory_answers_no_longer_than_the_credentials_live(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(it: Server) -> None:
        loop = asyncio.get_running_loop()
        token = b"Authorization: " + provider.bearer(exp=2_000_000_000)["Authorization"].encode() + b"\r\n"
        async with it.peer() as peer:
            for header in (token, word("ada")):
                asked = it.facts[1]
                for _ in range(3):
                    assert (await peer.ask(IDS, PLAIN + header)).startswith(b"HTTP/1.1 200")
                assert it.facts[1] == asked + 1
            assert len(it.app.cache.until) == 2
            later = loop.time() + 301
            monkeypatch.setattr(response_cache, "time", SimpleNamespace(monotonic=lambda: later))
            asked = it.facts[1]
            await peer.ask(IDS, PLAIN + token)
            await peer.ask(IDS, PLAIN + word("ada"))
            assert it.facts[1] == asked + 2, "both are looked at again"

    play(tmp_path, story, provider)


def test_a_changed_password_takes_effect_on_hot_reads(tmp_path: Path, provider: Provider) -> None:
    async def story(it: Server) -> None:
        async with it.peer() as peer:
            for _ in range(3):
                assert (await peer.ask(IDS, PLAIN + word("ada"))).startswith(b"HTTP/1.1 200")
            write_passwords(it.folder / "passwords", ada="other")
            for _ in range(100):
                if (await peer.ask(IDS, PLAIN + word("ada"))).startswith(b"HTTP/1.1 401"):
                    break
                await asyncio.sleep(0.1)
            else:
                raise AssertionError("the old password still holds")
            assert (await peer.ask(IDS, PLAIN + word("ada", "other"))).startswith(b"HTTP/1.1 200")

    play(tmp_path, story, provider)


def test_rights_that_change_while_an_answer_is_made_keep_it_out_of_memory(tmp_path: Path, provider: Provider) -> None:
    async def story(it: Server) -> None:
        async with it.peer() as peer:
            it.member.while_asked = it.app.cache.forget
            await peer.ask(IDS, PLAIN + word("ada"))
            assert (it.app.cache.size, it.app.cache.blocks) == (0, {})

    play(tmp_path, story, provider)


def test_anonymous_hot_reads(tmp_path: Path, provider: Provider) -> None:
    async def story(it: Server) -> None:
        async with it.peer() as peer:
            assert (await peer.ask(IDS, PLAIN + word("ada"))).startswith(b"HTTP/1.1 200")
            for _ in range(2):
                assert (await peer.ask(IDS, PLAIN)).startswith(b"HTTP/1.1 403"), "anonymous has no rule here"

    play(tmp_path, story, provider, anonymous=True)


def test_nothing_is_kept_where_requests_are_logged_and_rights_hold_all_the_same(
    tmp_path: Path, provider: Provider
) -> None:
    async def story(it: Server) -> None:
        async with it.peer() as peer:
            for _ in range(2):
                assert (await peer.ask(IDS, PLAIN + word("ada"))).startswith(b"HTTP/1.1 200")
                assert (await peer.ask(IDS, PLAIN)).startswith(b"HTTP/1.1 401")
            assert it.facts == (0, 2)

    play(tmp_path, story, provider, access_log=True)


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"Authorization: Basic " + b"A" * 60_000, b"401"),
        (b"Authorization: Basic " + b"A" * 70_000, b"431"),
        (b"Authorization: Basic " + b"A" * 200_000, b"431"),
        (b"Authorization: Basic " + b"A" * 300_000, b"431"),
        (b"Authorization: Basic \xff\xfe\xfd", b"401"),
        (b"Authorization: \xc3\xa4 x", b"401"),
        (b"Authorization:", b"401"),
        (b"Authorization: Basic YWRhOnNlY3JldA==\r\nAuthorization: Basic YWRhOnNlY3JldA==", b"401"),
        (b"Authorization: Basic a\x00b", b"400"),
    ],
    ids=["60 kB", "70 kB", "200 kB", "300 kB", "latin", "scheme", "empty", "twice", "null"],
)
def test_hostile_headers_on_the_wire(tmp_path: Path, provider: Provider, header: bytes, status: bytes) -> None:
    async def story(it: Server) -> None:
        async with it.peer() as peer:
            told = await peer.ask(IDS, PLAIN + header + b"\r\n")
            assert told.startswith(b"HTTP/1.1 " + status), told[:300]
            assert it.member.asked == []
        async with it.peer() as peer:
            assert (await peer.ask(IDS, PLAIN + word("ada"))).startswith(b"HTTP/1.1 200")

    play(tmp_path, story, provider)


def test_the_memo_stays_within_its_blocks() -> None:
    memo = ResponseCache(most_blocks=3, digest_key=b"k")
    for n in range(10):
        begun = response_cache.CacheableRequest(memo, b"GET / HTTP/1.1", b"block %d" % n, memo.epoch).for_rights(
            "rights", 5.0
        )
        begun.keep(("json", False), [], b"{}")
        assert len(memo.blocks) <= 3
        assert memo.until.keys() <= memo.blocks.keys()
