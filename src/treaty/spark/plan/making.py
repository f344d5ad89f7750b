"""Making and extending decode plans: from a registry's answers to a `DecodePlan`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from treaty.core.limits import DECODE_WRITERS
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.registry import Registry
from treaty.spark.plan import asking
from treaty.spark.plan.heads import framing_of
from treaty.spark.plan.known import Known
from treaty.spark.plan.planners import PLANNERS, Planner
from treaty.spark.plan.reasons import RESOLUTION, WRONG_SUBJECT, PlanError, once
from treaty.spark.plan.recipes import ProtobufRecipe
from treaty.spark.plan.value import DecodePlan, Rejected
from treaty.spark.plan.wish import Wish


def make_plan(
    registry: Registry,
    subject: str | None = None,
    *,
    reader: str | int = "latest",
    ids: Iterable[int] = (),
    depth: int = 3,
    engine: str = "spark",
    schema_type: str = "AVRO",
    message: str = "",
    defaults: bool = False,
    framing: str = "prefix",
) -> DecodePlan:
    """Plan the decoding of one subject's frames, or of any with the given ids.

    `reader` is ``latest``, ``union`` (all versions merged), a version number, or a schema text. All versions of the
    subject are writers; `ids` are further ids to resolve: those that no registry entry explains are left out, so their
    rows stay UNKNOWN_ID. A recursive reader is opened `depth` levels deep. The format is that of the subject's last
    version, and `schema_type` where there is no subject; `message` names a Protobuf file's message (default: its first), and
    with `defaults` its fields that are not set have their default and not null.
    `framing` is what stands before the payloads: ``prefix``, or one of `treaty.spark.plan.heads.HEADS`; with ``none`` all
    rows have the version that is the reader. `engine` is what reads Avro: ``spark``, or ``fastavro`` where Spark has no Avro functions.

    Raises `PlanError` without a reader or writer, `NotFound` for a subject or version that does not exist,
    `InvalidSchemaError` for a reader text that is none, and `Unavailable` where the registry can't say now.
    """
    place = subject_of(subject) if subject else None
    known = list(asking.versions(registry, place)) if place else []
    strangers, rejected = _resolve(registry, place, sorted(set(ids) - {one.schema_id for one in known}))
    known += strangers
    if len({one.schema_id for one in known}) > DECODE_WRITERS:
        raise PlanError(f"{len(known)} schema ids in one plan, more than the limit DECODE_WRITERS of {DECODE_WRITERS}")
    planner = _planner(known, schema_type if place is None else "")
    for one in known:
        if one.format != planner.format:
            sentence = f"id {one.schema_id} is {one.format}, not {planner.format}"
            rejected.append(Rejected(one.schema_id, RESOLUTION, sentence))
    mine = [one for one in known if one.format == planner.format]
    if framing == "none":
        mine = _only(mine, reader)
    wish = Wish(depth, message, defaults)
    wanted, losers = _reader(registry, place, reader, mine, planner=planner, wish=wish)
    plan = planner.compose(mine, wanted, wish)
    return replace(
        plan,
        subject=subject or "",
        reader_name=str(reader) if reader in {"latest", "union"} or isinstance(reader, int) else "given",
        rejected=once((*rejected, *losers, *plan.rejected)),
        engine=engine if plan.format == "AVRO" else plan.engine,
        framing=framing_of(framing, mine if framing == "none" else known),
    )


def _only(known: Sequence[Known], reader: str | int) -> list[Known]:
    """The one schema of rows that say nothing about theirs: the reader's version, or the last one."""
    found = [one for one in known if one.version == reader] or [one for one in known if one.live][-1:]
    if reader == "union" or not found:
        raise PlanError("rows without a framing have one schema: let reader be its version, or latest")
    return found


def _planner(known: Sequence[Known], format_: str) -> Planner:
    wanted = format_ or next((one.format for one in reversed(known) if one.live), known[-1].format if known else "AVRO")
    found = PLANNERS.get(wanted)
    if found is None:
        raise PlanError(f"rows in the format {wanted} can't be decoded; those of {', '.join(sorted(PLANNERS))} can")
    return found


def _resolve(registry: Registry, place: Subject | None, ids: Sequence[int]) -> tuple[list[Known], list[Rejected]]:
    """What the registry knows of ids outside the subject's versions; with a subject they belong to others."""
    known, rejected = [], []
    for schema_id in ids:
        found = asking.by_id(registry, schema_id, place.context) if place else asking.by_id(registry, schema_id)
        if found is None:
            continue
        if place is None:
            known.append(found)
            continue
        others = ", ".join(
            f"{name} version {number}" for name, number in asking.uses(registry, schema_id, place.context)
        )
        sentence = f"id {schema_id} is not a version of {place}; it is {others or 'used nowhere'}"
        rejected.append(Rejected(schema_id, WRONG_SUBJECT, sentence))
    return known, rejected


def _reader(
    registry: Registry,
    place: Subject | None,
    reader: str | int,
    known: Sequence[Known],
    *,
    planner: Planner,
    wish: Wish,
) -> tuple[object, list[Rejected]]:
    """The reader schema, and the versions that have no part in a union."""
    if isinstance(reader, str) and reader not in {"latest", "union"}:
        return asking.model_of(planner.format, reader), []
    if place is None:
        raise PlanError("without a subject there is no 'latest' and no 'union': give the reader's schema as text")
    if isinstance(reader, int):
        chosen = asking.version(registry, place, reader)
        if chosen.format != planner.format:
            raise PlanError(
                f"version {reader} of {place} is {chosen.format}, and the rows to read are {planner.format}"
            )
        return chosen.schema, []
    live = [one for one in known if one.live or reader == "union"]
    if not live:
        raise PlanError(f"{place} has no {planner.format} version that could be the reader")
    return (live[-1].schema, []) if reader == "latest" else planner.union(live, wish)


def extend(plan: DecodePlan, registry: Registry, ids: Iterable[int]) -> DecodePlan:
    """The plan made anew with further ids; a reader that follows the subject follows it now.

    It is the same plan where the registry knows none of them. Raises `Unavailable` where it can't say now.
    """
    context = subject_of(plan.subject).context if plan.subject else DEFAULT_CONTEXT
    found = [one for one in sorted(set(ids) - plan.known) if asking.by_id(registry, one, context)]
    if not found:
        return plan
    wanted: str | int = plan.reader
    if plan.reader_name in {"latest", "union"}:
        wanted = plan.reader_name
    elif plan.reader_name.isdigit():
        wanted = int(plan.reader_name)
    mine = plan.recipe if isinstance(plan.recipe, ProtobufRecipe) else None
    return make_plan(
        registry,
        plan.subject or None,
        reader=wanted,
        ids=plan.known.union(found),
        depth=plan.depth,
        engine=plan.engine,
        schema_type=plan.format,
        message=mine.message if mine else "",
        defaults=mine is not None and mine.defaults,
        framing=plan.framing.name,
    )
