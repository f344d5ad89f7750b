"""Rights to topics: a right to a subject does not decide which schemas the clients of a topic take."""

from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import ROOT, STRING, Door, basic, play

TOPICS = """
[[rule]]
who = ["user:writer"]
may = ["register"]
topics = ["orders", "bills-*"]

"""


def body(topic: str, subject: str = "open-v", kind: str = "value", **more: Any) -> dict[str, Any]:
    association = {"subject": subject, "associationType": kind, **more}
    return {
        "resourceName": topic,
        "resourceNamespace": "lkc-1",
        "resourceId": f"id-{topic}",
        "associations": [association],
    }


def batch(topic: str, op: str) -> dict[str, Any]:
    return {"requests": [body(topic, opType=op)]}


async def bind(it: Door, user: str, topic: str, kind: str = "value", subject: str = "open-v") -> set[int]:
    """Try every way to bind a topic, and return the codes; what was bound is parted again."""
    sent, found = body(topic, subject, kind), set()
    for method, path in (("POST", "/associations"), ("PUT", f"/associations/resources/id-{topic}")):
        found.add(await it.code(method, path, basic(user), sent))
        await it.code("DELETE", f"/associations/resources/id-{topic}", ROOT)
    for op in ("CREATE", "UPSERT"):
        change = {"requests": [body(topic, subject, kind, opType=op)]}
        _, answer = await it.ask("POST", "/associations:batchMutate", basic(user), change)
        (one,) = answer["results"]
        found.add(one["error"]["error_code"] if one.get("error") else 200)
        await it.code("DELETE", f"/associations/resources/id-{topic}", ROOT)
    return found


def test_a_right_to_a_subject_binds_no_topic_of_others(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("open-v", STRING, ROOT)
        await it.put(":.team:v", STRING, ROOT)
        for topic in ("orders", "victim", "op", "en-t"):
            for kind in ("key", "value"):
                assert await bind(it, "writer", topic, kind) == {40301}, (topic, kind)
        assert await bind(it, "tim", "orders", subject=":.team:v") == {40301}, "a context of one's own"
        assert await bind(it, "writer", "open-t") == {200}, "open-t-value could be registered, too"
        status, answer = await it.ask("POST", "/associations", basic("writer"), body("victim"))
        assert status == 403
        assert "register on the value of topic 'victim'" in answer["message"]
        assert (await it.ask("GET", "/associations/resources/-/-", ROOT)) == (200, [])

    play(tmp_path, story)


def test_the_other_half_of_a_topic_that_is_hidden_is_not_bound(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for subject in ("open-v", "shut-v"):
            await it.put(subject, STRING, ROOT)
        assert await it.code("POST", "/associations", ROOT, body("victim", "shut-v")) == 200
        before = await it.ask("GET", "/associations/resources/id-victim", ROOT)
        assert await it.code("POST", "/associations", basic("writer"), body("victim", kind="key")) == 40301
        assert await it.ask("GET", "/associations/resources/id-victim", ROOT) == before

    play(tmp_path, story)


def test_a_rule_names_the_topics_that_may_be_bound(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for subject in ("open-v", "shut-v"):
            await it.put(subject, STRING, ROOT)
        for topic, code in (("orders", 200), ("bills-eu", 200), ("bills", 40301), ("orders2", 40301), ("open-t", 200)):
            assert await bind(it, "writer", topic) == {code}, topic
        assert await bind(it, "writer", "orders", subject="shut-v") == {40301}, "the subject needs a right as before"
        assert await it.code("POST", "/subjects/orders-value/versions", basic("writer"), {"schema": STRING}) == 40301
        assert (await it.ask("GET", "/subjects", basic("writer"))) == (200, ["open-v"])

    play(tmp_path, story, TOPICS)


@pytest.mark.parametrize("cascade", ["false", "true"])
def test_parting_needs_the_topic_too(tmp_path: Path, cascade: str) -> None:
    async def story(it: Door) -> None:
        await it.put("open-v", STRING, ROOT)
        assert await it.code("POST", "/associations", ROOT, body("victim")) == 200
        path = f"/associations/resources/id-victim?cascadeLifecycle={cascade}"
        assert await it.code("DELETE", path, basic("writer")) == 40301
        _, answer = await it.ask("POST", "/associations:batchMutate", basic("chief"), batch("victim", "DELETE"))
        assert answer["results"][0]["error"]["error_code"] == 40301
        assert len((await it.ask("GET", "/associations/resources/id-victim", ROOT))[1]) == 1
        assert await it.code("DELETE", path, ROOT) == 204

    play(tmp_path, story)
