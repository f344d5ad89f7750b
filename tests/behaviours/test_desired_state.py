"""Desired state: all that a folder says of a subject reaches the registry, as the plan has said it, or nothing is written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from treaty.assemble import connect
from treaty.cli.transfer.folder import read_folder
from treaty.client.connection import Connection
from treaty.client.transfer.apply import ApplyResult, apply
from treaty.client.transfer.desired import order_subjects
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.core.schema import Metadata, Reference
from treaty.formats.registry import find_formats


def record(name: str, **fields: Any) -> str:
    members = [{"name": one, "type": kind} for one, kind in fields.items()]
    return json.dumps({"type": "record", "name": name, "namespace": "org.acme", "fields": members})


MONEY, ORDER = record("Money", cents="long"), record("Order", price="org.acme.Money")
PLAN = """
[plan]
context = "prod"
normalize = true
[plan.subjects.orders]
file = "order.avsc"
references = { "org.acme.Money" = ":.base:money:1" }
properties = { owner = "us", team = "a" }
normalize = false
level = "full_transitive"
[plan.subjects.lines]
file = "deep/line.avsc"
level = "NONE"
"""
FILES = {
    "treaty.toml": PLAN,
    "order.avsc": ORDER,
    "deep/line.avsc": record("Line", text="org.acme.Text"),
    "text.avsc": record("Text", words="string"),
    ".hidden/none.avsc": "{",
    "_drafts/none.avsc": "{",
}


@pytest.fixture
def registry() -> Iterator[Connection]:
    """A registry with two versions of what the folder needs, in another context."""
    with connect("memory:") as opened:
        opened.register(":.base:money", MONEY)
        opened.set_level(":.base:money", "NONE")
        opened.register(":.base:money", record("Money", euros="long"))
        yield opened


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def run(folder: Path, registry: Registry, *, dry_run: bool = False) -> ApplyResult:
    formats = find_formats()
    wanted = order_subjects(read_folder(str(folder), formats).list_desired_subjects(), formats)
    with connect("memory:") as trial:
        return apply(wanted, registry, trial, dry_run=dry_run)


def test_all_that_a_folder_says_of_a_subject_reaches_the_registry(registry: Connection, tmp_path: Path) -> None:
    result = run(write(tmp_path, FILES), registry)

    assert result.fine, result
    assert registry.subjects(":.prod:") == (":.prod:lines", ":.prod:orders", ":.prod:text")
    assert own_configs(registry) == {
        ":.prod:orders": Config(level="FULL_TRANSITIVE", normalize=False),
        ":.prod:lines": Config(level="NONE", normalize=True),
        ":.prod:text": Config(level="BACKWARD", normalize=True),
    }
    order, line = registry.version(":.prod:orders"), registry.version(":.prod:lines")
    assert order.references == (Reference("org.acme.Money", ":.base:money", 1),)
    assert order.metadata == Metadata(properties=(("owner", "us"), ("team", "a")))
    assert line.references == (Reference("org.acme.Text", "text", 1),)


def own_configs(registry: Connection) -> dict[str, Config]:
    names = registry.subjects(":.prod:")
    return {name: registry.config(name, resolve=False) for name in names}


def test_a_plan_says_what_is_done_and_a_second_run_does_nothing(registry: Connection, tmp_path: Path) -> None:
    folder = write(tmp_path, FILES)
    planned = run(folder, registry, dry_run=True)
    assert registry.subjects(":.prod:") == ()
    done, again = run(folder, registry), run(folder, registry)

    assert planned == done
    assert [(one.kind, one.settings) for one in again.changes] == [("unchanged", ())] * 3
    settings = {str(one.desired.subject): one.settings for one in done.changes}
    assert settings == {
        ":.prod:orders": (("level", None, "FULL_TRANSITIVE"), ("normalize", None, "False")),
        ":.prod:lines": (("level", None, "NONE"), ("normalize", None, "True")),
        ":.prod:text": (("normalize", None, "True"),),
    }


@pytest.mark.parametrize(
    ("version", "number"), [("", 2), (":1", 1), (":2", 2)], ids=["the latest", "the first", "the second"]
)
def test_a_subject_outside_of_the_folder_is_referred_to_by_its_version(
    registry: Connection, tmp_path: Path, version: str, number: int
) -> None:
    plan = f'[plan]\n[plan.subjects.orders]\nfile = "o.avsc"\nreferences = {{ "org.acme.Money" = ":.base:money{version}" }}'
    run(write(tmp_path, {"treaty.toml": plan, "o.avsc": ORDER}), registry)

    assert registry.version("orders").references == (Reference("org.acme.Money", ":.base:money", number),)


@pytest.mark.parametrize(
    ("files", "home"),
    [
        ({"a/m.proto": "PROTOBUF"}, "m"),
        ({"a/m.proto": "PROTOBUF", "b/m.proto": "JSON"}, "m"),
        ({"a/m.proto": "PROTOBUF", "b/m.proto": "PROTOBUF"}, ""),
    ],
    ids=["one file", "one of this format", "two files"],
)
def test_a_name_is_found_in_one_file_of_its_format_alone(
    registry: Connection, tmp_path: Path, files: Mapping[str, str], home: str
) -> None:
    texts = {"PROTOBUF": 'syntax = "proto3"; message M {}', "JSON": '{"type": "object"}'}
    names = {name: f"s{at}" if at else "m" for at, name in enumerate(files)}
    plan = "[plan]\n" + "".join(
        f'[plan.subjects.{subject}]\nfile = "{name}"\nformat = "{files[name]}"\n' for name, subject in names.items()
    )
    using = 'syntax = "proto3"; import "m.proto"; message U { M m = 1; }'
    write(tmp_path, {"treaty.toml": plan, "use.proto": using} | {name: texts[text] for name, text in files.items()})
    result = run(tmp_path, registry)

    assert result.fine == bool(home)
    if home:
        assert registry.version("use").references == (Reference("m.proto", home, 1),)
    else:
        assert "'m.proto'" in result.problems[0].what


@dataclass
class Busy:
    """A registry in which somebody else registers another schema, right before the first registration of a subject."""

    inner: Connection
    subject: str
    text: str

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if isinstance(request, Register) and str(request.subject) == self.subject and self.text:
            self.inner.register(self.subject, self.text)
            self.text = ""
        return self.inner.ask(request, call)

    def close(self) -> None:
        """Leave the registry open."""


def test_a_version_that_comes_in_between_is_refused_and_nothing_follows_it(
    registry: Connection, tmp_path: Path
) -> None:
    registry.set_level("", "NONE")
    files = {name: record(name.upper(), x="long") for name in ("a", "b", "c")}
    write(tmp_path, {f"{name}.avsc": text for name, text in files.items()})
    result = run(tmp_path, Busy(registry, "b", '"bytes"'))

    assert [(str(one.desired.subject), one.kind) for one in result.changes] == [("a", "new subject"), ("b", "refused")]
    assert registry.subjects(":.:") == ("a", "b")
    assert registry.version("b").text == '"bytes"'
