"""The JVM packages that Treaty is proven with, and the Spark settings that go with them."""

from collections.abc import Mapping
from dataclasses import dataclass

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
JVM_OPTIONS = " ".join(f"-D{name}={value}" for name, value in LIMITS.items())


@dataclass(frozen=True, slots=True)
class Packages:
    """What a session needs beyond pyspark: coordinates, what Ivy leaves out, jars by their own coordinates, settings."""

    coordinates: tuple[str, ...]
    excludes: tuple[str, ...]
    jars: tuple[str, ...]
    settings: Mapping[str, str]


def packages(*, delta: bool = True, iceberg: bool = False, kafka: bool = False) -> Packages:
    """Exact coordinates and settings for the parts that are wanted; Avro is always one of them.

    Kafka's token provider does not exist in the version that its connector names, so that one is excluded, and the jar
    of `jars` has to be fetched by its own coordinates and given as ``spark.jars``.
    """
    coordinates = [AVRO]
    excludes = list(EXCLUDES)
    settings = {
        "spark.driver.extraJavaOptions": JVM_OPTIONS,
        "spark.executor.extraJavaOptions": JVM_OPTIONS,
        "spark.sql.session.timeZone": "UTC",
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
    return Packages(tuple(coordinates), tuple(excludes), (KAFKA_TOKENS,) if kafka else (), settings)
