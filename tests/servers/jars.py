"""Jars of servers for tests: fetched once by the Ivy among Spark's own jars, into the cache that Spark uses too.

Nothing is needed but what the checkout has anyway: a JDK and pyspark. Like Spark, it asks the repository that
``DEFAULT_ARTIFACT_REPOSITORY`` names, else the one that Ivy knows. `python -m tests.servers.jars` fetches what all tests
need ahead of them; with the word ``most`` it fetches what most of them need, Spark's packages and a broker. A test that needs
a list which is being fetched waits for it.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 500
"""How long fetching the jars of one list may take."""
ATTEMPTS, ATTEMPT_SECONDS = 3, 600
"""How often fetching all of them is tried, and how long each attempt may take."""


def java() -> str:
    """The Java that Spark would take."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    assert found, "no Java: install a JDK 17, or say where one is in JAVA_HOME"
    return found


def ivy() -> Path:
    """The Ivy that pyspark ships."""
    spec = find_spec("pyspark")
    assert spec is not None, "no pyspark: make install"
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("jars/ivy-*.jar"))


def classpath(name: str, coordinates: Sequence[str], excludes: Iterable[str] = ()) -> str:
    """The class path of these coordinates and what they need, all of it on disk; what is missing is fetched."""
    kept = ROOT / ".venv" / f"{name}.classpath"
    kept.parent.mkdir(exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _whole(kept):
            _fetch(name, coordinates, excludes, kept)
    return kept.read_text("utf-8").strip()


def _whole(kept: Path) -> bool:
    """Whether every jar of a class path is still there."""
    return kept.exists() and all(Path(one).exists() for one in kept.read_text("utf-8").strip().split(os.pathsep))


def _fetch(name: str, coordinates: Sequence[str], excludes: Iterable[str], kept: Path) -> None:
    from treaty.spark.jars import IVY_JARS  # noqa: PLC0415 (loads Spark, and only where something is missing)

    sys.__stderr__.write(f"\nFetching the jars of {name} (once, about 45 MB, a minute or less)\n")  # type: ignore[union-attr] # it is a file wherever tests run
    wanted = [f'<dependency org="{g}" name="{a}" rev="{v}" conf="default"/>' for g, a, v in map(_parts, coordinates)]
    spared = [f'<exclude org="{g}" module="{a}"/>' for g, a in map(_parts, excludes)]
    text = (
        f'<ivy-module version="2.0"><info organisation="treaty" module="{name}"/><configurations><conf name="default"/>'
        f"</configurations><dependencies>{''.join(wanted + spared)}</dependencies></ivy-module>"
    )
    with tempfile.TemporaryDirectory() as folder:
        module, half = Path(folder, "ivy.xml"), Path(folder, "classpath")
        module.write_text(text, "utf-8")
        words = [
            "-warn",
            "-cache",
            str(IVY_JARS.with_name("cache")),
            "-ivy",
            str(module),
            "-confs",
            "default",
            "-types",
            "jar",
            "bundle",
        ]
        done = subprocess.run(
            [java(), "-jar", str(ivy()), *_settings(Path(folder)), *words, "-cachepath", str(half)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        told = done.stdout.decode(errors="replace")
        if done.returncode or not half.exists() or not _whole(half):
            remedy = (
                "see that the registry of Java packages is reached, or name a mirror in DEFAULT_ARTIFACT_REPOSITORY"
            )
            raise RuntimeError(f"the jars of {name} can't be fetched; {remedy}:\n{told[-3000:]}")
        shutil.copy(half, kept)


def _settings(folder: Path) -> tuple[str, ...]:
    """Settings with the repository that the environment names; nothing where it names none."""
    root = os.environ.get("DEFAULT_ARTIFACT_REPOSITORY")
    if not root:
        return ()
    file = folder / "settings.xml"
    file.write_text(
        '<ivysettings><settings defaultResolver="named"/><resolvers>'
        f'<ibiblio name="named" m2compatible="true" root="{root}"/></resolvers></ivysettings>',
        "utf-8",
    )
    return ("-settings", str(file))


def _parts(coordinate: str) -> list[str]:
    return coordinate.split(":")


def fetch_most() -> None:
    """Fetch what most tests that start a JVM need."""
    from tests.servers.kafka import broker_classpath  # noqa: PLC0415 (it asks this module)
    from treaty.spark.jars import fetch_token_jar, packages, read_jar_list  # noqa: PLC0415 (loads Spark)
    from treaty.spark.session import session  # noqa: PLC0415 (loads Spark)

    broker_classpath()
    fetch_token_jar()
    if not read_jar_list(packages(iceberg=True, kafka=True)):
        session("treaty jars", master="local[1]", iceberg=True, kafka=True).stop()


def fetch_all() -> None:
    """Fetch what the tests that start a JVM need, clients of other systems among it."""
    from tests.facades.iglu import scala_client  # noqa: PLC0415 (it asks this module)
    from tests.facades.schemarepo.java_clients import client_classpath  # noqa: PLC0415 (it asks this module)
    from tests.oracle.pravega import pravega_classpath  # noqa: PLC0415 (it asks this module)

    fetch_most()
    client_classpath()
    scala_client.client_classpath()
    pravega_classpath()


def main(function: str) -> int:
    """Fetch in a process of its own, which is ended and started again where a repository does not answer: what it has
    got stays. Returns 1 where that does not help.
    """
    for attempt in range(1, ATTEMPTS + 1):
        program = f"from tests.servers.jars import {function}; {function}()"
        process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, start_new_session=True)
        try:
            if not process.wait(ATTEMPT_SECONDS):
                return 0
            why = "failed"
        except subprocess.TimeoutExpired:
            why = f"took more than {ATTEMPT_SECONDS} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the JVM that it may have started
            process.wait()
        sys.stderr.write(f"\nFetching the jars of the tests {why} (attempt {attempt} of {ATTEMPTS})\n")
    sys.stderr.write("Tests with a JVM need them: is the registry of Java packages reached? See above.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main("fetch_most" if sys.argv[1:] == ["most"] else "fetch_all"))
