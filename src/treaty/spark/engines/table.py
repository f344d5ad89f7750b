"""Every engine, by the format and the name that a plan has for it."""

from collections.abc import Mapping

from treaty.spark.engines.builtin import BUILTIN
from treaty.spark.engines.documents import DOCUMENTS
from treaty.spark.engines.engine import Engine
from treaty.spark.engines.workers import WORKERS

ENGINES: Mapping[tuple[str, str], Engine] = {
    ("AVRO", "spark"): BUILTIN,
    ("AVRO", "fastavro"): WORKERS,
    ("PROTOBUF", "ptars"): WORKERS,
    ("PROTOBUF", "upb"): WORKERS,
    ("JSON", "spark"): DOCUMENTS,
}
