"""The pages on the log: the commands are run in their order, and every test that the pages name is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from treaty.assemble import connect
from treaty.core.refusals import Unavailable

ROOT = Path(__file__).parents[2]
PAGES = "\n".join(page.read_text("utf-8") for page in sorted((ROOT / "docs").glob("log*.md")))
BLOCKS = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "howto" / "maintain-log.md").read_text("utf-8"), re.DOTALL)


@pytest.mark.slow
def test_the_commands_do_what_the_page_says(tmp_path: Path) -> None:
    logs = {name: f"sqlite://{tmp_path}/{name.lower()}.db" for name in ("LOG", "NEW", "OTHER")}
    with connect(logs["LOG"]) as registry:
        registry.register("a", '"string"')
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    script = "set -eux\n" + "".join(BLOCKS)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path, env={**os.environ, **logs, "PATH": tools}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "log.db-state").exists()
    with connect(logs["LOG"]) as first, connect(logs["NEW"]) as restored, connect(logs["OTHER"]) as moved:
        ids = [one.register("b", '"int"').version.schema_id for one in (first, restored)]
        assert ids == [2, 10_002]
        with pytest.raises(Unavailable, match="point this node there"):
            moved.register("b", '"int"')


def test_the_tests_that_the_tables_name_are_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGES))
    written = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 20
    assert named - set(re.findall(r"def (test_\w+)\(", written)) == set()
