"""Columns for those who come from elsewhere: the signatures of Databricks' `from_avro` and `to_avro`, and views.

The registry is asked once, on the driver, when the column is made. Better than these are `decode` and `to_registry`, which keep
the reasons of bad rows; here a bad row is null, or ends the query.
"""

from collections.abc import Mapping

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro as plain
from pyspark.sql.avro.functions import to_avro as plainly

from treaty.client.serializers.frames import encode_id
from treaty.core.names import subject_of
from treaty.core.registry import Registry
from treaty.core.requests import Lookup, Register
from treaty.core.schema import Draft
from treaty.formats.avro.canonical import print_schema
from treaty.plan import registry_queries
from treaty.plan.addresses import open_registry
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.rows import NAMES, Names
from treaty.spark.decode import decode
from treaty.spark.engines.avro import decode_envelope, is_good_envelope, read_envelope
from treaty.spark.explain import fit_to_session
from treaty.spark.frames import require_frames

FAILFAST, PERMISSIVE = "FAILFAST", "PERMISSIVE"
CONFLUENT = "confluent.schema.registry."
"""How options begin that are settings of the registry's client."""
KNOWN = frozenset({"mode", "reader"})
REGISTER = "register"
FRAMES = "_treaty_frames"
"""What the column of frames is called while a view is made."""


def from_avro(
    data: Column | str,
    subject: Column | str | None = None,
    registry: Registry | str | None = None,
    options: Mapping[str, str] | None = None,
    *,
    jsonFormatSchema: str | None = None,  # noqa: N803 - so it is called there
    schemaRegistryAddress: str | None = None,  # noqa: N803 - so it is called there
) -> Column:
    """The record of each frame of a column: the subject's schemas are the writers, its latest (or `reader`) the reader.

    As Databricks' own, it takes an address in place of a `registry` (or as `schemaRegistryAddress`), the subject as ``lit`` of a text too,
    and `jsonFormatSchema` as the reader's text. Without a subject it is Spark's own function. `options`: ``mode`` is ``FAILFAST`` (the default: a bad row ends the
    query) or ``PERMISSIVE`` (it is null); ``reader`` is ``latest``, ``union``, a version's number or a schema text; those that begin
    with ``confluent.schema.registry.`` are settings for the address. Raises what `make_plan` raises, and `PlanError` for options that are none.
    """
    given = dict(options or {})
    if subject is None:
        if jsonFormatSchema is None:
            raise PlanError(
                "neither a subject nor a schema is named: subject=, or jsonFormatSchema= for rows without frames"
            )
        if registry or schemaRegistryAddress:
            raise PlanError(
                "a registry is given and no subject: name one, or leave the registry out for rows without frames"
            )
        return plain(data, jsonFormatSchema, given)
    settings = {name: given.pop(name) for name in list(given) if name.startswith(CONFLUENT)}
    strange, mode = sorted(given.keys() - KNOWN), given.get("mode", FAILFAST)
    if strange or mode not in {FAILFAST, PERMISSIVE}:
        wrong = f"option {strange[0]!r}" if strange else f"mode {mode!r}"
        raise PlanError(f"{wrong} is unknown; options are mode ({FAILFAST}, {PERMISSIVE}), reader and {CONFLUENT}…")
    if jsonFormatSchema and "reader" in given:
        raise PlanError(
            "the reader is given twice: by jsonFormatSchema, and by the option reader; leave one of them out"
        )
    reader = jsonFormatSchema or given.get("reader", "latest")
    name = subject if isinstance(subject, str) else _text(subject)
    with open_registry(_registry(registry, schemaRegistryAddress), settings) as known:
        plan = make_plan(known, name, reader=int(reader) if reader.isdigit() else reader)
    if plan.format != "AVRO":
        raise PlanError(f"{name} is {plan.format}, not AVRO; decode(frame, make_plan(registry, {name!r})) reads it")
    value = F.col(data) if isinstance(data, str) else data
    made = decode_envelope(plan, value)
    found = F.when(is_good_envelope(plan, made), read_envelope(plan, made, value))
    if mode == PERMISSIVE:
        return found
    why = F.raise_error(F.concat(F.lit(f"no record of {name}: "), F.hex(F.substring(value, 1, 32))))
    return F.when(value.isNull() | is_good_envelope(plan, made), found).otherwise(F.when(value.isNotNull(), why))


def to_avro(
    data: Column | str,
    subject: Column | str | None = None,
    registry: Registry | str | None = None,
    jsonFormatSchema: str | None = None,  # noqa: N803 - so it is called there
    options: Mapping[str, str] | None = None,
    *,
    schemaRegistryAddress: str | None = None,  # noqa: N803 - so it is called there
) -> Column:
    """A column as registry frames of a subject's latest version, or of the text `jsonFormatSchema`, which must be a version.

    As Databricks' own, it takes an address in place of a `registry` (or as `schemaRegistryAddress`), and the subject as ``lit`` of a
    text too. Spark's own `to_avro` writes: it fills in no defaults and widens no numbers, a row that the schema can't hold ends
    the query, and null stays null. `to_registry` does better. Without a subject it is Spark's own function. `options`: with
    ``register`` as ``true`` a text that is no version becomes one; those that begin with ``confluent.schema.registry.`` are settings for the address.

    Raises `PlanError` for options that are none and for subjects that are not Avro, `NotFound` for a subject or a text that is
    not there, `Incompatible` where a new version is refused, and `Unavailable`.
    """
    if subject is None:
        if registry or schemaRegistryAddress or options:
            raise PlanError(
                "a registry or options are given and no subject: name one, or leave them out for rows without frames"
            )
        return plainly(data, jsonFormatSchema or "")
    given = dict(options or {})
    settings = {name: given.pop(name) for name in list(given) if name.startswith(CONFLUENT)}
    register = given.pop(REGISTER, "false")
    if given or register not in {"true", "false"}:
        wrong = f"option {min(given)!r}" if given else f"{REGISTER} = {register!r}"
        raise PlanError(f"{wrong} is unknown; options are {REGISTER} (true, false) and {CONFLUENT}…")
    name = subject if isinstance(subject, str) else _text(subject)
    with open_registry(_registry(registry, schemaRegistryAddress), settings) as found:
        known = _target(found, name, jsonFormatSchema, register=register == "true")
    if known.format != "AVRO":
        raise PlanError(f"{name} is {known.format}, not AVRO; to_registry(frame, registry, {name!r}) writes it")
    return F.concat(F.lit(encode_id(known.schema_id)), plainly(data, print_schema(known.schema)))


def _text(column: Column) -> str:
    """The text that a column of no frame is. Raises `PlanError` for any other: the subject must be known before the first row."""
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
        found = registry.ask(Register(place, Draft(text))).answer.version
    else:
        found = registry.ask(Lookup(place, Draft(text))).answer
    known = registry_queries.find_schema(registry, found.schema_id, place.context)
    if known is None:
        raise PlanError(f"{subject} has no schema with id {found.schema_id}")
    return known


def _registry(registry: Registry | str | None, named: str | None) -> Registry | str:
    """The one registry that is given, itself or by its address."""
    if registry and named:
        raise PlanError("the registry is given twice: by registry, and by schemaRegistryAddress; leave one of them out")
    found = registry or named
    if not found:
        raise PlanError("no registry is given to look up the subject: give a registry, or schemaRegistryAddress=")
    return found


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

    `frame` may be a topic, files or a table; with a stream the view is a stream. `names` are those of what is added. Returns what the
    view shows. Raises what `make_plan` and `decode` raise.
    """
    require_frames(frame, column)
    plan = fit_to_session(make_plan(registry, subject, reader=reader), frame.sparkSession)
    # The frames go, so a field of the record may have their name.
    shown = decode(frame.withColumnRenamed(column, FRAMES), plan, column=FRAMES, names=names, flatten=True).drop(FRAMES)
    shown.createOrReplaceTempView(name)
    return shown
