"""An archive of Spark's classes, so that the many JVMs that tests start need not read and check each class anew.

It is the JDK's class data sharing: `python -m tests.servers.archive` has one JVM run a pipeline in each format of tables and
leave what it loaded in a file, once per `.venv`; all later ones map that file. Java ignores an archive that does not fit, and
tests do without one.
"""

import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.frames import frame, record
from tests.servers.jars import ROOT, java

SECONDS = 300
"""How long making it may take."""
QUICK = "-Xlog:disable -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -XX:ArchiveRelocationMode=0"
"""No words about archives on stdout, no check of each class, and the file's pages as they are."""
LAUNCHER = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For the small JVM that puts Spark's command together."""
DRIVER = "tests.real.pipeline_driver"
SCHEMA = record(("name", "string"), ("n", "int"))


@cache
def environment() -> Mapping[str, str]:
    """What Spark is told so that its JVMs start quickly, with the archive if there is one."""
    from treaty.spark.session import QUICK_START  # noqa: PLC0415 (loads Spark)

    jars, options = _jars(), f"{QUICK} {QUICK_START}"
    told = {"SPARK_LAUNCHER_OPTS": LAUNCHER, "SPARK_SUBMIT_OPTS": options}
    told |= {"PYSPARK_SUBMIT_ARGS": f"--driver-class-path {shlex.quote(os.pathsep.join(jars))} pyspark-shell"}
    place = _place(jars)
    archive = f"-XX:SharedArchiveFile={place} " if place.exists() else ""
    return {**told, "SPARK_SUBMIT_OPTS": archive + options}


def make() -> None:
    """Make the archive, unless one fits the jars on this disk."""
    if not (place := _place(_jars())).exists():
        make_archive(place)


def _place(jars: Sequence[str]) -> Path:
    return ROOT / ".venv" / f"classes-{_key(jars)}.jsa"


def _jars() -> Sequence[str]:
    """The jars beside pyspark's own, but for those that it has too: on the class path their classes can be archived."""
    from treaty.spark.jars import fetch_token_jar, packages, read_jar_list, spark_home  # noqa: PLC0415 (loads Spark)

    own = {_artifact(one.name) for one in (spark_home() / "jars").glob("*.jar")}
    found = [Path(one.path) for one in read_jar_list(packages(iceberg=True, kafka=True))]
    return [str(one) for one in (*found, fetch_token_jar()) if _artifact(one.name.split("_", 1)[-1]) not in own]


def _artifact(jar: str) -> str:
    """A jar's name without its version."""
    return re.sub(r"-\d+\.\d+.*\.jar$", "", jar)


def _key(jars: Sequence[str]) -> str:
    """Names what an archive was made of: this Java and these jars."""
    files = [Path(java()).resolve(), *map(Path, jars)]
    told = "\n".join([QUICK, *(f"{one} {one.stat().st_size} {one.stat().st_mtime_ns}" for one in files)])
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def make_archive(place: Path) -> None:
    """Run a driver over one file; its JVM leaves the archive when it ends. Says so where that fails."""
    sys.stderr.write("Making an archive of Spark's classes (once, half a minute)\n")
    with tempfile.TemporaryDirectory() as folder:
        _fill(Path(folder))
        half = place.with_suffix(f".{os.getpid()}")
        options = f"-XX:ArchiveClassesAtExit={half} {QUICK}"
        process = subprocess.Popen(  # it waits for its JVM, which writes the archive last
            [sys.executable, "-m", DRIVER, folder, "--read"],
            cwd=ROOT,
            env={**os.environ, **environment(), "SPARK_SUBMIT_OPTS": options},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            said = process.communicate(timeout=SECONDS)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            said = f"making it took more than {SECONDS} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with its JVM
            process.wait()
        if process.returncode or not half.exists():
            sys.stderr.write(f"no archive, so tests take longer: {said[-2000:]}\n")
            return
    for old in place.parent.glob("classes-*.jsa"):
        old.unlink(missing_ok=True)
    half.rename(place)


def _fill(root: Path) -> None:
    """A registry with one schema, and a file with one good row and a bad one."""
    import pyarrow as pa  # noqa: PLC0415 (few tests need it)
    import pyarrow.parquet as pq  # noqa: PLC0415 (as above)

    from treaty.assemble import connect  # noqa: PLC0415 (as above)
    from treaty.core.messages.registration import Register  # noqa: PLC0415 (as above)
    from treaty.core.names import subject_of  # noqa: PLC0415 (as above)
    from treaty.core.schema import Draft  # noqa: PLC0415 (as above)

    with connect(f"sqlite://{root / 'registry.db'}") as registry:
        made = registry.ask(Register(subject_of("orders-value"), Draft(SCHEMA))).answer.version
    values = [frame(made.schema_id, SCHEMA, {"name": "x", "n": 1}), b"bad"]
    (root / "in").mkdir()
    table = pa.table({"offset": pa.array([0, 1], pa.int64()), "value": pa.array(values, pa.binary())})
    pq.write_table(table, root / "in" / "0.parquet")


if __name__ == "__main__":
    make()
