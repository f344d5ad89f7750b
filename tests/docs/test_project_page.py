"""The page on a project of SQL files: its commands and its program print what it says, one after the other in one folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.running import printed

PAGE = (Path(__file__).parents[2] / "docs/howto/metastore-project.md").read_text("utf-8")
BLOCKS = re.findall(r"```(sh|python)\n(.*?)```\n+```text\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_runs_as_it_is(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TREATY_REGISTRY": f"sqlite:///{tmp_path}/registry.db"}
    assert [kind for kind, _, _ in BLOCKS].count("sh") == 6
    for kind, text, expected in BLOCKS:
        if kind == "python":
            assert printed(text, tmp_path) == expected
            continue
        command = ["bash", "-ec", f"exec 2>&1\n{text}"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.replace(f"/{tmp_path}", "/FOLDER") == expected
