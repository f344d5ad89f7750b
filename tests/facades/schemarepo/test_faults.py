"""Faults of the original schema-repo that can't happen here, by the numbers under which they are known."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.facades.schemarepo.conversations import Repository, repository

RECORD = '{"type":"record","name":"R","fields":[]}'
DOCUMENTED = '{"type":"record","name":"R","doc":"d","fields":[]}'
DEMANDING = {"repo.validators": "DOC_MISSING"}


def play(steps: list[dict[str, Any]], log: str = "memory:") -> None:
    async def run() -> None:
        async with repository(log) as it:
            await it.play(steps)

    asyncio.run(run())


def test_1_validators_hold_after_a_restart(tmp_path: Path) -> None:
    play(
        [
            {"ask": "PUT /a", "form": DEMANDING, "is": "a"},
            {"ask": "PUT /a/register", "text": RECORD, "status": 403},
            {"reopen": True},
            {"ask": "GET /a/config", "has": "repo.validators=DOC_MISSING\n"},
            {"ask": "PUT /a/register", "text": RECORD, "status": 403, "has": "DOC_MISSING"},
            {"ask": "PUT /a/register", "text": DOCUMENTED, "is": "0"},
        ],
        f"sqlite:///{tmp_path / 'treaty.db'}",
    )


def test_2_an_old_text_again_is_no_new_entry_and_the_next_registration_ends() -> None:
    entries = [{"id": "1", "schema": '"long"'}, {"id": "0", "schema": '"int"'}]
    for form in ({}, DEMANDING):
        play(
            [
                {"ask": "PUT /a", "form": form, "is": "a"},
                {"ask": "PUT /a/register", "text": '"int"', "is": "0"},
                {"ask": "PUT /a/register", "text": '"long"', "is": "1"},
                {"ask": "PUT /a/register_if_latest/1", "text": '"int"', "is": "0"},
                {"ask": "PUT /a/register", "text": '"int"', "is": "0"},
                {"ask": "GET /a/all", "accept": "application/json", "json": entries},
                {"ask": "GET /a/latest", "is": '1\t"long"'},
                {"ask": "PUT /a/register", "text": '"string"', "is": "2"},
            ]
        )


def test_3_an_unknown_validator_is_refused_with_the_known_ones_and_nothing_is_created() -> None:
    play(
        [
            {"ask": "PUT /a", "form": {"repo.validators": "DOC_MISING"}, "status": 400, "has": "DOC_MISSING"},
            {"ask": "PUT /a", "form": {"repo.validators": "DOC_MISSING,no"}, "status": 400, "has": "new: no"},
            {"ask": "GET /a", "status": 404},
            {"ask": "GET ", "is": ""},
        ]
    )


def test_4_names_are_names_and_no_paths(tmp_path: Path) -> None:
    async def run() -> None:
        folder = tmp_path / "inner"
        folder.mkdir()
        async with repository(f"sqlite:///{folder / 'treaty.db'}") as it:
            for name in ("a%20b", "%20", "a%09b", "a%0Ab", "a%C2%A0b", "a%E2%80%83b"):
                assert (await it.send(f"PUT /{name}")).status_code == 400, name
            for name in (":.x:s", ":*:s", ":.x:", ":.", "__GLOBAL", "%00", "a%7Fb"):
                assert (await it.send(f"PUT /{name}")).status_code == 400, name
            for name in ("..%2Fx", "%2e%2e%2Fy", "%2Fetc", "a%2Fb", "é", "C:\\x"):
                assert (await it.send(f"PUT /{name}")).status_code == 200, name
            assert (await it.send("GET ")).text == "../x\n../y\n/etc\nC:\\x\na/b\né\n"
            assert (await it.send("GET /x")).status_code == 404

    asyncio.run(run())
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert all(path.name.startswith("treaty.db") for path in (tmp_path / "inner").iterdir())


UMLAUTS = '{"type":"enum","name":"E","doc":"é € 😀","symbols":["A"]}'
STORY: list[dict[str, Any]] = [
    {"ask": "PUT /a", "is": "a"},
    {"ask": "PUT /a/register", "text": UMLAUTS, "is": "0"},
    {"ask": "GET /a/id/0", "is": UMLAUTS},
    {"ask": "POST /a/schema", "text": UMLAUTS, "is": "0"},
    {"ask": "PUT /a/register", "text": UMLAUTS, "is": "0"},
    {"reopen": True},
    {"ask": "GET /a/latest", "is": f"0\t{UMLAUTS}"},
    {"ask": "POST /a/schema", "text": UMLAUTS, "is": "0"},
]


@pytest.mark.slow
def test_5_texts_do_not_depend_on_the_character_set_of_the_machine(tmp_path: Path) -> None:
    play(STORY, f"sqlite:///{tmp_path / 'here.db'}")
    program = (
        "import sys, locale; from tests.facades.schemarepo.test_faults import STORY, play; "
        "assert locale.getpreferredencoding(False) != 'UTF-8'; play(STORY, sys.argv[1])"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": ":".join(sys.path)}
    log = f"sqlite:///{tmp_path / 'there.db'}"
    done = subprocess.run(
        [sys.executable, "-c", program, log], env=plain, capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()


def test_5_a_body_in_another_character_set_is_the_same_text() -> None:
    async def run() -> None:
        async with repository() as it:
            text = '{"type":"enum","name":"E","doc":"é","symbols":["A"]}'
            await it.send("PUT /a")
            assert (await it.send("PUT /a/register", {"text": text})).text == "0"
            for charset, status in (
                ("ISO-8859-1", 200),
                ('"utf-8"', 200),
                ("utf-16", 200),
                ("us-ascii", 400),
                ("klingon", 415),
            ):
                data = text.encode(charset.strip('"')) if status == 200 else text.encode()
                got = await put(it, data, f"text/plain; charset={charset}")
                assert (got.status_code, got.text if status == 200 else "0") == (status, "0"), (charset, got.text)
            assert (await put(it, text.encode("latin-1"), "text/plain")).status_code == 400

    asyncio.run(run())


async def put(it: Repository, data: bytes, content_type: str) -> Any:
    return await it.http.put("/schema-repo/a/register", content=data, headers={"content-type": content_type})


def test_8_a_tabulator_or_a_line_break_in_a_schema_is_told_apart() -> None:
    entries = [{"id": "1", "schema": "b\nc"}, {"id": "0", "schema": "a\tb"}]
    play(
        [
            {"ask": "PUT /a", "is": "a"},
            {"ask": "PUT /a/register", "text": "a\tb", "is": "0"},
            {"ask": "GET /a/latest", "is": "0\ta\tb"},
            {"ask": "GET /a/all", "is": "0\ta\tb\n"},
            {"ask": "PUT /a/register", "text": "b\nc", "is": "1"},
            {"ask": "GET /a/latest", "is": "1\tb\nc"},
            {"ask": "GET /a/all", "status": 406, "has": "Accept: application/json"},
            {"ask": "GET /a/all", "accept": "application/json", "json": entries},
        ]
    )
