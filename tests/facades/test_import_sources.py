"""`treaty import` from registries of other kinds: what their APIs said, those of the target say.

The sources are servers of these APIs in processes of their own, folders as a local file repository leaves them, and a server
that fails at times.
"""

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.behaviours.scripted import Say, Seen, scripted
from tests.commands import run
from tests.real.running import Running, serving
from treaty.assemble import connect
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.plan import NO_IDS, make_plan
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import read
from treaty.client.transfer.sources.pravega import read_pravega
from treaty.client.transfer.sources.schemarepo import read_repository
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages.transfers import ExportVersions
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound
from treaty.wire.schemarepo.requests import register_of

CASES = Path(__file__).parents[1] / "cases" / "imports"
RECORD = '{"type":"record","name":"R","fields":[{"name":"a","type": "int"}]}'


def ask(server: Running, method: str, path: str, body: Any = None) -> tuple[int, str]:
    """A request; a text is sent as such, other bodies as JSON or (of schema-repo's subjects) as a form."""
    data, media = None, "application/json"
    if isinstance(body, str):
        data, media = body.encode(), "text/plain"
    elif path.startswith("/schema-repo") and body is not None:
        data, media = urlencode(body).encode(), "application/x-www-form-urlencoded"
    elif body is not None:
        data = json.dumps(body).encode()
    request = urllib.request.Request(server.base + path, data, {"content-type": media}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as no:
        return no.code, ""


def play(server: Running, name: str) -> list[str]:
    """Fill a server with the requests of a file; return the paths that are compared."""
    lines = [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]
    for method, path, *body in (one["ask"] for one in lines if "ask" in one):
        status, answer = ask(server, method, path, *body)
        assert status < 300, (method, path, status, answer)
    return [one["read"] for one in lines if "read" in one]


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Running]:
    with serving(tmp_path, "--log", "memory:") as server:
        yield server


@contextmanager
def moved(source: str, folder: Path) -> Iterator[tuple[Running, dict[str, Any]]]:
    """A server on what was imported, after a dry run, the import, and once more what is then nothing."""
    target = f"sqlite://{folder / 'target.db'}"
    reports = [run("import", source, "--registry", target, "--json", *more) for more in (("--dry-run",), (), ())]
    assert [one.exit_code for one in reports] == [0, 0, 0], [one.output for one in reports]
    dry, done, again = (json.loads(one.stdout) for one in reports)
    changed = {name: number for name, number in done.items() if name not in {"written", "dry_run"}}
    assert changed == {name: dry[name] for name in changed}
    assert (dry["written"], again["written"], done["problems"]) == (0, 0, [])
    assert done["written"] > 0
    with serving(folder, "--log", target) as server:
        yield server, done


@pytest.mark.slow
def test_pravegas_groups_come_in_with_ids_types_encodings_and_history(source: Running, tmp_path: Path) -> None:
    paths = play(source, "pravega.jsonl")
    with moved(f"pravega:{source.base}?namespace=&namespace=ns", tmp_path) as (target, report):
        assert (report["groups"], report["codecs"], report["encodings"]) == (4, 1, 3)
        for path in paths:
            assert ask(target, "GET", path) == ask(source, "GET", path), path
        schema = {"type": "R", "serializationFormat": {"serializationFormat": "Avro"}}
        schema["schemaData"] = base64.b64encode(RECORD.replace("int", "long").encode()).decode()
        for server in (target, source):
            status, answer = ask(server, "POST", "/v1/groups/g/schemas", schema)
            assert (status, json.loads(answer)["id"], json.loads(answer)["version"]) == (201, 5, 2)
            wish = {"versionInfo": json.loads(answer), "codecType": "gz"}
            assert ask(server, "PUT", "/v1/groups/g/encodings", wish) == (200, '{"encodingId":3}')


@pytest.mark.slow
def test_schema_repos_subjects_come_in_with_ids_and_texts(source: Running, tmp_path: Path) -> None:
    paths = play(source, "schema-repo.jsonl")
    with moved(f"schema-repo:{source.base}", tmp_path) as (target, report):
        assert (report["left_out"], report["notes"]) == ([], ["schema-repo does not say when schemas were registered"])
        for path in paths:
            assert ask(target, "GET", path) == ask(source, "GET", path), path
        for server in (target, source):
            assert ask(server, "PUT", "/schema-repo/clicks/register", '"double"') == (200, "3")


# -------------------------------------------------------------------------------------------------------- folders


def test_a_folder_of_files_comes_in_with_gaps_and_names_and_the_rest_is_reported(tmp_path: Path) -> None:
    """An id that nobody has, ids that are no numbers, a schema that was cut off, bytes in another character set."""
    done = run("import", f"schema-repo:{CASES / 'repository'}", "--registry", f"sqlite://{tmp_path / 'a.db'}", "--json")
    report = json.loads(done.stdout)

    assert done.exit_code == 1
    assert {(one["where"], one["why"].partition(":")[0]) for one in report["problems"]} == {
        ("clicks id 7", "schema_ids does not list it"),
        ("notes.txt", "it is no folder of a subject"),
        ("config of guarded", one_of(report, "config of guarded")),
    }
    with connect(f"sqlite://{tmp_path / 'a.db'}") as registry:
        found = registry.ask(ExportVersions(subject_of("clicks"))).answer.versions
        assert [(one.version.ordinal, one.version.text, one.version.format) for one in found] == [
            (0, '"int"', "AVRO"),
            (2, '{"type":"record","name":"Clické","fields":[]}', "AVRO"),
            (3, '"long"', "AVRO"),
        ]
        assert found[0].version.data == b'{"type": "int"}'
        text = (CASES / "repository" / "clicks" / "2.schema").read_bytes()
        assert found[1].version.data == text
        again = registry.ask(register_of(subject_of("clicks"), text.decode())).answer
        assert (again.version.ordinal, again.created) == (2, False), "the same text is the same id"
        named = registry.ask(ExportVersions(subject_of("named"))).answer.versions
        assert [(one.version.ordinal, one.names) for one in named] == [
            (0, (("schema-repo", "a5"),)),
            (1, (("schema-repo", "f0"),)),
        ]
        assert registry.group("clicks").properties == (("owner", "web: team"),)
        assert registry.group("clicks").identity == "exact"


def one_of(report: dict[str, Any], where: str) -> str:
    """Why something was not written; an unknown validator is named."""
    (why,) = (one["why"] for one in report["problems"] if one["where"] == where)
    assert "in_house" in why
    return str(why).partition(":")[0]


def test_bytes_in_another_character_set_are_no_schema(tmp_path: Path) -> None:
    folder = tmp_path / "repository" / "s"
    folder.mkdir(parents=True)
    (folder / "schema_ids").write_text("0\n1\n../../secret\n")
    (folder / "0.schema").write_bytes('{"type":"enum","name":"É","symbols":[]}'.encode("latin-1"))
    (folder / "1.schema").write_text('"int"')
    (tmp_path / "secret.schema").write_text('"string"')

    image = read_repository(str(tmp_path / "repository"))

    assert [(one.ordinal, one.text) for one in image.versions] == [(1, '"int"')]
    assert [(one.where, one.why) for one in image.problems] == [
        ("s id 0", "0.schema is not text in UTF-8: byte 23 can't be read"),
        ("s id ../../secret", "it has no file ../../secret.schema"),
    ]


# ----------------------------------------------------------------------------------------- servers and targets that fail


def pravega(seen: Seen) -> Say:
    """A registry with two groups, of which one can't be read; ids 0 and 2 are in no list, and 2 is gone."""
    path = seen.target.partition("?")[0]
    properties = {
        "serializationFormat": {"serializationFormat": "Avro", "fullTypeName": "Avro"},
        "compatibility": {"policy": "Backward"},
        "allowMultipleTypes": True,
        "properties": {},
    }
    kind = {"serializationFormat": "Avro", "fullTypeName": "Avro"}
    info = {
        "type": "R",
        "serializationFormat": kind,
        "schemaData": base64.b64encode(RECORD.encode()).decode(),
        "properties": {},
    }
    version = {"type": "R", "serializationFormat": "Avro", "version": 1, "id": 1}
    answers: dict[str, Any] = {
        "/v1/groups/g/codecTypes": {"codecTypes": []},
        "/v1/groups/g/history": {"history": []},
        "/v1/groups/g/schemas/versions": {"schemas": [{"schemaInfo": info, "versionInfo": version}]},
        "/v1/groups/g/schemas/schema/0": info,
    }
    if path == "/v1/groups":
        first = "continuationToken" not in seen.target
        return Say(
            200,
            {"groups": {"g": properties, "half": None, "sick": properties} if first else {}, "continuationToken": "t"},
        )
    if "/sick/" in path:
        return Say(500, {"code": "internal"})
    return Say(200, answers[path]) if path in answers else Say(404)


def test_what_a_server_does_not_answer_is_reported_and_the_rest_comes_in() -> None:
    with scripted(pravega) as script, connect("memory:") as target:
        image = read_pravega(script.url.replace("http://", "http://ada:secret@"))
        report = write(image, target)

        assert [(one.where, one.why.partition(":")[2].strip() or one.why) for one in image.problems] == [
            ("half", "it is being created or removed"),
            ("sick", "it answers 500"),
        ]
        assert report.problems == ()
        assert "secret" not in str(image)
        assert script.seen[0].headers["authorization"] == "Basic YWRhOnNlY3JldA=="
        found = target.ask(ExportVersions(Subject(".", "g"))).answer.versions
        assert [(one.version.ordinal, one.version.type_version, one.state) for one in found] == [
            (0, 0, "hidden"),
            (1, 1, "live"),
        ]


HISTORY = "note: this registry does not say when deleted schemas were added"
UNLISTED = "note: this registry does not list its namespaces: only groups without one are read"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [UNLISTED, HISTORY]),
        ("?namespace=", [HISTORY]),
        ("?namespace=shop", ["note: namespace 'shop' has no groups"]),
        ("?namespace=&namespace=shop", ["note: namespace 'shop' has no groups", HISTORY]),
        ("?namespace=full", [HISTORY]),
        (
            "?namespace=shop&namespace=full&namespace=%C3%A9",
            [*(f"note: namespace '{one}' has" for one in ("shop", "é")), HISTORY],
        ),
    ],
)
def test_only_what_is_left_out_is_called_so_and_namespaces_without_groups_are_named(
    query: str, expected: list[str], tmp_path: Path
) -> None:
    def answer(seen: Seen) -> Say:
        asked = parse_qs(urlsplit(seen.target).query).get("namespace", [""])[0]
        return pravega(seen) if asked in {"", "full"} else Say(200, {"groups": {}, "continuationToken": "t"})

    with scripted(answer) as script:
        words = ("import", f"pravega:{script.url}{query}", "--registry", f"sqlite://{tmp_path / 'a.db'}")
        texts = [run(*words, *more).output for more in (("--dry-run",), (), ())]
        report = json.loads(run(*words, "--json").stdout)

    for text in texts:
        noted = [line for line in text.splitlines() if line.startswith(("left out:", "note:"))]
        assert [line.startswith(begin) for line, begin in zip(noted, expected, strict=True)] == [True] * len(expected)
    assert (report["left_out"], len(report["notes"])) == ([], len(expected))


def test_an_import_that_was_cut_off_runs_again_to_the_same_end() -> None:
    """Cut off after each command."""
    with scripted(pravega) as script:
        image = read_pravega(script.url)
    with connect("memory:") as whole:
        write(image, whole)
        expected = read(whole)
    for at in range(1, make_plan(image, RegistryImage(native=True, exact=True)).size):

        def cut(what: str, done: int, of: int, at: int = at) -> None:
            if done == at:
                raise KeyboardInterrupt

        with connect("memory:") as target:
            with pytest.raises(KeyboardInterrupt):
                write(image, target, report=cut)
            assert write(image, target).problems == ()
            back = read(target)
        assert (back.groups, back.configs, back.modes) == (expected.groups, expected.configs, expected.modes)
        assert [one.version.ordinal for one in back.whole_versions] == [
            one.version.ordinal for one in expected.whole_versions
        ]


def test_a_target_without_groups_is_told_why_nothing_is_written() -> None:
    with scripted(pravega) as script:
        image = read_pravega(script.url)

    plan = make_plan(image, RegistryImage())

    assert plan.waves == ()
    assert [one.why for one in plan.conflicts] == [NO_IDS]
    assert "g are left out" in plan.left_out[0]


def test_encoding_ids_that_mean_something_else_in_the_target_are_reported() -> None:
    with connect("memory:") as source, connect("memory:") as target:
        for registry, codecs in ((source, ("", "gz")), (target, ("gz", ""))):
            registry.create_subject("g", g.GroupSettings("pravega"))
            registry.add_codec("g", "gz")
            registry.register("g", '"int"')
            for codec in codecs:
                registry.assign_encoding("g", 0, codec)
        report = write(read(source), target)

        assert [str(one) for one in report.problems] == [
            "g: encoding 0 is not written: encoding 0 stands for ordinal 0 with the codec 'gz' there",
            "g: encoding 1 is not written: encoding 1 stands for ordinal 0 with the codec '' there",
        ]
        assert target.ask(e.GetEncoding(Subject(".", "g"), 0)).answer.codec.name == "gz"
        with pytest.raises(NotFound):
            target.ask(e.GetEncoding(Subject(".", "g"), 2))


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("pravega:ftp://host", "begins with http:// or https://"),
        ("pravega:http://127.0.0.1:1?space=a", "allowed: namespace"),
        ("schema-repo:/nowhere/at/all", "is no folder"),
        ("schema-repo:http://ann:secret@127.0.0.1:1", "does not answer"),
    ],
)
def test_a_source_that_can_not_be_read_is_named_with_what_is_allowed(source: str, why: str, tmp_path: Path) -> None:
    done = run("import", source, "--registry", f"sqlite://{tmp_path / 'a.db'}")

    assert (done.exit_code, why in done.output, "secret" in done.output) == (2, True, False), done.output
