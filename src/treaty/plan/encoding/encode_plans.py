"""Making encode plans and dry runs, from a registry's answers and a frame's columns."""

from collections.abc import Sequence
from dataclasses import replace

from treaty.client.groups.codecs import MissingCodecError, find_codec
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.frames import encode_encoding
from treaty.core.messages.compatibility import Check
from treaty.core.messages.encodings import AssignEncoding, ListCodecs
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST
from treaty.core.messages.versions import GetVersion, Lookup
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound, Refusal
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Reference
from treaty.core.state.columns import Column
from treaty.formats.format import InvalidSchemaError
from treaty.plan import registry_queries
from treaty.plan.addresses import open_registry
from treaty.plan.encoding.derivation.texts import derive_text
from treaty.plan.encoding.dry_run import EncodeDryRun
from treaty.plan.encoding.options import ENCODE_DEFAULTS, EncodeOptions
from treaty.plan.encoding.planner import compose
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.plan.frame_format import PRAVEGA
from treaty.plan.registered_schema import RegisteredSchema


def make_encode_plan(
    registry: Registry | str, subject: str, columns: Sequence[Column], options: EncodeOptions = ENCODE_DEFAULTS
) -> EncodePlan:
    """Plan the encoding of rows with these columns for a subject; a schema that is to be registered is registered here.

    Asked again for the same columns it registers nothing: the schema is a version then. Raises `PlanError` where no row
    could be encoded, before anything is registered; `NotFound` for a version or schema that does not exist,
    `Incompatible` where a new one is refused, and `Unavailable`. `registry` may be the address of a server.
    """
    with open_registry(registry) as opened:
        place = subject_of(subject)
        schema = _find_schema(opened, place, columns, options)
        plan = compose(schema, columns, options)
        return _with_encoding(opened, place, plan, (schema.ordinal, options.codec)) if plan.framing == PRAVEGA else plan


def _with_encoding(registry: Registry, group: Subject, plan: EncodePlan, pair: tuple[int, str]) -> EncodePlan:
    """The plan with the encoding of a version, by its ordinal, and a codec. Raises `PlanError` for a codec that is not
    installed, and `CodecNotFound` where the group lacks it.
    """
    try:
        name = find_codec(pair[1]).name
    except MissingCodecError as missing:
        raise PlanError(str(missing)) from missing
    encoding_id = registry.ask(AssignEncoding(group, pair[0], name)).answer.encoding_id
    listed = registry.ask(ListCodecs(group)).answer.codecs if name else ()
    properties = next((one.properties for one in listed if one.name == name), ())
    return replace(plan, head=encode_encoding(encoding_id).hex(), codec=name, properties=properties)


def _find_schema(
    registry: Registry, place: Subject, columns: Sequence[Column], options: EncodeOptions
) -> RegisteredSchema:
    """The schema that rows are written with; a new one is registered here."""
    draft = make_draft(registry, place, columns, options)
    if draft is None:
        return registry_queries.find_version(registry, place, options.version)
    if options.register:
        compose(_candidate(registry, place, draft), columns, options)
        version = registry.ask(Register(place, draft)).answer.version
    else:
        version = registry.ask(Lookup(place, draft)).answer
    schema = registry_queries.find_schema(registry, version.schema_id, place.context)
    if schema is None:
        raise PlanError(f"{place} has no schema with id {version.schema_id}")
    return replace(schema, subject=version.subject, version=version.number, ordinal=version.ordinal)


def check_columns(
    registry: Registry | str, subject: str, columns: Sequence[Column], options: EncodeOptions = ENCODE_DEFAULTS
) -> EncodeDryRun:
    """What `make_encode_plan` would do, with the registry's reasons where it would refuse. Nothing is registered.

    Raises `NotFound` for a version that does not exist, and `Unavailable`.
    """
    with open_registry(registry) as opened:
        return _check_columns(opened, subject, columns, options)


def _check_columns(registry: Registry, subject: str, columns: Sequence[Column], options: EncodeOptions) -> EncodeDryRun:
    place = subject_of(subject)
    try:
        draft = make_draft(registry, place, columns, options)
    except PlanError as error:
        return EncodeDryRun(subject, "", "", problems=(str(error),))
    if draft is None:
        schema = registry_queries.find_version(registry, place, options.version)
        return _try_plan(
            schema, columns, options, EncodeDryRun(subject, schema.format, _text(schema), schema_id=schema.schema_id)
        )
    result = EncodeDryRun(subject, draft.format, draft.text)
    try:
        version = registry.ask(Lookup(place, draft)).answer
        result = replace(result, schema_id=version.schema_id)
    except (NotFound, Refusal):
        result = _check_draft(registry, place, draft, replace(result, registers=options.register))
    try:
        return _try_plan(_candidate(registry, place, draft), columns, options, result)
    except InvalidSchemaError as error:
        return replace(result, compatible=False, reasons=(str(error),))


def _check_draft(registry: Registry, place: Subject, draft: Draft, result: EncodeDryRun) -> EncodeDryRun:
    try:
        checked = registry.ask(Check(place, draft)).answer
    except NotFound:  # a subject without versions takes any schema that is one
        return result
    except Refusal as refused:
        return replace(result, compatible=False, reasons=(str(refused),))
    messages = tuple(one.message(reader="the new schema", writer="the version before") for one in checked.findings)
    return replace(
        result, compatible=checked.compatible, reasons=() if checked.compatible else messages or checked.messages
    )


def _try_plan(
    schema: RegisteredSchema, columns: Sequence[Column], options: EncodeOptions, result: EncodeDryRun
) -> EncodeDryRun:
    try:
        return replace(result, plan=compose(schema, columns, options))
    except PlanError as error:
        return replace(result, problems=(str(error),))


def make_draft(registry: Registry, place: Subject, columns: Sequence[Column], options: EncodeOptions) -> Draft | None:
    """The schema that is given or derived; None where a version of the subject is wanted."""
    if options.derive is None and not options.schema:
        if options.schema_type:
            raise PlanError(
                f"schema_type = {options.schema_type!r} is for a schema's text, and none is given; leave it out"
            )
        return None
    latest = _find_latest(registry, place)
    if options.derive is None:
        return Draft(options.schema, options.schema_type or (latest[0].format if latest else "AVRO"))
    return derive_text(columns, place, options.derive, *(latest or (None, ())))


def _find_latest(registry: Registry, place: Subject) -> tuple[RegisteredSchema, tuple[Reference, ...]] | None:
    try:
        version = registry.ask(GetVersion(place, LATEST)).answer
    except NotFound:
        return None
    return registry_queries.find_version(registry, place, version.number), version.references


def _candidate(registry: Registry, place: Subject, draft: Draft) -> RegisteredSchema:
    """A schema that may not be registered yet, under the id 0. Raises `InvalidSchemaError`."""
    meaning = fetch_resolved_schema(registry, draft.format, draft.text, draft.references, place)
    return RegisteredSchema(0, str(place), 0, draft.format, registry_queries.parse_resolved(meaning), meaning=meaning)


def _text(schema: RegisteredSchema) -> str:
    return schema.meaning.text if schema.meaning else ""
