"""The address of a server in TREATY_REGISTRY serves every command: Iglu's too, which add /api; and what pull writes into files."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from tests.behaviours.served import served
from treaty.cli.iglu.schema_text import indent_json, is_same_schema
from treaty.cli.iglu.server_options import find_api
from treaty.cli.main import group
from treaty.cli.terminal.source import UnusableError
from treaty.core.iglu_key import SELF_DESCRIBING, IgluKey

KEY = IgluKey.parse("iglu:com.acme/click/jsonschema/1-0-0")
SELF = {"vendor": "com.acme", "name": "click", "format": "jsonschema", "version": "1-0-0"}
TEXT = json.dumps({"type": "object", "properties": {"b": {"type": "number", "maximum": 1.50}}, "self": SELF, "$schema": SELF_DESCRIBING})  # fmt: skip
OTHERS = {"iglu resolve", "iglu validate", "compile"}
"""Their --registry is a place of schemas; TREATY_REGISTRY is one more, where none is named; `compile` asks none unless it is named."""


def run(*words: str, registry: str) -> Result:
    return CliRunner().invoke(group, list(words), env={"TREATY_REGISTRY": registry})


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served("memory:") as running:
        yield running.url


@pytest.mark.parametrize("path", ["", "/", "/api", "/api/"])
def test_commands_of_iglu_take_the_address_of_the_server(url: str, path: str, tmp_path: Path) -> None:
    file = tmp_path / "in" / KEY.path
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    pushed = run("iglu", "push", str(tmp_path / "in"), "--public", "--json", registry=url + path)
    assert pushed.exit_code == 0, pushed.output
    assert json.loads(pushed.stdout)["refused"] is None
    pulled = run("iglu", "pull", str(tmp_path / "out"), registry=url + path)
    assert pulled.exit_code == 0, pulled.output
    assert json.loads((tmp_path / "out" / "schemas" / KEY.path).read_text()) == json.loads(TEXT)
    resolved = run("iglu", "resolve", str(KEY), registry=url + path)
    assert resolved.exit_code == 0, resolved.output
    refused = run("iglu", "keygen", "com.acme", registry=url + path)
    assert "no Iglu API answers" not in refused.output
    assert "--registry" not in refused.output


def test_what_is_pulled_again_stays_as_it_is(url: str, tmp_path: Path) -> None:
    file = tmp_path / "schemas" / KEY.path
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    assert run("iglu", "push", str(tmp_path), "--public", registry=url).exit_code == 0
    assert run("iglu", "pull", str(tmp_path), registry=url).exit_code == 0
    assert file.read_text() == TEXT
    file.write_text(TEXT.replace("1.5", "1.25"))
    assert run("iglu", "pull", str(tmp_path), registry=url).exit_code == 0
    assert json.loads(file.read_text()) == json.loads(TEXT)
    assert file.read_text().count("\n") > 5


@pytest.mark.parametrize("wrong", ["sqlite:///tmp/log.db", "memory:", "127.0.0.1:8081", "", "http://"])
def test_what_is_no_server_is_said(wrong: str) -> None:
    with pytest.raises(UnusableError, match="give --registry http://host:port"):
        find_api(wrong)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("http://h:1", "http://h:1/api"),
        ("https://ann:secret@h/x/", "https://h/x/api"),
        ("http://h/api,http://i/api", "http://h/api"),
        ("http://h/myapi", "http://h/myapi/api"),
    ],
)
def test_the_address_of_the_api(given: str, wanted: str) -> None:
    assert find_api(given) == wanted


def test_every_command_reads_the_variable() -> None:
    def walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Option]]:
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), name)
                assert inner is not None
                yield from walk(inner, f"{path} {name}".strip())
            return
        for one in command.params:
            if isinstance(one, click.Option) and "--registry" in one.opts:
                yield path, one

    options = dict(walk(group, ""))
    assert len(options) > 40
    assert {path for path, one in options.items() if one.envvar != "TREATY_REGISTRY"} == OTHERS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_indenting_changes_no_value_and_no_order(value: object) -> None:
    text = json.dumps(value).encode()
    indented = indent_json(text)

    assert json.dumps(json.loads(indented)).encode() == text
    assert is_same_schema(KEY, text, indented)
    assert indent_json(indented) == indented


@pytest.mark.parametrize(
    ("one", "other"), [(b'{"a": true}', b'{"a": 1}'), (b"1", b"1.0"), (b"[1e400]", b"[1e500]"), (b"{", b"{"), (b"0.1", b'"0.1"')]
)  # fmt: skip
def test_other_values_are_another_schema(one: bytes, other: bytes) -> None:
    assert not is_same_schema(KEY, one, other)


def test_numbers_and_escapes_stay_as_they_were_written() -> None:
    assert indent_json(rb'{"a":1.50,"b":[],"c":{},"d":"\u00e9\"{"}') == (
        b'{\n  "a": 1.50,\n  "b": [],\n  "c": {},\n  "d": "\\u00e9\\"{"\n}\n'
    )
    assert indent_json(b"no json") == b"no json"
