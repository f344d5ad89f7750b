"""Pravega's own serializers and client as a program in one JVM, asked line by line: the sources lie in ``exchange``."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers.jars import classpath, java

SOURCES = Path(__file__).parent / "exchange"
COORDINATES = (
    "io.pravega:schemaregistry-client:0.6.0",
    "io.pravega:schemaregistry-serializers:0.6.0",
    "io.pravega:pravega-client:0.13.0",
    "org.slf4j:slf4j-nop:1.7.36",
)
UNPUBLISHED = ("io.pravega:pravega-keycloak-client",)
"""What their descriptions name and no repository has."""


def pravega_classpath() -> str:
    """The jars of Pravega's client and serializers."""
    return classpath("pravega", COORDINATES, UNPUBLISHED)


class PravegaProgram:
    """The running program."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, **question: Any) -> dict[str, Any]:
        """Send one question, and wait for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the program ended; run it by hand to see why"
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def pravega_program(base: str, folder: Path) -> Iterator[PravegaProgram]:
    """Compile the program into a folder, run it against a registry, and stop it at the end."""
    path = pravega_classpath()
    javac = str(Path(java()).with_name("javac")) if "/" in java() else "javac"
    sources = sorted(map(str, SOURCES.glob("*.java")))
    done = subprocess.run(
        [javac, "-nowarn", "-d", str(folder), "-cp", path, *sources],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")
    options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8"]
    command = [java(), *options, "-cp", f"{folder}:{path}", "exchange.Exchange", base]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    ) as process:
        yield PravegaProgram(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=30)
