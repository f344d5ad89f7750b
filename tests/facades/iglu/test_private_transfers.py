"""A private family stays private in a dump, in an import and in a promotion; a dump has keys only where they are asked for, and only
their digests; drafts belong to Iglu's API, and to backups of the log.
"""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner

from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.messages.api_keys import AddApiKeys, NewApiKey
from treaty.core.messages.schemaver import GetDraft, Publish, PutDraft
from treaty.core.names import Subject
from treaty.core.refusals import VersionNotFound
from treaty.core.schema import Draft
from treaty.wire.iglu.api_keys import digest_of

FAMILIES = {"com.acme/open/jsonschema": False, "com.acme/secret/jsonschema": True}
KEY = uuid4()
DIGEST = digest_of(KEY)
FAMILY = Subject(".", "com.acme/open/jsonschema")


@pytest.fixture
def source(tmp_path: Path) -> str:
    url = f"sqlite://{tmp_path / 'source.db'}"
    with connect(url) as registry:
        for name, private in FAMILIES.items():
            request = Publish(Subject(".", name), "1-0-0", Draft('{"type":"object"}', "JSON"), private)
            assert registry.ask(request).answer.schema.private is private
        registry.ask(AddApiKeys("com.acme", (NewApiKey(DIGEST, "READ"),)))
        registry.ask(PutDraft(FAMILY, 1, '{"a":"DRAFTWORD"}'))
    return url


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(group, list(words))
    assert done.exit_code == code, done.output
    return done.output


def told_as_json(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(group, list(words))
    assert done.exit_code == 0, done.output
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_a_dump_keeps_what_is_private_and_has_no_keys(source: str, tmp_path: Path) -> None:
    dump, target = tmp_path / "dump.jsonl", f"sqlite://{tmp_path / 'target.db'}"
    told = run("export", "--registry", source, "--output", str(dump))
    assert "left out: API keys: `treaty export --keys` writes their digests" in told
    assert "note: drafts of Iglu's API" in told
    assert DIGEST not in dump.read_text("utf-8")
    assert "0 problems" in run("import", str(dump), "--registry", target)
    with connect(target) as registry:
        assert {name: registry.group(name).private for name in FAMILIES} == FAMILIES
        assert registry.api_keys() == ()
    assert "0 problems" in run("import", source, "--registry", target)


def test_what_the_target_has_as_public_is_told(source: str, tmp_path: Path) -> None:
    target = f"sqlite://{tmp_path / 'target.db'}"
    with connect(target) as registry:
        registry.ask(Publish(Subject(".", "com.acme/secret/jsonschema"), "1-0-0", Draft('{"type":"object"}', "JSON")))
    told = run("import", source, "--registry", target, code=1)
    assert "the target has it public, not private, and that never changes" in told


def test_keys_go_where_they_are_asked_for_as_digests(source: str, tmp_path: Path) -> None:
    dump, target = tmp_path / "dump.jsonl.gz", f"sqlite://{tmp_path / 'target.db'}"
    told = told_as_json("export", "--registry", source, "--output", str(dump), "--keys", "--json")
    assert told["api_keys"] == 1
    assert not any("API keys" in one for one in told["left_out"])
    run("export", "--registry", source, "--output", str(tmp_path / "plain"), "--keys")
    written = (tmp_path / "plain").read_text("utf-8")
    assert DIGEST in written
    assert str(KEY) not in written
    assert KEY.hex not in written
    counts = told_as_json("import", str(dump), "--registry", target, "--json")
    assert counts["api_keys"] == 1
    with connect(target) as registry, connect(source) as there:
        assert [(one.digest, one.vendor, one.action) for one in registry.api_keys()] == [(DIGEST, "com.acme", "READ")]
        assert [one.digest for one in there.api_keys()] == [DIGEST]
    again = told_as_json("import", str(dump), "--registry", target, "--json")
    assert (again["api_keys"], again["written"]) == (0, 0)
    run("export", "--registry", target, "--output", str(tmp_path / "again"), "--keys")
    with connect(target) as registry:
        registry.ask(AddApiKeys("com.other", (NewApiKey("cd" * 32, "READ"),)))
    other = (tmp_path / "plain").read_text("utf-8").replace(DIGEST, "cd" * 32)
    (tmp_path / "other").write_text(other)
    assert "API key key:cdcdcdcdcdcdcdcd: not written" in run(
        "import", str(tmp_path / "other"), "--registry", target, code=1
    )
    assert "a topic has no place for API keys" in run(
        "export", "--registry", source, "--output", "kafka://127.0.0.1:1/t", "--keys", code=2
    )


def test_drafts_are_left_out_of_dumps_and_are_in_backups_of_the_log(source: str, tmp_path: Path) -> None:
    dump, target, backup = tmp_path / "dump.jsonl", f"sqlite://{tmp_path / 'target.db'}", tmp_path / "backup"
    run("export", "--registry", source, "--output", str(dump), "--keys")
    assert "DRAFTWORD" not in dump.read_text("utf-8")
    run("import", str(dump), "--registry", target)
    with connect(target) as registry, pytest.raises(VersionNotFound):
        registry.ask(GetDraft(FAMILY, 1))
    run("log", "backup", source, str(backup))
    restored = f"sqlite://{tmp_path / 'restored.db'}"
    run("log", "restore", str(backup), restored)
    with connect(restored) as registry:
        assert registry.ask(GetDraft(FAMILY, 1)).answer.text == '{"a":"DRAFTWORD"}'
        assert [one.digest for one in registry.api_keys()] == [DIGEST]
