"""The steps of the page on operating a server, run in their order in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.servers.ports import free_port
from treaty.core import limits

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "operate.md").read_text("utf-8")
BLOCKS = re.findall(r"```(sh|text)\n(.*?)```", PAGE, re.DOTALL)


def test_the_steps_print_what_the_page_says(tmp_path: Path) -> None:
    port = free_port()
    wait = "for n in $(seq 300); do curl -sf $url/healthz >/dev/null && break; sleep 0.1; done"
    script = f"url=http://127.0.0.1:{port}\n" + "echo ----\n".join(text for kind, text in BLOCKS if kind == "sh")
    script = script.replace("2>server.log &", f"--port {port} 2>server.log & {wait}").replace(
        "url=http://127.0.0.1:8081", ""
    )
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"trap 'kill $! 2>/dev/null' EXIT\n{script}"],
        cwd=tmp_path, env={**os.environ, "PATH": tools}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = [part.strip() for part in done.stdout.split("----\n") if part.strip()]
    assert printed == [text.strip() for kind, text in BLOCKS if kind == "text"]


def test_limits_that_the_page_names_are_limits() -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+|QUEUE)`", PAGE))
    assert len(named) >= 6
    assert all(hasattr(limits, name) for name in named)
