"""`treaty check --subject`: the registry's own verdict, over HTTP and in a file."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest
from click.testing import CliRunner, Result

import treaty
from tests.behaviours.scripted import Say, scripted
from tests.facades.samples import SAMPLES
from tests.real.running import serving
from treaty.cli.main import group
from treaty.core.messages.settings import Config
from treaty.core.schema import Draft, Reference
from treaty.formats.registry import find_formats

MONEY = '{"type":"fixed","name":"org.Money","size":8}'
OLD = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"}]}'
WIDER = OLD.replace('"int"', '"long"')
MORE = OLD.replace("]}", ',{"name":"b","type":"int"}]}')
USES = '{"type":"record","name":"U","fields":[{"name":"m","type":"org.Money"}]}'


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server and the file that it keeps its log in, with three subjects."""
    folder = tmp_path_factory.mktemp("registry")
    file = f"sqlite://{folder}/registry.db"
    with serving(folder, "--log", file) as server:
        with treaty.connect(server.base) as registry:
            registry.register("old", OLD)
            registry.register("forward", OLD)
            registry.set_level("forward", "FORWARD")
            registry.register("full", OLD)
            registry.set_config("full", Config(level="FULL", normalize=True))
            registry.register("money", MONEY)
            registry.register("uses", Draft(USES, references=(Reference("org.Money", "money", 1),)))
        with treaty.connect(file) as registry:
            registry.register("documented", OLD)
            registry.set_config("documented", Config(validators=("DOC_MISSING",)))
        yield server.base, file


@pytest.fixture(params=["http", "file"])
def url(request: pytest.FixtureRequest, urls: tuple[str, str]) -> str:
    return urls[request.param == "file"]


def check(url: str, subject: str, text: str, *words: str) -> Result:
    return CliRunner().invoke(group, ["check", "-", "--subject", subject, "--registry", url, *words], input=text)


@pytest.mark.parametrize(
    ("subject", "text", "code", "words"),
    [
        ("old", WIDER, 0, "<stdin> may become a version of old under BACKWARD.\n"),
        ("old", MORE, 1, "READER_FIELD_MISSING_DEFAULT_VALUE"),
        ("old", MORE, 1, "at path '/fields/1' in the new schema has no default value and is missing in the old"),
        ("old", MORE, 1, "<stdin> may not become a version of old, after version 1 under BACKWARD: 1 finding."),
        (
            "forward",
            WIDER,
            1,
            "The type (path '/fields/0/type') of a field in the old schema does not match with the new",
        ),
        ("full", MORE, 1, "in the reading schema"),
        ("forward", MORE, 0, "under FORWARD"),
        ("old", '{"type":"record"', 2, "JSON_MALFORMED"),
        ("old", "", 2, "Empty schema"),
    ],
)
def test_the_policy_in_force_decides(url: str, subject: str, text: str, code: int, words: str) -> None:
    result = check(url, subject, text)

    assert result.exit_code == code, result.output
    assert words in result.output


def test_a_subject_without_versions_is_told_as_new(url: str) -> None:
    result = check(url, "fresh", MORE)

    assert result.exit_code == 0
    assert "<stdin> may become a version of fresh, a new subject." in result.stdout
    assert json.loads(check(url, "fresh", MORE, "--json").stdout)["new_subject"]
    assert check(url, "fresh", '{"type":"record"').exit_code == 2


def test_json_tells_config_findings_and_messages(url: str) -> None:
    told = json.loads(check(url, "full", MORE, "--json").stdout)

    assert not told["fits"]
    assert not told["new_subject"]
    assert told["config"] == {"level": "FULL", "normalize": True}
    assert {one["rule"] for one in told["findings"]} == {"READER_FIELD_MISSING_DEFAULT_VALUE"}
    assert any("READER_FIELD_MISSING_DEFAULT_VALUE" in message for message in told["messages"])


def test_references_of_the_latest_version_are_used_unless_others_are_given(url: str) -> None:
    plain = check(url, "uses", USES.replace('"U"', '"V"'), "-v")
    told = json.loads(check(url, "uses", USES, "--json").stdout)

    assert plain.exit_code == 1, plain.output
    assert "org.Money = money:1" in plain.output
    assert told["references"] == [{"name": "org.Money", "subject": "money", "version": 1}]
    given = check(url, "uses", USES, "--reference", "org.Money=money:1", "--json").stdout
    assert json.loads(given)["references"] == told["references"]
    assert check(url, "fresh", USES).exit_code == 2
    assert check(url, "fresh", USES, "--reference", "org.Money=money:latest").exit_code == 0
    assert check(url, "fresh", USES, "--reference", "org.Money=money:9").exit_code == 2
    assert "NAME=SUBJECT:VERSION" in check(url, "fresh", USES, "--reference", "org.Money=money").stderr


def test_a_file_whose_name_tells_nothing_has_the_format_of_the_subject(url: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"type":"string"}')
    words = ["check", str(file), "--registry", url, "--subject"]

    assert CliRunner().invoke(group, [*words, "old"]).exit_code == 1
    assert "is unknown" in CliRunner().invoke(group, [*words, "fresh"]).stderr


@pytest.mark.parametrize("format_", find_formats().names)
def test_every_format_is_asked_there_and_judged_there(url: str, format_: str, tmp_path: Path) -> None:
    sample = SAMPLES[format_]
    with treaty.connect(url) as registry:
        registry.register(f"of-{format_}", Draft(sample.old, format_))
    codes = []
    for name in ("fits", "breaks", "broken"):
        file = tmp_path / f"{name}{sample.suffix}"
        file.write_text(getattr(sample, name))
        words = ["check", str(file), "--subject", f"of-{format_}", "--registry", url, "--json"]
        result = CliRunner().invoke(group, words)
        told = json.loads(result.stdout)
        codes.append((result.exit_code, bool(told["findings"]), bool(told["faults"])))

    assert codes == [(0, False, False), (1, True, False), (2, False, True)]


class Confluent(BaseHTTPRequestHandler):
    """What a registry that is not Treaty answers: findings as messages alone."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.answer({"compatibilityLevel": "FULL"} if self.path.startswith("/config") else VERSION)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        messages = ["{errorType:'X', description:'a break', additionalInfo:''}", "{oldSchemaVersion: 3}"]
        self.answer({"is_compatible": False, "messages": messages})

    def answer(self, body: object) -> None:
        self.asked.append(self.path)
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        """Say nothing."""


VERSION = {"subject": "s", "version": 3, "id": 7, "schema": OLD}


def test_a_registry_that_is_not_treaty_is_asked_in_the_established_way() -> None:
    Confluent.asked.clear()
    with HTTPServer(("127.0.0.1", 0), Confluent) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        result = check(f"http://127.0.0.1:{server.server_port}", "s", WIDER, "--normalize")
        server.shutdown()
        thread.join()

    assert result.exit_code == 1, result.output
    assert result.stdout.splitlines() == [
        "<stdin>:1:1: X a break",
        "<stdin> may not become a version of s, after version 3 under FULL: 1 finding.",
    ]
    assert Confluent.asked[-1] == "/compatibility/subjects/s/versions?normalize=true&verbose=true"


def test_validators_in_force_there_are_asked_there(url: str) -> None:
    plain = check(url, "documented", WIDER)
    told = json.loads(check(url, "documented", WIDER, "--json").stdout)

    assert plain.exit_code == 1, plain.output
    assert "DOC_MISSING the record F has no doc" in plain.stdout
    assert [one["rule"] for one in told["findings"]] == ["DOC_MISSING"]
    assert check(url, "documented", WIDER.replace('"name":"F"', '"name":"F","doc":"f"')).exit_code == 0


def test_the_remedy_for_a_registry_that_is_down_is_not_told_of_one_that_answers() -> None:
    body = {"error_code": 50302, "message": "the disk of the log is full; make room"}
    with scripted(Say(503, body, (("Retry-After", "600"),))) as script:
        found = (
            check(script.url, "old", OLD),
            CliRunner().invoke(group, ["subject", "list", "--registry", script.url]),
            CliRunner().invoke(group, ["export", "--registry", script.url]),
        )

    for one in found:
        assert one.exit_code == 2
        assert "failed: " in one.stderr
        assert "make room" in one.stderr
        assert "does not answer" not in one.stderr
        assert "check that it runs" not in one.stderr


@pytest.mark.parametrize(
    ("registry", "words"),
    [
        ("http://127.0.0.1:9", "check that it runs"),
        ("nonsense", "give the registry with --registry"),
        ("sqlite:///nowhere/at/all.db", "there is no registry at sqlite:///nowhere/at/all.db"),
        ("memory:", "there is no registry at memory:"),
        ("http://", "give the registry with --registry"),
    ],
)
def test_a_registry_that_is_not_there_is_told_with_its_remedy(registry: str, words: str) -> None:
    result = check(registry, "old", OLD)

    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
