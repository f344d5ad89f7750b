"""A registry's own topic (``_schemas``): read as a snapshot, and written so that a Confluent registry can start on it.

What is written is compared first with what the topic comes to: what stands there already is left alone, so an export that
was cut off is simply run again.
"""

from dataclasses import dataclass

from treaty.client.kafka.cluster import Cluster
from treaty.client.kafka.reading import read as read_records
from treaty.client.kafka.sending import Outgoing, Sender
from treaty.client.kafka.topics import compacted
from treaty.client.transfer.plan import Plan, make_plan
from treaty.client.transfer.reading import Told, silent
from treaty.client.transfer.snapshot import Folding, Problem, Snapshot, records
from treaty.core.limits import DUMP_LINE_BYTES
from treaty.wire.confluent.records import RecordError, record_of

STEP = 1000
"""Records after which a watcher is told."""


@dataclass(frozen=True, slots=True)
class Written:
    """What an export did: records of the snapshot, how many were written (or would be), and what was not."""

    records: int
    written: int
    problems: tuple[Problem, ...] = ()


def read_topic(cluster: Cluster, topic: str, told: Told = silent) -> Snapshot:
    """What a registry's topic comes to, up to its end as it is now; records that can't be read become problems.

    Raises `KafkaFailure`.
    """
    return _folded(cluster, topic, told)[0]


def _folded(cluster: Cluster, topic: str, told: Told) -> tuple[Snapshot, dict[bytes, bytes]]:
    """The snapshot, and the last value under every key."""
    folding, last = Folding(), dict[bytes, bytes]()
    count = 0
    for one in read_records(cluster, topic):
        if one is None:
            continue
        count += 1
        if count % STEP == 0:
            told("records", count, 0)
        where = f"offset {one.offset}"
        if one.key is None or len(one.value or b"") > DUMP_LINE_BYTES:
            why = "it has no key" if one.key is None else f"longer than the limit DUMP_LINE_BYTES of {DUMP_LINE_BYTES}"
            folding.problems.append(Problem(where, "a record", why))
            continue
        try:
            folding.add(record_of(one.key, one.value), where)
        except RecordError as wrong:
            folding.problems.append(Problem(where, "a record", str(wrong)))
        else:
            last.pop(one.key, None)
            if one.value is not None:
                last[one.key] = one.value
    return folding.snapshot(), last


def write_topic(
    snapshot: Snapshot, cluster: Cluster, topic: str, *, dry_run: bool = False, told: Told = silent
) -> Written:
    """Write a snapshot into a registry's topic, which is made (compacted, one partition) where it is missing.

    A place or an id that belongs to another schema there is a problem, and is not overwritten. Raises `KafkaFailure` for a
    topic that is not compacted or has more partitions.
    """
    there = compacted(cluster, topic, dry_run=dry_run)
    target, last = _folded(cluster, topic, silent) if there else (Snapshot(), {})
    plan = make_plan(snapshot, target)
    fresh = [(key, value) for key, value in records(_wanted(snapshot, plan)) if last.get(key) != value]
    total = sum(1 for _ in records(snapshot))
    if dry_run:
        return Written(total, len(fresh), plan.conflicts)
    problems = list(plan.conflicts)

    def lost(name: str, why: str) -> None:
        problems.append(Problem(name, "not written", why))

    with Sender(cluster, lost) as sender:
        for at, (key, value) in enumerate(fresh, 1):
            sender.send(Outgoing(topic, key, value), key.decode())
            if at % STEP == 0:
                told("records", at, len(fresh))
    return Written(total, sender.sent, tuple(problems))


def _wanted(snapshot: Snapshot, plan: Plan) -> Snapshot:
    """The snapshot without what the plan does not write; settings are compared by their records."""
    places = {(one.subject, one.number) for wave in plan.waves for one in wave}
    places |= {(one.subject, one.number) for one in plan.deletions}
    versions = tuple(one for one in snapshot.versions if (one.subject, one.number) in places)
    return Snapshot(versions, plan.configs, plan.modes, snapshot.contexts)
