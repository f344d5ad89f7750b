"""Settings of a client: by URL, by the names that Confluent's clients use, by variables."""

from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

import treaty
from tests.behaviours.scripted import Say, scripted
from tests.facades.authority import Authority
from treaty.client.cache import CachedRegistry
from treaty.client.http_registry import HttpRegistry
from treaty.client.properties import PROPERTIES, resolve_registry, settings_of
from treaty.client.settings import CachePolicy, ClientSettings, tls_of
from treaty.core.messages.listings import ListSubjects

NONE = Say(200, [])


def sent(settings: Any) -> dict[str, str]:
    """The headers that a client with these settings sends; its URL is put in."""
    with scripted(NONE) as server:
        registry = HttpRegistry(settings_of({**settings, "url": server.url}))
        registry.ask(ListSubjects())
        registry.close()
    return server.seen[0].headers


def test_numbers_and_caches_have_confluents_names() -> None:
    found = settings_of({
        "url": "http://a:1/x/, https://b", "timeout": 7, "max.retries": 2, "retries.wait.ms": 250,
        "retries.max.wait.ms": 9000, "cache.capacity": 12, "cache.latest.ttl.sec": 30,
    })  # fmt: skip
    assert found.urls == ("http://a:1/x", "https://b")
    assert (found.attempt_timeout, found.rounds, found.pause, found.max_pause) == (7, 3, 0.25, 9)
    assert found.cache == CachePolicy(versions=12, latest_ttl=30)
    assert settings_of({"url": "http://a"}) == ClientSettings(("http://a",))


def test_who_is_asking_has_confluents_names() -> None:
    assert sent({"basic.auth.user.info": "me:a:b"})["authorization"] == "Basic bWU6YTpi"
    assert sent({"basic.auth.user.info": "me:", "basic.auth.credentials.source": "user_info"})["authorization"]
    static = {
        "bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "t",
        "bearer.auth.logical.cluster": "lsrc-1", "bearer.auth.identity.pool.id": "pool-1",
    }  # fmt: skip
    headers = sent(static)
    assert headers["authorization"] == "Bearer t"
    assert (headers["target-sr-cluster"], headers["confluent-identity-pool-id"]) == ("lsrc-1", "pool-1")

    def provider(config: dict[str, str]) -> dict[str, str]:
        return {"bearer.auth.token": config["word"], "bearer.auth.logical.cluster": "lsrc-2"}

    headers = sent({
        "bearer.auth.credentials.source": "CUSTOM", "bearer.auth.custom.provider.function": provider,
        "bearer.auth.custom.provider.config": {"word": "own"},
    })  # fmt: skip
    assert (headers["authorization"], headers["target-sr-cluster"]) == ("Bearer own", "lsrc-2")
    with scripted(Say(200, {"access_token": "given", "expires_in": 60})) as identity:
        headers = sent({
            "bearer.auth.credentials.source": "OAUTHBEARER", "bearer.auth.issuer.endpoint.url": identity.url + "/token",
            "bearer.auth.client.id": "id", "bearer.auth.client.secret": "s", "bearer.auth.scope": "sr",
        })  # fmt: skip
    assert headers["authorization"] == "Bearer given"
    assert identity.seen[0].body == b"grant_type=client_credentials&scope=sr"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({}, "'url' is missing"),
        ({"url": 7}, "'url' is missing"),
        ({"url": "http://a", "basic.auth.userinfo": "me:hush"}, "unknown setting 'basic.auth.userinfo'"),
        ({"url": "http://a", "max.retries": "3"}, "'max.retries' is a number"),
        ({"url": "http://a", "timeout": True}, "'timeout' is a number"),
        ({"url": "http://a", "timeout": float("nan")}, "'timeout' is a number"),
        ({"url": "http://a", "basic.auth.user.info": "hush"}, "a name, a colon and a password"),
        ({"url": "http://u:hush@a", "basic.auth.user.info": "me:hush"}, "one of them"),
        (
            {"url": "http://a", "basic.auth.user.info": "me:x", "bearer.auth.credentials.source": "CUSTOM"},
            "one of them",
        ),
        ({"url": "http://a", "basic.auth.credentials.source": "SASL_INHERIT"}, "SASL_INHERIT"),
        ({"url": "http://a", "basic.auth.credentials.source": "URL"}, "which has no user"),
        ({"url": "http://a", "bearer.auth.credentials.source": "MAGIC"}, "STATIC_TOKEN, OAUTHBEARER, CUSTOM"),
        ({"url": "http://a", "bearer.auth.credentials.source": "STATIC_TOKEN"}, "'bearer.auth.token' is missing"),
        ({"url": "http://a", "bearer.auth.credentials.source": "OAUTHBEARER"}, "issuer.endpoint.url' is missing"),
        ({"url": "http://a", "bearer.auth.credentials.source": "CUSTOM"}, "custom.provider.function' is missing"),
        ({"url": "http://a", "ssl.ca.location": False}, "always verified"),
        ({"url": "http://a", "ssl.ca.location": "/no/such.pem"}, "/no/such.pem: No such file"),
        ({"url": "http://a", "ssl.key.location": "/key.pem"}, "a key without its certificate"),
        ({"url": "http://a", "ssl.certificate.location": "/no/such.pem"}, "/no/such.pem: No such file"),
    ],
    ids=lambda value: repr(value) if isinstance(value, dict) else "-",
)
def test_settings_that_are_none_are_refused_by_name(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why) as refused:
        settings_of(wrong)
    assert "hush" not in str(refused.value)


def test_every_name_that_is_understood_is_told() -> None:
    with pytest.raises(ValueError, match="known are") as refused:
        settings_of({"url": "http://a", "nonsense": 1})
    assert all(name in str(refused.value) for name in PROPERTIES)


def test_a_key_with_a_password(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).make("client")
    locked = tmp_path / "locked.key"
    private = load_pem_private_key(key.read_bytes(), None)
    locked.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"hush")))
    assert tls_of(None, certificate, locked, "hush").cert_store_stats() is not None
    for word in (None, "wrong-hush"):
        with pytest.raises(ValueError, match=r"locked\.key") as refused:
            tls_of(None, certificate, locked, word)
        assert "hush" not in str(refused.value)


def test_variables_count_where_nothing_is_given() -> None:
    told = {"TREATY_REGISTRY": "http://a:1,http://b", "TREATY_USER": "me", "TREATY_PASSWORD": "x"}
    found = resolve_registry(None, told)
    assert isinstance(found, ClientSettings)
    assert found.urls == ("http://a:1", "http://b")
    assert found.credentials is not None
    assert found.credentials.kind == "basic"
    elsewhere = resolve_registry("http://c", told)
    assert isinstance(elsewhere, ClientSettings)
    assert elsewhere.credentials is None
    assert resolve_registry(None, {"TREATY_REGISTRY": "memory:"}) == "memory:"
    assert resolve_registry("sqlite:///x.db", told) == "sqlite:///x.db"
    token = resolve_registry(None, {"TREATY_REGISTRY": "http://a", "TREATY_TOKEN": "t"})
    assert isinstance(token, ClientSettings)
    assert token.credentials is not None
    assert token.credentials.kind == "bearer"


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({}, "TREATY_REGISTRY"),
        ({"TREATY_REGISTRY": "http://a", "TREATY_USER": "me", "TREATY_TOKEN": "hush"}, "TREATY_USER and TREATY_TOKEN"),
        ({"TREATY_REGISTRY": "http://me:hush@a", "TREATY_USER": "me"}, "one of them"),
        ({"TREATY_REGISTRY": "http://a", "TREATY_KEY": "/k"}, "a key without its certificate"),
    ],
    ids=["nothing", "two kinds", "twice", "no certificate"],
)
def test_variables_that_do_not_go_together_are_refused(told: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why) as refused:
        resolve_registry(None, told)
    assert "hush" not in str(refused.value)


def test_connect_takes_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(NONE) as server:
        with treaty.connect({"url": server.url, "basic.auth.user.info": "me:x"}) as registry:
            assert registry.subjects() == ()
        with treaty.connect(settings_of(server.url)) as registry:
            assert registry.subjects() == ()
        monkeypatch.setenv("TREATY_REGISTRY", server.url)
        monkeypatch.setenv("TREATY_TOKEN", "t")
        with treaty.connect() as registry:
            assert registry.subjects() == ()
        monkeypatch.delenv("TREATY_REGISTRY")
        with pytest.raises(ValueError, match="no registry: give"):
            treaty.connect()
        with treaty.connect({"url": server.url, "cache.latest.ttl.sec": 5}) as registry:
            assert isinstance(registry.registry, CachedRegistry)
    assert [seen.headers.get("authorization") for seen in server.seen] == ["Basic bWU6eA==", None, "Bearer t"]
