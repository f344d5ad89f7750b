"""Client settings by the names of Confluent's clients, so that a program can keep its dictionary."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from treaty.client.credentials import Credentials, basic, bearer, bearer_from, bearer_headers, oauth
from treaty.client.effects import Headers
from treaty.client.settings import CachePolicy, ClientSettings, credentials_in, settings_of_url, tls_in, tls_of

PROPERTIES = (
    "url", "timeout", "max.retries", "retries.wait.ms", "retries.max.wait.ms", "cache.capacity", "cache.latest.ttl.sec",
    "basic.auth.credentials.source", "basic.auth.user.info",
    "bearer.auth.credentials.source", "bearer.auth.token", "bearer.auth.logical.cluster", "bearer.auth.identity.pool.id",
    "bearer.auth.client.id", "bearer.auth.client.secret", "bearer.auth.scope", "bearer.auth.issuer.endpoint.url",
    "bearer.auth.custom.provider.function", "bearer.auth.custom.provider.config",
    "ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.key.password",
)  # fmt: skip
"""All known names."""

TOKEN_HEADERS = {
    "bearer.auth.logical.cluster": "target-sr-cluster",
    "bearer.auth.identity.pool.id": "Confluent-Identity-Pool-Id",
}
"""Members that are sent as headers beside a token."""

DEFAULTS = ClientSettings(("",))


def settings_of(properties: str | Mapping[str, Any]) -> ClientSettings:
    """Read settings from a URL (several with commas), or from a mapping with the names of Confluent's clients.

    Raises `ValueError` for an invalid URL, an unknown name, and settings that exclude each other; the message never
    contains a secret.
    """
    if isinstance(properties, str):
        return settings_of_url(properties)
    unknown = sorted(set(properties) - set(PROPERTIES))
    if unknown:
        raise ValueError(f"unknown setting {', '.join(map(repr, unknown))}; known are {', '.join(PROPERTIES)}")
    base = settings_of_url(_text(properties, "url"))
    tls = [
        properties.get(f"ssl.{name}")
        for name in ("ca.location", "certificate.location", "key.location", "key.password")
    ]
    if any(value is not None and not isinstance(value, str) for value in tls):
        raise ValueError("settings that begin with 'ssl.' are strings; the server's certificate is always verified")
    return replace(
        base,
        rounds=1 + int(_number(properties, "max.retries", DEFAULTS.rounds - 1)),
        pause=_number(properties, "retries.wait.ms", DEFAULTS.pause * 1000) / 1000,
        max_pause=_number(properties, "retries.max.wait.ms", DEFAULTS.max_pause * 1000) / 1000,
        attempt_timeout=_number(properties, "timeout", DEFAULTS.attempt_timeout),
        headers=tuple(
            (header, _text(properties, name)) for name, header in TOKEN_HEADERS.items() if properties.get(name)
        ),
        credentials=_credentials(properties, base.credentials),
        tls=tls_of(*tls) if any(tls) else None,
        cache=_cache_policy(properties),
    )


def _text(properties: Mapping[str, Any], name: str) -> str:
    value = properties.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name!r} is missing; a text")
    return value


def _number(properties: Mapping[str, Any], name: str, usual: float) -> float:
    value = properties.get(name)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        raise ValueError(f"{name!r} is a number, not {value!r}")
    return float(value)


def _cache_policy(properties: Mapping[str, Any]) -> CachePolicy | None:
    if properties.get("cache.capacity") is None and properties.get("cache.latest.ttl.sec") is None:
        return None
    usual = CachePolicy()
    return CachePolicy(
        versions=int(_number(properties, "cache.capacity", usual.versions)),
        latest_ttl=_number(properties, "cache.latest.ttl.sec", usual.latest_ttl),
    )


def _credentials(properties: Mapping[str, Any], in_url: Credentials | None) -> Credentials | None:
    """Read credentials, which may be in the URL or in one group of settings."""
    info, source = properties.get("basic.auth.user.info"), properties.get("bearer.auth.credentials.source")
    where = str(properties.get("basic.auth.credentials.source") or "").upper()
    if where not in {"", "URL", "USER_INFO"}:
        raise ValueError(f"'basic.auth.credentials.source' {where!r} is not known; there are URL, USER_INFO")
    if (where == "URL" and in_url is None) or (where == "USER_INFO" and info is None):
        raise ValueError(f"'basic.auth.credentials.source' is {where}, which has no user")
    if sum(each is not None for each in (info, source, in_url)) > 1:
        raise ValueError("a user in 'url', 'basic.auth.user.info', 'bearer.auth.credentials.source': one of them")
    if info is not None:
        user, colon, password = _text(properties, "basic.auth.user.info").partition(":")
        if not colon:
            raise ValueError("'basic.auth.user.info' is a name, a colon and a password")
        return basic(user, password)
    if source is None:
        return in_url
    make_bearer = _BEARERS.get(str(source).upper())
    if make_bearer is None:
        raise ValueError(f"'bearer.auth.credentials.source' {source!r} is not known; there are {', '.join(_BEARERS)}")
    return make_bearer(properties)


def _custom(properties: Mapping[str, Any]) -> Credentials:
    function = properties.get("bearer.auth.custom.provider.function")
    if function is None:
        raise ValueError("'bearer.auth.custom.provider.function' is missing; a function of a dictionary")
    config = properties.get("bearer.auth.custom.provider.config")

    def headers(provided: Mapping[str, str] | str) -> Headers:
        if not isinstance(provided, Mapping) or not provided.get("bearer.auth.token"):
            raise ValueError("'bearer.auth.custom.provider.function' returned no 'bearer.auth.token'")
        more = {header: provided[name] for name, header in TOKEN_HEADERS.items() if provided.get(name)}
        return {**bearer_headers(provided["bearer.auth.token"]), **more}

    return bearer_from(lambda: function(config), headers)


def _oauth(properties: Mapping[str, Any]) -> Credentials:
    names = ("issuer.endpoint.url", "client.id", "client.secret")
    address, client, secret = (_text(properties, f"bearer.auth.{name}") for name in names)
    return oauth(address, client, secret, str(properties.get("bearer.auth.scope") or ""))


_BEARERS: Mapping[str, Callable[[Mapping[str, Any]], Credentials]] = {
    "STATIC_TOKEN": lambda given: bearer(_text(given, "bearer.auth.token")),
    "OAUTHBEARER": _oauth,
    "CUSTOM": _custom,
}


def resolve_registry(
    where: str | Mapping[str, Any] | ClientSettings | None, environment: Mapping[str, str]
) -> ClientSettings | str:
    """Return client settings, or the URL of a log; None reads the environment.

    Environment variables are used only without an argument, so that a password is never sent to another registry.
    """
    if isinstance(where, ClientSettings):
        return where
    if isinstance(where, str):
        return settings_of_url(where) if where.startswith(("http://", "https://")) else where
    if where is not None:
        return settings_of(where)
    url = environment.get("TREATY_REGISTRY")
    if not url:
        raise ValueError("no registry: give a URL, or set TREATY_REGISTRY")
    resolved = resolve_registry(url, environment)
    if isinstance(resolved, str):
        return resolved
    own = credentials_in(environment)
    if own is not None and resolved.credentials is not None:
        raise ValueError("TREATY_REGISTRY has a user, and so has another variable; use one of them")
    return replace(resolved, credentials=own or resolved.credentials, tls=tls_in(environment))
