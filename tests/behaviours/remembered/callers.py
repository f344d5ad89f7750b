"""Scenes of callers: rights, groups, passwords, tokens, keys, certificates, and finished answers."""

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.behaviours.remembered.memory import MakeScene, Scene
from tests.behaviours.scripted import Say, scripted
from tests.facades.authority import Authority
from tests.facades.doors import AUDIENCE, ISSUER, Provider, basic, write_passwords
from treaty.api.auth import keys
from treaty.api.auth.api_keys import finder_of
from treaty.api.auth.authentication import RequestAuthenticator, open_authentication
from treaty.api.request_scope import caller
from treaty.api.response_cache import CacheableRequest, ResponseCache
from treaty.api.tls import ShownCertificate, TlsFiles
from treaty.assemble import open_node
from treaty.core.access.rights import Access, AccessRule
from treaty.core.messages.api_keys import AddApiKeys, NewApiKey, RemoveApiKey
from treaty.core.names import subject_of
from treaty.core.refusals import Unauthenticated
from treaty.core.state.codec import encode_message
from treaty.wire.iglu.api_keys import digest_of
from treaty.wire.peer.batch import KnownAccess

READERS = '[[rule]]\nwho = ["user:ada", "token:ada"]\nmay = ["read"]\n'
NOBODY = '[[rule]]\nwho = ["user:bob"]\nmay = ["read"]\n'
PASSWORDS = '[basic]\nfile = "passwords"\n'
EDDSA = "EdDSA"
KEY = UUID("f81d4fae-7dec-11d0-a765-00a0c91e6bf6")


def bearer_section(place: str) -> str:
    """The section of tokens whose keys are at a place."""
    return (
        f'[bearer]\nissuer = "{ISSUER}"\naudience = ["{AUDIENCE}"]\nkeys = "{place}"\ngroups = "groups"\nleeway = 0\n'
    )


async def admitted(
    server: RequestAuthenticator, headers: Mapping[str, str], path: bytes = b"/subjects", subject: str = "s"
) -> str:
    """What a caller may do with a subject: ``read``, ``nothing``, or ``unknown`` for one who is not let in."""
    shown = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    try:
        await server({"type": "http", "raw_path": path, "headers": shown, "client": ("127.0.0.1", 1)})
    except Unauthenticated:
        return "unknown"
    known = caller()
    assert known is not None
    assert known.access is not None
    return "read" if known.access.may("read", subject_of(subject)) else "nothing"


@asynccontextmanager
async def guarded(folder: Path, rights: str) -> AsyncIterator[RequestAuthenticator]:
    """The authentication of a server with a file of rights."""
    file = folder / "rights.toml"
    file.write_text(rights)
    server = open_authentication(file)
    try:
        yield server
    finally:
        server.close()


async def look(server: RequestAuthenticator) -> None:
    """Look at the files until what was changed has been at rest for one look."""
    for _ in range(2):
        await server.refresh()


def write_in_place(path: Path, text: str) -> None:
    """Write into the file that is there."""
    path.write_text(text)


def replace(path: Path, text: str) -> None:
    """Put another file in its place, of the same time."""
    before = path.stat()
    other = path.with_name("other")
    other.write_text(text)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


Write = Callable[[Path, str], None]


def of_rights_file(write: Write) -> MakeScene:
    """The rule of a caller is taken out of the file of rights."""

    @asynccontextmanager
    async def scene(folder: Path) -> AsyncIterator[Scene]:
        write_passwords(folder / "passwords", ada="secret")
        async with guarded(folder, PASSWORDS + READERS) as server:

            async def change() -> None:
                write(folder / "rights.toml", PASSWORDS + NOBODY)
                await look(server)

            yield Scene(lambda: admitted(server, basic("ada")), change)

    return scene


def of_password_file(*, right: bool, write: Write) -> MakeScene:
    """A password changes, from the one that the caller shows or to it."""

    @asynccontextmanager
    async def scene(folder: Path) -> AsyncIterator[Scene]:
        passwords = write_passwords(folder / "passwords", ada="secret" if right else "other!")
        async with guarded(folder, PASSWORDS + READERS) as server:

            async def change() -> None:
                text = write_passwords(folder / "new", ada="other!" if right else "secret").read_text()
                write(passwords, text)
                await look(server)

            yield Scene(lambda: admitted(server, basic("ada")), change)

    return scene


@asynccontextmanager
async def groups_of_tokens(folder: Path) -> AsyncIterator[Scene]:
    """A second token of one principal has lost the group of the first."""
    provider, groups = Provider(), ["team"]
    provider.make("k1", EDDSA)
    (folder / "keys").write_text(provider.jwks())
    rights = bearer_section("keys") + '[[rule]]\nwho = ["group:team"]\nmay = ["read"]\n'
    async with guarded(folder, rights) as server:

        async def change() -> None:
            groups[:] = ["others"]

        yield Scene(lambda: admitted(server, provider.bearer("k1", EDDSA, groups=groups)), change)


@asynccontextmanager
async def end_of_token(folder: Path) -> AsyncIterator[Scene]:
    """A token ends while its verification is remembered."""
    provider = Provider()
    provider.make("k1", EDDSA)
    (folder / "keys").write_text(provider.jwks())
    async with guarded(folder, bearer_section("keys") + READERS) as server:
        end = time.time() + 2
        shown = provider.bearer("k1", EDDSA, sub="ada", exp=end)

        async def change() -> None:
            await asyncio.sleep(max(0.0, end + 0.01 - time.time()))

        yield Scene(lambda: admitted(server, shown), change)


@asynccontextmanager
async def keys_in_a_file(folder: Path) -> AsyncIterator[Scene]:
    """The key of a token is taken out of the file of keys."""
    provider = Provider()
    provider.make("k1", EDDSA)
    provider.make("k2", EDDSA)
    (folder / "keys").write_text(provider.jwks())
    async with guarded(folder, bearer_section("keys") + READERS) as server:
        shown = provider.bearer("k1", EDDSA, sub="ada")

        async def change() -> None:
            replace(folder / "keys", provider.jwks("k2"))
            await look(server)

        yield Scene(lambda: admitted(server, shown), change)


@asynccontextmanager
async def keys_behind_a_url(folder: Path) -> AsyncIterator[Scene]:
    """Keys are fetched again for a request that is gone when they come; another caller's key is not among them."""
    provider, served = Provider(), list[dict[str, Any]]()
    provider.make("k1", EDDSA)
    provider.make("k2", EDDSA)
    with scripted(lambda _: Say(200, served[-1])) as place:
        served.append({"keys": [provider.public("k1")]})
        async with guarded(folder, bearer_section(place.url) + READERS) as server:
            shown = provider.bearer("k1", EDDSA, sub="ada")

            async def change() -> None:
                served.append({"keys": [provider.public("k2")]})
                tokens = server.methods["bearer"].check.__self__  # type: ignore[attr-defined]  # a method
                tokens.keys.tried = tokens.clock() - keys.AGAIN_SECONDS
                new = asyncio.create_task(admitted(server, provider.bearer("k2", EDDSA, sub="ada")))
                await asyncio.sleep(0)  # it begins to fetch
                fetching = tokens.keys.fetching
                assert fetching is not None
                new.cancel()
                await fetching
                await server.refresh()

            yield Scene(lambda: admitted(server, shown), change)


def of_api_key(*, rights_change: bool) -> MakeScene:
    """An API key is removed; or the rights of everybody, which are added to those of keys, are taken away."""

    @asynccontextmanager
    async def scene(folder: Path) -> AsyncIterator[Scene]:
        everybody = 'anonymous = true\n[[rule]]\nwho = ["anonymous"]\nmay = ["read"]\nsubjects = ["t"]\n'
        async with guarded(folder, everybody) as server, open_node("memory:") as node:
            server.find_key = finder_of(node)
            digest = digest_of(KEY)
            await node.ask(AddApiKeys("v", (NewApiKey(digest, "READ"),)))
            subject = "t" if rights_change else "v/s"

            async def change() -> None:
                if rights_change:
                    replace(folder / "rights.toml", "anonymous = true\n" + NOBODY)
                    await look(server)
                else:
                    await node.ask(RemoveApiKey(digest))

            yield Scene(lambda: admitted(server, {"apikey": str(KEY)}, b"/api/schemas", subject), change)

    return scene


def of_answers(end: Callable[[ResponseCache], None]) -> MakeScene:
    """A finished answer is kept for a block of headers, also one that was begun before the change."""

    @asynccontextmanager
    async def scene(_: Path) -> AsyncIterator[Scene]:
        cache = ResponseCache(digest_key=b"key")
        rights = Access((AccessRule(("user:ada",), frozenset({"read"})),))
        begun = CacheableRequest(cache, b"GET /late HTTP/1.1", b"block", cache.epoch, rights)
        CacheableRequest(cache, b"GET / HTTP/1.1", b"block", cache.epoch, rights).keep((), [], b"answer")

        async def ask() -> object:
            answers = cache.blocks.get(b"block", {})
            return sorted(line.decode() for line in answers)

        async def change() -> None:
            end(cache)
            begun.keep((), [], b"late")

        yield Scene(ask, change)

    return scene


@asynccontextmanager
async def answers_of_credentials(_: Path) -> AsyncIterator[Scene]:
    """The credentials in a block of headers end."""
    cache = ResponseCache(digest_key=b"key")
    end = time.monotonic() + 0.2
    CacheableRequest(cache, b"GET / HTTP/1.1", b"block", cache.epoch).for_rights("rights", end).keep((), [], b"answer")

    async def ask() -> object:
        return not cache.has_expired(b"block") and b"GET / HTTP/1.1" in cache.blocks.get(b"block", {})

    async def change() -> None:
        await asyncio.sleep(max(0.0, end + 0.01 - time.monotonic()))

    yield Scene(ask, change)


@asynccontextmanager
async def rights_of_another_node(_: Path) -> AsyncIterator[Scene]:
    """Two commands of one principal come from another node with other rights."""
    known, may = KnownAccess(), ["read"]

    async def ask() -> object:
        rule = AccessRule(("user:ada",), frozenset(may))  # type: ignore[arg-type]  # permissions
        return known.access([encode_message(rule)]).may("read", subject_of("s"))

    async def change() -> None:
        may[:] = ["mode"]

    yield Scene(ask, change)


def of_certificate(write: Callable[[Path, Path], None]) -> MakeScene:
    """The certificate of a server is renewed."""

    @asynccontextmanager
    async def scene(folder: Path) -> AsyncIterator[Scene]:
        authority = Authority(folder)
        certificate, key = authority.make("old")
        new_certificate, new_key = authority.make("new")
        files = TlsFiles(certificate, key)
        context = files.context()
        shown = ShownCertificate(files, context)
        trusting = ssl.create_default_context(cafile=authority.file)

        async def ask() -> object:
            return await asyncio.to_thread(_name_shown, context, trusting)

        async def change() -> None:
            write(new_certificate, certificate)
            shown.refresh()  # half of the pair
            assert await ask() == "old"
            write(new_key, key)
            shown.refresh()

        yield Scene(ask, change)

    return scene


def _name_shown(server: ssl.SSLContext, client: ssl.SSLContext) -> str:
    """The name in the certificate that a server shows in a handshake in memory."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(back, there, server_hostname="localhost")
    answering = server.wrap_bio(there, back, server_side=True)
    for side in (asking, answering, asking, answering, asking):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    subject = asking.getpeercert()["subject"]  # type: ignore[index]  # it was verified
    return str(subject[0][0][1])


def copy(source: Path, target: Path) -> None:
    """Write into the file that is there, with the time that it had."""
    before = target.stat()
    target.write_bytes(source.read_bytes())
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


def move(source: Path, target: Path) -> None:
    """Put another file in its place, with the time that it had."""
    before = target.stat()
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    source.replace(target)
