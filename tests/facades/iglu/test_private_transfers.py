"""A private family stays private in a dump, in an import and in a promotion; no dump has keys."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.messages.api_keys import AddApiKeys, NewApiKey
from treaty.core.messages.schemaver import Publish
from treaty.core.names import Subject
from treaty.core.schema import Draft

FAMILIES = {"com.acme/open/jsonschema": False, "com.acme/secret/jsonschema": True}
DIGEST = "ab" * 32


@pytest.fixture
def source(tmp_path: Path) -> str:
    url = f"sqlite://{tmp_path / 'source.db'}"
    with connect(url) as registry:
        for name, private in FAMILIES.items():
            request = Publish(Subject(".", name), "1-0-0", Draft('{"type":"object"}', "JSON"), private)
            assert registry.ask(request).answer.schema.private is private
        registry.ask(AddApiKeys("com.acme", (NewApiKey(DIGEST, "READ"),)))
    return url


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(group, list(words))
    assert done.exit_code == code, done.output
    return done.output


def test_a_dump_keeps_what_is_private_and_has_no_keys(source: str, tmp_path: Path) -> None:
    dump, target = tmp_path / "dump.jsonl", f"sqlite://{tmp_path / 'target.db'}"
    run("export", "--registry", source, "--output", str(dump))
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
