"""The sections about moving in of the pages for users of Pravega and schema-repo: their commands run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.running import serving
from treaty.assemble import connect
from treaty.core.messages.groups import GroupSettings

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


def blocks(page: str, heading: str) -> list[str]:
    """The shell commands of a section, line by line."""
    section = (HOWTO / page).read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    return [line for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) for line in block.splitlines()]


@pytest.mark.slow
def test_their_commands_run(tmp_path: Path) -> None:
    repository = tmp_path / "repository" / "clicks"
    repository.mkdir(parents=True)
    for name, text in (("subject.properties", "owner=web"), ("schema_ids", "0\n"), ("0.schema", '"int"')):
        (repository / name).write_text(text)
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    todo = [*blocks("from-pravega.md", "Move a registry"), *blocks("from-schema-repo.md", "Move a repository")]
    assert len(todo) == 5
    with serving(tmp_path, "--log", "memory:") as old, serving(tmp_path, "--log", "memory:") as new:
        with connect(old.base) as registry:
            registry.create_subject(":.shop:orders", GroupSettings("pravega", types="many"))
        for at, line in enumerate(todo):
            if at == 2:  # a subject of schema-repo that is not read as a group of Pravega before
                with connect(old.base) as registry:
                    registry.create_subject("plain", GroupSettings("schema-repo", identity="exact"))
            command = re.sub(r"http://old:\d+", old.base, line).replace("http://127.0.0.1:8081", new.base)
            command = command.replace("/var/lib/schema-repo", str(repository.parent))
            done = subprocess.run(
                ["bash", "-c", command], env=env, capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, (line, done.stdout, done.stderr)
        with connect(new.base) as registry:
            assert registry.group(":.shop:orders").types == "many"
            assert registry.group("clicks").properties == (("owner", "web"),)
            assert [one.text for one in registry.group_versions("clicks")] == ['"int"']
            assert [one.subject for one in registry.groups()] == ["clicks", "plain"]
