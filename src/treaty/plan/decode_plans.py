"""Making and extending decode plans: which versions are writers, which are left out (columns of one name), and which is read without a
framing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from typing import Unpack

from treaty.core.limits import DECODE_WRITERS
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.registry import Registry
from treaty.core.schema_engine import ResolvedSchema
from treaty.plan import registry_queries
from treaty.plan.addresses import open_registry
from treaty.plan.ddl import find_free_name, struct_ddl
from treaty.plan.encodings import find_encodings
from treaty.plan.errors import RESOLUTION, WRONG_SUBJECT, PlanError, drop_twins, reject_schema
from treaty.plan.format_plans import SHAPES, RecordType, RecordTypes
from treaty.plan.frame_format import PRAVEGA, Encodings, as_encoding, encodings_of
from treaty.plan.heads import framing_of
from treaty.plan.options import DecodeChoices, DecodeOptions
from treaty.plan.planners import PLANNERS, FormatPlanner, find_planner
from treaty.plan.readers import ReaderChoice, choose_reader
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.strictness import NAMED, check_engine, find_case_twins, refuse_foreign, show_twins
from treaty.plan.types.wide import widen_columns
from treaty.plan.value import DecodePlan, RejectedSchema


def make_plan(
    registry: Registry | str,
    subject: str | None = None,
    *,
    reader: str | int = "latest",
    ids: Iterable[int] = (),
    engine: str = "",
    schema_type: str = "",
    framing: str | Encodings = "prefix",
    case_sensitive: bool = True,
    before: DecodePlan | None = None,
    **choices: Unpack[DecodeChoices],
) -> DecodePlan:
    """Plan the decoding of one subject's frames, or of any with the given ids; `registry` may be the address of a
    server.

    `reader` is ``latest``, ``union`` (all versions merged), a version number, or a schema text. For several record
    types in one stream it is ``types`` (a struct per type), ``wide`` (their columns side by side) or ``variant`` (one
    VARIANT column); then `subject` may contain ``*`` for any text, and each type is read as the union of its versions.

    All versions of the subject are writers. `ids` are further schema ids; those unknown to the registry are left out,
    and their rows are UNKNOWN_ID. The format is that of the latest version; without a subject it is `schema_type`
    (default: Avro). `choices` are fields of `DecodeOptions`: `depth`, `lossy`, `message`, `defaults`, `unknown`,
    `validate`, `rest`, `encoding`.

    `framing` is ``prefix`` or one of `treaty.plan.heads.HEADS`; with ``none`` all rows have the schema of the reader. With
    ``pravega`` the subject is a group, and `ids` are further encoding ids beside those that the group has; a table of
    encodings (encoding id: schema id and codec) is this framing too. `engine` is the decode engine, one of
    `treaty.plan.value.ENGINES`; the first one of a format is the default. Avro whose
    payloads may claim very many values in a few bytes is read by the engine that counts them, whichever is named. Tables have no two columns whose names differ in case alone:
    unless `case_sensitive`, a version with which the plan would have such names has no part in it, and its rows are RESOLUTION.

    `before` is the plan of the same subject and reader that this one follows. What it reads is read alike by this one: columns of a
    union stay, whatever was deleted or imported since, and a newer version that could not be read beside them has no part.

    Raises `PlanError` without a reader or writer and for an option that the format does not have, `NotFound` for a
    missing subject or version, `InvalidSchemaError` for an invalid reader text, and `Unavailable` if the registry does
    not answer.
    """
    name = str(reader) if reader in NAMED or isinstance(reader, int) else "given"
    last = before if before and (before.subject, before.reader_name) == (subject or "", name) else None
    with open_registry(registry) as opened:
        place = subject_of(subject) if subject else None
        if framing == PRAVEGA and place is not None:
            framing, ids = find_encodings(opened, place, ids), ()
        encoded = () if isinstance(framing, str) else (as_encoding(one).schema_id for one in framing.values())
        writers, rejected = _list_known(opened, place, {*ids, *encoded}, mixed=reader in SHAPES)
        planner = _planner(writers, (schema_type or "AVRO") if place is None else "")
        if schema_type not in {"", planner.format}:
            raise PlanError(f"schema_type = {schema_type!r}, and {subject} is {planner.format}; leave it out")
        refuse_foreign(choices, planner.format)
        options = DecodeOptions(**choices)

        def compose(some: list[RegisteredSchema]) -> DecodePlan:
            chosen = ReaderChoice(opened, place, reader, planner, options, last)
            return _compose_plan(chosen, some, framing=framing)

        plan = compose(writers) if case_sensitive else _compose_without_twins(compose, writers, reader, last)
    return replace(
        plan,
        subject=subject or "",
        reader_name=name,
        rejected=drop_twins((*rejected, *plan.rejected)),
        case_sensitive=case_sensitive,
    ).with_engine(check_engine(engine, plan.format, plan.engine))


def _list_known(
    registry: Registry, place: Subject | None, ids: AbstractSet[int], *, mixed: bool
) -> tuple[list[RegisteredSchema], list[RejectedSchema]]:
    """Return the subject's versions and the schemas of further ids; ids of another subject are rejected."""
    schemas = list(_writers(registry, place, mixed=mixed)) if place else []
    foreign, rejected = _resolve(registry, place, sorted(ids - {one.schema_id for one in schemas}))
    schemas += foreign
    if len({one.schema_id for one in schemas}) > DECODE_WRITERS:
        raise PlanError(
            f"{len(schemas)} schema ids in one plan, more than the limit DECODE_WRITERS of {DECODE_WRITERS}"
        )
    return schemas, rejected


def _compose_plan(chosen: ReaderChoice, schemas: list[RegisteredSchema], *, framing: str | Encodings) -> DecodePlan:
    """Return the plan of the format's planner, with framing and rejected ids."""
    planner, reader, options = chosen.planner, chosen.reader, chosen.options
    rejected: list[RejectedSchema] = []
    for schema in schemas:
        if schema.format != planner.format:
            sentence = f"id {schema.schema_id} is {schema.format}, not {planner.format}"
            rejected.append(RejectedSchema(schema.schema_id, RESOLUTION, sentence))
    own = [one for one in schemas if one.format == planner.format]
    if framing == "none":
        own = _select_version(own, reader)
    losers: list[RejectedSchema] = []
    if reader in SHAPES:
        plan = shape_plan(*planner.types(own, options), str(reader), options.message)
    else:
        reader_schema, losers = choose_reader(chosen, own)
        lost = {one.schema_id for one in losers}
        plan = planner.compose([one for one in own if one.schema_id not in lost], reader_schema, options)
    return replace(
        plan,
        rejected=drop_twins((*rejected, *losers, *plan.rejected)),
        framing=framing_of(framing, own if framing == "none" else schemas),
    )


def _compose_without_twins(
    compose: Callable[[list[RegisteredSchema]], DecodePlan],
    schemas: list[RegisteredSchema],
    reader: str | int,
    before: DecodePlan | None,
) -> DecodePlan:
    """The plan of the versions with which no two of its names differ in case alone; the others are rejected.

    Of a union it is the first version that brings such a name that has no part, whichever others follow: so a plan has the same columns whether or
    not it was made before that version came. What the plan `before` reads has a part. Raises `PlanError` where the plan has such names whatever is left out.
    """
    sure = {one.schema_id for one in before.writers} if before and not before.case_sensitive else set[int]()
    plan = compose(schemas)
    twins = find_case_twins(plan.engine_type)
    if not twins or reader != "union":
        return _leave_out_twins(compose, schemas, reader, sure, plan)
    first, _ = _find_first_twin(compose, schemas, sure, twins)
    for end in range(first, len(schemas)):  # what the plan of these versions reads has a part in that of the next ones
        with suppress(PlanError):
            some = schemas[:end]
            sure |= {one.schema_id for one in _leave_out_twins(compose, some, reader, sure, compose(some)).writers}
    return _leave_out_twins(compose, schemas, reader, sure, plan)


def _leave_out_twins(
    compose: Callable[[list[RegisteredSchema]], DecodePlan],
    schemas: list[RegisteredSchema],
    reader: str | int,
    sure: AbstractSet[int],
    plan: DecodePlan,
) -> DecodePlan:
    """The plan without the versions that bring names that differ in case alone, but for those of the `sure` ids; `plan` is that of all."""
    remaining, rejected = list(schemas), list[RejectedSchema]()
    while twins := find_case_twins(plan.engine_type):
        if reader == "latest":
            at = max(
                (at for at, version in enumerate(remaining) if version.live and version.format == plan.format),
                default=-1,
            )
        else:
            at, twins = _find_first_twin(compose, remaining, sure, twins)
        lost = remaining.pop(at)
        why = f"{show_twins(twins)}, and a table has one column for both. Give the field one spelling, with the other as an alias"
        rejected.append(reject_schema(lost, why))
        try:
            plan = compose(remaining)
        except PlanError as error:
            raise PlanError(
                f"no rows can be decoded into a table: {rejected[0].message}", (*rejected, *error.rejected)
            ) from error
    return replace(plan, rejected=drop_twins((*rejected, *plan.rejected)))


def _find_first_twin(
    compose: Callable[[list[RegisteredSchema]], DecodePlan],
    schemas: list[RegisteredSchema],
    sure: AbstractSet[int],
    twins: tuple[str, ...],
) -> tuple[int, tuple[str, ...]]:
    """The place of the version with which the plan of those up to it, and of the `sure` ids, first has names that differ in case alone, and these;
    `twins` are those of all.
    """
    places = [at for at, one in enumerate(schemas) if one.schema_id not in sure] or [*range(len(schemas))]
    low, high = 0, len(places) - 1
    while low < high:
        middle = (low + high) // 2
        try:
            some = [one for at, one in enumerate(schemas) if at <= places[middle] or one.schema_id in sure]
            new_twins = find_case_twins(compose(some).engine_type)
        except PlanError:
            new_twins = ()
        if new_twins:
            high, twins = middle, new_twins
        else:
            low = middle + 1
    return places[low], twins


def find_union_conflict(versions: Sequence[ResolvedSchema]) -> str:
    """Return why a reader of all versions (the oldest first) would leave out the last one; "" if it would not.

    Compatible versions may still have no common column type, which must hold the values of both. Raises
    `InvalidSchemaError`.
    """
    formats = {version.format for version in versions}
    planner = PLANNERS.get(versions[-1].format) if len(formats) == 1 and len(versions) > 1 else None
    if planner is None or not planner.divides:
        return ""
    schemas = [
        RegisteredSchema(place, DEFAULT_CONTEXT, place, planner.format, registry_queries.parse_resolved(version))
        for place, version in enumerate(versions, 1)
    ]
    reasons = {rejected.schema_id: rejected.message for rejected in planner.union(schemas, DecodeOptions())[1]}
    return reasons.get(len(schemas), "")


def _writers(registry: Registry, place: Subject, *, mixed: bool) -> Iterator[RegisteredSchema]:
    """Return all versions of a subject, or of all subjects that match a pattern."""
    if not mixed or "*" not in place.name:
        yield from registry_queries.list_versions(registry, place)
        return
    subjects = registry_queries.list_subjects(registry, place)
    if not subjects:
        raise PlanError(f"no subject is called {place}")
    count = 0
    for pattern_subject in subjects:
        for version in registry_queries.list_versions(registry, pattern_subject):
            yield version
            count += 1
        if count > DECODE_WRITERS:
            return  # refused by whoever counts them


def _select_version(schemas: Sequence[RegisteredSchema], reader: str | int) -> list[RegisteredSchema]:
    """The one schema of rows that say nothing about theirs: the reader's version, or the last one."""
    chosen = [one for one in schemas if one.version == reader] or [one for one in schemas if one.live][-1:]
    if reader in {"union", *SHAPES} or not chosen:
        raise PlanError("rows without a framing have one schema: let reader be its version, or latest")
    return chosen


def _planner(schemas: Sequence[RegisteredSchema], format_: str) -> FormatPlanner:
    format_name = format_ or next(
        (one.format for one in reversed(schemas) if one.live), schemas[-1].format if schemas else "AVRO"
    )
    return find_planner(format_name)


def _resolve(
    registry: Registry, place: Subject | None, ids: Sequence[int]
) -> tuple[list[RegisteredSchema], list[RejectedSchema]]:
    """What the registry knows of ids outside the subject's versions; with a subject they belong to others."""
    schemas, rejected = [], []
    for schema_id in ids:
        schema = (
            registry_queries.find_schema(registry, schema_id, place.context)
            if place
            else registry_queries.find_schema(registry, schema_id)
        )
        if schema is None:
            continue
        if place is None:
            schemas.append(schema)
            continue
        uses = ", ".join(
            f"{name} version {number}"
            for name, number in registry_queries.list_uses(registry, schema_id, place.context)
        )
        sentence = f"id {schema_id} is not a version of {place}; it is {uses or 'used nowhere'}"
        rejected.append(RejectedSchema(schema_id, WRONG_SUBJECT, sentence))
    return schemas, rejected


def extend(plan: DecodePlan, registry: Registry | str, ids: Iterable[int]) -> DecodePlan:
    """Return the plan with further ids, and with the current versions of the subject; the same plan if the registry
    knows none of the ids.

    What the plan reads is read alike by the longer one (see `before` of `make_plan`), so it does not matter in which order ids come.
    Raises `Unavailable` if the registry does not answer, and what `make_plan` raises.
    """
    with open_registry(registry) as opened:
        return _extend_with(plan, opened, ids)


def _extend_with(plan: DecodePlan, registry: Registry, ids: Iterable[int]) -> DecodePlan:
    context = subject_of(plan.subject).context if plan.subject else DEFAULT_CONTEXT
    is_group = plan.framing.name == PRAVEGA
    new = sorted(set(ids) - plan.known)
    encodings = (
        find_encodings(registry, subject_of(plan.subject), new, list_all=False) if is_group and plan.subject else {}
    )
    known_ids = [] if is_group else [one for one in new if registry_queries.find_schema(registry, one, context)]
    if not known_ids and not encodings:
        return plan
    reader: str | int = plan.reader
    if plan.reader_name in NAMED:
        reader = plan.reader_name
    elif plan.reader_name.isdigit():
        reader = int(plan.reader_name)
    longer = make_plan(
        registry,
        plan.subject or None,
        reader=reader,
        ids=() if is_group else plan.known.union(known_ids),
        schema_type="" if plan.subject else plan.format,
        framing={**encodings_of(plan.framing), **encodings} if is_group else plan.framing.name,
        case_sensitive=plan.case_sensitive,
        before=plan,
        **_choices(plan),
    )
    longer = replace(longer, key=plan.key)
    return longer.with_engine(plan.engine) if longer.format == plan.format else longer


def _choices(plan: DecodePlan) -> DecodeChoices:
    """What a plan was wished to be."""
    choices = DecodeChoices(depth=plan.depth) | plan.recipe.choices(dict(plan.columns))
    if plan.types:
        choices["message"] = plan.types.wanted
    return choices


MARKER, VARIANT = "record_type", "record"


def shape_plan(plan: DecodePlan, kinds: Sequence[RecordType], shape: str, named_types: str = "") -> DecodePlan:
    """The plan with the columns of this shape; the first one has the full name of a row's type.

    `named_types` are the types that the caller named.
    """
    marker = find_free_name(MARKER, {one.column.lower() for one in kinds})
    match shape:
        case "wide":
            columns = tuple((one.name, one.type) for one in widen_columns(kinds, marker))
        case "variant":
            columns = ((VARIANT, "VARIANT"),)
        case _:
            columns = tuple((one.column, one.type) for one in kinds)
    columns = ((marker, "STRING"), *columns)
    return replace(
        plan, columns=columns, type=struct_ddl(columns), types=RecordTypes(shape, marker, tuple(kinds), named_types)
    )
