"""Planted functions: bugs that are more than other text inside one function. A row of the table names one as `swap`."""

import asyncio

from treaty.core.schema_engine import (
    CompareSchemas,
    DescribeDifferences,
    DescribeValidators,
    FindEntries,
    FindTags,
    InspectSchema,
    NameVersion,
    ParseSchema,
    Question,
    ResolvedSchema,
    RetagSchema,
    ValidateValue,
)
from treaty.core.state.commit import Append, make_append, roots_after
from treaty.log.kafka.single_writer.log import SingleWriterLog
from treaty.log.kafka.single_writer.records import END_KEY, make_transaction
from treaty.log.kafka.single_writer.state import CompactedState
from treaty.log.log import AppendResult
from treaty.node.batch import MemberReason
from treaty.node.follower import Follower
from treaty.node.queued_command import SentState, UnseenCommit
from treaty.node.writer import Writer

_commit, _round = SingleWriterLog._commit, Writer._round


def key_by_guid(question: Question) -> tuple[str, bytes, bytes, tuple[str, ...]]:
    match question:
        case ParseSchema(meaning, strict, normalize):
            return (f"parse {strict} {normalize}", _guid(meaning), b"", ())
        case CompareSchemas(reader, writer, policy):
            return (policy, _guid(reader), _guid(writer), ())
        case DescribeDifferences(old, new, sent):
            return (f"differences {sent}", _guid(old), _guid(new), ())
        case FindEntries():
            return ("search", repr(question).encode(), b"", ())
        case DescribeValidators(validators):
            return ("validators", b"", b"", validators)
        case InspectSchema(meaning, validators):
            return ("inspect", _guid(meaning), b"", validators)
        case ValidateValue(meaning, value):
            return ("value", _guid(meaning), value, ())
        case FindTags(meaning):
            return ("tags", _guid(meaning), b"", ())
        case NameVersion(meaning, sent, subject, type_name, schemes):
            return ("names", _guid(meaning), repr((sent, subject, type_name)).encode(), schemes)
        case RetagSchema(meaning, add, remove, lenient):
            return ("retag", _guid(meaning), repr((add, remove, lenient)).encode("utf-8", "backslashreplace"), ())


def _guid(meaning: ResolvedSchema) -> bytes:
    named = [(one.name, one.subject, one.version) for one in meaning.bindings]
    return f"{meaning.format} {meaning.text} {named}".encode()


async def round_of_two(self: Writer) -> None:
    if self._conflicts:
        await _round(self)
        return
    batch = await self._decide_batch(self._queue.take(1))
    if not batch.commits:
        await self._refresh(batch)
        return
    rows = [encoded for encoded, _ in batch.rows]
    roots = roots_after(self._follower.tables, rows)
    append = make_append(batch.base, self._environment.random(16), tuple(batch.commits), roots)
    barrier = self._follower.begin()
    sent = SentState(UnseenCommit(batch.base.sequence, append.last))
    for command, _, reason in batch.members:
        if reason is MemberReason.WRITES:
            command.send(sent)
    first = asyncio.create_task(self._log.append(append))
    self._follower.tables.apply(rows, append.position)
    second = await self._decide_batch(self._queue.take(self._size))
    flight = await self._append(second)
    try:
        fate = await first
    except OSError:
        fate = AppendResult.CONFLICT
    await self._follower.catch_up()
    if fate is AppendResult.ACCEPTED:
        await self._land(batch, append.position, barrier)
    else:
        self._conflicts += 1
        await self._reply_from_outcomes(batch)
    if flight is not None and flight.fate is AppendResult.ACCEPTED:
        await self._land(second, flight.append.position, flight.barrier)
    else:
        self._queue.requeue_first(second.commands)


async def catch_up_forward(self: Follower) -> None:
    self._counts.looks += 1
    tip = await self._log.tip()
    if self.position.sequence < tip.sequence or self.position.identity != tip.identity:
        await self.reach(tip)
    self.tip, self.caught_up_at = tip, self._environment.now()


async def commit_seen_at_once(self: SingleWriterLog, append: Append, state: CompactedState) -> AppendResult:
    committed = await self._producer.commit(make_transaction(append), state.end)
    if not committed or self._reader.state is not state or state.position.digest != append.parent:
        self._fenced_generation = None
        self._unsettled = not committed
        return AppendResult.UNKNOWN if not committed else await _commit(self, append, state)
    *rows, (key, value) = make_transaction(append)
    assert key == END_KEY
    state._pending, state._pending_count = dict(rows), len(rows)
    state._add_end_record(value, state.offset)
    return AppendResult.ACCEPTED
