"""The proposal AVRO-1124, from a table; what its groups are in other dialects, and who may do what."""

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.facades.doors import Door, basic, play
from tests.facades.schemarepo.conversations import repository
from treaty.api.application import build_application
from treaty.api.schemarepo.routes import TABLE
from treaty.assemble import open_node

ROOT = Path(__file__).parents[3]
CASES: list[dict[str, Any]] = tomllib.loads((ROOT / "tests/cases/schemarepo/proposal.toml").read_text("utf-8"))["case"]
READER = {"accept": "*/*"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["says"])
def test_a_sentence(case: dict[str, Any]) -> None:
    async def run() -> None:
        async with repository(root="/avro-1124/schemas") as it:
            await it.play(case["steps"])

    asyncio.run(run())


def test_one_subject_through_all_of_these_doors() -> None:
    """A schema registered at one door is read at the others, with the same text; a schema id is shared by all spellings."""

    async def run() -> None:
        async with repository() as it:
            http = it.http
            await it.send("PUT /s")
            await http.post("/avro-1124/schemas/s", data={"schema": '{"type":"int"}'})
            await it.send("PUT /s/register", {"text": '{ "type":"int"}'})
            posted = {"schema": '"long"'}
            assert (await http.post("/subjects/s/versions", json=posted, headers=READER)).json()["version"] == 3
            assert (await it.send("GET /s/all")).text == '2\t"long"\n1\t{ "type":"int"}\n0\t{"type":"int"}\n'
            assert (await http.get("/avro-1124/schemas/s")).text == "1\n2\n3\n"
            shown = [(await http.get(f"/subjects/s/versions/{n}", headers=READER)).json() for n in (1, 2, 3)]
            assert [(one["id"], one["schema"]) for one in shown] == [(1, '"int"'), (1, '"int"'), (2, '"long"')]
            await http.post("/subjects/t/versions", json=posted, headers=READER)
            assert (await it.send("GET /t/latest")).text == '0\t"long"'
            assert (await http.get("/avro-1124/schemas/t/1")).text == '"long"'
            assert (await it.send("PUT /t/register", {"text": '{"type": "long"}'})).text == "0"
            assert (await it.send("PUT /t/register", {"text": '"string"'})).status_code == 403

    asyncio.run(run())


def test_a_deleted_schema_is_read_by_its_id_alone_and_comes_back_as_another() -> None:
    async def run() -> None:
        async with repository() as it:
            await it.send("PUT /s")
            for text in ("one", "two"):
                await it.send("PUT /s/register", {"text": text})
            assert (await it.http.delete("/subjects/s/versions/2", headers=READER)).status_code == 200
            await it.play(
                [
                    {"ask": "GET /s/latest", "is": "0\tone"},
                    {"ask": "GET /s/all", "is": "0\tone\n"},
                    {"ask": "GET /s/id/1", "is": "two"},
                    {"ask": "POST /s/schema", "text": "two", "status": 404},
                    {"ask": "PUT /s/register", "text": "two", "is": "2"},
                ]
            )
            assert (await it.http.get("/avro-1124/schemas/s/2")).text == "two"
            for number in (1, 3):
                await it.http.delete(f"/subjects/s/versions/{number}", headers=READER)
            await it.play(
                [{"ask": "GET /s", "is": ""}, {"ask": "GET /s/latest", "status": 404}, {"ask": "GET /s/all", "is": ""}]
            )
            assert (await it.http.get("/avro-1124/schemas/s/latest")).status_code == 404

    asyncio.run(run())


def test_a_config_that_is_there_before_the_subject_counts() -> None:
    async def run() -> None:
        async with repository() as it:
            for name in ("s", "g", "v"):
                await it.http.put(f"/config/{name}", json={"compatibility": "FULL"}, headers=READER)
            await it.play(
                [{"ask": "PUT /s", "is": "s"}, {"ask": "PUT /v", "form": {"repo.validators": "DOC_MISSING"}, "is": "v"}]
            )
            assert (await it.http.post("/avro-1124/schemas/g", data={"schema": '"int"'})).text == "1"
            for name in ("s", "g", "v"):
                assert (await it.http.get(f"/config/{name}", headers=READER)).json()["compatibilityLevel"] == "FULL"
            await it.play(
                [
                    {"ask": "GET /v/config", "has": "repo.validators=DOC_MISSING\n"},
                    {"ask": "PUT /s/register", "text": '"int"', "is": "0"},
                    {"ask": "PUT /s/register", "text": '"string"', "status": 403},
                    {"ask": "PUT /s/register", "text": "no schema", "status": 403},
                    {"ask": "PUT /g/register", "text": '"string"', "status": 403},
                ]
            )
            other = {"schema": '"int"', "compatibility_model": "NONE"}
            await it.http.put("/config/h", json={"compatibility": "FULL"}, headers=READER)
            assert (await it.http.post("/avro-1124/schemas/h", data=other)).status_code == 403

    asyncio.run(run())


def test_a_compatibility_model_may_be_a_named_policy() -> None:
    """Of a new group it is the policy; of one that exists it has no effect, and a header names the policy or the level there."""

    async def run() -> None:
        async with repository() as it:
            gold = {
                "name": "gold",
                "policy": {"backward": {"kind": "latest"}, "validators": ["required-metadata(owner)"]},
            }
            asked = await it.http.post(
                "/treaty/v1/ask", json={"operation": "create-policy", "request": gold}, headers=READER
            )
            assert asked.status_code == 200, asked.text
            path = "/avro-1124/schemas/g"

            async def post(group: str, model: str, text: str = '"int"') -> tuple[int, str | None]:
                sent = {"schema": text, "compatibility_model": model}
                told = await it.http.post(f"/avro-1124/schemas/{group}", data=sent)
                return told.status_code, told.headers.get("treaty-compatibility-model")

            assert await post("g", "lead") == (400, None)
            assert (await it.http.get(path)).status_code == 404
            assert await post("g", "gold") == (403, None)  # its validator wants metadata, which the proposal can't send
            changed = {"name": "gold", "policy": {"backward": {"kind": "latest"}}}
            await it.http.post(
                "/treaty/v1/ask", json={"operation": "change-policy", "request": changed}, headers=READER
            )
            assert await post("g", "gold") == (200, None)
            assert await post("g", "NONE", '"long"') == (200, "gold")
            assert await post("g", "gold", '"string"') == (403, None)
            assert await post("h", "full") == (200, None)
            assert await post("h", "gold") == (200, "FULL")
            assert await post("h", "lead") == (400, None)
            shown = await it.http.get("/config/g", headers={**READER, "treaty-details": "true"})
            assert shown.json()["treaty"]["policy"]["name"] == "gold"

    asyncio.run(run())


PARAMETERS = (
    "naming(type=PascalCase,field=snake_case)",
    "required-metadata(owner,team)",
    "policy:BackwardTill(0)",
    "lint:DOC_MISSING",
)


def test_validators_with_parameters_are_the_same_at_every_door() -> None:
    async def run() -> None:
        async with repository() as it:
            await it.play(
                [
                    {
                        "ask": "PUT /s",
                        "form": {"repo.validators": "max-depth(x)"},
                        "status": 400,
                        "has": "max-depth(5)",
                    },
                    {
                        "ask": "PUT /s",
                        "form": {"repo.validators": "nobody(1,2)"},
                        "status": 400,
                        "has": "required-metadata",
                    },
                    {"ask": "GET /s", "status": 404},
                    {"ask": "PUT /s", "form": {"repo.validators": " , ".join(PARAMETERS)}, "is": "s"},
                    {"ask": "GET /s/config", "has": "repo.validators="},
                ]
            )
            config = (await it.http.get("/config/s", headers=READER)).json()
            assert config["validators"] == [*PARAMETERS]
            put = await it.http.put("/config/t", json={"validators": config["validators"]}, headers=READER)
            assert put.json()["validators"] == [*PARAMETERS]
            asked = {"operation": "get-config", "request": {"scope": {"context": ".", "name": "t"}}}
            told = (await it.http.post("/treaty/v1/ask", json=asked, headers=READER)).json()
            assert PARAMETERS[0] in str(told)
            listed = (await it.send("GET /s/config")).text
            (line,) = [one for one in listed.splitlines() if one.startswith("repo.validators=")]
            again = line.removeprefix("repo.validators=").replace("\\", "")
            await it.play([{"ask": "PUT /u", "form": {"repo.validators": again}, "is": "u"}])
            assert (await it.http.get("/config/u", headers=READER)).json()["validators"] == [*PARAMETERS]

    asyncio.run(run())


def test_who_forces_a_schema_is_stored_with_it(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        path = "/avro-1124/schemas/groups/open-a"
        first = {"schema": '"int"', "compatibility_model": "BACKWARD"}
        assert (await it.http.post(path, data=first, headers=basic("writer"))).status_code == 403
        assert (await it.http.post(path, data=first, headers=basic("chief"))).text == "1"
        forced = {"schema": '"string"', "force_override": "true"}
        assert (await it.http.post(path, data=forced, headers=basic("writer"))).status_code == 403
        assert (await it.http.post(path, data=forced, headers=basic("chief"))).text == "2"
        told = await it.http.get("/subjects/open-a/versions/2", headers={**basic("chief"), "treaty-details": "true"})
        assert told.json()["treaty"]["forced"] == {"who": "user:chief", "why": "force_override"}

    play(tmp_path, story)


WRITES = {
    "PUT /schema-repo/open-n": ("register", None),
    "PUT /schema-repo/open-a/register": ("register", '"long"'),
    "PUT /schema-repo/open-a/register_if_latest/0": ("register", '"long"'),
    "POST /avro-1124/schemas/open-n?schema=%22int%22": ("register", None),
    "POST /avro-1124/schemas/open-a?schema=%22int%22": ("register", None),
    "PUT /schema-repo/open-n?repo.validators=DOC_MISSING": ("config", None),
    "POST /avro-1124/schemas/open-n?schema=%22int%22&compatibility_model=FULL": ("config", None),
    "POST /avro-1124/schemas/open-a?schema=%22int%22&force_override=true": ("config", None),
}
READS = [path.replace("{}", "open-a", 1).replace("{}", "1") for path, methods in TABLE.items() if "GET" in methods]
MAY = {
    "register": {"root", "writer", "chief"},
    "config": {"root", "chief"},
    "read": {"root", "reader", "writer", "chief"},
}
NAMES = ("root", "reader", "writer", "deleter", "configurer", "moder", "chief", "tim", "nobody")


def test_every_path_needs_its_permission(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        headers = {"accept": "*/*", "content-type": "text/plain"}
        for turn, (ask, (permission, text)) in enumerate(WRITES.items()):
            for name in NAMES:
                subject = f"open-{turn}-{name}"
                made = {**basic("root"), **READER}
                await it.http.put(f"/schema-repo/{subject}", headers=made)
                await it.http.put(f"/schema-repo/{subject}/register", content='"int"', headers={**made, **headers})
                method, _, path = ask.replace("open-a", subject).replace("open-n", f"{subject}-new").partition(" ")
                sent = {**basic(name), **(headers if text else READER)}
                got = await it.http.request(method, path, content=text, headers=sent)
                assert got.status_code == (200 if name in MAY[permission] else 403), (ask, name, got.text)
        for path in (*READS, "/schema-repo/open-a/id/0"):
            for name in NAMES:
                got = await it.http.get(path, headers={**READER, **basic(name)})
                listing = path in {"/schema-repo", "/avro-1124/schemas"}
                allowed = name in MAY["read"] or (listing and name == "tim")
                assert (got.status_code != 403) is allowed, (path, name, got.text)

    play(tmp_path, story)


def test_lists_show_what_may_be_read(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for name in ("open-a", "shut-a", "open-b", "shut-b"):
            assert (await it.http.put(f"/schema-repo/{name}", headers={**basic("root"), **READER})).status_code == 200
        for path in ("/schema-repo", "/avro-1124/schemas"):
            seen = {
                name: (await it.http.get(path, headers={**READER, **basic(name)})).text
                for name in ("root", "reader", "tim")
            }
            assert seen == {"root": "open-a\nopen-b\nshut-a\nshut-b\n", "reader": "open-a\nopen-b\n", "tim": ""}
        for name in ("shut-a", "nothing"):
            told = await it.http.get(f"/schema-repo/{name}/latest", headers={**READER, **basic("reader")})
            assert (told.status_code, told.text.replace(name, "x")) == (403, FORBIDDEN)

    play(tmp_path, story)


FORBIDDEN = (
    "user:reader is not allowed to do this: it needs the permission read on subject 'x'\n"
    "RIGHTS; new: get-subject\nallowed: a rule that gives read"
)


def test_of_two_who_create_a_group_one_adds_to_the_other(tmp_path: Path) -> None:
    async def run() -> None:
        log = f"sqlite:///{tmp_path / 'treaty.db'}"
        async with open_node(log) as one, open_node(log) as two:
            clients = [
                httpx2.AsyncClient(
                    transport=httpx2.ASGITransport(app=build_application(node).dispatcher), base_url="http://t"
                )
                for node in (one, two)
            ]
            for turn in range(5):
                schemas = [f'{{"type":"fixed","name":"F","size":{size}}}' for size in (1, 2, 3, 4)]
                posts = [
                    clients[at % 2].post(f"/avro-1124/schemas/g{turn}", data={"schema": text}, headers=READER)
                    for at, text in enumerate(schemas)
                ]
                got = await asyncio.gather(*posts)
                assert sorted((answer.status_code, answer.text) for answer in got) == [
                    (200, str(n)) for n in (1, 2, 3, 4)
                ]
            for client in clients:
                await client.aclose()

    asyncio.run(run())


def test_a_server_that_has_not_read_a_subject_yet_takes_its_format(tmp_path: Path) -> None:
    """What another server created a moment ago: the format of its setting, and that of its versions."""

    async def run() -> None:
        log = f"sqlite:///{tmp_path / 'treaty.db'}"
        async with repository(log) as one, repository(log) as two:
            for turn in range(5):
                await one.send(f"PUT /j{turn}", {"form": {"treaty.format": "JSON"}})
                assert (await two.send(f"PUT /j{turn}/register", {"text": '{"type":"object"}'})).text == "0"
                posted = {"schemaType": "JSON", "schema": '{"type":"object"}'}
                await one.http.post(f"/subjects/c{turn}/versions", json=posted, headers=READER)
                assert (await two.send(f"PUT /c{turn}/register", {"text": '{"type":"object"}'})).text == "0"
                shown = await two.http.get(f"/subjects/c{turn}/versions", headers=READER)
                assert shown.json() == [1]

    asyncio.run(run())


INT_IDS = {
    "": "1", "sequence": "1", "md5": "ef524ea1b91e73173d938ade36c1db32", "crc-64-avro": "8f5c393f1ad57572",
    "sha-256": "3f2b87a9fe7cc9b13835598c3981cd45e3e355309e5090aa0933d7becb6fba45",
}  # fmt: skip


"""The id of "int" by id scheme, as one asks for it; nothing is a sequence."""
SETTINGS: dict[str, dict[str, Any]] = {
    "nothing": {}, "normalization": {"normalize": True}, "another level": {"compatibility": "FULL"}, "a partition": {"compatibilityGroup": "major"},
}  # fmt: skip


@pytest.mark.parametrize("scheme", INT_IDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_group_is_created_with_its_id_scheme_whatever_was_set_there_before(setting: str, scheme: str) -> None:
    async def run() -> None:
        async with repository(root="/avro-1124/schemas") as it:
            if SETTINGS[setting]:
                answer = await it.http.put("/config/g", json=SETTINGS[setting], headers=READER)
                assert answer.status_code == 200
            first, asked = INT_IDS[scheme], {"id_scheme": scheme} if scheme else {}
            await it.play(
                [
                    {"ask": "POST /g", "form": {"schema": '"int"', **asked}, "is": first},
                    {"ask": f"GET /g/{first}", "is": '"int"'},
                    {"ask": "GET /g", "is": f"{first}\n"},
                ]
            )

    asyncio.run(run())
