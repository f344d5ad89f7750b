"""The column of the matrix of rights for callers that the server does not know: no credentials and unknown ones, at every path of every API."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import STRING, Door, basic, door, write_passwords
from treaty.api.openapi.table import EVERYTHING
from treaty.api.protection import ProtectionSettings
from treaty.api.request_scope import OPEN

RULES = '[basic]\nfile = "passwords"\nremember = 60\n[[rule]]\nwho = "anonymous"\nmay = "read"\nsubjects = "open*"\n'
KEY = {"apikey": "11111111-2222-3333-4444-555555555555"}
UNKNOWN: dict[str, dict[str, str]] = {
    "no credentials": {},
    "a scheme that is not there": {"Authorization": "Bearer x"},
    "an unknown user": basic("stranger"),
    "an API key": KEY,
}
READS = ("/subjects", "/v1/groups", "/schema-repo", "/avro-1124/schemas", "/api/schemas", "/treaty/v1/ask")
"""One path of each API, which `anonymous` may read."""
ASKS: dict[str, Any] = {"/treaty/v1/ask": {"operation": "list-subjects"}}


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path)


EVERY = [(method.upper(), filled(path)) for path, methods in EVERYTHING.items() for method in methods]


def is_admitted(path: str, caller: str, *, anonymous: bool) -> bool:
    """Whether such a caller gets past authentication; what its rights are is another question."""
    if path.encode() in OPEN:
        return True
    return anonymous and caller in {"no credentials", "an API key"}  # an unknown key is as none


@pytest.mark.parametrize("first_line", ["", "anonymous = true\n"], ids=["closed", "anonymous"])
@pytest.mark.parametrize("caller", UNKNOWN)
def test_an_unknown_caller_is_refused_at_every_path_unless_anonymous_is_let_in(
    caller: str, first_line: str, tmp_path: Path
) -> None:
    write_passwords(tmp_path / "passwords", root="secret")
    (tmp_path / "rights.toml").write_text(first_line + RULES)

    async def story(it: Door) -> None:
        refused = it.app.protection.authenticator.refused  # type: ignore[union-attr]  # there are rights
        assert refused == 0
        expected = 0
        for method, path in EVERY:
            answer = await it.http.request(method, path, headers=UNKNOWN[caller])
            admitted = is_admitted(path, caller, anonymous=bool(first_line))
            assert (answer.status_code != 401) is admitted, (method, path, answer.status_code, answer.text[:200])
            is_wrong_key = caller == "an API key" and path.startswith("/api/") and path.encode() not in OPEN
            expected += not admitted or is_wrong_key
            counted = it.app.protection.authenticator.refused  # type: ignore[union-attr]
            assert counted == expected, (method, path)

    async def run() -> None:
        async with door(ProtectionSettings(tmp_path / "rights.toml")) as opened:
            await story(opened)

    asyncio.run(run())


def test_every_api_is_among_the_paths() -> None:
    paths = {path for _, path in EVERY}
    assert all(any(path == one or path.startswith(one + "/") for path in paths) for one in READS)
    assert len(EVERY) > 110


def test_anonymous_reads_through_every_api_what_its_rule_says(tmp_path: Path) -> None:
    (tmp_path / "rights.toml").write_text("anonymous = true\n" + RULES)
    write_passwords(tmp_path / "passwords", root="secret")

    async def run() -> None:
        async with door(ProtectionSettings(tmp_path / "rights.toml")) as it:
            for path in READS:
                body = ASKS.get(path)
                answer = await it.http.request("POST" if body else "GET", path, json=body)
                assert answer.status_code == 200, (path, answer.text)
                assert await it.code("POST", "/subjects/open/versions", None, {"schema": STRING}) == 40301

    asyncio.run(run())
