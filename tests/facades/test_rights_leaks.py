"""Nothing leaks to who may not read it: not by ids, by names in other contexts, by references, aliases or reasons."""

import asyncio
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import ROOT, STRING, Door, basic, play
from tests.facades.twin import Fixed
from tests.laws.holder import access
from treaty.api.auth.authorization import AuthorizedRegistry
from treaty.api.request_scope import RequestCaller, set_caller
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore.scripts import ScriptAnswer, ScriptDone
from treaty.core.messages.metastore.sources import SourcesDropped, SourceStored, TypeDropped, TypeStored
from treaty.core.messages.outcomes import CommandOutcome, GetOutcome
from treaty.core.operations import STORED_ANSWERS
from treaty.core.state.codec import dumps, encode
from treaty.core.state.state_tables import VERSION


def test_an_id_that_may_not_be_read_looks_like_one_that_is_not_there(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("open-a", STRING, ROOT)
        secret = await it.put("shut-a", '"int"', ROOT)
        _, known = await it.ask("GET", f"/schemas/ids/{secret}", ROOT)
        reader = basic("reader")
        for path in (
            "/schemas/ids/{}",
            "/schemas/ids/{}/schema",
            "/schemas/ids/{}/subjects",
            "/schemas/ids/{}/versions",
        ):
            hidden = await it.ask("GET", path.format(secret), reader)
            missing = await it.ask("GET", path.format(secret + 1), reader)
            assert json.dumps(hidden).replace(f"Schema {secret}", "") == json.dumps(missing).replace(
                f"Schema {secret + 1}", ""
            )
            assert hidden[0] == 404
            named = await it.code("GET", path.format(secret) + "?subject=shut-a", reader)
            assert named == 40403
        assert await it.code("GET", f"/schemas/guids/{known['guid']}", reader) == 40403
        assert await it.ask("GET", f"/schemas/guids/{known['guid']}/ids", reader) == (200, [])
        assert await it.put("open-b", '"int"', basic("writer")) == secret, "an id belongs to the text, whoever has it"
        assert await it.code("GET", f"/schemas/ids/{secret}", reader) == 200, "and now it may be read"

    play(tmp_path, story)


def test_a_name_that_is_looked_for_in_other_contexts_is_found_only_where_it_may_be_read(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put(":.a-secret:x", '"int"', ROOT)
        await it.put(":.team:x", STRING, ROOT)
        tim = basic("tim")
        status, found = await it.ask("GET", "/subjects/x/versions/1", tim)
        assert (status, found["subject"], found["schema"]) == (200, ":.team:x", STRING)
        assert await it.code("POST", "/subjects/x", tim, {"schema": '"int"'}) == 40401
        assert (await it.ask("POST", "/subjects/x", tim, {"schema": STRING}))[1]["subject"] == ":.team:x"
        assert await it.code("GET", "/schemas/ids/1?subject=x", tim) == 200
        await it.put("x", '"long"', ROOT)
        assert (await it.ask("GET", "/subjects/x/versions/1", tim))[1]["subject"] == ":.team:x"
        assert await it.code("GET", "/subjects/y/versions/1", tim) == 40401
        assert await it.code("GET", "/subjects/:.a-secret:x/versions/1", tim) == 40301

    play(tmp_path, story)


RECORD = '{"type":"record","name":"R","fields":[{"name":"s","type":"S"}]}'
NAMED = '{"type":"record","name":"S","fields":[{"name":"a","type":"int"}]}'


def test_a_reference_needs_a_right_to_read_what_it_names(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for subject in ("shut-s", "open-s"):
            await it.put(subject, NAMED, ROOT)
        writer = basic("writer")

        def body(subject: str) -> dict[str, object]:
            return {"schema": RECORD, "references": [{"name": "S", "subject": subject, "version": 1}]}

        for path in ("/subjects/open-r/versions", "/subjects/open-r", "/compatibility/subjects/open-r/versions"):
            status, told = await it.ask("POST", path, writer, body("shut-s"))
            assert (status, told["error_code"]) == (403, 40301)
            assert "shut-s" in told["message"]
            missing = await it.ask("POST", path, writer, body("shut-missing"))
            assert missing[1]["message"] == told["message"].replace("shut-s", "shut-missing"), "the state plays no part"
        assert await it.code("POST", "/subjects/open-r/versions", writer, body("open-s")) == 200

        await it.put("shut-r", RECORD, ROOT, body("open-s")["references"])
        shown = await it.ask("GET", "/subjects/open-s/versions/1/referencedby", basic("reader"))
        assert shown == (200, [2]), "the same schema is in open-r too"
        await it.code("DELETE", "/subjects/open-r", ROOT)
        assert await it.ask("GET", "/subjects/open-s/versions/1/referencedby", basic("reader")) == (200, [])

        answer = await it.http.request(
            "DELETE", "/subjects/open-s", headers={**basic("deleter"), "Treaty-Details": "true"}
        )
        assert answer.json()["error_code"] == 42206
        assert "shut-r" not in answer.text
        answer = await it.http.request("DELETE", "/subjects/open-s", headers={**ROOT, "Treaty-Details": "true"})
        assert "shut-r" in answer.text

    play(tmp_path, story)


def test_an_alias_does_not_tell_what_it_stands_for(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("shut-target", STRING, ROOT)
        await it.code("PUT", "/config/open-alias", ROOT, {"alias": "shut-target"})
        for method, path in (("GET", "/subjects/open-alias/versions/1"), ("POST", "/subjects/open-alias/versions")):
            status, told = await it.ask(method, path, basic("writer"), {"schema": STRING} if method == "POST" else None)
            assert (status, told["error_code"]) == (403, 40301)
            assert "shut-target" not in told["message"]
        assert (await it.ask("GET", "/subjects/open-alias/versions/1", ROOT))[1]["subject"] == "shut-target"

    play(tmp_path, story)


def test_skipping_the_policy_needs_more_than_to_register_and_is_signed(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await it.put("open-a", STRING, ROOT)
        forced = "/subjects/open-a/versions?force=true"
        assert await it.code("POST", forced, basic("writer"), {"schema": '"int"'}) == 40301
        assert await it.code("POST", forced, basic("chief"), {"schema": '"int"'}) == 200
        tables = it.app.node._tables  # type: ignore[attr-defined]  # the row is told in no answer
        forced_by = [tables.get(VERSION, key).forced for key in tables.keys(VERSION)]
        assert [one.who for one in forced_by if one] == ["user:chief"]

    play(tmp_path, story)


def test_an_outcome_is_told_to_its_principal_and_to_administrators(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        async def register(who: dict[str, str], subject: str, command: str, schema: str = STRING) -> int:
            path = f"/subjects/{subject}/versions"
            return await it.code("POST", path, {**who, "Treaty-Command": command}, {"schema": schema})

        writer = basic("writer")
        assert await register(ROOT, "shut-a", "c1") == 200
        assert await register(writer, "open-a", "c1") == 200, "the id of another principal's command is free"
        assert await register(writer, "open-b", "c1") == 400, "one's own is not"

        mine, roots = await it.ask("GET", "/treaty/outcome/c1", writer), await it.ask("GET", "/treaty/outcome/c1", ROOT)
        assert (mine[0], roots[0]) == (200, 200)
        assert "open-a" in json.dumps(mine[1]), "each is told of their own command"
        assert "shut-a" in json.dumps(roots[1])
        named = "/treaty/outcome/c1?principal=user:writer"
        assert (await it.ask("GET", named, ROOT))[1] == mine[1], "an administrator says whose command is meant"
        assert await it.code("GET", "/treaty/outcome/c1?principal=user:root", writer) == 40301
        assert await it.code("GET", named, writer) == 40301, "who names a principal has to be an administrator"
        assert await it.code("GET", "/treaty/outcome/c1", basic("reader")) == 40450
        assert await it.code("GET", "/treaty/outcome/c1", basic("nobody")) == 40301

    play(tmp_path, story)


ABOUT: dict[str, tuple[Any, set[str]]] = {
    "a source": (SourceStored("A", "STREAM", 1, created=True), {"a"}),
    "a source and its bad rows": (SourceStored("a", "STREAM", 1, also=("B",)), {"a", "b"}),
    "a cascade": (SourcesDropped(("c", "a"), dropped=True), {"a", "c"}),
    "a type": (TypeStored("a", 1), {"a"}),
    "a script": (
        ScriptDone(
            (
                ScriptAnswer(stored=SourceStored("a", "STREAM", 1)),
                ScriptAnswer(),
                ScriptAnswer(dropped=SourcesDropped(("b",))),
                ScriptAnswer(type_dropped=TypeDropped("c")),
            )
        ),
        {"a", "b", "c"},
    ),
}
"""Answers of statements, and the keys of the sources and types that they are about."""
READABLE = [{*names} for count in range(4) for names in combinations("abc", count)]


@pytest.mark.parametrize("name", ABOUT)
def test_the_outcome_of_a_statement_is_shown_to_who_may_read_all_that_it_is_about(name: str) -> None:
    """Rights may have changed since, and a script may be about more sources than one."""
    answer, about = ABOUT[name]
    kind = next(kind for kind, answer_type in STORED_ANSWERS.items() if answer_type is type(answer))
    outcome = CommandOutcome("c1", 5, kind, (("answer", dumps(encode(answer))), ("request", "0")))

    async def ask(readable: set[str]) -> CommandOutcome:
        rule = AccessRule(("user:a",), with_included(("read",)), ("*",), (".",), sources=tuple(readable))
        set_caller(RequestCaller("user:a", Access((rule,))))
        return (await AuthorizedRegistry(Fixed({GetOutcome: outcome}), rights=True).ask(GetOutcome("c1"))).answer

    for readable in READABLE:
        shown_outcome = asyncio.run(ask(readable))
        assert shown_outcome == (outcome if about <= readable else replace(outcome, members=()))


@pytest.mark.parametrize(("reader", "is_shown"), [(access("read"), False), (access("read", contexts=("*",)), True)])
def test_the_outcome_of_what_names_no_source_is_shown_to_who_may_read_everything(
    reader: Access, *, is_shown: bool
) -> None:
    empty = CommandOutcome("c1", 5, "script-done", (("answer", dumps(encode(ScriptDone(())))),))

    async def ask() -> CommandOutcome:
        set_caller(RequestCaller("user:a", reader))
        return (await AuthorizedRegistry(Fixed({GetOutcome: empty}), rights=True).ask(GetOutcome("c1"))).answer

    assert bool(asyncio.run(ask()).members) == is_shown
