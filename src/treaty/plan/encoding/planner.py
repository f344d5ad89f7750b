"""From a schema and columns to a plan, for each format; no registry is asked."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from treaty.client.serializers.frames import encode_guid, encode_id
from treaty.client.serializers.message_indexes import encode_path
from treaty.client.serializers.protobuf import messages
from treaty.core.state.columns import Column
from treaty.formats.avro.canonical import print_schema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.format import FORMAT as JSON
from treaty.formats.protobuf.encoding.files import build_descriptor_set
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.ddl import type_ddl
from treaty.plan.encoding import avro, jsonschema, payloads, protobuf
from treaty.plan.encoding.column_pairs import pair_columns
from treaty.plan.encoding.options import EncodeOptions
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import PayloadFormatPlan
from treaty.plan.frame_format import PRAVEGA
from treaty.plan.heads import HEADS
from treaty.plan.payloads import choose_encoding, resolve_known
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.strictness import MEANT_FOR, PLUGINS


def compose(schema: RegisteredSchema, columns: Sequence[Column], options: EncodeOptions) -> EncodePlan:
    """The plan for rows of these columns under a schema. Raises `PlanError` with what does not go together."""
    composer = _COMPOSERS.get(schema.format, _payload)
    if schema.format in _COMPOSERS and options.encoding:
        raise PlanError(
            f"encoding = {options.encoding!r} is for {PLUGINS}, and the rows to write are {schema.format}; leave it out"
        )
    if options.message and schema.format != MEANT_FOR["message"]:
        raise PlanError(
            f"message = {options.message!r} is for PROTOBUF, and the rows to write are {schema.format}; leave it out"
        )
    if options.validate and schema.format != MEANT_FOR["validate"]:
        raise PlanError(f"{schema.format} is checked while it is written; only JSON is validated on request")
    plan = composer(schema, columns, options)
    if options.codec and options.framing != PRAVEGA:
        raise PlanError(f"codec = {options.codec!r} is for the framing {PRAVEGA}, and it is {options.framing}")
    return replace(plan, head=_front(schema, options).hex() + ("" if options.framing == PRAVEGA else plan.head))


def _front(schema: RegisteredSchema, options: EncodeOptions) -> bytes:
    """What stands before payloads and says their schema; with Pravega's framing nothing, until the encoding is known."""
    if options.framing in {PRAVEGA, "prefix"} or (options.framing == "header" and not schema.guid):
        return b"" if options.framing == PRAVEGA else encode_id(schema.schema_id)
    if options.framing == "header":
        return encode_guid(schema.guid)
    if not schema.schema_id:
        return b""  # a schema that is not registered yet
    front = HEADS[options.framing](schema)
    if front is None:
        raise PlanError(f"the framing {options.framing} is for AVRO, and the rows to write are {schema.format}")
    return front


def _plan(schema: RegisteredSchema, columns: Sequence[Column], options: EncodeOptions, **parts: object) -> EncodePlan:
    return EncodePlan(
        subject=schema.subject,
        version=schema.version,
        schema_id=schema.schema_id,
        format=schema.format,
        columns=tuple((one.name, type_ddl(one.type)) for one in columns),
        framing=options.framing,
        part=options.part,
        validate=options.validate,
        **{"head": "", **parts},  # type: ignore[arg-type]  # by name, from the functions below
    )


def _avro(schema: RegisteredSchema, columns: Sequence[Column], options: EncodeOptions) -> EncodePlan:
    fit = pair_columns(columns, avro.make_targets(schema.schema), schema.schema.root, options.lossy)
    return _plan(schema, columns, options, text=print_schema(schema.schema), fit=fit)


def _protobuf(schema: RegisteredSchema, columns: Sequence[Column], options: EncodeOptions) -> EncodePlan:
    paths = {name: path for path, name in messages(schema.schema).items()}
    name = options.message.removeprefix(".") or next(iter(paths), "")
    if name not in paths:
        had = ", ".join(sorted(paths)[:20]) or "none"
        raise PlanError(f"the schema has no message {name!r}; it has {had}")
    files = [one.SerializeToString(deterministic=True) for one in build_descriptor_set(schema.schema).file]
    try:
        descriptor = build_pool(schema.schema).FindMessageTypeByName(name)
    except InvalidSchemaError as error:
        raise PlanError(f"no rows are written: {error}") from error
    fit = pair_columns(columns, protobuf.make_targets(schema.schema), descriptor, options.lossy)
    stored = tuple(base64.b64encode(one).decode() for one in files)
    return _plan(
        schema, columns, options, text="", fit=fit, message=name, files=stored, head=encode_path(paths[name]).hex()
    )


def _json(schema: RegisteredSchema, columns: Sequence[Column], options: EncodeOptions) -> EncodePlan:
    find_target, root = jsonschema.make_targets(schema.schema)
    fit = pair_columns(columns, find_target, root, options.lossy)
    return _plan(schema, columns, options, text=JSON.show(schema.schema, False).resolved, fit=fit)


def _payload(schema: RegisteredSchema, columns: Sequence[Column], options: EncodeOptions) -> EncodePlan:
    """By the columns of a plug-in's format and its way to write values."""
    form = payloads.find_writable(schema.format)
    find_target, root = payloads.make_targets(payloads.derive_columns(form, schema.schema))
    fit = pair_columns(columns, find_target, root, options.lossy)
    meaning = resolve_known(form, schema)
    recipe = PayloadFormatPlan.make(choose_encoding(form, options.encoding), meaning, ())
    return _plan(schema, columns, options, text=meaning.text, fit=fit, recipe=recipe)


_COMPOSERS: Mapping[str, Callable[[RegisteredSchema, Sequence[Column], EncodeOptions], EncodePlan]] = {
    "AVRO": _avro,
    "PROTOBUF": _protobuf,
    "JSON": _json,
}
"""By format of this package."""
