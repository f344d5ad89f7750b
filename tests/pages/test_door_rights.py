"""Every way to what is stored shows a caller what the API lets them read and nothing else: pages, forms, search, diff, graph, feed."""

import asyncio
import json
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from tests.facades.authority import Authority
from tests.facades.doors import basic, write_passwords
from tests.facades.test_rights_server import secure
from tests.pages.browser import BROWSER, PageBrowser
from tests.pages.test_query_pages import runner_that_says
from treaty.api.application import build_application
from treaty.api.protection import ProtectionSettings, open_protection
from treaty.assemble import open_node
from treaty.assemble.page_settings import PageSettings
from treaty.assemble.server import pages_over
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, SourceDefinition
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.names import subject_of
from treaty.core.schema import Draft, Reference
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
from treaty.node.node import Node
from treaty.web.index.lookup import IndexFile
from treaty.web.index.storage import open_for_writing
from treaty.web.index.update import IndexUpdate

RULES = """
[basic]
file = "passwords"
[[rule]]
who = "user:root"
may = "admin"
contexts = "*"
private = true
[[rule]]
who = "user:own"
may = ["read", "register", "delete", "config", "pause"]
subjects = ["own-*", "own*"]
[[rule]]
who = "user:wide"
may = ["read"]
contexts = "*"
[[rule]]
who = "user:team"
may = ["read"]
contexts = ".team"
[[rule]]
who = "user:vendor"
may = ["read"]
subjects = ["acme/*"]
[[rule]]
who = "user:runner"
may = ["plan"]
"""
CALLERS = ("root", "own", "wide", "team", "vendor", "runner", "")
"""Who asks; empty is somebody without credentials."""
SUBJECTS = ("own-orders", "alien-orders", "own-refers", ":.team:pens", ":.far:inks", "acme/secrets")
"""Subjects, each with a field of its own; the last one is private, and `own-refers` refers to `alien-orders`."""
SOURCES = ("ownstream", "alienstream")
MARKS = {name: f"mark{at}x" for at, name in enumerate(SUBJECTS)}
COLUMNS = {name: f"column{at}x" for at, name in enumerate(SOURCES)}


async def fill(node: Node) -> None:
    """Register every subject with its mark, in two versions, and create the sources with theirs."""
    for name in SUBJECTS:
        subject, refers = subject_of(name), name == "own-refers"
        references = (Reference("Alien", "alien-orders", 1),) if refers else ()
        fields = [{"name": MARKS[name], "type": "string", "doc": f"{MARKS[name]} doc"}]
        if refers:
            fields.append({"name": "other", "type": "Alien", "doc": ""})
        record = {"type": "record", "name": "Alien" if name == "alien-orders" else f"R{MARKS[name]}", "fields": fields}
        creation = SubjectCreation(private=name.startswith("acme/"))
        await node.ask(Register(subject, Draft(json.dumps(record), references=references), create_with=creation))
        fields.append({"name": f"{MARKS[name]}more", "type": ["null", "int"], "default": None})  # type: ignore[dict-item]
        await node.ask(Register(subject, Draft(json.dumps(record), references=references)))


def addresses() -> Iterator[tuple[str, str]]:
    """Yield addresses of pages, with the subject or source that each names; none of them has a mark."""
    yield from ((page, "") for page in ("", "subjects", "subjects?state=all", "changes", "sources", "queries", "types"))
    yield from (
        (f"search?q={text}", "") for text in ("field:*mark*", "mark", "kind:source%20col", "doc:doc", "type:string")
    )
    for name in SUBJECTS:
        quoted = quote(name, safe="")
        for page in ("subject?name={}", "schema?subject={}", "schema?subject={}&version=1", "raw?subject={}", "graph?subject={}",
                     "compare?right={}@2", "compare?left={}@1&right={}@2", "compare?left=own-orders@1&right={}@1", "try?subject={}",
                     "register?subject={}", "policy?name={}", "delete?name={}", "delete?name={}&version=1"):  # fmt: skip
            yield page.replace("{}", quoted), name
    yield from ((f"schema?id={number}", "") for number in range(1, 15))
    for name in SOURCES:
        yield from ((page.format(name), name) for page in ("source?name={}", "graph?source={}", "pause?name={}"))


async def ask_api(http: httpx2.AsyncClient, who: dict[str, str]) -> list[str]:
    """Return what the API answers to questions that name no mark."""
    answers = [
        await http.get(path, headers=who)
        for path in (
            "/treaty/v1/search?q=field:*mark*", "/treaty/v1/search?q=mark", "/treaty/v1/search?q=kind:source+col", "/subjects",
            "/schemas", "/metastore/v1/sources",
            *(f"/treaty/v1/diff?from={quote(name, safe='')}@1&to={quote(name, safe='')}@2" for name in SUBJECTS),
        )
    ]  # fmt: skip
    for name in SUBJECTS:
        body = {"to": {"schema": '"string"'}, "subject": name}
        answers.append(await http.post("/treaty/v1/diff", json=body, headers=who))
    for operation in ("list-queries", "list-sources", "list-types"):
        answers.append(await http.post("/treaty/v1/ask", json={"operation": operation}, headers=who))
    return [answer.text for answer in answers]


@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller or "nobody")
def test_what_the_api_refuses_shows_nowhere_and_what_it_answers_shows(tmp_path: Path, caller: str) -> None:
    who = basic(caller) if caller else {}

    async def story(browser: PageBrowser) -> None:
        readable: dict[str, bool] = {}
        for name, mark in MARKS.items():
            answer = await browser.http.get(f"/subjects/{quote(name, safe='')}/versions/1", headers=who)
            readable[mark] = answer.status_code == 200
        listed = (await browser.http.post("/treaty/v1/ask", json={"operation": "list-sources"}, headers=who)).text
        readable |= {column: f'"{name}"' in listed for name, column in COLUMNS.items()}
        hidden = [mark for mark, is_readable in readable.items() if not is_readable]
        expected = {"root": 8, "wide": 7, "own": 3, "team": 1, "vendor": 1}.get(caller, 0)
        assert sum(readable.values()) == expected, readable
        for address, _ in addresses():
            page = await browser.follow(address, who)
            assert page.status in {200, 400, 401, 403, 404, 409}, (address, page.text)
            assert not [mark for mark in hidden if mark in page.html], (address, page.text)
        for text in await ask_api(browser.http, who):
            assert not [mark for mark in hidden if mark in text], text
        for name, mark in MARKS.items():
            if readable[mark]:
                quoted = quote(name, safe="")
                for address in (
                    f"schema?subject={quoted}",
                    f"raw?subject={quoted}",
                    f"search?q=field:{mark}",
                    f"compare?right={quoted}@2",
                ):
                    assert mark in (await browser.follow(address, who)).html, address
        moved = await browser.see("subjects", who, tag="PII")
        assert moved.address.startswith(
            "http://test/ui/" + ("search" if caller in {"root", "own", "wide", "team", "vendor"} else "subjects")
        )
        for name, column in COLUMNS.items():
            if readable[column]:
                assert column in (await browser.follow(f"source?name={name}", who)).html
            sql = {"sql": f"DESCRIBE {name}s"}
            reason = (await browser.http.post("/metastore/v1/statements", json=sql, headers=who)).text
            assert (f"did you mean {name}?" in reason) == readable[column], reason

    asyncio.run(open_doors(tmp_path, story))


@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller or "nobody")
def test_who_reads_a_field_and_how_many_rows_is_told_of_queries_that_the_caller_may_see(
    tmp_path: Path, caller: str
) -> None:
    """Also where the runner of a query says it: the pages ask runners by themselves, with no rights of the viewer."""
    status: dict[str, object] = {}

    async def story(browser: PageBrowser) -> None:
        node = browser.registry
        source = (await node.ask(DescribeSource("ownstream"))).answer.source
        read = SourceRead("ownstream", source.generation, "ownstream", columns=(COLUMNS["ownstream"],))
        for number, name in enumerate(("ownquery", "alienquery"), 1):
            plan = QueryPlan(f"SELECT {COLUMNS['ownstream']} FROM STREAM ownstream", (read,), engine="test")
            definition = SourceDefinition(
                name, "STREAM", "", (SourceColumn("a", "INT"),), connector="delta", query=plan
            )
            await node.ask(CreateSource(definition))
            query = (await node.ask(DescribeSource(name))).answer.source
            lease = (await node.ask(AcquireRunner(f"r{number}", "holder", address))).answer
            await node.ask(AssignQueries(f"r{number}", lease.epoch, (QueryPart(name, query.generation, "query"),)))
            reads = [{"generation": source.generation, "rows": 7_000_001 * number, "time": 1_764_400_000_000}]
            part = {"part": "query", "generation": query.generation, "rows_in": 9_000_001 * number, "reads": reads}
            status["queries"] = [*status.get("queries", ()), part]  # type: ignore[misc]
        who = basic(caller) if caller else {}
        listed = (await browser.http.post("/treaty/v1/ask", json={"operation": "list-queries"}, headers=who)).text
        pages = [
            (await browser.follow(page, who)).html
            for page in ("source?name=ownstream", "queries", "graph?source=ownstream")
        ]
        for name, rows, total in (("ownquery", "7,000,001", "9,000,001"), ("alienquery", "14,000,002", "18,000,002")):
            is_readable = f'"{name}"' in listed
            assert is_readable == (caller in {"root", "wide"} or (caller == "own" and name == "ownquery")), listed
            assert [name in page for page in pages] == [is_readable] * len(pages)
            assert (rows in pages[0], total in pages[1]) == (is_readable, is_readable)

    with runner_that_says(lambda: status) as address:
        asyncio.run(open_doors(tmp_path, story))


async def open_doors(folder: Path, story: object) -> None:
    """Run a story over a filled registry in memory with rights, pages and a search index."""
    write_passwords(folder / "passwords", **{name: "secret" for name in CALLERS if name})
    (folder / "rights.toml").write_text(RULES)
    protection, index = ProtectionSettings(auth=folder / "rights.toml"), IndexFile(folder / "index")
    async with open_protection(protection) as active, open_node("memory:", index=index) as node:
        await fill(node)
        over = pages_over(node, PageSettings(), protection, active)
        assert over is not None
        app = build_application(node, protection=active).with_pages(over)
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app.dispatcher), base_url="http://test"
        ) as http:
            browser = PageBrowser(http, node, folder)
            for name, column in COLUMNS.items():
                sql = f"CREATE STREAM {name} ({column} INT) WITH (TOPIC='{column}', VALUE_FORMAT='AVRO', VALUE_SUBJECT='{name}-value');"
                await browser.post("/metastore/v1/statements", {"sql": sql}, basic("root"))
            connection = open_for_writing(folder / "index")
            steps = IndexUpdate(connection, node.follower.tables).run()
            try:
                work = next(steps)
                while True:
                    work = steps.send(work.do())
            except StopIteration:
                connection.close()
            await story(browser)  # type: ignore[operator]
    index.close()


# ---------------------------------------------------------------------------------------------------- certificates


CERTIFICATES = """
[certificate]
[[rule]]
who = "cert:ada"
may = ["read", "register"]
subjects = ["own-*"]
"""


def test_a_certificate_of_the_browser_says_who_looks_and_who_changes(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.make("server")
    (tmp_path / "rights.toml").write_text(CERTIFICATES)
    options = (
        "--auth",
        tmp_path / "rights.toml",
        "--tls-cert",
        certificate,
        "--tls-key",
        key,
        "--tls-client-ca",
        authority.file,
    )
    with secure(tmp_path, *map(str, options)) as (server, _):
        context = ssl.create_default_context(cafile=str(authority.file))
        context.load_cert_chain(*authority.make("ada"))
        home = see(server, context, "")
        assert "cert:ada" in home
        assert 'action="logout"' not in home, "a certificate has no session to end"
        token = see(server, context, "register?subject=own-a").partition('name="token" value="')[2].partition('"')[0]
        form = {
            "token": token,
            "subject": "own-a",
            "format": "AVRO",
            "text": '"string"',
            "references": "",
            "confirmed": "yes",
        }
        assert "own-a" in see(server, context, "register", form)
        assert "You may not see this" in see(server, context, "register", {**form, "subject": "alien-a"})
        assert "You may not see this" in see(server, context, "node")
        stranger = ssl.create_default_context(cafile=str(authority.file))
        stranger.load_cert_chain(*authority.make("stranger"))
        assert "own-a" not in see(server, stranger, "subjects")
        assert "this form is no longer valid" in see(server, stranger, "register", form), "the form is of somebody else"


def see(server: str, context: ssl.SSLContext, page: str, form: dict[str, str] | None = None) -> str:
    """Ask for a page, or send a form, with the certificate of a context; return the page, whatever its status."""
    data = (
        None if form is None else "&".join(f"{name}={quote(value, safe='')}" for name, value in form.items()).encode()
    )
    request = urllib.request.Request(f"{server}/ui/{page}", data, {"accept": BROWSER})
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), KeepErrors)
    with opener.open(request, timeout=30) as answer:
        return str(answer.read().decode())


class KeepErrors(urllib.request.HTTPErrorProcessor):
    """Follows where a page leads, and returns pages of errors as they are."""

    def http_response(self, request: urllib.request.Request, response: object) -> object:
        if getattr(response, "status", 200) in {301, 302, 303}:
            return super().http_response(request, response)  # type: ignore[arg-type]
        return response

    https_response = http_response
