"""A registry in memory behind rights, passwords made fast, and an identity provider of our own."""

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bcrypt
import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from treaty.api.application import ServerApplication, build_application
from treaty.api.auth.bearer import BearerSettings
from treaty.api.auth.method import RequestCredentials
from treaty.api.protection import ProtectionSettings, open_protection
from treaty.assemble import open_node

ISSUER, AUDIENCE = "https://id.example.org/", "treaty"
STRING = '"string"'


def hashed(password: str, cost: int = 4) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(cost)).decode()


def write_passwords(path: Path, **passwords: str) -> Path:
    """Write a password file; each hash is at the lowest cost, so that tests are fast."""
    path.write_text("".join(f"{name}:{hashed(password)}\n" for name, password in passwords.items()))
    return path


def basic(name: str, password: str = "secret") -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


@dataclass
class Provider:
    """An identity provider: signs tokens, and writes the public keys to a file."""

    keys: dict[str, Any] = field(default_factory=dict)

    def make(self, kid: str, algorithm: str = "RS256") -> None:
        made: Any
        if algorithm[:2] in {"RS", "PS"}:
            made = rsa.generate_private_key(65537, 2048)
        elif algorithm == "EdDSA":
            made = ed25519.Ed25519PrivateKey.generate()
        else:
            curve: Any = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}[algorithm]
            made = ec.generate_private_key(curve())
        self.keys[kid] = made

    def public(self, kid: str, **members: object) -> dict[str, Any]:
        key = self.keys[kid].public_key()
        if isinstance(key, rsa.RSAPublicKey):
            told = RSAAlgorithm.to_jwk(key, as_dict=True)
        elif isinstance(key, ed25519.Ed25519PublicKey):
            told = OKPAlgorithm.to_jwk(key, as_dict=True)
        else:
            told = ECAlgorithm.to_jwk(key, as_dict=True)
        told.pop("key_ops", None)
        return {**told, "kid": kid, **members}

    def jwks(self, *kids: str) -> str:
        return json.dumps({"keys": [self.public(kid) for kid in kids or self.keys]})

    def token(
        self, kid: str = "k1", algorithm: str = "RS256", headers: Mapping[str, Any] | None = None, **claims: Any
    ) -> str:
        told = {"sub": "alice", "iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 60, **claims}
        kept = {name: value for name, value in told.items() if value is not None}
        return jwt.encode(kept, self.keys[kid], algorithm, {"kid": kid, **(headers or {})})

    def bearer(self, kid: str = "k1", algorithm: str = "RS256", **claims: Any) -> dict[str, str]:
        return {"Authorization": "Bearer " + self.token(kid, algorithm, **claims)}


@dataclass
class Door:
    """A registry behind a file of rights, asked through its ASGI application."""

    app: ServerApplication
    http: httpx2.AsyncClient

    async def ask(
        self, method: str, path: str, who: Mapping[str, str] | None = None, body: object = None
    ) -> tuple[int, Any]:
        answer = await self.http.request(method, path, headers=dict(who or {}), json=body)
        return answer.status_code, answer.json() if answer.content else None

    async def code(self, method: str, path: str, who: Mapping[str, str] | None = None, body: object = None) -> int:
        """Return the error code, or the status of an answer that is none."""
        status, told = await self.ask(method, path, who, body)
        return int(told["error_code"]) if status >= 400 else status

    async def put(self, subject: str, schema: str, who: Mapping[str, str], references: object = ()) -> int:
        status, told = await self.ask(
            "POST",
            f"/subjects/{subject}/versions",
            who,
            {"schema": schema, "references": list(references)},  # type: ignore[call-overload]  # a list of references
        )
        assert status == 200, told
        return int(told["id"])


@asynccontextmanager
async def door(protection: ProtectionSettings) -> AsyncIterator[Door]:
    async with open_protection(protection) as guards, open_node("memory:") as node:
        app = build_application(node, protection=guards)
        transport = httpx2.ASGITransport(app=app.dispatcher)
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
            yield Door(app, http)


RIGHTS = """
[basic]
file = "passwords"
remember = 60

[groups]
team = ["user:tim"]

[[rule]]
who = ["user:root"]
may = ["admin"]
contexts = ["*"]
private = true

[[rule]]
who = ["user:reader"]
may = ["read"]
subjects = ["open-*"]

[[rule]]
who = ["user:writer"]
may = ["register"]
subjects = ["open-*"]

[[rule]]
who = ["user:deleter"]
may = ["delete"]
subjects = ["open-*"]

[[rule]]
who = ["user:configurer"]
may = ["config"]
subjects = ["open-*"]

[[rule]]
who = ["user:moder"]
may = ["mode"]
subjects = ["open-*"]

[[rule]]
who = ["user:chief"]
may = ["admin"]
subjects = ["open-*"]

[[rule]]
who = ["group:team"]
may = ["register", "config", "mode", "delete"]
contexts = [".team"]
"""
USERS = ("root", "reader", "writer", "deleter", "configurer", "moder", "chief", "tim", "nobody")
ROOT = basic("root")
Story = Callable[[Door], Awaitable[None]]


@asynccontextmanager
async def opened(folder: Path, extra: str = "", **members: Any) -> AsyncIterator[Door]:
    write_passwords(folder / "passwords", **dict.fromkeys(USERS, "secret"))
    file = folder / "rights.toml"
    file.write_text(extra + RIGHTS)
    async with door(ProtectionSettings(file, **members)) as opened:
        yield opened


def play(folder: Path, story: Story, extra: str = "", **members: Any) -> None:
    async def run() -> None:
        async with opened(folder, extra, **members) as opened_:
            await story(opened_)

    asyncio.run(run())


class Clock:
    """Monotonic seconds that stand still unless they are moved."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def settings(keys: Path | str, **members: Any) -> BearerSettings:
    return BearerSettings(ISSUER, (AUDIENCE,), keys, **members)


def shown(token: str | bytes) -> RequestCredentials:
    return RequestCredentials(b"Bearer " + (token if isinstance(token, bytes) else token.encode()))
