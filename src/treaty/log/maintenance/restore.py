"""Restore: makes a new log from a dump, with its own identity and its origin.

It is written in several appends. Until the last one a row marks the log as incomplete, and nodes do not serve it; an
interrupted restore can be run again. Id counters are raised by a gap, so that ids assigned by the old log after the
dump are not assigned again.
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from treaty.core.limits import COUNTER, RESTORE_BYTES, RESTORE_GAP
from treaty.core.state.commit import START, Commit, Position, RowDigests, add_share, make_append, roots_of
from treaty.core.state.rows import EncodedRow, Row, decode_row, encode_row
from treaty.core.state.state_tables import IDS_SPARED, KINDS_FOR_EVER
from treaty.core.state.values import Counter, LogOrigin
from treaty.log.log import AppendResult, Log, LogDelta, LogUnavailableError
from treaty.log.maintenance.dump import DumpHead
from treaty.log.state_roots import ROOT_REMEDY, has_stated_root

RESTORING = ("restoring",)
"""Key of the `log_origin` row of a log that is not whole yet."""
ORIGIN = ("origin",)
"""Key of the `log_origin` row that says where a log comes from."""
SUCCESSOR = ("successor",)
"""Key of the `log_origin` row of a log that was moved elsewhere; nothing is written to it any more."""
TRIES = 20
"""Times that one append is tried while the log can't be reached, or other writers come first."""


class RestoreError(Exception):
    """A log that can't take a dump; the message says why and what to do."""


class ConcurrentWriteError(RestoreError):
    """Somebody else wrote to the log meanwhile."""


ProgressCallback = Callable[[int], None]
"""Receives the number of rows written."""
CompletionCheck = Callable[[Position], Awaitable[None]]
"""Receives the end of a log that has all rows, before the append that makes it whole; raises where it may not be."""


def ignore_progress(_: int) -> None:
    """Ignores progress."""


async def restore_log(
    log: Log,
    head: DumpHead,
    rows: Iterable[EncodedRow],
    *,
    time: int,
    gap: int = RESTORE_GAP,
    progress: ProgressCallback = ignore_progress,
    confirm: CompletionCheck | None = None,
) -> Position:
    """Write a dump into an empty log, or into one where the same restore was cut off; return the end of the new log.

    `rows` is read while it is written: where it turns out damaged at its end the log stays unfinished, and refused.
    Raises `RestoreError`, what `rows` and `confirm` raise, `LogUnavailableError` and `LogDamagedError`.
    """
    mark = LogOrigin(
        head.position.identity.hex(), head.position.sequence, head.position.digest.hex(), time, gap, head.log_url
    )
    position, log_rows = await _begin_restore(log, mark)
    roots = dict(roots_of(log_rows.values()))
    written = 0
    for batch in _split_batches(_prepare_rows(rows, gap)):
        for row in batch:  # each comes once: a dump is in order, and a log has a row under a key
            before = log_rows.pop((row.table, row.key), None)
            add_share(roots, row.table, row.digest - (before.digest if before else 0))
        position = await append_rows(log, position, batch, dict(roots), time)
        written += len(batch)
        progress(written)
    if confirm is not None:
        await confirm(position)
    last = (Row("log_origin", ORIGIN, mark), Row("log_origin", RESTORING, None))
    return await append_rows(log, position, [encode_row(row) for row in last], roots, time)


async def _begin_restore(log: Log, mark: LogOrigin) -> tuple[Position, dict[tuple[str, str], EncodedRow]]:
    """Mark an empty log as one that is being restored, and return its end and its rows; one with another mark, or with
    rows of its own, is refused.
    """
    delta = await log.read(START)
    log_rows = {(row.table, row.key): row for row in delta.rows}
    if delta.tip == START:
        return await append_rows(log, START, [encode_row(Row("log_origin", RESTORING, mark))], {}, mark.time), log_rows
    begun = _refuse_used_log(log, delta)
    if (begun.identity, begun.sequence, begun.digest, begun.gap) != (
        mark.identity,
        mark.sequence,
        mark.digest,
        mark.gap,
    ):
        raise RestoreError(
            f"another restore into {log.url} was cut off (of sequence {begun.sequence} of log {begun.identity}, with gap "
            f"{begun.gap}): continue with that dump, or take a new place"
        )
    refuse_wrong_root(log, delta)
    return delta.tip, log_rows


async def refuse_used_log(log: Log) -> Position:
    """Return the end of a log; raise `RestoreError` for one with rows of its own, where no restore was cut off."""
    delta = await log.read(START)
    if delta.tip != START:
        _refuse_used_log(log, delta)
    return delta.tip


def _refuse_used_log(log: Log, delta: LogDelta) -> LogOrigin:
    """The mark of a restore that was cut off."""
    mark = next((decode_row(row).value for row in delta.rows if (row.table, row.key) == _RESTORING), None)
    if isinstance(mark, LogOrigin):
        return mark
    raise RestoreError(
        f"{log.url} is not empty (it ends at sequence {delta.tip.sequence}): a dump is restored into a new log; give an empty database, or a new file or topic"
    )


def refuse_wrong_root(log: Log, delta: LogDelta) -> None:
    """Raise `RestoreError` where the rows of a log are not those that it states: a commit on them would state that they
    are.
    """
    if not has_stated_root(delta):
        raise RestoreError(
            f"the rows of {log.url} do not come to the state root that it states at sequence {delta.tip.sequence}: {ROOT_REMEDY}"
        )


_RESTORING = (encode_row(Row("log_origin", RESTORING, None)).table, encode_row(Row("log_origin", RESTORING, None)).key)


LOG_LOCAL_TABLES = frozenset({"log_origin", "snapshot"})
"""State tables that say something of the log that they are in, and mean nothing in another one."""


def _prepare_rows(rows: Iterable[EncodedRow], gap: int) -> Iterator[EncodedRow]:
    """The rows as the new log has them: counters of schema and encoding ids raised, and what is about the old log
    itself left out.

    Contexts that the dump does not know may have been made after it: their ids begin after the gap too.
    """
    spared = bool(gap)
    for row in rows:
        if row.table in LOG_LOCAL_TABLES:
            continue
        if row.table == "counter" and gap:
            raised = raise_counter(row, gap)
            if raised is not None:
                spared = spared and decode_row(row).key != IDS_SPARED
                yield raised
                continue
        yield row
    if spared:
        yield encode_row(Row("counter", IDS_SPARED, Counter(min(gap, COUNTER))))


def raise_counter(row: EncodedRow, gap: int) -> EncodedRow | None:
    """The row of a counter of schema or encoding ids, raised by a gap; None for any other row."""
    if row.table != "counter":
        return None
    decoded = decode_row(row)
    if not isinstance(decoded.value, Counter) or decoded.key[0] not in KINDS_FOR_EVER:
        return None
    return encode_row(
        Row("counter", decoded.key, replace(decoded.value, highest=min(decoded.value.highest + gap, COUNTER)))
    )


def _split_batches(rows: Iterable[EncodedRow]) -> Iterator[list[EncodedRow]]:
    batch: list[EncodedRow] = []
    size = 0
    for row in rows:
        length = len(row.table) + len(row.key) + len(row.value or "")
        if batch and size + length > RESTORE_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch


async def append_rows(
    log: Log, base: Position, rows: list[EncodedRow], roots: Mapping[str, int], time: int
) -> Position:
    """Append rows as one commit on a base that no other writer may have left; `roots` is what each table adds after it.

    Raises `ConcurrentWriteError` where somebody has, and `LogUnavailableError` where the log stays away.
    """
    reason: Exception | None = None
    sent: set[Position] = set()
    for _ in range(TRIES):
        append = make_append(base, os.urandom(16), (Commit(base.sequence + 1, tuple(rows), "", time),), roots)
        try:
            result = await log.append(append)
        except LogUnavailableError as error:
            reason = error
            continue
        if result is AppendResult.ACCEPTED:
            return append.position
        sent.add(append.position)
        tip = await log.tip()
        if tip in sent:
            return tip
        if tip != base:
            raise ConcurrentWriteError(
                f"another process writes to {log.url} (it is at sequence {tip.sequence}): stop all nodes, then try again"
            )
    raise reason or LogUnavailableError(f"{log.url}: no append could be settled in {TRIES} tries")


async def append_to_state(log: Log, delta: LogDelta, rows: list[EncodedRow], time: int) -> Position:
    """Append rows as one commit on a whole state that was read, and state the root of its rows with these.

    Raises `RestoreError` where the state is not what the log states, and as `append_rows` does.
    """
    refuse_wrong_root(log, delta)
    return await append_rows(log, delta.tip, rows, compute_roots_with(delta, rows), time)


def compute_roots_with(delta: LogDelta, rows: Iterable[EncodedRow]) -> Mapping[str, int]:
    """Return what each table adds when some rows have come to a whole state; tombstones take rows away."""
    digests = RowDigests(delta.rows)
    digests.put(rows)
    return digests.roots
