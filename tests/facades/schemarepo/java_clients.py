"""schema-repo's own clients in Java, of both generations, in a JVM that ends with its work."""

import subprocess
from pathlib import Path

from tests.servers.jars import classpath, java

PROGRAM = Path(__file__).with_name("RepositoryClients.java")
COORDINATES = ("org.schemarepo:schema-repo-client:0.1.3", "org.slf4j:slf4j-nop:1.7.36")
SECONDS = 120


def client_classpath() -> str:
    """The class path of the clients; what is missing is fetched."""
    return classpath("schema-repo-clients", COORDINATES)


def run_clients(url: str) -> str:
    """Compile and run the program that calls every method of the clients; return what it says."""
    words = ["-XX:+UseSerialGC", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-Dfile.encoding=UTF-8"]
    done = subprocess.run(
        [java(), *words, "-cp", client_classpath(), str(PROGRAM), url],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
