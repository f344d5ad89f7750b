"""An alias gives nobody a right and takes none: what counts is the subject that it leads to."""

import json
from pathlib import Path

from tests.facades.doors import ROOT, STRING, Door, basic, play

TARGETS = (
    "GET /subjects/{}/versions/1",
    "POST /subjects/{}/versions",
    "DELETE /subjects/{}",
    "GET /subjects/{}/versions",
)


async def codes(it: Door, name: str, who: dict[str, str]) -> list[int]:
    found = []
    for target in TARGETS:
        method, path = target.format(name).split()
        found.append(await it.code(method, path, who, {"schema": STRING} if method == "POST" else None))
    return found


def test_a_right_to_what_an_alias_leads_to_is_enough(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("open-target", STRING, ROOT)
        await it.code("PUT", "/config/shut-alias", ROOT, {"alias": "open-target"})
        assert await codes(it, "shut-alias", basic("reader")) == [200, 40301, 40301, 200]
        assert await codes(it, "shut-alias", basic("writer")) == [200, 200, 40301, 200]
        assert await codes(it, "shut-alias", basic("deleter")) == [40301, 40301, 200, 40301]
        assert await codes(it, "shut-other", basic("writer")) == [40301] * 4, (
            "a name without an alias, and without a right"
        )

    play(tmp_path, story)


def test_a_right_to_the_alias_is_none_to_what_it_leads_to(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("shut-target", STRING, ROOT)
        await it.code("PUT", "/config/open-alias", ROOT, {"alias": "shut-target"})
        for who in ("reader", "writer", "deleter", "chief"):
            assert await codes(it, "open-alias", basic(who)) == [40301] * 4
            for target in TARGETS:
                method, path = target.format("open-alias").split()
                body = {"schema": STRING} if method == "POST" else None
                told = (await it.ask(method, path, basic(who), body))[1]
                assert "shut-target" not in told["message"]
        assert await it.code("GET", "/schemas/ids/1?subject=open-alias", basic("reader")) == 40301
        assert await it.code("PUT", "/config/open-alias", basic("chief"), {"alias": "open-other"}) == 200
        assert await it.put("open-alias", STRING, basic("chief")) == 1
        assert (await it.ask("GET", "/subjects", basic("chief")))[1] == ["open-other"]

    play(tmp_path, story)


ALIASES = (
    ("PUT", "/config/open-nick", {"alias": "shut-target"}),
    ("PUT", "/config/:.:open-nick", {"alias": "shut-target"}),
    ("PUT", "/config/open-nick", {"alias": ":.:shut-target"}),
    ("PUT", "/config/open-nick", {"alias": ":.other:open-target"}),
    ("PUT", "/config/open-nick", {"alias": ":*:open-target"}),
    ("PUT", "/config/%6fpen-nick", {"alias": "shut-target", "compatibility": "FULL"}),
    ("PUT", "/contexts/:.:/config/open-nick", {"alias": "shut-target"}),
    (
        "POST",
        "/treaty/v1/ask",
        {
            "operation": "set-config",
            "request": {"scope": {"context": ".", "name": "open-nick"}, "change": {"alias": "shut-target"}},
        },
    ),
)
"""Ways to let a name stand for a subject that a principal has no right to."""


def test_who_names_an_alias_may_change_the_config_of_its_target(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for subject in ("shut-target", ":.other:open-target"):
            await it.put(subject, STRING, ROOT)
        for who in ("configurer", "chief"):
            for method, path, body in ALIASES:
                assert await it.code(method, path, basic(who), body) == 40301, (who, path, body)
                _, answer = await it.ask(method, path, basic(who), body)
                assert "it needs the permission config on subject" in answer["message"]
            assert await it.code("GET", "/config/open-nick", ROOT) == 40408, "nothing was set"
            assert await it.code("PUT", "/config/open-nick", basic(who), {"alias": "open-other"}) == 200
            assert await it.code("PUT", "/config/open-nick", basic(who), {"alias": ""}) == 200, "none leads nowhere"
            assert await it.code("DELETE", "/config/open-nick", basic(who)) == 200
        assert await it.code("PUT", "/config/open-nick", ROOT, {"alias": "shut-target"}) == 200
        assert await it.code("PUT", "/config/open-nick", basic("configurer"), {"compatibility": "NONE"}) == 200
        assert (await it.ask("DELETE", "/subjects/open-nick", ROOT)) == (200, [1]), "a deletion follows an alias"
        assert await it.code("GET", "/subjects/shut-target/versions", ROOT) == 40401

    play(tmp_path, story)


def test_who_has_some_right_there_hears_which_one_is_missing(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("open-target", STRING, ROOT)
        await it.code("PUT", "/config/nick", ROOT, {"alias": "open-target"})
        status, told = await it.ask("DELETE", "/subjects/nick", basic("writer"))
        assert (status, told["error_code"]) == (403, 40301)
        assert "delete on subject 'open-target'" in told["message"]
        assert (
            await it.code("POST", "/subjects/nick/versions?force=true", basic("writer"), {"schema": '"int"'}) == 40301
        )
        assert (await it.ask("GET", "/subjects/nick/versions", ROOT))[1] == [1]

    play(tmp_path, story)


def test_the_audit_log_names_the_subject_and_the_alias(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.code("PUT", "/config/nick", ROOT, {"alias": "open-target"})
        await it.put("nick", STRING, ROOT)
        await it.put("nick", STRING, ROOT)

    play(tmp_path, story, audit=tmp_path / "audit.log")
    lines = (tmp_path / "audit.log").read_text().splitlines()
    assert '"subject":"nick"' in lines[0]
    assert '"subject":"open-target","alias":"nick"' in lines[1]
    assert '"before":null' in lines[1]
    assert '"before":{"version":1' in lines[2]


def test_a_policy_for_a_new_subject_is_written_where_the_alias_leads_and_needs_the_right_there(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.code("PUT", "/config/open-nick", ROOT, {"alias": "open-new"})
        body = {"schema": STRING, "treaty": {"createWith": {"policy": {"deny": True}}}}
        status, told = await it.ask("POST", "/subjects/open-nick/versions", basic("writer"), body)
        assert (status, told["error_code"]) == (403, 40301)
        assert "config on subject 'open-new'" in told["message"]
        assert await it.code("POST", "/subjects/open-nick/versions", basic("chief"), body) == 200
        details = ROOT | {"Treaty-Details": "true"}
        made = (await it.ask("GET", "/config/open-new", details))[1]
        assert made["treaty"]["policy"]["deny"] is True
        assert (await it.ask("GET", "/config/open-nick", ROOT))[1]["alias"] == "open-new", "its own config is as it was"
        assert await it.code("PUT", "/config/open-new", ROOT, {"compatibility": "NONE"}) == 200

    play(tmp_path, story, audit=tmp_path / "audit.log")
    lines = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    assert lines[1]["outcome"] == "refused"
    assert lines[2]["policy"]["level"] == "deny"
    assert (lines[3]["before"]["level"], lines[3]["after"]["level"]) == ("deny", "NONE")
