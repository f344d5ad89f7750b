"""Columns for those who come from elsewhere: Databricks' `from_avro` and `to_avro` with their options, which say whether a bad row
or a new schema id becomes null or ends the job; and views.

The registry is asked once, on the driver, when the column is made. Better than these are `decode` and `to_registry`,
which keep the reasons of bad rows; here a bad row is null, or ends the query.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro as plain
from pyspark.sql.avro.functions import to_avro as plainly

from treaty.client.serializers.frames import encode_id
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import Lookup
from treaty.core.names import subject_of
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.formats.avro.canonical import print_schema
from treaty.plan import registry_queries
from treaty.plan.addresses import open_registry
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import PlanError
from treaty.plan.options import DecodeOptions
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.rows import NAMES, Names
from treaty.plan.strictness import is_word
from treaty.plan.value import COUNTING_ENGINE, DecodePlan
from treaty.spark.decode import decode
from treaty.spark.engines.avro import decode_record
from treaty.spark.frames import has_magic, map_frame_id, read_signed_id, require_frames
from treaty.spark.options import refuse_unknown, split_options
from treaty.spark.session_engines import fit_to_names, fit_to_session

FAILFAST, PERMISSIVE = "FAILFAST", "PERMISSIVE"
RESTART = "restart"
REGISTER = "register"
DECODE_OPTIONS: Mapping[str, str] = {
    "mode": f"{FAILFAST}, {PERMISSIVE}",
    "reader": "latest, union, a version's number",
    "avroschema": "the reader's text",
    "avroschemaevolutionmode": f"none, {RESTART}",
    "recursivefieldmaxdepth": "a number",
}
"""Options of `from_avro` in lower case, and what they may be."""
ENCODE_OPTIONS: Mapping[str, str] = {REGISTER: "true, false"}
"""Options of `to_avro`, and what they may be."""
FRAMES = "_treaty_frames"
"""What the column of frames is called while a view is made."""
SHORT = 60
"""Characters of a column's name that the name of what is made of it repeats."""
NEW_ID = "the id %d came after this query was planned: start it again, and it is read"
SCHEMA_BEGINS = frozenset('{["')
"""Characters with which an Avro schema begins, and no subject."""
DEFAULT_DEPTH = DecodeOptions().depth


def from_avro(
    data: Column | str,
    jsonFormatSchema: Column | str | None = None,  # noqa: N803 - so it is called there
    options: Mapping[str, str] | None = None,
    subject: Column | str | None = None,
    schemaRegistryAddress: Registry | str | None = None,  # noqa: N803 - so it is called there
    *,
    registry: Registry | str | None = None,
) -> Column:
    """The record of each frame of a column: the subject's schemas are the writers, its latest (or another `reader`) the
    reader.

    Names and order of the arguments are those of Databricks' function, and without a subject it is Spark's own; texts
    may be ``lit`` of a text. `registry` is another name for `schemaRegistryAddress`, and both take an address or an
    open registry. `jsonFormatSchema` is the reader's text. The column is called ``from_avro(DATA)``. Options, in any
    case: ``mode`` is ``FAILFAST`` (the default: a bad row ends the query) or ``PERMISSIVE`` (it is null); ``reader`` is
    ``latest``, ``union`` or a version's number, and ``avroSchema`` the reader's text; with ``avroSchemaEvolutionMode``
    as ``restart`` a row of an id that came after the plan ends the query, even where other bad rows are null;
    ``recursiveFieldMaxDepth`` is the depth of recursive records; those that begin with ``confluent.schema.registry.``
    are settings for the address. Raises what `make_plan` raises, and `PlanError` for options that are none.
    """
    own_options, settings = split_options(options)
    text = (
        jsonFormatSchema if jsonFormatSchema is None or isinstance(jsonFormatSchema, str) else _text(jsonFormatSchema)
    )
    if subject is None:
        return _decode_plainly(data, text, options, registry or schemaRegistryAddress)
    chosen = _read_options(own_options, text)
    name = subject if isinstance(subject, str) else _text(subject)
    with open_registry(_registry(registry, schemaRegistryAddress), settings) as client:
        plan = make_plan(client, name, reader=chosen.reader, depth=chosen.depth)
    if plan.format != "AVRO":
        raise PlanError(f"{name} is {plan.format}, not AVRO; decode(frame, make_plan(registry, {name!r})) reads it")
    if plan.engine == COUNTING_ENGINE:
        raise PlanError(
            f"a few bytes of {name} may claim very many values, which a column can't count (limit AVRO_FREE_VALUES); "
            f"decode(frame, make_plan(registry, {name!r})) counts them"
        )
    fit_to_names(plan, SparkSession.active(), is_analyzed=False)
    value = F.col(data) if isinstance(data, str) else data
    return _decode_column(plan, value, chosen, name).alias(f"from_avro({_name_of(data)})")


def _decode_column(plan: DecodePlan, value: Column, chosen: "_ColumnOptions", name: str) -> Column:
    """The records of a column; what becomes of bad rows is chosen by options."""
    record = decode_record(plan, value)
    if chosen.mode == FAILFAST:
        why = F.raise_error(F.concat(F.lit(f"no record of {name}: "), F.hex(F.substring(value, 1, 32))))
        record = F.coalesce(record, F.when(value.isNotNull(), why))
    if chosen.is_restarting:
        is_known = map_frame_id(value, dict.fromkeys(plan.known, True))
        is_late = has_magic(value) & (F.length(value) >= 5) & is_known.isNull()
        record = F.when(is_late, F.raise_error(F.format_string(NEW_ID, read_signed_id(value)))).otherwise(record)
    return record


def _decode_plainly(
    data: Column | str, text: str | None, options: Mapping[str, str] | None, registry: Registry | str | None
) -> Column:
    """Spark's own function, for rows without frames. Raises `PlanError` where rows with frames were meant."""
    if text is None:
        raise PlanError(
            "neither a subject nor a schema is named: subject=, or jsonFormatSchema= for rows without frames"
        )
    if registry:
        raise PlanError(
            "a registry is given and no subject: name one, or leave the registry out for rows without frames"
        )
    if is_word(text):
        raise PlanError(
            f"jsonFormatSchema is {text!r}, which is no schema: a subject is given by name, subject={text!r}"
        )
    return plain(data, text, dict(options or {})).alias(f"from_avro({_name_of(data)})")


@dataclass(frozen=True, slots=True)
class _ColumnOptions:
    """What options of `from_avro` say."""

    reader: str | int
    mode: str
    depth: int
    is_restarting: bool


def _read_options(options: Mapping[str, str], text: str | None) -> _ColumnOptions:
    refuse_unknown(options, DECODE_OPTIONS)
    mode, evolution = options.get("mode", FAILFAST).upper(), options.get("avroschemaevolutionmode", "none").lower()
    depth = options.get("recursivefieldmaxdepth", str(DEFAULT_DEPTH))
    invalid = f"mode {options.get('mode')!r}" if mode not in {FAILFAST, PERMISSIVE} else ""
    invalid = invalid or (f"avroSchemaEvolutionMode {evolution!r}" if evolution not in {"none", RESTART} else "")
    invalid = invalid or (f"recursiveFieldMaxDepth {depth!r}" if not depth.isdecimal() else "")
    if invalid:
        allowed = DECODE_OPTIONS[invalid.partition(" ")[0].lower()]
        raise PlanError(f"{invalid} is unknown; allowed: {allowed}")
    readers = {"jsonFormatSchema": text, "avroSchema": options.get("avroschema"), "reader": options.get("reader")}
    named = [one for one, value in readers.items() if value]
    if len(named) > 1:
        raise PlanError(f"the reader is given twice: by {' and '.join(named)}; leave one of them out")
    reader = readers[named[0]] if named else None
    chosen = int(reader) if reader and reader.isdecimal() else reader or "latest"
    return _ColumnOptions(chosen, mode, int(depth), evolution == RESTART)


def _name_of(data: Column | str) -> str:
    """What a column is called, cut where that is long."""
    name = data if isinstance(data, str) else str(data).removeprefix("Column<'").removesuffix("'>")
    return name if len(name) <= SHORT else f"{name[:SHORT]}…"


def to_avro(
    data: Column | str,
    subject: Column | str | None = None,
    schemaRegistryAddress: Registry | str | None = None,  # noqa: N803 - so it is called there
    jsonFormatSchema: str | None = None,  # noqa: N803 - so it is called there
    options: Mapping[str, str] | None = None,
    *,
    registry: Registry | str | None = None,
) -> Column:
    """A column as registry frames of a subject's latest version, or of the text `jsonFormatSchema`, which must be a
    version.

    Names and order of the arguments are those of Databricks' function. `registry` is another name for
    `schemaRegistryAddress`, and both take an address or an open registry; the subject may be ``lit`` of a text. As in
    Spark's function, a schema's text may be the second argument: then no subject is named. The column is called
    ``to_avro(DATA)``. Spark's own `to_avro` writes: it fills in no defaults and widens no numbers, a row that the
    schema can't hold ends the query, and null stays null. `to_registry` does better. Without a subject it is Spark's
    own function. `options`: with ``register`` as ``true`` a text that is no version becomes one; those that begin with
    ``confluent.schema.registry.`` are settings for the address.

    Raises `PlanError` for options that are none and for subjects that are not Avro, `NotFound` for a subject or a text
    that is not there, `Incompatible` where a new version is refused, and `Unavailable`.
    """
    if isinstance(subject, str) and subject.lstrip()[:1] in SCHEMA_BEGINS and jsonFormatSchema is None:
        subject, jsonFormatSchema = None, subject  # noqa: N806 - as above
    called = f"to_avro({_name_of(data)})"
    if subject is None:
        if registry or schemaRegistryAddress or options:
            raise PlanError(
                "a registry or options are given and no subject: name one, or leave them out for rows without frames"
            )
        return plainly(data, jsonFormatSchema or "").alias(called)
    own_options, settings = split_options(options)
    refuse_unknown(own_options, ENCODE_OPTIONS)
    register = own_options.get(REGISTER, "false").lower()
    if register not in {"true", "false"}:
        raise PlanError(f"{REGISTER} = {register!r} is unknown; allowed: {ENCODE_OPTIONS[REGISTER]}")
    name = subject if isinstance(subject, str) else _text(subject)
    with open_registry(_registry(registry, schemaRegistryAddress), settings) as client:
        target = _target(client, name, jsonFormatSchema, register=register == "true")
    if target.format != "AVRO":
        raise PlanError(f"{name} is {target.format}, not AVRO; to_registry(frame, registry, {name!r}) writes it")
    return F.concat(F.lit(encode_id(target.schema_id)), plainly(data, print_schema(target.schema))).alias(called)


def _text(column: Column) -> str:
    """The text that a column of no frame is. Raises `PlanError` for any other: the subject must be known before the
    first row.
    """
    try:
        row = SparkSession.active().sql("SELECT 1").select(column).first()
    except AnalysisException:
        row = None
    if row is None or not isinstance(row[0], str):
        raise PlanError(f"the subject is {column}, which is known by row only: give a text, or lit() of one")
    return row[0]


def _target(registry: Registry, subject: str, text: str | None, *, register: bool) -> RegisteredSchema:
    """The schema to write with."""
    place = subject_of(subject)
    if text is None:
        return registry_queries.find_version(registry, place)
    if register:
        version = registry.ask(Register(place, Draft(text))).answer.version
    else:
        version = registry.ask(Lookup(place, Draft(text))).answer
    schema = registry_queries.find_schema(registry, version.schema_id, place.context)
    if schema is None:
        raise PlanError(f"{subject} has no schema with id {version.schema_id}")
    return schema


def _registry(registry: Registry | str | None, named: Registry | str | None) -> Registry | str:
    """The one registry that is given, itself or by its address."""
    if registry is not None and named is not None:
        raise PlanError("the registry is given twice: by registry, and by schemaRegistryAddress; leave one of them out")
    chosen = named if registry is None else registry
    if chosen is None or chosen == "":
        raise PlanError("no registry is given to look up the subject: give a registry, or schemaRegistryAddress=")
    return chosen


def view(
    frame: DataFrame,
    registry: Registry | str,
    subject: str,
    name: str,
    *,
    reader: str | int = "union",
    column: str = "value",
    names: Names = NAMES,
) -> DataFrame:
    """Make a temporary view of a frame's rows, decoded: one column per field, the frame's others, and ``error``.

    `frame` may be a topic, files or a table; with a stream the view is a stream. `names` are those of what is added.
    Returns what the view shows. Raises what `make_plan` and `decode` raise.
    """
    require_frames(frame, column)
    plan = fit_to_session(make_plan(registry, subject, reader=reader), frame.sparkSession)
    # The frames go, so a field of the record may have their name.
    decoded = decode(frame.withColumnRenamed(column, FRAMES), plan, column=FRAMES, names=names, flatten=True).drop(
        FRAMES
    )
    decoded.createOrReplaceTempView(name)
    return decoded
