"""`treaty iglu push`, `pull` and `keygen` with a server: all of Iglu Central goes in by one command and comes out equal."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner

from tests import iglu
from tests.real.running import Running, serving
from treaty.cli.main import group
from treaty.core.iglu_key import SELF_DESCRIBING

pytestmark = pytest.mark.slow


def run(*words: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(group, ["iglu", *words])
    return found.exit_code, found.stdout, found.stderr


def write(folder: Path, path: str, text: str) -> None:
    file = folder / "schemas" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def schema(name: str, version: str, **members: Any) -> str:
    own = {"vendor": "com.acme", "name": name, "format": "jsonschema", "version": version}
    return json.dumps({"$schema": SELF_DESCRIBING, "self": own, "type": "object", "properties": {}, **members})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with serving(tmp_path, "--log", "memory:") as running:
        yield running


OTHERS = {
    "com.acme/event/avro/1-0-0": '{"type": "record", "name": "Event", "fields": []}',
    "com.acme/event/thrift/1-0-0": "struct Event {}\n",
    "com.acme/event/protobuf/1-0-0": 'syntax = "proto3"; message Event {}\n',
}


def test_iglu_central_goes_in_and_comes_out_equal(server: Running, tmp_path: Path) -> None:
    texts = {**iglu.schemas(), **OTHERS}
    for path, text in texts.items():
        write(tmp_path / "in", path, text)
    api = f"{server.base}/api"
    code, out, _ = run("push", str(tmp_path / "in"), "--registry", api, "--public", "--json")
    assert code == 0, out
    told = json.loads(out)
    warned = {one["rule"] for one in told.pop("warnings")}
    assert warned == {"SCHEMAVER_ADDITION", "SCHEMAVER_UNPROVEN", "SCHEMAVER_SMALLER"}
    assert told == {"schemas": 663, "created": 663, "updated": 0, "unchanged": 0, "refused": None}
    code, out, _ = run("pull", str(tmp_path / "out"), "--registry", api, "--json")
    assert (code, json.loads(out)) == (0, {"written": 663, "problems": []})
    for path, text in texts.items():
        pulled = (tmp_path / "out" / "schemas" / path).read_text()
        assert pulled == text if path in OTHERS else json.loads(pulled) == json.loads(text), path
    small = tmp_path / "small"
    write(small, "com.acme/event/avro/1-0-0", OTHERS["com.acme/event/avro/1-0-0"])
    first = next(iter(iglu.schemas()))
    write(small, first, iglu.schemas()[first])
    code, out, _ = run("push", str(small), "--registry", api, "--public", "--json")
    assert (code, json.loads(out)["unchanged"]) == (0, 2)


def test_push_goes_by_number_and_stops_at_the_first_refusal(server: Running, tmp_path: Path) -> None:
    api = f"{server.base}/api"
    for version in range(12):
        write(tmp_path / "a", f"com.acme/many/jsonschema/1-0-{version}", schema("many", f"1-0-{version}"))
    (tmp_path / "a" / "readme.md").write_text("no schema")
    code, out, _ = run("push", str(tmp_path / "a"), "--registry", api, "--dry-run")
    assert code == 0
    assert re.findall(r"1-0-\d+", out) == [f"1-0-{version}" for version in range(12)]
    assert run("push", str(tmp_path / "a"), "--registry", api)[0] == 0
    assert "stays" not in run("push", str(tmp_path / "a"), "--registry", api)[2]
    code, _, err = run("push", str(tmp_path / "a"), "--registry", api, "--public")
    assert code == 0
    assert "iglu:com.acme/many/jsonschema/1-0-11 stays private" in err
    write(tmp_path / "b", "com.acme/aa/jsonschema/1-0-0", schema("aa", "1-0-0"))
    write(tmp_path / "b", "com.acme/bb/jsonschema/1-0-1", schema("bb", "1-0-1"))
    write(tmp_path / "b", "com.acme/cc/jsonschema/1-0-0", schema("cc", "1-0-0"))
    code, out, _ = run("push", str(tmp_path / "b"), "--registry", api, "--json")
    told = json.loads(out)
    assert (code, told["created"], told["refused"]["schema"]) == (1, 1, "iglu:com.acme/bb/jsonschema/1-0-1")
    assert told["refused"]["status"] == 409
    code, _, err = run("push", str(tmp_path / "b"), "--registry", api)
    assert code == 1
    assert "1 schema after it is not sent" in err
    write(tmp_path / "c", "com.acme/aa/jsonschema/1-0-0", schema("aa", "1-0-0", description="other"))
    assert run("push", str(tmp_path / "c"), "--registry", api)[0] == 1
    (tmp_path / "empty").mkdir()
    assert run("push", str(tmp_path / "empty"), "--registry", api)[0] == 2
    assert run("pull", str(tmp_path / "out"), "--registry", "http://127.0.0.1:1/api")[0] == 2


def test_a_long_list_of_what_is_left_out_is_cut_and_counted(server: Running, tmp_path: Path) -> None:
    write(tmp_path, "com.acme/one/jsonschema/1-0-0", schema("one", "1-0-0"))
    for number in range(30):
        write(tmp_path, f"readme{number}.md", "no schema")
    code, _, err = run("push", str(tmp_path), "--registry", f"{server.base}/api")
    lines = [one for one in err.splitlines() if "is skipped" in one]
    assert (code, len(lines), "... and 10 more" in err) == (0, 20, True)


def test_a_pull_of_nothing_makes_an_empty_folder_and_says_so(server: Running, tmp_path: Path) -> None:
    api = f"{server.base}/api"
    words = ("pull", str(tmp_path / "out"), "--registry", api)
    code, out, _ = run(*words)
    assert (code, [*(tmp_path / "out" / "schemas").iterdir()]) == (0, [])
    assert "The server has no schemas for callers without an API key (--apikey): nothing was written" in out
    assert "for this API key" in run(*words, "--apikey", str(uuid4()))[1]
    code, out, _ = run(*words, "--json")
    assert (code, json.loads(out)) == (0, {"written": 0, "problems": []})
    (tmp_path / "file").write_text("")
    code, _, err = run("pull", str(tmp_path / "file" / "out"), "--registry", api)
    assert (code, "can't be written: Not a directory" in err) == (2, True)


def test_keys_are_made_used_and_removed(tmp_path: Path) -> None:
    _, out, _ = run("keygen", "--super", "--json")
    super_key = json.loads(out)
    rights = tmp_path / "rights.toml"
    rights.write_text(f'anonymous = true\n[api_keys]\nsuper = ["{super_key["digest"]}"]\n')
    with serving(tmp_path, "--log", "memory:", "--auth", str(rights)) as server:
        api = f"{server.base}/api"
        by_super = ("--registry", api, "--apikey", super_key["key"])
        code, out, _ = run("keygen", "com.acme", *by_super, "--json")
        pair = json.loads(out)
        assert (code, set(pair)) == (0, {"read", "write"})
        write(tmp_path, "com.acme/aa/jsonschema/1-0-0", schema("aa", "1-0-0"))
        assert run("push", str(tmp_path), "--registry", api, "--apikey", pair["read"])[0] == 1
        assert run("push", str(tmp_path), "--registry", api, "--apikey", pair["write"])[0] == 0
        for key, many in ((pair["read"], 1), (super_key["key"], 1), (None, 0)):
            words = ("--apikey", key) if key else ()
            code, out, _ = run("pull", str(tmp_path / "out"), "--registry", api, "--json", *words)
            assert json.loads(out)["written"] == many
        assert run("keygen", "com.acme", "--registry", api, "--apikey", pair["write"])[0] == 2
        assert run("keygen", "com.acme", "--registry", server.base, "--apikey", super_key["key"])[0] == 0
        code, _, err = run("pull", str(tmp_path / "out"), "--registry", f"{api}/v1/api")
        assert (code, "check the host and the path" in err) == (2, True)
        code, _, err = run("keygen", "com.acme", "--registry", api, "--apikey", str(uuid4()))
        assert (code, "no Iglu API" in err) == (2, False), "a wrong key is another thing"
        assert run("keygen", "--delete", pair["write"], *by_super)[0] == 0
        assert run("push", str(tmp_path), "--registry", api, "--apikey", pair["write"])[0] == 1
    assert run("keygen")[0] == 2
    assert run("keygen", "com.acme")[0] == 2
    assert run("keygen", "--delete", "x", "--registry", api)[0] == 2
