"""The JVM packages that Treaty is tested with, their settings, and their jars on this machine.

Spark's Ivy fetches packages once. The list of their jars is stored beside them, so that later starts of Spark need no
Ivy.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pyspark

from treaty.core.limits import AVRO_ITEMS, AVRO_TEXT_BYTES

SPARK = "4.1.1"
AVRO = "org.apache.spark:spark-avro_2.13:4.1.1"
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.1"
KAFKA_TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0"

EXCLUDES = (
    # pyspark ships these itself, in the versions it was built with; fetching them again costs 100 MB and helps nobody.
    "org.apache.hadoop:*",
    "org.apache.parquet:*",
    "org.apache.logging.log4j:*",
    "org.slf4j:*",
    "com.fasterxml.jackson.core:*",
    "com.github.luben:*",
    "org.xerial.snappy:*",
    "commons-logging:*",
)

LIMITS: Mapping[str, int] = {
    # Without the first one, ten hostile bytes can claim an array of two thousand million items and end the JVM.
    "org.apache.avro.limits.collectionItems.maxLength": AVRO_ITEMS,
    "org.apache.avro.limits.string.maxLength": AVRO_TEXT_BYTES,
    "org.apache.avro.limits.bytes.maxLength": AVRO_TEXT_BYTES,
}
COMPILED_BYTES = 8000
"""HotSpot's ``HugeMethodLimit``: the most bytes of a method that it compiles."""
HUGE_METHOD = "spark.sql.codegen.hugeMethodLimit"
"""Spark's setting for the bytes above which it leaves a method out of whole-stage code; 65,535 unless it is set."""
JVM_OPTIONS = " ".join(f"-D{name}={value}" for name, value in LIMITS.items())


@dataclass(frozen=True, slots=True)
class SparkPackages:
    """What a session needs beyond pyspark: coordinates, exclusions, further jars, settings."""

    coordinates: tuple[str, ...]
    excludes: tuple[str, ...]
    jars: tuple[str, ...]
    settings: Mapping[str, str]


def packages(*, delta: bool = True, iceberg: bool = False, kafka: bool = False) -> SparkPackages:
    """Return exact coordinates and settings for the given parts; Avro is always included.

    Kafka's token provider does not exist in the version that its connector names, so that one is excluded, and the jar
    of `jars` has to be fetched by its own coordinates and given as ``spark.jars``.
    """
    coordinates = [AVRO]
    excludes = list(EXCLUDES)
    settings = {
        "spark.driver.extraJavaOptions": JVM_OPTIONS,
        "spark.executor.extraJavaOptions": JVM_OPTIONS,
        "spark.sql.session.timeZone": "UTC",
        # Spark leaves a step out of whole-stage code rather than make a method of it that the JVM does not compile.
        HUGE_METHOD: str(COMPILED_BYTES),
    }
    if delta:
        coordinates.append(DELTA)
        settings["spark.sql.extensions"] = "io.delta.sql.DeltaSparkSessionExtension"
        settings["spark.sql.catalog.spark_catalog"] = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
    if iceberg:
        coordinates.append(ICEBERG)
        own = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        settings["spark.sql.extensions"] = ",".join(filter(None, (settings.get("spark.sql.extensions"), own)))
    if kafka:
        coordinates.append(KAFKA)
        excludes.append("org.apache.spark:spark-token-provider-kafka-0-10_2.13")
    return SparkPackages(tuple(coordinates), tuple(excludes), (KAFKA_TOKENS,) if kafka else (), settings)


IVY_JARS = Path.home() / ".ivy2.5.2" / "jars"
"""Where Spark 4.1's Ivy puts what it fetched."""
LISTS = IVY_JARS.with_name("treaty")
"""Where the lists are: a jar on each line, before it its size in bytes, and ``python`` if it has modules of Python, else ``jvm``."""
_FOR_PYTHON, _FOR_JVM = "python", "jvm"


@dataclass(frozen=True, slots=True)
class PackageJar:
    """A jar on this disk, and whether it has modules of Python, too."""

    path: str
    has_python: bool


def read_jar_list(needed: SparkPackages, lists: Path = LISTS) -> tuple[PackageJar, ...]:
    """All jars of these packages, those that they need in turn too; empty unless each is on disk as it was fetched."""
    try:
        lines = (lists / _list_name(needed)).read_text("utf-8").splitlines()
        entries = [line.split(" ", 2) for line in lines]
        is_complete = all(Path(jar).stat().st_size == int(size) for size, _, jar in entries)
    except (OSError, ValueError):
        return ()
    return tuple(PackageJar(jar, use == _FOR_PYTHON) for _, use, jar in entries) if is_complete else ()


def write_jar_list(needed: SparkPackages, jars: Sequence[str], lists: Path = LISTS) -> None:
    """Note what Ivy found, out of all jars of a session; nothing where a package is not among them, or on a disk that
    can't be written.
    """
    paths = [Path(one.removeprefix("file://")) for one in jars]
    fetched = [one for one in paths if one.parent == IVY_JARS]
    if not {jar_name(one) for one in needed.coordinates} <= {one.name for one in fetched}:
        return
    try:
        text = "".join(f"{one.stat().st_size} {_use_of(one)} {one}\n" for one in fetched)
        lists.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=lists, encoding="utf-8", delete=False) as half:
            half.write(text)
        Path(half.name).replace(lists / _list_name(needed))
    except (OSError, BadZipFile):
        return  # the next start asks Ivy again


def _use_of(jar: Path) -> str:
    with ZipFile(jar) as opened:
        return _FOR_PYTHON if any(name.endswith(".py") for name in opened.namelist()) else _FOR_JVM


def jar_name(coordinate: str) -> str:
    """The name that Ivy gives to the jar of a package."""
    group, artifact, version = coordinate.split(":")
    return f"{group}_{artifact}-{version}.jar"


def _list_name(needed: SparkPackages) -> str:
    text = "\n".join(
        (*needed.coordinates, "", *needed.excludes, "", "size use jar")
    )  # lists of another form have another name
    return hashlib.sha256(text.encode()).hexdigest()[:16] + ".txt"


FETCH_SECONDS = 300
"""How long fetching one small jar may take."""
IVY_CACHE = Path.home() / ".ivy2.5.2" / "cache"
"""Where Spark 4.1's Ivy keeps what it fetched, by group and artifact."""


class NotFetchedError(RuntimeError):
    """A jar could not be fetched; says what Ivy said."""


def fetch_token_jar() -> Path:
    """The jar of `KAFKA_TOKENS` on this disk, fetched where it is not there yet. Raises `NotFetchedError`."""
    group, artifact, version = KAFKA_TOKENS.split(":")
    jar = IVY_CACHE / group / artifact / "jars" / f"{artifact}-{version}.jar"
    if jar.exists():
        return jar
    sys.stderr.write(f"Spark's Kafka connector needs a jar of its own (once, 20 kB): {KAFKA_TOKENS}\n")
    dependency = f'<dependency org="{group}" name="{artifact}" rev="{version}" conf="default" transitive="false"/>'
    text = (
        '<ivy-module version="2.0"><info organisation="treaty" module="tokens"/><configurations><conf name="default"/>'
        f"</configurations><dependencies>{dependency}</dependencies></ivy-module>"
    )
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder, "ivy.xml")
        module.write_text(text, "utf-8")
        words = ["-warn", "-cache", str(IVY_CACHE), "-ivy", str(module), "-confs", "default", "-types", "jar", "bundle"]
        process = subprocess.run(  # noqa: S603 (pyspark's own program, with words of this module)
            [str(spark_home() / "bin" / "spark-class"), "org.apache.ivy.Main", *_ivy_settings(Path(folder)), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=FETCH_SECONDS,
            check=False,
        )
    if not jar.exists():
        remedy = "see that the registry of Java packages is reached, or name a mirror in DEFAULT_ARTIFACT_REPOSITORY"
        output = process.stdout.decode(errors="replace")[-2000:]
        raise NotFetchedError(f"{KAFKA_TOKENS} can't be fetched; {remedy}:\n{output}")
    return jar


def spark_home() -> Path:
    """The folder of pyspark, which is a whole Spark."""
    return Path(pyspark.__file__).parent


def _ivy_settings(folder: Path) -> tuple[str, ...]:
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
