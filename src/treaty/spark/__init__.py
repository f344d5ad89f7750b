"""Spark: decoding and encoding of frames, lake tables that evolve, and streaming pipelines."""

from typing import TYPE_CHECKING

from treaty.distribution import require_library, warn_if_unproven

if not TYPE_CHECKING:
    require_library("pyspark", "treaty.spark", "spark")
    warn_if_unproven()

from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.encoding.dry_run import EncodeDryRun
from treaty.plan.encoding.encode_plans import make_encode_plan
from treaty.plan.encoding.options import DERIVED, DeriveOptions, EncodeOptions
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.plan.rows import Names
from treaty.plan.value import DecodePlan
from treaty.spark.datasource.source import TreatyDataSource
from treaty.spark.decode import decode, from_registry, ids_of
from treaty.spark.dropped_values import DroppedValue, ValueUse
from treaty.spark.encoding.encode import EncodeColumns, dry_run, encode, to_registry
from treaty.spark.encoding.topic import TopicFrames, to_topic
from treaty.spark.explain import explain
from treaty.spark.functions import from_avro, to_avro, view
from treaty.spark.history import HistoryReport, check_history
from treaty.spark.jars import packages
from treaty.spark.keyed.options import DEBEZIUM, DebeziumEnvelope, KeyedTableOptions
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.batch_decoder import BatchDecoder
from treaty.spark.pipelines.batch_history import BatchReport
from treaty.spark.pipelines.replay import ReplayReport, remaining_bad_rows, replay
from treaty.spark.pipelines.reports.metrics import PipelineMetrics
from treaty.spark.pipelines.reports.preview import PipelinePreview, preview
from treaty.spark.pipelines.reports.status import PipelineStatus, status
from treaty.spark.pipelines.restarts import PipelineQuery, PipelinesFailedError, wait_for_all
from treaty.spark.pipelines.runner import run, start
from treaty.spark.pipelines.source import FilesSource, KafkaSource, SourceError
from treaty.spark.pipelines.trigger import StreamTrigger
from treaty.spark.pipelines.value import BatchEvent, Pipeline, PipelineError, TooManyBadRowsError
from treaty.spark.session import NotOnConnectError, session
from treaty.spark.session_engines import engine_of
from treaty.spark.sql import register_functions
from treaty.spark.topics import from_topic

__all__ = [
    "DEBEZIUM",
    "DERIVED",
    "BatchDecoder",
    "BatchEvent",
    "BatchReport",
    "DebeziumEnvelope",
    "DecodePlan",
    "DeriveOptions",
    "DroppedValue",
    "EncodeColumns",
    "EncodeDryRun",
    "EncodeOptions",
    "EncodePlan",
    "FilesSource",
    "HistoryReport",
    "KafkaSource",
    "KeyedTableOptions",
    "LakeTable",
    "Names",
    "NotOnConnectError",
    "Pipeline",
    "PipelineError",
    "PipelineMetrics",
    "PipelinePreview",
    "PipelineQuery",
    "PipelineStatus",
    "PipelinesFailedError",
    "PlanError",
    "ReplayReport",
    "SourceError",
    "StreamTrigger",
    "TooManyBadRowsError",
    "TopicFrames",
    "TreatyDataSource",
    "ValueUse",
    "check_history",
    "decode",
    "dry_run",
    "encode",
    "engine_of",
    "explain",
    "extend",
    "from_avro",
    "from_registry",
    "from_topic",
    "ids_of",
    "make_encode_plan",
    "make_plan",
    "packages",
    "preview",
    "register_functions",
    "remaining_bad_rows",
    "replay",
    "run",
    "session",
    "start",
    "status",
    "to_avro",
    "to_registry",
    "to_topic",
    "view",
    "wait_for_all",
]
