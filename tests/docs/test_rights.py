"""The steps of the page on rights, run in their order in an empty folder."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.servers.ports import free_port
from treaty.api.auth.settings import read_settings

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "rights.md").read_text("utf-8")
BLOCKS = re.findall(r"```(sh|toml|text)\n(.*?)```", PAGE, re.DOTALL)


def test_the_steps_print_what_the_page_says(tmp_path: Path) -> None:
    files = [text for kind, text in BLOCKS if kind == "toml"]
    (tmp_path / "rights.toml").write_text(files[0])
    port = free_port()
    wait = "for n in $(seq 200); do curl -sf $url/healthz >/dev/null && break; sleep 0.1; done"
    steps = [text for kind, text in BLOCKS if kind == "sh" and "--tls-cert" not in text and "make_token" not in text]
    script = f"url=http://127.0.0.1:{port}\n" + "echo ----\n".join(steps)
    script = script.replace("audit.jsonl &", f"audit.jsonl --port {port} 2>server.txt & server=$!; {wait}")
    script = script.replace("url=http://127.0.0.1:8081", "")
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"trap 'kill $server' EXIT\n{script}"],
        cwd=tmp_path, env={**os.environ, "PATH": tools}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = [part.strip() for part in done.stdout.split("----\n") if part.strip()]
    expected = [text.strip() for kind, text in BLOCKS if kind == "text"]
    assert [re.sub(r"\n\n+", "\n", part) for part in printed] == expected


def test_a_token_of_the_recipe_is_admitted_and_a_changed_one_is_not(tmp_path: Path) -> None:
    program = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "make_token.py").write_text(next(text for text in program if "RSAAlgorithm" in text))
    (tmp_path / "tokens.toml").write_text(next(text for kind, text in BLOCKS if kind == "toml" and "token:ann" in text))
    steps = next(text for kind, text in BLOCKS if kind == "sh" and "make_token" in text).replace(
        "8085", str(free_port())
    )
    script = f"trap 'kill $(jobs -p)' EXIT\n{steps.replace('tokens.toml &', 'tokens.toml 2>server.txt &')}"
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-ec", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == '[]{"error_code":40101,"message":"Unauthorized: the token is not valid (DecodeError)"}'


def test_the_other_sections_are_read() -> None:
    bearer = next(text for kind, text in BLOCKS if kind == "toml" and "[bearer]" in text)
    metrics = next(text for kind, text in BLOCKS if kind == "toml" and "[metrics]" in text)
    assert read_settings(f"anonymous = true\n{metrics}".encode(), Path("r")).metrics == ("user:prometheus",)
    rule = '[[rule]]\nwho = "group:ops"\nmay = "read"\n'
    assert read_settings(f"{bearer}\n[certificate]\n{rule}".encode(), Path("r")).bearer is not None
    assert tomllib.loads(bearer)["bearer"]["leeway"] == 30
