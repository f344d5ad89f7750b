"""Making and extending decode plans: from a registry's answers to a `DecodePlan`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from treaty.core.finding import Finding
from treaty.core.limits import DECODE_WRITERS
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.registry import Registry
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.model import Array, Map, Record, Reference, Schema, Type, Union
from treaty.spark.plan import asking
from treaty.spark.plan.asking import Known
from treaty.spark.plan.bounds import bounded
from treaty.spark.plan.columns import columns, ddl
from treaty.spark.plan.fitting import Fitted, Hidden, fit
from treaty.spark.plan.flat import is_null
from treaty.spark.plan.merging import MergeError, merge_two
from treaty.spark.plan.value import DecodePlan, Layout, Rejected, Repair, Writer
from treaty.spark.plan.weaving import weave

RESOLUTION = "RESOLUTION"
WRONG_SUBJECT = "WRONG_SUBJECT"


class PlanError(ValueError):
    """No plan can be made: the sentence says what is missing and what would help."""


def make_plan(
    registry: Registry,
    subject: str | None = None,
    *,
    reader: str | int = "latest",
    ids: Iterable[int] = (),
    depth: int = 3,
    engine: str = "spark",
) -> DecodePlan:
    """Plan the decoding of one subject's frames, or of any with the given ids.

    `reader` is ``latest``, ``union`` (all versions merged), a version number, or a schema text. All versions of the
    subject are writers; `ids` are further ids to resolve: those that no registry entry explains are left out, so their
    rows stay UNKNOWN_ID. A recursive reader is opened `depth` levels deep.

    Raises `PlanError` without a reader or writer, `NotFound` for a subject or version that does not exist,
    `InvalidSchemaError` for a reader text that is none, and `Unavailable` where the registry can't say now.
    """
    place = subject_of(subject) if subject else None
    known = list(asking.versions(registry, place)) if place else []
    strangers, rejected = _resolve(registry, place, sorted(set(ids) - {one.schema_id for one in known}))
    known += strangers
    if len({one.schema_id for one in known}) > DECODE_WRITERS:
        raise PlanError(f"{len(known)} schema ids in one plan, more than the limit DECODE_WRITERS of {DECODE_WRITERS}")
    for one in known:
        if one.schema is None:
            rejected.append(Rejected(one.schema_id, RESOLUTION, f"id {one.schema_id} is {one.format}, not AVRO"))
    wanted, losers = _reader(registry, place, reader, known)
    plan = compose([one for one in known if one.schema], wanted, depth)
    return replace(
        plan,
        subject=subject or "",
        reader_name=str(reader) if reader in {"latest", "union"} or isinstance(reader, int) else "given",
        rejected=_once((*rejected, *losers, *plan.rejected)),
        engine=engine,
    )


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
    registry: Registry, place: Subject | None, reader: str | int, known: Sequence[Known]
) -> tuple[Schema, list[Rejected]]:
    """The reader schema, and the versions that have no part in a union."""
    if isinstance(reader, str) and reader not in {"latest", "union"}:
        return asking.parsed(reader), []
    if place is None:
        raise PlanError("without a subject there is no 'latest' and no 'union': give the reader's schema as text")
    live = [one for one in known if one.schema and (one.live or reader == "union")]
    if isinstance(reader, int):
        chosen = asking.version(registry, place, reader).schema
    elif live and reader == "latest":
        chosen = live[-1].schema
    elif live:
        return _union(live)
    else:
        chosen = None
    if chosen is None:
        raise PlanError(f"{place} has no Avro version that could be the reader")
    return chosen, []


def _union(known: Sequence[Known]) -> tuple[Schema, list[Rejected]]:
    merged, losers = known[0].schema, []
    assert merged is not None
    for one in known[1:]:
        assert one.schema is not None
        try:
            merged = merge_two(merged, one.schema)
        except MergeError as wrong:
            losers.append(
                Rejected(one.schema_id, RESOLUTION, f"version {one.version} has no part in the union: {wrong}")
            )
    return merged, losers


def compose(known: Iterable[Known], reader: Schema, depth: int = 3) -> DecodePlan:
    """The plan for these writers and this reader, without a registry. Raises `PlanError` if no writer can be read."""
    opened = bounded(reader, depth)
    writers: list[Writer] = []
    fitted: list[Fitted] = []
    rejected: list[Rejected] = []
    for one in {one.schema_id: one for one in known}.values():
        assert one.schema is not None
        shape = fit(one.schema, opened, f"w{len(writers)}")
        findings = (*compare(reader, one.schema), *shape.findings)
        if findings:
            rejected.append(Rejected(one.schema_id, RESOLUTION, _told(one, findings)))
        else:
            writers.append(Writer(one.schema_id, one.subject, one.version, print_schema(one.schema)))
            fitted.append(shape)
    if not writers:
        reasons = "; ".join(one.message for one in rejected[:3]) or "no schema ids are known"
        raise PlanError(f"no rows can be decoded: {reasons}. Register a version first, or choose another reader")
    woven = weave(fitted, opened)
    repairs = tuple(_repairs(opened, writers, fitted))
    return DecodePlan(
        subject="",
        reader_name="given",
        reader=print_schema(reader),
        type=ddl(opened.root, opened.names),
        columns=columns(opened),
        writers=tuple(writers),
        rejected=tuple(rejected),
        repairs=repairs,
        layouts=tuple(_layouts(opened, repairs)),
        writer_text=woven.writer,
        reader_text=woven.reader,
        union=woven.union,
        tail=woven.tail,
        whole=woven.whole,
        depth=depth,
    )


def _told(one: Known, findings: Sequence[Finding]) -> str:
    told = [finding.told(reader="reader", writer=f"version {one.version}") for finding in findings]
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    return f"id {one.schema_id} ({one.subject} version {one.version}) cannot be read: {told[0]}{more}"


def _once(rejected: Iterable[Rejected]) -> tuple[Rejected, ...]:
    first: dict[int, Rejected] = {}
    for one in rejected:
        first.setdefault(one.schema_id, one)
    return tuple(first.values())


def _repairs(reader: Schema, writers: Sequence[Writer], fitted: Sequence[Fitted]) -> Iterable[Repair]:
    """Every place of the reader where a hidden field stands, with the ids that fill it."""
    users: dict[Hidden, list[int]] = {}
    for writer, one in zip(writers, fitted, strict=True):
        for secret in one.hidden:
            users.setdefault(secret, []).append(writer.schema_id)
    if not users:
        return
    for path, record in _records(reader, reader.root, ()):
        for secret, ids in users.items():
            if secret.record == record.full:
                kind = next(field.type for field in record.fields if field.name == secret.field)
                yield Repair(path, secret.field, secret.name, tuple(ids), secret.how, ddl(kind, reader.names))


def _layouts(reader: Schema, repairs: Sequence[Repair]) -> Iterable[Layout]:
    paths = {one.path[:end] for one in repairs for end in range(len(one.path) + 1)}
    if not paths:
        return
    for path, record in _records(reader, reader.root, ()):
        if path in paths:
            yield Layout(path, tuple(field.name for field in record.fields))


def _records(reader: Schema, node: Type, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Record]]:
    match node:
        case Reference():
            found = reader.names[node.full]
            if isinstance(found, Record):
                yield path, found
                for field in found.fields:
                    yield from _records(reader, field.type, (*path, field.name))
        case Array():
            yield from _records(reader, node.items, (*path, "[]"))
        case Map():
            yield from _records(reader, node.values, (*path, "{}"))
        case Union():
            parts = [part for part in node.branches if not is_null(part)]
            for place, part in enumerate(parts):
                yield from _records(reader, part, path if len(parts) == 1 else (*path, f"member{place}"))


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
    return make_plan(
        registry, plan.subject or None, reader=wanted, ids=plan.known.union(found), depth=plan.depth, engine=plan.engine
    )
