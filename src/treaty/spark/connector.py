"""The jar that Spark's Kafka connector lacks: fetched by the Ivy among Spark's own jars, because `spark.jars.packages` can't name it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

from treaty.spark.packages import KAFKA_TOKENS

SECONDS = 300
"""How long fetching one small jar may take."""
CACHE = Path.home() / ".ivy2.5.2" / "cache"
"""Where Spark 4.1's Ivy keeps what it fetched, by group and artifact."""


class NotFetchedError(RuntimeError):
    """A jar could not be fetched; says what Ivy said."""


def token_jar() -> Path:
    """The jar of `KAFKA_TOKENS` on this disk, fetched where it is not there yet. Raises `NotFetchedError`."""
    group, artifact, version = KAFKA_TOKENS.split(":")
    jar = CACHE / group / artifact / "jars" / f"{artifact}-{version}.jar"
    if jar.exists():
        return jar
    sys.stderr.write(f"Spark's Kafka connector needs a jar of its own (once, 20 kB): {KAFKA_TOKENS}\n")
    wanted = f'<dependency org="{group}" name="{artifact}" rev="{version}" conf="default" transitive="false"/>'
    text = (
        '<ivy-module version="2.0"><info organisation="treaty" module="tokens"/><configurations><conf name="default"/>'
        f"</configurations><dependencies>{wanted}</dependencies></ivy-module>"
    )
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder, "ivy.xml")
        module.write_text(text, "utf-8")
        words = ["-warn", "-cache", str(CACHE), "-ivy", str(module), "-confs", "default", "-types", "jar", "bundle"]
        done = subprocess.run(  # noqa: S603 (pyspark's own program, with words of this module)
            [str(home() / "bin" / "spark-class"), "org.apache.ivy.Main", *_settings(Path(folder)), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    if not jar.exists():
        remedy = "see that the registry of Java packages is reached, or name a mirror in DEFAULT_ARTIFACT_REPOSITORY"
        told = done.stdout.decode(errors="replace")[-2000:]
        raise NotFetchedError(f"{KAFKA_TOKENS} can't be fetched; {remedy}:\n{told}")
    return jar


def home() -> Path:
    """The folder of pyspark, which is a whole Spark."""
    return Path(pyspark.__file__).parent


def _settings(folder: Path) -> tuple[str, ...]:
    """Settings with the repository that the environment names, as Spark itself does; nothing where it names none."""
    root = os.environ.get("DEFAULT_ARTIFACT_REPOSITORY")  # noqa: TID251 (Spark's own variable, meant for its Ivy)
    if not root:
        return ()
    file = folder / "settings.xml"
    file.write_text(
        '<ivysettings><settings defaultResolver="named"/><resolvers>'
        f'<ibiblio name="named" m2compatible="true" root="{root}"/></resolvers></ivysettings>',
        "utf-8",
    )
    return ("-settings", str(file))
