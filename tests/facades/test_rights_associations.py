"""Rights to associations through HTTP: what is listed, what may be bound and parted, and what the audit log tells."""

import json
import time
from pathlib import Path
from typing import Any

from tests.facades.doors import ROOT, STRING, Door, basic, play

LISTS = (
    "/associations/resources/t-1",
    "/associations/resources/-/open-orders",
    "/associations/resources/lkc-1/-",
    "/associations/resources/-/-",
)


def body(*associations: dict[str, Any], name: str = "open-orders", id_: str = "t-1") -> dict[str, Any]:
    resource = {"resourceName": name, "resourceNamespace": "lkc-1", "resourceId": id_}
    return {**resource, "associations": list(associations)}


def bound(subject: str, kind: str = "value", **more: Any) -> dict[str, Any]:
    return {"subject": subject, "associationType": kind, **more}


def schema(**more: Any) -> dict[str, Any]:
    return {"schema": STRING, **more}


async def told(it: Door, path: str, user: str) -> list[str]:
    status, answer = await it.ask("GET", path, basic(user))
    assert status == 200, answer
    return [one["subject"] for one in answer]


def test_lists_show_what_may_be_read(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        two = body(bound("open-k", "key", schema=schema()), bound("shut-v", schema=schema()))
        assert await it.code("POST", "/associations", ROOT, two) == 200
        for path in LISTS:
            assert await told(it, path, "root") == ["open-k", "shut-v"]
            assert await told(it, path, "reader") == ["open-k"], path
            assert await it.code("GET", path, basic("nobody")) == 40301
        assert await told(it, "/associations/subjects/open-k", "reader") == ["open-k"]
        assert await it.code("GET", "/associations/subjects/shut-v", basic("reader")) == 40301
        gets = {"requests": [{"resourceId": "t-1"}, {"resourceId": "t-1", "associationTypes": ["value"]}]}
        _, answer = await it.ask("POST", "/associations:batchGet?includeSchemas=true", basic("reader"), gets)
        first, second = answer["results"]
        assert [one["subject"] for one in first["result"]["associations"]] == ["open-k"]
        assert second["error"]["error_code"] == 40410

    play(tmp_path, story)


def test_binding_and_parting_need_the_right_to_register(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("open-v", STRING, ROOT)
        await it.put("shut-v", STRING, ROOT)
        for user in ("reader", "deleter", "configurer", "moder", "nobody"):
            assert await it.code("POST", "/associations", basic(user), body(bound("open-v"))) == 40301, user
            assert await it.code("PUT", "/associations/resources/t-1", basic(user), body(bound("open-v"))) == 40301
        writer = basic("writer")
        assert await it.code("POST", "/associations", writer, body(bound("shut-v"))) == 40301
        assert await it.code("POST", "/associations", writer, body(bound("open-v"), bound("shut-v", "key"))) == 40301
        forced = bound("open-v", schema=schema(treaty={"force": {"who": "boss", "why": "because"}}))
        assert await it.code("POST", "/associations", writer, body(forced)) == 40301, "force needs config too"
        assert await it.code("POST", "/associations", writer, body(bound("open-v", lifecycle="STRONG"))) == 200
        for user in ("reader", "deleter", "nobody"):
            assert await it.code("DELETE", "/associations/resources/t-1", basic(user)) == 40301
        assert await it.code("DELETE", "/associations/resources/t-1?cascadeLifecycle=true", writer) == 40301
        assert await it.code("DELETE", "/associations/resources/t-1", writer) == 204

    play(tmp_path, story)


def test_what_may_not_be_read_is_not_parted(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        two = body(bound("open-k", "key", schema=schema()), bound("shut-v", schema=schema()))
        assert await it.code("POST", "/associations", ROOT, two) == 200
        writer = basic("writer")
        assert await it.code("DELETE", "/associations/resources/t-1?associationType=value", writer) == 40410
        assert await it.code("DELETE", "/associations/resources/t-1", writer) == 204
        assert await told(it, "/associations/resources/t-1", "root") == ["shut-v"]

    play(tmp_path, story)


def test_entries_of_a_batch_that_are_not_allowed_leave_the_others(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("open-v", STRING, ROOT)
        create = {"opType": "CREATE", **bound("open-v")}
        hidden = {"opType": "CREATE", **bound("shut-v", schema=schema())}
        sent = {"requests": [body(hidden), body(create, name="open-users", id_="t-2")]}
        status, answer = await it.ask("POST", "/associations:batchMutate", basic("writer"), sent)

        assert status == 207
        assert answer["results"][0]["error"]["error_code"] == 40301
        assert answer["results"][1]["result"]["associations"][0]["subject"] == "open-v"
        assert await it.code("POST", "/associations:batchMutate", basic("reader"), sent) == 40301
        assert "shut-v" not in (await it.ask("GET", "/subjects", ROOT))[1]

    play(tmp_path, story)


def test_who_forces_a_schema_is_who_asks(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("open-v", STRING, ROOT)
        force = {"treaty": {"force": {"who": "somebody else", "why": "because"}}}
        sent = body(bound("open-v", schema={"schema": '"long"', **force}))
        assert await it.code("POST", "/associations", basic("chief"), sent) == 200
        headers = {**ROOT, "Treaty-Details": "true"}
        _, version = await it.ask("GET", "/subjects/open-v/versions/2", headers)
        assert version["treaty"]["forced"]["who"] == "user:chief"

    play(tmp_path, story)


def test_the_audit_log_names_resources_and_subjects(tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"

    async def story(it: Door) -> None:
        sent = body(bound("open-v", schema=schema()))
        assert await it.code("POST", "/associations", basic("writer"), sent) == 200
        assert await it.code("POST", "/associations", basic("reader"), sent) == 40301
        batch = {"requests": [body({"opType": "DELETE"}), body({"opType": "DELETE"})]}
        assert await it.code("POST", "/associations:batchMutate", basic("writer"), batch) == 207
        assert await it.code("DELETE", "/associations/resources/t-1", ROOT) == 40410

    play(tmp_path, story, audit=audit)
    for _ in range(100):
        lines = [json.loads(line) for line in audit.read_text().splitlines()]
        if len(lines) == 4:
            break
        time.sleep(0.02)
    first, second, third, fourth = lines
    standing = [{"kind": "value", "subject": "open-v", "lifecycle": "WEAK"}]
    assert (first["kind"], first["principal"], first["outcome"]) == ("associate", "user:writer", "done")
    assert (first["resource"], first["subjects"]) == ("t-1", ["open-v"])
    assert (first["before"], first["after"]) == ([], standing)
    assert (second["outcome"], second["rule"], second["before"]) == ("refused", "RIGHTS", standing)
    assert (third["resources"], third["after"]) == (["t-1", "t-1"], [[], {"refused": "ASSOCIATION_NOT_FOUND"}])
    assert (fourth["kind"], fourth["resource"], fourth["rule"]) == ("dissociate", "t-1", "ASSOCIATION_NOT_FOUND")
