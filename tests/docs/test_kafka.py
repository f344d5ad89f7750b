"""The commands of the how-to about Kafka print what the page says, on a real broker."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.real.running import serving
from treaty.assemble import connect

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
PAGE = HOWTO / "kafka.md"
VARYING = (
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "<when>"),
    (re.compile(r"in \d+\.\d s\b"), "in <seconds>"),
)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Every command of the page's console blocks, with what it prints."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for each in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, _, rest = each.partition("\n")
            if first.endswith("<<EOF"):
                body, _, rest = rest.partition("EOF\n")
                first = f"{first}\n{body}EOF"
            yield first, rest


def steady(text: str) -> str:
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


@pytest.mark.jvm
@pytest.mark.slow
def test_the_page(kafka: "Kafka", tmp_path: Path) -> None:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    kafka.topic("orders")
    kafka.topic("orders-copy")
    with serving(tmp_path, "--log", "memory:") as server:
        for command, expected in commands(PAGE.read_text("utf-8")):
            real = command.replace("127.0.0.1:9092", kafka.bootstrap).replace("http://127.0.0.1:8081", server.base)
            if real.startswith("export "):
                name, _, value = real.removeprefix("export ").partition("=")
                env[name] = value
                continue
            done = subprocess.run(
                ["bash", "-c", real], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, timeout=60, check=False,
            )  # fmt: skip
            assert steady(done.stdout) == steady(expected), command


@pytest.mark.jvm
@pytest.mark.slow
def test_the_page_on_logs_in_kafka(kafka: "Kafka", tmp_path: Path) -> None:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    log = f"sqlite://{tmp_path}/registry.db"
    with connect(log) as registry:
        for subject in ("a", "b"):
            registry.register(subject, f'{{"type": "enum", "name": "E", "symbols": ["{subject}"]}}')
    topics = {f"/{name}": f"/{name}-{uuid4().hex[:8]}" for name in ("registry", "restored", "owned")}
    for command, expected in commands((HOWTO / "kafka-log.md").read_text("utf-8")):
        real, shown = command.replace("sqlite:///tmp/registry.db", log), expected
        for old, new in topics.items():
            real, shown = (text.replace(f"127.0.0.1:9092{old}", f"{kafka.bootstrap}{new}") for text in (real, shown))
        done = subprocess.run(
            ["bash", "-c", real], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.stdout == shown, command
