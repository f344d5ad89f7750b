"""The Java reference library of Avro as an oracle: one JVM with the jars that PySpark ships, asked line by line."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "AvroOracle.java"


def jars() -> Path:
    """The folder of PySpark's jars, among them the one of Avro."""
    spec = find_spec("pyspark")
    assert spec is not None, "install the extra `spark`: its jars hold the Java library"
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "jars"
    assert list(folder.glob("avro-1.*.jar")), f"no Avro jar in {folder}"
    return folder


class AvroOracle:
    """A running oracle."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, **question: Any) -> dict[str, Any]:
        """Send one question, wait for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the oracle ended; run it by hand to see why"
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def avro_oracle() -> Iterator[AvroOracle]:
    """Start the oracle, stop it at the end."""
    java = shutil.which("java")
    assert java, "a JDK 17 is needed"
    command = [java, "-Xss64m", "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{jars()}/*", str(SOURCE)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    ) as process:
        yield AvroOracle(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=30)
