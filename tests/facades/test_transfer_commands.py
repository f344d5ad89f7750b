"""`treaty import`, `export` and `promote` as a person uses them."""

import gzip
import itertools
import json
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.behaviours.scripted import Say, Seen, scripted
from tests.dumps import topic
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.client.transfer.registry_reader import read
from treaty.core.limits import DUMP_LINE_BYTES, TRANSFER_PROBLEMS


def run(*words: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(group, list(words), input=stdin)


@pytest.fixture
def registry(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path / 'log.db'}"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(topic(11, 60).text())
    return path


def test_there_and_back(dump: Path, registry: str, tmp_path: Path) -> None:
    first = run("import", str(dump), "--registry", registry)
    out = run("export", "--registry", registry, "--output", str(tmp_path / "out.jsonl.gz"))
    again = run("import", str(tmp_path / "out.jsonl.gz"), "--registry", registry, "--json")

    assert (first.exit_code, out.exit_code, again.exit_code) == (0, 0, 0)
    assert "0 problems" in first.output
    figures = json.loads(again.stdout)
    assert (figures["written"], figures["there_already"], figures["problems"]) == (0, 60, [])
    assert len(gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).splitlines()) > 60
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("most", [10, 1000])
def test_after_a_large_import_the_next_server_starts_fast(
    dump: Path, registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("treaty.cli.log.state_file.MANY_CHANGES", most)
    done = run("import", str(dump), "--registry", registry, "--json")

    written = json.loads(done.stdout)["written"]
    assert (done.exit_code, written > 10) == (0, True)
    assert ("State file written" in done.stderr) == (written >= most)
    assert Path(f"{tmp_path}/log.db-state").exists() == (written >= most)


def test_a_line_without_end_takes_no_memory(registry: str, tmp_path: Path) -> None:
    good = b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}\t{"subject":"s","version":1,"id":4,"schema":"\\"int\\""}\n'
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(bytes(1 << 20))
        file.write(b"\n" + good)

    tracemalloc.start()
    figures = json.loads(run("import", str(path), "--registry", registry, "--json").stdout)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert figures["written"] == 1
    assert "DUMP_LINE_BYTES" in str(figures["problems"])
    assert peak < 4 * DUMP_LINE_BYTES


@pytest.mark.parametrize("line", [b"{", b"\xff", b'{"key":1}', b"a\tb"], ids=str)
def test_bad_lines_by_the_million_are_counted_and_few_are_kept(line: bytes, registry: str, tmp_path: Path) -> None:
    path, many = tmp_path / "bad.jsonl.gz", 20 * TRANSFER_PROBLEMS
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write((line + b"\n") * many)

    figures = json.loads(run("import", str(path), "--registry", registry, "--json").stdout)
    said = run("import", str(path), "--registry", registry)

    assert (len(figures["problems"]), figures["more_problems"]) == (TRANSFER_PROBLEMS, many - TRANSFER_PROBLEMS)
    assert said.exit_code == 1
    assert f"... and {many - 20:,} more; --json prints the first {TRANSFER_PROBLEMS:,}" in said.stderr
    assert f"{many:,} problems" in said.stdout


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["", "dry run"])
def test_problems_of_writing_are_counted_and_few_are_kept(
    dry: tuple[str, ...], registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each version is another schema in the target."""
    monkeypatch.setattr("treaty.client.transfer.registry_image.TRANSFER_PROBLEMS", 3)
    source = f"sqlite://{tmp_path / 'source.db'}"
    for url, kind in ((source, "int"), (registry, "long")):
        with connect(url) as found:
            for number in range(25):
                found.register(f"many{number}", json.dumps({"type": "array", "items": kind}))
    figures = json.loads(run("import", source, "--registry", registry, "--json", *dry).stdout)
    said = run("import", source, "--registry", registry, *dry)

    assert (len(figures["problems"]), figures["more_problems"]) == (3, 22)
    assert said.exit_code == 1
    assert "25 problems" in said.stdout


DEEP = 200_000


@pytest.mark.parametrize(
    "line",
    [
        b"[" * DEEP,
        b'{"key":' + b"[" * DEEP + b"]" * DEEP + b"}",
        b'{"key":{"keytype":"NOOP"},"treaty":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
        b'{"keytype":"NOOP","x":' + b"[" * DEEP + b"\t1",
        b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}\t{"x":' + b"[" * DEEP,
        b'{"keytype":"CONFIG","subject":"s","magic":0}\t' + b'{"a":' * DEEP,
    ],
    ids=["line", "key", "treaty", "key before a tab", "version", "config"],
)
def test_a_line_nested_too_deep_is_told_by_its_number(line: bytes, registry: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_bytes(line + b"\n")
    done = run("import", str(path), "--registry", registry)
    assert (done.exit_code, "Traceback" in done.stderr) == (1, False), done.exception
    assert done.stderr.splitlines()[-1] == "line 1: a record: not JSON that can be read: it is nested too deep"


@pytest.mark.parametrize("name", ["a\nline 9: forged", "a\r\x1b[2Jb", "a\u2028b", "a\tb"], ids=ascii)
def test_a_name_in_a_problem_stays_on_its_line(name: str, registry: str, tmp_path: Path) -> None:
    path = tmp_path / "names.jsonl"
    versions = [("one", '"int"'), (name, '"long"')]
    path.write_text(
        "".join(
            json.dumps({
                "key": {"keytype": "SCHEMA", "subject": subject, "version": 1, "magic": 1},
                "value": {"subject": subject, "version": 1, "id": 7, "schema": schema},
            }) + "\n"
            for subject, schema in versions
        ),
        "ascii",
    )  # fmt: skip
    done = run("import", str(path), "--registry", registry)
    assert done.exit_code == 1
    _, line = done.stderr.split("\n", 1)  # the first one says that the registry is new
    line = line.removesuffix("\n")
    assert "belongs to another schema already" in line
    assert line.isprintable()


def endless(pages: str) -> Callable[[Seen], Say]:
    """A server that answers a full page of versions to every question: always the same one, or other ones."""
    count = itertools.count()

    def answer(seen: Seen) -> Say:
        if seen.target.partition("?")[0] != "/schemas":
            return Say(200, ["."] if seen.target.startswith("/contexts") else {})
        first = next(count) * 1000 if pages == "new" else 0
        versions = range(first + 1, first + 1001)
        return Say(200, [{"subject": "s", "version": one, "id": one, "schema": '"int"'} for one in versions])

    return answer


@pytest.mark.parametrize(("pages", "why"), [("same", "repeats a page"), ("new", "TRANSFER_ROWS")])
def test_pages_without_end_are_not_followed(pages: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.client.transfer.registry_reader.TRANSFER_ROWS", 5_000)
    with scripted(endless(pages)) as script:
        done = run("export", "--registry", script.url)

    assert done.exit_code == 2
    assert why in done.stderr


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("AVRO", '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'),
        ("JSON", '{"type": "object"}'),
        ("PROTOBUF", 'syntax = "proto3";message M {int32 a = 1;}'),
    ],
    ids=["AVRO", "JSON", "PROTOBUF"],
)
def test_a_dump_in_another_layout_is_there_already(registry: str, tmp_path: Path, format_: str, text: str) -> None:
    value = {"subject": "s", "version": 1, "id": 1, "schemaType": format_, "schema": text}
    line = {"key": {"keytype": "SCHEMA", "subject": "s", "version": 1, "magic": 1}, "value": value}
    path = tmp_path / "spaces.jsonl"
    path.write_text(json.dumps(line))

    first = run("import", str(path), "--registry", registry)
    dry = run("import", str(path), "--registry", registry, "--dry-run", "--json")
    again = run("import", str(path), "--registry", registry)

    assert (first.exit_code, dry.exit_code, again.exit_code) == (0, 0, 0), again.output
    assert (json.loads(dry.stdout)["there_already"], json.loads(dry.stdout)["problems"]) == (1, [])
    assert "0 changes written, 0 problems." in again.output


def test_from_one_registry_to_another(dump: Path, registry: str, tmp_path: Path) -> None:
    run("import", str(dump), "--registry", registry)
    done = run("import", registry, "--registry", f"sqlite://{tmp_path / 'other.db'}", "--json")

    assert json.loads(done.stdout)["versions"] == 60


def test_standard_input_and_output(dump: Path, registry: str) -> None:
    assert run("import", "-", "--registry", registry, stdin=dump.read_bytes()).exit_code == 0
    lines = run("export", "--registry", registry, "--prefix", ":.a:").stdout.splitlines()
    subjects = {json.loads(line)["key"].get("subject") for line in lines} - {None}

    assert all(subject.startswith(":.a:") for subject in subjects)
    assert subjects


def test_a_dry_run_writes_nothing(dump: Path, registry: str) -> None:
    dry = run("import", str(dump), "--registry", registry, "--dry-run")

    assert "would be written" in dry.output
    with connect(registry) as found:
        assert found.subjects() == ()


def test_lines_that_are_no_records_are_told_and_the_exit_code_says_so(registry: str) -> None:
    nothing = run("import", "-", "--registry", registry, stdin=b"")
    assert nothing.exit_code == 0
    assert "standard input has nothing to import" in nothing.stderr

    done = run("import", "-", "--registry", registry, stdin=b"what is this\n")

    assert done.exit_code == 1
    assert "line 1: a record: neither JSON nor key" in done.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("import", "missing.jsonl", "--registry", "memory:"), "cannot be read"),
        (("import", "-", "--registry", "nonsense://x"), "give a registry"),
        (("export", "--registry", "http://127.0.0.1:9"), "does not answer"),
        (("promote", "s", "--registry", "memory:"), "source and target are the same"),
        (("promote", "s", "--registry", "memory:", "--to-context", "x"), "Subject 's' not found"),
    ],
    ids=["file", "url", "nobody", "same place", "no subject"],
)
def test_what_cannot_be_used_is_told_with_exit_code_2(words: tuple[str, ...], told: str) -> None:
    done = run(*words)

    assert done.exit_code == 2
    assert told in done.output


def test_promotion_says_what_is_what(registry: str) -> None:
    with connect(registry) as found:
        found.register("s", '"string"')
    dry = run("promote", "s", "--registry", registry, "--to-context", "prod", "--dry-run")
    done = run("promote", "s", "--registry", registry, "--to-context", "prod", "--json")
    again = run("promote", "s", "--registry", registry, "--to-context", "prod")

    assert "s version 1 would become :.prod:s version 1" in dry.output
    assert json.loads(done.stdout)["steps"][0]["to"] == {"subject": ":.prod:s", "version": 1, "id": 1}
    assert "is already :.prod:s version 1" in again.output


def test_a_refused_promotion_writes_nothing(registry: str) -> None:
    with connect(registry) as found:
        found.register("s", '"string"')
        found.register(":.prod:s", '"int"')
    done = run("promote", "s", "--registry", registry, "--to-context", "prod")

    assert done.exit_code == 1
    assert "s version 1: TYPE_MISMATCH " in done.stdout
    with connect(registry) as found:
        assert found.versions(":.prod:s") == (1,)


def test_an_import_that_was_killed_is_run_again(registry: str, tmp_path: Path) -> None:
    made = topic(12, 1500)
    dump = tmp_path / "large.jsonl"
    dump.write_bytes(made.text())
    command = [sys.executable, "-m", "treaty.cli.main", "import", str(dump), "--registry", registry]
    said = tmp_path / "said.txt"
    with said.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        begun = 0
        while begun < 100:
            assert process.poll() is None, said.read_text()  # it ended before it could be killed
            time.sleep(0.05)
            begun = versions_in(tmp_path / "log.db")
        process.kill()
    again = run("import", str(dump), "--registry", registry, "--json")
    figures = json.loads(again.stdout)
    out = run("export", "--registry", registry)

    assert again.exit_code == out.exit_code == 0, again.output
    assert 100 <= figures["there_already"] < len(made.versions)
    assert figures["problems"] == figures["left_out"] == []
    with connect(registry) as found:
        back = read(found)
    assert {(one.subject, one.number): (one.schema_id, one.deleted, one.time) for one in back.versions} == {
        place: (value["id"], bool(value.get("deleted")), value.get("ts", 0)) for place, value in made.versions.items()
    }
    assert {scope.context for scope, mode in back.modes if mode == "IMPORT"} == set()


def versions_in(path: Path) -> int:
    """Versions in a log's file, as an onlooker counts them; 0 while there is no table."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as file:
            return int(file.execute("SELECT count(*) FROM state_row WHERE state_table = 'version'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
