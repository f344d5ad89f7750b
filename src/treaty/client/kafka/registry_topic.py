"""The topic of a Confluent registry (``_schemas``): read as an image, and written so that such a registry can start
on it.

A write is compared first with the content of the topic. Existing records are not changed, so an interrupted export can
be run again.
"""

from dataclasses import dataclass, replace

import msgspec

from treaty.client.kafka.consumer import read_records
from treaty.client.kafka.producer import OutgoingRecord, RecordProducer
from treaty.client.kafka.topics import ensure_compacted
from treaty.client.transfer.dump import MarkBody, mark_body, mark_of
from treaty.client.transfer.plan import ImportPlan, make_plan
from treaty.client.transfer.registry_image import (
    ImageBuilder,
    ProblemList,
    RecordExtras,
    RegistryImage,
    TransferProblem,
    list_marked_records,
    records,
)
from treaty.client.transfer.registry_reader import ReportProgress, ignore_progress
from treaty.core.kafka import KafkaCluster
from treaty.core.limits import DUMP_LINE_BYTES
from treaty.core.names import subject_of
from treaty.wire.confluent.records import RecordError, context_record, record_of, version_record

STEP = 1000
"""Records between two reports of progress."""
HEADER = "treaty"
"""The header with facts that a record has no member for, as in dumps; other registries ignore it."""
Last = tuple[bytes, bytes]
"""A record's value, and its header's content."""
_mark = msgspec.json.Decoder(MarkBody)


@dataclass(frozen=True, slots=True)
class TopicExport:
    """The result of an export: records of the image, records written (or that would be), and problems."""

    records: int
    written: int
    problems: tuple[TransferProblem, ...] = ()
    """At most TRANSFER_PROBLEMS of them."""
    more_problems: int = 0
    """Problems that are only counted."""


def read_topic(cluster: KafkaCluster, topic: str, report: ReportProgress = ignore_progress) -> RegistryImage:
    """Read the topic of a registry up to its current end; unreadable records become problems. Raises
    `KafkaClientError`.
    """
    return _read_image(cluster, topic, report)[0]


def _read_image(cluster: KafkaCluster, topic: str, report: ReportProgress) -> tuple[RegistryImage, dict[bytes, Last]]:
    """Return the image, and the last record of every key."""
    folding, last = ImageBuilder(), dict[bytes, Last]()
    count = 0
    for record_read in read_records(cluster, topic):
        if record_read is None:
            continue
        count += 1
        if count % STEP == 0:
            report("records", count, 0)
        where = f"offset {record_read.offset}"
        if record_read.key is None or len(record_read.value or b"") > DUMP_LINE_BYTES:
            why = (
                "it has no key"
                if record_read.key is None
                else f"longer than the limit DUMP_LINE_BYTES of {DUMP_LINE_BYTES}"
            )
            folding.refuse(where, "a record", why)
            continue
        beside = next((content for name, content in record_read.headers if name == HEADER), b"")
        try:
            record = record_of(record_read.key, record_read.value)
            folding.add(record, where)
            if beside:
                folding.mark(mark_of(record, _mark.decode(beside)))
        except (RecordError, msgspec.MsgspecError) as error:
            folding.refuse(where, "a record", str(error))
        except RecursionError:
            folding.refuse(where, "a record", "not JSON that can be read: it is nested too deep")
        else:
            last.pop(record_read.key, None)
            if record_read.value is not None:
                last[record_read.key] = (record_read.value, beside)
    return folding.image(), last


def write_topic(
    image: RegistryImage,
    cluster: KafkaCluster,
    topic: str,
    *,
    dry_run: bool = False,
    report: ReportProgress = ignore_progress,
) -> TopicExport:
    """Write an image to the topic of a registry; a missing topic is created (compacted, one partition).

    A version or id that belongs to another schema there is a problem and is not overwritten. Raises `KafkaClientError`
    for a topic that is not compacted or has more than one partition.
    """
    image = replace(image, exact=False, groups=(), facts={}, hidden=())  # a topic has no place for them
    exists = ensure_compacted(cluster, topic, dry_run=dry_run)
    target, last = _read_image(cluster, topic, ignore_progress) if exists else (RegistryImage(), {})
    plan = make_plan(image, target)
    fresh, total = _find_missing(image, plan, last)
    if dry_run:
        conflicts = ProblemList(plan.conflicts)
        return TopicExport(total, len(fresh), tuple(conflicts.kept), conflicts.more)
    problems = ProblemList(plan.conflicts)

    def note_lost(name: str, why: str) -> None:
        problems.add(TransferProblem(name, "not written", why))

    with RecordProducer(cluster, note_lost) as sender:
        for at, (key, value, beside) in enumerate(fresh, 1):
            headers = ((HEADER, beside),) if beside else ()
            sender.send(OutgoingRecord(topic, key, value, headers), key.decode())
            if at % STEP == 0:
                report("records", at, len(fresh))
    return TopicExport(total, sender.sent, tuple(problems.kept), problems.more)


def _find_missing(
    image: RegistryImage, plan: ImportPlan, last: dict[bytes, Last]
) -> tuple[list[tuple[bytes, bytes, bytes]], int]:
    """Return the records to write, and the number of records of the image. Records that the plan leaves out exist in
    another form or are in conflict; only their extra header may be missing.
    """
    carriers = _carriers(image)
    planned = replace(
        image,
        versions=(*(one for wave in plan.waves for one in wave), *plan.deletions),
        configs=plan.configs,
        modes=plan.modes,
        associations=plan.associations,
    )
    written = {key for key, _ in records(planned)}
    refused = {one.where for one in plan.conflicts}
    conflicting = {version_record(one)[0] for one in image.versions if f"{one.subject} version {one.number}" in refused}
    fresh: list[tuple[bytes, bytes, bytes]] = []
    total = 0
    for key, value, mark in list_marked_records(replace(image, highest=())):
        if value is None:
            continue
        total += 1
        more = carriers.get(key)
        if more is not None:
            mark = replace(mark or RecordExtras(), context=more.context, highest_id=more.highest_id)  # noqa: PLW2901 - the same, completed
        beside = b"" if mark is None else msgspec.json.encode(mark_body(mark))
        stored = last.get(key)
        if key in written:
            fresh += [] if stored == (value, beside) else [(key, value, beside)]
        elif stored is not None and key not in conflicting and beside not in {b"", stored[1]}:
            fresh.append((key, stored[0], beside))
    return fresh, total


def _carriers(image: RegistryImage) -> dict[bytes, RecordExtras]:
    """Return the records that carry the highest ids of contexts: the last version of a context, or the context itself."""
    carriers: dict[bytes, RecordExtras] = {}
    for context, highest in image.highest:
        inside = [one for one in image.versions if subject_of(one.subject).context == context]
        key = version_record(inside[-1])[0] if inside else context_record(context)[0]
        carriers[key] = RecordExtras(context=context, highest_id=highest)
    return carriers
