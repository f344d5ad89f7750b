"""Snowplow's own client in Scala, unmodified, in a JVM that ends with its work."""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.servers.jars import classpath, java

PROGRAM = Path(__file__).with_name("IgluClientProbe.scala")
COORDINATES = (
    "com.snowplowanalytics:iglu-scala-client_2.12:1.1.1",
    "org.scala-lang:scala-library:2.12.20",
    "org.scala-lang:scala-compiler:2.12.20",
    "org.slf4j:slf4j-nop:1.7.36",
)
SECONDS = 120


def client_classpath() -> str:
    """The class path of the client and of a compiler for the program; what is missing is fetched."""
    return classpath("iglu-scala-client", COORDINATES)


def resolver_config(uri: str, apikey: str | None = None) -> dict[str, Any]:
    """The configuration of a resolver with one registry."""
    connection = {"http": {"uri": uri, **({} if apikey is None else {"apikey": apikey})}}
    registry = {"name": "Treaty", "priority": 0, "vendorPrefixes": ["com.acme"], "connection": connection}
    data = {"cacheSize": 500, "repositories": [registry]}
    return {"schema": "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-1", "data": data}


def run_client(folder: Path, lines: Iterable[tuple[str, Any]]) -> list[str]:
    """Compile and run the program on lines of a verb and what it is about; return its answers.

    Verbs are ``config``, which gives no answer, ``lookup``, ``list`` and ``check``.
    """
    asked = folder / "asked.txt"
    texts = ((verb, about if isinstance(about, str) else json.dumps(about)) for verb, about in lines)
    asked.write_text("".join(f"{verb} {text}\n" for verb, text in texts), "utf-8")
    # no more than the first compiler: the program runs once
    words = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8", "-Xss4m"]
    runner = ["scala.tools.nsc.MainGenericRunner", "-usejavacp", "-nc", "-nowarn"]
    done = subprocess.run(
        [java(), *words, "-cp", client_classpath(), *runner, str(PROGRAM), str(asked)],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout.splitlines()
