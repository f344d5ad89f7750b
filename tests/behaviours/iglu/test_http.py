"""Registries over HTTP, real ones on loopback: what each answer means, and that none takes long, fills memory or passes for missing."""

import asyncio
import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.behaviours.iglu.loopback import LoopbackRegistry, Reply, drip, hang, respond, run_registry, send_half
from tests.facades.authority import Authority
from treaty.client.iglu import (
    AsyncResolver,
    HttpLimits,
    IgluNotFoundError,
    IgluSchema,
    IgluUnavailableError,
    ResolutionError,
    Resolver,
    ResolverConfig,
    ResolverOptions,
    http_registry,
)
from treaty.client.settings import tls_of

KEY = "iglu:com.acme/click/jsonschema/1-0-0"
PATH, LIST = "/api/schemas/com.acme/click/jsonschema/1-0-0", "/api/schemas/com.acme/click/jsonschema/1"
SCHEMA = {"type": "object", "title": "click"}
BODY = json.dumps(SCHEMA).encode()
OPTIONS = ResolverOptions(http=HttpLimits(connect_timeout=0.3, timeout=0.4))
PATIENT = ResolverOptions(http=HttpLimits(connect_timeout=2, timeout=2))
"""For answers that come: a loaded machine takes its time."""


@pytest.fixture
def server() -> Iterator[LoopbackRegistry]:
    with run_registry() as registry:
        yield registry


def ask_blocking(base: str, key: str = KEY, options: ResolverOptions = OPTIONS) -> IgluSchema | ResolutionError:
    with Resolver(ResolverConfig(), registries=[http_registry("r", f"{base}/api")], options=options) as resolver:
        try:
            return resolver.lookup(key)
        except ResolutionError as error:
            return error


def ask_async(base: str, key: str = KEY, options: ResolverOptions = OPTIONS) -> IgluSchema | ResolutionError:
    async def ask() -> IgluSchema | ResolutionError:
        registries = [http_registry("r", f"{base}/api")]
        async with AsyncResolver(ResolverConfig(), registries=registries, options=options) as resolver:
            try:
                return await resolver.lookup(key)
            except ResolutionError as error:
                return error

    return asyncio.run(ask())


ASKING = pytest.mark.parametrize("ask", [ask_blocking, ask_async], ids=["threads", "asyncio"])
TOO_LONG = b'{"title": "' + b"x" * 10_000_000 + b'"}'
ANSWERS: dict[str, tuple[Reply, str, str]] = {
    "404 is the only one that means not there": (respond(404), "NotFound", ""),
    "403": (respond(403), "ClientFailure", "Unexpected response code: 403"),
    "401": (respond(401), "ClientFailure", "Unexpected response code: 401"),
    "400": (respond(400), "ClientFailure", "Unexpected response code: 400"),
    "410": (respond(410), "ClientFailure", "Unexpected response code: 410"),
    "408": (respond(408), "RepoFailure", "Unexpected response code: 408"),
    "429": (respond(429), "RepoFailure", "Unexpected response code: 429"),
    "500": (respond(500, BODY), "RepoFailure", "Unexpected response code: 500"),
    "503": (respond(503), "RepoFailure", "Unexpected response code: 503"),
    "a redirect": (respond(302, b"", "Location: /other"), "ClientFailure", "redirects are not followed"),
    "an empty body": (respond(200), "RepoFailure", "ParsingFailure: exhausted input"),
    "half of the JSON": (respond(200, BODY[:-2]), "RepoFailure", "ParsingFailure: exhausted input"),
    "a page": (respond(200, b"<html>"), "RepoFailure", "ParsingFailure"),
    "no UTF-8": (respond(200, b'"\xff"'), "RepoFailure", "ParsingFailure"),
    "nested 100,000 levels": (respond(200, b"[" * 100_000), "RepoFailure", "ParsingFailure"),
    "half of a body": (send_half(BODY), "RepoFailure", ""),
    "10 MB": (respond(200, TOO_LONG), "RepoFailure", "more than 2097152 bytes"),
    "silence": (hang, "RepoFailure", "no answer within 0.4 s"),
    "a head that drips": (drip(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 99), "RepoFailure", "no answer within"),
    "a body that drips": (
        drip(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + b" " * 99),
        "RepoFailure",
        "no answer within",
    ),
    "no HTTP": (lambda connection: connection.sendall(b"SSH-2.0\r\n\r\n"), "RepoFailure", ""),
}


@ASKING
@pytest.mark.parametrize(("reply", "kind", "message"), ANSWERS.values(), ids=ANSWERS)
def test_points_20_and_87_to_90_each_answer_is_classified_in_bounded_time(
    server: LoopbackRegistry, ask: object, reply: Reply, kind: str, message: str
) -> None:
    assert callable(ask)
    server.replies[PATH] = reply
    start = time.monotonic()
    error = ask(server.base, options=PATIENT if message and "no answer" not in message else OPTIONS)
    assert time.monotonic() - start < 3
    (failure,) = error.failures["r"].errors
    assert failure.kind == kind
    assert message in failure.message
    assert type(error) is (IgluNotFoundError if kind == "NotFound" else IgluUnavailableError)
    assert len(server.requests) == 1


@ASKING
def test_points_19_and_86_an_existing_schema_is_its_json(server: LoopbackRegistry, ask: object) -> None:
    assert callable(ask)
    server.replies[PATH] = respond(200, BODY)
    assert ask(server.base).document == SCHEMA


@ASKING
@pytest.mark.parametrize("base", ["http://127.0.0.1:1", "http://no-such-host.invalid", "https://127.0.0.1:{port}"])
def test_refused_unknown_and_without_tls_are_failures_of_the_registry(
    server: LoopbackRegistry, ask: object, base: str
) -> None:
    assert callable(ask)
    options = ResolverOptions(http=HttpLimits(connect_timeout=0.3, timeout=5))
    (failure,) = ask(base.format(port=server.port), options=options).failures["r"].errors
    assert failure.kind == "RepoFailure"


def test_points_6_7_and_11_the_key_is_sent_with_schemas_and_lists_and_one_slash_is_ignored(
    server: LoopbackRegistry,
) -> None:
    server.replies |= {PATH: respond(200, BODY), LIST: respond(200, json.dumps([KEY]).encode())}
    for base, key in ((f"{server.base}/api", None), (f"{server.base}/api/", "8d3b1f4e-0000-4000-8000-000000000000")):
        registry = http_registry("r", base, apikey=key)
        with Resolver(ResolverConfig(), registries=[registry], options=OPTIONS) as resolver:
            resolver.lookup(KEY)
            assert [str(one) for one in resolver.list_schemas("com.acme", "click", 1).schemas] == [KEY]  # point 54
    assert [path for path, _ in server.requests] == [PATH, LIST] * 2
    keys = [headers.get("apikey") for _, headers in server.requests]
    assert keys == [None, None] + ["8d3b1f4e-0000-4000-8000-000000000000"] * 2


def test_point_54_a_list_over_http_is_parsed_in_its_order(server: LoopbackRegistry) -> None:
    uris = [f"iglu:com.acme/click/jsonschema/{version}" for version in ("1-0-0", "1-1-0", "1-0-1")]
    server.replies[LIST] = respond(200, json.dumps(uris).encode())
    registry = http_registry("r", f"{server.base}/api")
    with Resolver(ResolverConfig(), registries=[registry]) as resolver:
        assert [str(one) for one in resolver.list_schemas("com.acme", "click", 1).schemas] == uris


def test_nothing_but_404_is_kept_as_missing(server: LoopbackRegistry) -> None:
    now = [0]
    options = ResolverOptions(http=HttpLimits(connect_timeout=0.3, timeout=0.4), clock=lambda: now[0])
    server.replies[PATH] = respond(500)
    with Resolver(ResolverConfig(), registries=[http_registry("r", f"{server.base}/api")], options=options) as resolver:
        with pytest.raises(IgluUnavailableError):
            resolver.lookup(KEY)
        server.replies[PATH] = respond(200, BODY)
        now[0] = 505
        assert resolver.lookup(KEY).document == SCHEMA


def test_a_vendor_of_dots_is_not_there_and_no_path_outside_is_asked(server: LoopbackRegistry, tmp_path: Path) -> None:
    assert isinstance(ask_blocking(server.base, "iglu:../click/jsonschema/1-0-0"), IgluNotFoundError)
    assert isinstance(ask_async(server.base, "iglu:./click/jsonschema/1-0-0"), IgluNotFoundError)
    assert server.requests == []


def test_a_configuration_asks_nothing_before_the_first_look_up(server: LoopbackRegistry) -> None:
    Resolver(ResolverConfig(), registries=[http_registry("r", server.base)]).close()
    assert server.requests == []


def test_two_calls_use_one_connection_and_a_closed_resolver_opens_a_new_one(server: LoopbackRegistry) -> None:
    server.replies[PATH] = respond(200, BODY)
    resolver = Resolver(ResolverConfig(0), registries=[http_registry("r", f"{server.base}/api")], options=OPTIONS)
    for _ in range(2):
        assert resolver.lookup(KEY).document == SCHEMA
        resolver.close()
    assert len(server.requests) == 2


@ASKING
def test_over_tls_a_certificate_is_checked_by_the_authorities_that_are_given(ask: object, tmp_path: Path) -> None:
    assert callable(ask)
    authority = Authority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.make("registry"))
    trusting = ResolverOptions(http=HttpLimits(connect_timeout=5, timeout=5, tls=tls_of(authority.file)))
    with run_registry({PATH: respond(200, BODY)}, context) as server:
        assert ask(server.base, options=trusting).document == SCHEMA
        assert ask(server.base.replace("https", "HTTPS"), options=trusting).document == SCHEMA
        usual = ResolverOptions(http=HttpLimits(connect_timeout=5, timeout=5))
        (failure,) = ask(server.base, options=usual).failures["r"].errors
        assert failure.kind == "RepoFailure"
        assert "certificate" in failure.message.lower()
