"""The matrix of rights: every operation of the table, every role and scope, every way to spell a name.

What each request needs is what the simulation's model of the rules says, which shares no line with the rules themselves.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.facades.doors import STRING, Door, basic, door, write_passwords
from tests.simulation.asker import Asker
from tests.simulation.judging.model.deciding import RULES
from tests.simulation.judging.model.resources import may, may_whole
from tests.simulation.judging.model.rights import EVERY, is_allowed
from tests.simulation.workload import made_of_types
from treaty.api.auth.settings import read_settings
from treaty.api.protection import ProtectionSettings
from treaty.core.access.rights import Access
from treaty.core.messages import associations as t
from treaty.core.messages import differences as d
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Derive, ForceReason, Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import ReferencedBy
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ListSettings,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.operations import NAMED_OPERATIONS, OPERATIONS, refuse_unless_allowed
from treaty.core.refusals import Forbidden
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Reference

SCOPES = {
    "exact": 'subjects = "open-a"',
    "pattern": 'subjects = "open-*"',
    "whole": "",
    "team": 'contexts = ".team"',
    "some": 'subjects = "open-?"\ncontexts = ".t*"',
    "all": 'contexts = "*"',
    "private": "private = true",
}
OF_SOURCES = ("query", "insert", "pause", "plan", "import")
"""Permissions that are about nothing but sources."""
ROLES = {
    **{f"{one}_{scope}": (one, text) for one in EVERY if one not in OF_SOURCES for scope, text in SCOPES.items()},
    **{f"{one}_whole": (one, "") for one in OF_SOURCES},
    **{f"{one}_sources": (one, 'sources = ["a", "b*"]') for one in EVERY},
}
"""Permissions, and what their rule says beside them."""
FILE = '[basic]\nfile = "passwords"\nremember = 600\n' + "".join(
    f'[[rule]]\nwho = "user:{role}"\nmay = "{permission}"\n{text}\n' for role, (permission, text) in ROLES.items()
)
"""One principal for each role; the last one has none at all."""
SUBJECTS = tuple(Subject(context, name) for context in (".", ".team") for name in ("open-a", "shut-a"))
RIGHTS = read_settings(FILE.encode(), Path("rights.toml")).rights


def access_of(role: str) -> Access:
    return RIGHTS.access(f"user:{role}")


def expected(role: str, request: Request[Any]) -> bool:
    """Whether the model allows it."""
    return is_allowed(access_of(role), RULES[type(request)].needs(request))


# ------------------------------------------------------------------------------------------------ operations by roles


@pytest.mark.parametrize("name", sorted(NAMED_OPERATIONS))
def test_every_operation_needs_of_every_role_what_the_model_says(name: str) -> None:
    kind = NAMED_OPERATIONS[name].request
    ask = Asker(random.Random(name), guids=["1" * 32], command_ids=["c1"])
    outcomes = set()
    for _ in range(60):
        request = made_of_types(kind, ask)
        for role in ROLES:
            try:
                refuse_unless_allowed(access_of(role), f"user:{role}", request)
                allowed = True
            except Forbidden:
                allowed = False
            assert allowed == expected(role, request), (role, request)
            outcomes.add(allowed)
    assert outcomes == {True, False}, f"{name} is never refused, or always"


# -------------------------------------------------------------------------------------------------------- spellings


Row = tuple[str, str, Any, Callable[[Subject], Request[Any]]]
BODY = {"schema": STRING}
DRAFT = Draft(STRING)
RESOURCE = {"resourceName": "victim", "resourceNamespace": "lkc-1", "resourceId": "id-1"}
REFERS = {"schema": STRING, "references": [{"name": "r", "subject": ":.team:shut-a", "version": 1}]}
REFERENCE = Reference("r", ":.team:shut-a", 1)
ROWS: dict[str, tuple[Row, ...]] = {
    "register": (
        ("POST", "/subjects/{}/versions", BODY, lambda s: Register(s, DRAFT)),
        ("POST", "/subjects/{}/versions?force=true", BODY, lambda s: Register(s, DRAFT, force=ForceReason("", ""))),
        ("POST", "/subjects/{}/versions", {**BODY, "id": 7}, lambda s: Register(s, DRAFT, schema_id=7)),
        ("POST", "/subjects/{}/versions", REFERS, lambda s: Register(s, Draft(STRING, references=(REFERENCE,)))),
    ),
    "derive": (("POST", "/subjects/{}/versions/1/tags", {}, lambda s: Derive(s, 1)),),
    "delete-version": (
        ("DELETE", "/subjects/{}/versions/1", None, lambda s: DeleteVersion(s, 1)),
        ("DELETE", "/subjects/{}/versions/1?force=true", None, lambda s: DeleteVersion(s, 1, force=True)),
    ),
    "delete-subject": (
        ("DELETE", "/subjects/{}?permanent=true", None, DeleteSubject),
        ("DELETE", "/subjects/{}?force=true", None, lambda s: DeleteSubject(s, force=True)),
    ),
    "set-config": (
        ("PUT", "/config/{}", {"compatibility": "FULL"}, lambda s: SetConfig(Scope(*s), Config(level="FULL"))),
        ("PUT", "/config/{}", {"alias": "open-a"}, lambda s: SetConfig(Scope(*s), Config(alias="open-a"))),
        (
            "PUT",
            "/config/{}",
            {"alias": ":.team:shut-a"},
            lambda s: SetConfig(Scope(*s), Config(alias=":.team:shut-a")),
        ),
    ),
    "delete-config": (("DELETE", "/config/{}", None, lambda s: DeleteConfig(Scope(*s))),),
    "set-mode": (
        ("PUT", "/mode/{}", {"mode": "READONLY"}, lambda s: SetMode(Scope(*s), "READONLY")),
        ("PUT", "/mode/{}", {"mode": "IMPORT"}, lambda s: SetMode(Scope(*s), "IMPORT")),
    ),
    "delete-mode": (("DELETE", "/mode/{}", None, lambda s: DeleteMode(Scope(*s))),),
    "get-config": (("GET", "/config/{}?defaultToGlobal=true", None, lambda s: GetConfig(Scope(*s), resolve=True)),),
    "get-mode": (("GET", "/mode/{}?defaultToGlobal=true", None, lambda s: GetMode(Scope(*s), resolve=True)),),
    "lookup": (
        ("POST", "/subjects/{}", BODY, lambda s: Lookup(s, DRAFT)),
        ("POST", "/subjects/{}", REFERS, lambda s: Lookup(s, Draft(STRING, references=(REFERENCE,)))),
    ),
    "check": (("POST", "/compatibility/subjects/{}/versions/latest", BODY, lambda s: Check(s, DRAFT)),),
    "get-version": (
        ("GET", "/subjects/{}/versions/1", None, lambda s: GetVersion(s, 1)),
        ("GET", "/subjects/{}/versions/latest/schema", None, lambda s: GetVersion(s, LATEST)),
    ),
    "find-version": (("GET", "/subjects/{}/metadata?key=a&value=b", None, lambda s: FindVersion(s, (("a", "b"),))),),
    "list-versions": (("GET", "/subjects/{}/versions", None, ListVersions),),
    "referenced-by": (("GET", "/subjects/{}/versions/1/referencedby", None, lambda s: ReferencedBy(s, 1)),),
    "list-associations": (("GET", "/associations/subjects/{}", None, lambda s: t.ListAssociations(t.OfSubject(s))),),
}
"""How each operation that names a subject in its path is asked over HTTP, and the request that it means."""
ELSEWHERE = {
    "make-context", "delete-context", "associate", "dissociate", "change-associations", "get-schema", "get-guid", "get-guid-ids",
    "list-subjects", "list-schemas", "list-settings", "uses-of", "list-contexts", "get-associations", "get-outcome",
    "add-codec", "assign-encoding", "list-codecs", "get-encoding", "list-encodings",
    "create-subject", "change-subject", "remove-subject", "delete-ordinal", "get-subject", "list-groups",
    "get-ordinal", "get-named-version", "get-typed-version", "list-group-versions", "get-history", "find-same-version", "find-same-schema",
    "check-reading", "get-pin", "compare-versions", "search", "create-policy", "change-policy", "delete-policy", "get-policy", "list-policies", "publish", "delete-published", "put-draft", "get-published", "list-published", "get-draft", "add-api-keys", "remove-api-key", "list-api-keys",
    "export-versions", "export-subjects", "import-version", "import-subject", "import-encoding",
    "create-source", "change-source", "set-source-state", "drop-source", "undrop-source", "create-type", "drop-type",
    "describe-source", "get-destination", "list-sources", "list-dropped", "describe-type", "list-types", "list-dependents",
    "request-plan", "take-planning-job", "finish-planning-job", "withdraw-plan", "get-plan", "list-planning-jobs", "list-queries",
    "lease-topics", "list-deleted-topics",
    "acquire-runner", "release-runner", "assign-queries", "list-kept-files",
    "run-script", "preview-script",
}  # fmt: skip
"""Operations that name no subject in their path (those of encodings and groups have none but Treaty's own): by contexts, bodies, ids, guids and commands, in the tests below."""


def spellings(path: str, subject: Subject) -> Iterator[str]:
    """All paths that mean one subject."""
    context, name = subject
    qualified = f":{context}:{name}"
    words = [qualified, quote(qualified, safe=""), "".join(f"%{byte:02x}" for byte in qualified.encode())]
    if context == ".":
        words += [name, "".join(f"%{byte:02X}" for byte in name.encode())]
    yield from (path.format(word) for word in words)
    for prefix in (context, f":{context}:", *([context[1:]] if len(context) > 1 else [])):
        word = "%2e" if prefix == "." else quote(prefix, safe="")  # a client takes a dot alone out of a path
        yield f"/contexts/{word}{path.format(name)}"
    yield f"/contexts/.other{path.format(qualified)}"


@asynccontextmanager
async def guarded(folder: Path, *, read_only: bool) -> AsyncIterator[Door]:
    """A registry with all subjects. Where it is read-only rights are asked all the same, and nothing ever changes."""
    write_passwords(folder / "passwords", **dict.fromkeys((*ROLES, "none"), "secret"))
    (folder / "rights.toml").write_text(FILE)
    async with door(ProtectionSettings(folder / "rights.toml", read_only=read_only)) as it:
        for subject in SUBJECTS:
            await it.app.node.ask(
                Register(subject, Draft(f'{{"type":"fixed","name":"F{len(subject.name)}","size":1}}'))
            )
            await it.app.node.ask(Register(subject, DRAFT, force=ForceReason("", "")))
        yield it


async def refused(it: Door, role: str, method: str, path: str, body: object, **headers: str) -> bool:
    code = await it.code(method, path, {**basic(role), **headers}, body)
    assert code < 50_000, (role, path, code)
    assert code not in {404, 405, 415, 400}, (role, method, path, code)
    return code == 40301


async def play_paths(folder: Path, every: int) -> None:
    turn = 0
    async with guarded(folder, read_only=True) as it:
        command = CallOptions(command_id="roots", principal="user:root")
        token = (await it.app.node.ask(SetMode(Scope(".", "zzz"), "READWRITE"), command)).token
        extras: list[dict[str, str]] = [
            {},
            {"Treaty-Position": str(token)},
            {"Treaty-Command": "roots", "Treaty-Retry": "true"},
        ]
        extras += [{"Treaty-Consistency": "eventual"}]
        for rows in ROWS.values():
            for method, path, body, means in rows:
                for subject in SUBJECTS:
                    spelled = [*spellings(path, subject)]
                    for role in (*ROLES, "none"):
                        turn += 1
                        for at, one in enumerate(spelled):
                            if (at + turn) % every:
                                continue
                            told = await refused(it, role, method, one, body, **extras[turn % len(extras)])
                            assert told is not expected(role, means(subject)), (role, method, one, body)


def test_every_operation_with_a_subject_is_in_the_matrix() -> None:
    assert set(NAMED_OPERATIONS) == set(ROWS) | ELSEWHERE
    assert all(
        type(row[3](SUBJECTS[0])) is NAMED_OPERATIONS[name].request for name, rows in ROWS.items() for row in rows
    )
    assert len({*spellings("/subjects/{}", SUBJECTS[0])}) >= 8


def test_every_spelling_of_a_subject_needs_the_same(tmp_path: Path) -> None:
    asyncio.run(play_paths(tmp_path, 23))


@pytest.mark.soak
def test_every_spelling_of_a_subject_for_every_role(tmp_path: Path) -> None:
    asyncio.run(play_paths(tmp_path, 1))


# ---------------------------------------------------------------------------- contexts, bodies, ids, guids and commands


def comparisons(subject: Subject) -> Iterator[tuple[str, tuple[str, ...], Any, Request[Any]]]:
    """All ways to compare a subject's versions, and to try a change of it."""
    named, text, free = d.ComparisonSide(subject), d.ComparisonSide(draft=DRAFT), d.ComparisonSide(SUBJECTS[0])
    word, other = f":{subject.context}:{subject.name}", f"{SUBJECTS[0]}@1"
    yield "GET", (f"/treaty/v1/diff?from={word}@1&to={word}@2",), None, d.CompareVersions(named, named)
    yield "GET", (f"/treaty/v1/diff?from={word}&to={other}",), None, d.CompareVersions(free, named)
    yield (
        "POST",
        ("/treaty/v1/diff",),
        {"from": f"{word}@latest", "to": {"schema": STRING}},
        d.CompareVersions(text, named),
    )
    yield (
        "POST",
        ("/treaty/v1/diff",),
        {"subject": word, "to": {"schema": STRING}},
        d.CompareVersions(text, None, subject),
    )
    reference = Reference("r", word, 1)
    refers = {"schema": STRING, "references": [{"name": "r", "subject": word, "version": 1}]}
    side = d.ComparisonSide(draft=Draft(STRING, references=(reference,)))
    yield "POST", ("/treaty/v1/diff",), {"from": refers, "to": refers}, d.CompareVersions(side, side)


OTHERS: tuple[tuple[str, tuple[str, ...], Any, Request[Any]], ...] = (
    ("PUT", ("/treaty/contexts/.team", "/treaty/contexts/:.team:", "/treaty/contexts/team"), {}, MakeContext(".team")),
    ("PUT", ("/treaty/contexts/.team", "/treaty/contexts/%2eteam"), {"highestId": 5}, MakeContext(".team", 5)),
    ("DELETE", ("/contexts/.team", "/contexts/team", "/contexts/:.team:"), None, DeleteContext(".team")),
    ("PUT", ("/config", "/contexts/%2e/config", "/config/:.:"), {"compatibility": "FULL"}, SetConfig(Scope("."), Config())),
    ("PUT", ("/contexts/team/config", "/config/:.team:", "/config/:.team"), {"compatibility": "FULL"},
     SetConfig(Scope(".team"), Config())),
    ("PUT", ("/config/:.__GLOBAL:",), {"compatibility": "FULL"}, SetConfig(Scope("*"), Config())),
    ("PUT", ("/mode", "/mode/:.:"), {"mode": "READONLY"}, SetMode(Scope("."), "READONLY")),
    ("DELETE", ("/mode/:.team:?recursive=true", "/contexts/.team/mode"), None, DeleteMode(Scope(".team"))),
    ("GET", ("/subjects", "/subjects?subjectPrefix=:*:"), None, ListSubjects()),
    ("GET", ("/schemas", "/schemas?subjectPrefix=:.team:"), None, ListSchemas()),
    ("GET", ("/contexts",), None, ListContexts()),
    *((method, paths, body, means) for subject in SUBJECTS for method, paths, body, means in comparisons(subject)),
    ("GET", ("/treaty/settings",), None, ListSettings()),
    ("GET", ("/treaty/outcome/none?principal=user:root",), None, GetOutcome("none", "user:root")),
    ("DELETE", ("/associations/resources/id-1",), None, t.Dissociate("id-1")),
    ("POST", ("/associations:batchGet",), {"requests": [{"resourceId": "id-1"}]}, t.GetAssociations(())),
    *(
        (
            "POST",
            ("/associations", f"/associations?context={subject.context}", f"/contexts/:{subject.context}:/associations"),
            {**RESOURCE, "resourceName": topic, "associations": [{"subject": f":{subject.context}:{subject.name}"}]},
            t.Associate(t.Resource(topic, "lkc-1", "id-1"), (t.AssociationSpec("value", subject),)),
        )
        for subject in SUBJECTS
        for topic in ("victim", "open-b")
    ),
)  # fmt: skip
"""Requests without a subject in their path, and those that are spelled in other ways."""


def test_contexts_and_bodies_need_what_the_model_says(tmp_path: Path) -> None:
    async def run() -> None:
        async with guarded(tmp_path, read_only=True) as it:
            for method, paths, body, means in OTHERS:
                for role in (*ROLES, "none"):
                    for path in paths:
                        told = await refused(it, role, method, path, body)
                        assert told is not expected(role, means), (role, method, path, body)

    asyncio.run(run())


def test_ids_and_guids_show_what_may_be_read_however_they_are_named(tmp_path: Path) -> None:
    async def run() -> None:
        async with guarded(tmp_path, read_only=True) as it:
            found = [(await it.app.node.ask(GetVersion(one, 1))).answer for one in SUBJECTS]
            for role in (*ROLES, "none"):
                who, reads = basic(role), [may(access_of(role), "read", *one) for one in SUBJECTS]
                anything = any("read" in rule.may and rule.subjects for rule in access_of(role).rules)
                for context in (".", ".team"):
                    inside = [reads[at] for at, one in enumerate(SUBJECTS) if one.context == context]
                    schema_id = next(one.schema_id for at, one in enumerate(found) if SUBJECTS[at].context == context)
                    code = 200 if any(inside) else 40403 if anything else 40301
                    for path in (
                        f"/schemas/ids/{schema_id}?subject=:{context}:",
                        f"/contexts/:{context}:/schemas/ids/{schema_id}",
                    ):
                        for more in ("", "/schema", "/subjects", "/versions"):
                            spelled = path.replace(f"/ids/{schema_id}", f"/ids/{schema_id}{more}")
                            assert await it.code("GET", spelled, who) == code, (role, spelled)
                guid = found[0].guid
                code = 200 if any(reads) else 40403 if anything else 40301
                assert await it.code("GET", f"/schemas/guids/{guid}", who) == code, role
                if anything:
                    _, ids = await it.ask("GET", f"/schemas/guids/{guid}/ids", who)
                    seen = {SUBJECTS[at].context for at, one in enumerate(reads) if one}
                    assert {one["context"] for one in ids} == seen, role

    asyncio.run(run())


def test_commands_of_others_are_nobodys_business(tmp_path: Path) -> None:
    async def run() -> None:
        async with guarded(tmp_path, read_only=False) as it:
            sent = CallOptions(command_id="c1", principal="user:root")
            await it.app.node.ask(Register(Subject(".", "open-a"), Draft('"int"'), force=ForceReason("", "")), sent)
            for role in (*ROLES, "none"):
                who = basic(role)
                chief = may_whole(access_of(role), "admin", "*")
                assert await it.code("GET", "/treaty/outcome/c1", who) == (40301 if role == "none" else 40450), role
                named = await it.code("GET", "/treaty/outcome/c1?principal=user:root", who)
                assert named == (200 if chief else 40301), role

    asyncio.run(run())


def test_an_alias_in_a_path_has_the_rights_of_its_target(tmp_path: Path) -> None:
    """Of every operation that follows aliases, queries and commands; the other settings follow none."""
    aliased = [name for name in ROWS if NAMED_OPERATIONS[name].alias is not None]

    async def run() -> None:
        async with guarded(tmp_path, read_only=False) as it:
            tables = it.app.node._tables  # type: ignore[attr-defined]  # its root says whether anything changed
            turn = 0
            for target in SUBJECTS:
                alias = f":{target.context}:{target.name}"
                await it.app.node.ask(SetConfig(Scope(".", "nick"), Config(alias=alias)))
                for name in aliased:
                    for method, path, body, means in ROWS[name]:
                        request = means(target)
                        turn += 1
                        for role in (*ROLES, "none")[turn % 4 :: 4]:  # over all targets and rows each role comes by
                            rights = any(may(access_of(role), one, *target) for one in EVERY)
                            allowed = rights and expected(role, request)
                            if allowed and OPERATIONS[type(request)].writes:
                                continue
                            before = dict(tables.roots)
                            told = await refused(it, role, method, path.format("nick"), body)
                            assert told is not allowed, (role, method, path, alias)
                            assert dict(tables.roots) == before, (role, method, path, alias)

    asyncio.run(run())
