"""Cancelling a migration: the old log accepts writes again, and the log that it was moved to never gives an id more.

A log that became whole may have given ids. So it is sealed first, if it was not written since the move. If it was, or
cannot be reached, the id counters of the old log are raised.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from treaty.core.limits import COUNTER
from treaty.core.state.commit import START, roots_of
from treaty.core.state.rows import EncodedRow, Row, decode_row, encode_row
from treaty.core.state.state_tables import IDS_SPARED, KINDS_FOR_EVER
from treaty.core.state.values import Counter, LogOrigin
from treaty.log.log import Log, LogDelta
from treaty.log.maintenance.migration import change_log, find_origin, find_seal, make_seal_row
from treaty.log.maintenance.restore import LOG_LOCAL_TABLES, ORIGIN, RestoreError, raise_counter


async def cancel_migration(source: Log, target: Log | None, *, time: int, gap: int = 0) -> LogOrigin | None:
    """Unseal a log; return its seal, or None where it has none. Cut off, it is begun again and goes through.

    `target` is the log that it was moved to: it is sealed first. With a `gap` its commits since the move are given up, or
    it is None: then the id counters of `source` are raised by the gap, and above those of `target`.

    Raises `RestoreError` where `target` is missing, is another log or was written since and no gap is given, and as
    `append_to_state` does.
    """
    before = await source.read(START)
    seal = find_seal(before)
    if seal is None:
        return None
    highest: Mapping[str, int] = {}
    if target is not None and seal.successor:
        cancelled = _CancelledMigration(source.url, before, seal, target.url, has_gap=gap > 0)
        closed = await change_log(target, lambda now: cancelled.close(now, time), time)
        highest = _id_counters(closed.rows)
    elif seal.successor and not gap:
        raise RestoreError(
            f"log {seal.successor} at {seal.url} may have given ids since the migration of {source.url}, and both logs would give "
            f"the same ones: name it, so that it is closed: `treaty log migrate {source.url} {seal.url} --cancel`. If it is "
            "lost for good, give a --gap above the number of ids that it gave"
        )

    def unseal(now: LogDelta) -> list[EncodedRow]:
        if find_seal(now) != seal:
            raise RestoreError(f"the seal of {source.url} was changed meanwhile: run the command again")
        raised = (
            [*_raise_ids(now, highest, gap), _note_gap(now, replace(seal, url=source.url), gap)]
            if gap and seal.successor
            else []
        )
        return [make_seal_row(None), *raised]

    await change_log(source, unseal, time)
    return seal


@dataclass(frozen=True, slots=True)
class _CancelledMigration:
    """A migration that became whole, and the state that the old log was left with."""

    source: str
    """URL of the old log."""
    before: LogDelta
    seal: LogOrigin
    target: str
    """URL that is said to have the new log."""
    has_gap: bool
    """Whether commits of the new log are given up."""

    def close(self, now: LogDelta, time: int) -> list[EncodedRow]:
        """The seal of the new log, given its state; nothing where it has it."""
        identity = now.tip.identity.hex()
        own, other = self.before.tip.identity.hex(), find_seal(now)
        self._refuse_other_log(now)
        if other is not None and other.successor != own:
            self._refuse(
                f"was migrated to {other.url}, where ids are given now: cancel that migration first, or start the nodes there"
            )
        if not self.has_gap and _state_roots(now) != _state_roots(self.before):
            self._refuse(
                f"was written since (it ends at sequence {now.tip.sequence}): its commits would be lost, and its ids given again. "
                f"Move it on with `treaty log migrate {self.target} NEW`, or give its commits up with a --gap"
            )
        if other is not None:
            return []
        place = (identity, now.tip.sequence, now.tip.digest.hex())
        return [make_seal_row(LogOrigin(*place, time, 0, self.source, successor=own))]

    def _refuse_other_log(self, now: LogDelta) -> None:
        identity = now.tip.identity.hex()
        if identity != self.seal.successor:
            target_state = f"log {identity}" if now.tip != START else "empty"
            self._refuse(
                f"{self.target} is {target_state}: name the log of the migration. If it is lost for good, leave it out and give a --gap "
                "above the number of ids that it gave",
                ", and ",
            )

    def _refuse(self, reason: str, joint: str = ", which ") -> NoReturn:
        raise RestoreError(f"{self.source} was migrated to log {self.seal.successor} at {self.seal.url}{joint}{reason}")


def _state_roots(delta: LogDelta) -> Mapping[str, int]:
    """What the rows of each table add to the state root, without those that say something of the log itself."""
    return roots_of(row for row in delta.rows if row.table not in LOG_LOCAL_TABLES)


def _id_counters(rows: Iterable[EncodedRow]) -> dict[str, int]:
    """The counters of schema and encoding ids by the text of their keys."""
    decoded = ((row.key, decode_row(row)) for row in rows if row.table == "counter")
    return {
        text: row.value.highest
        for text, row in decoded
        if isinstance(row.value, Counter) and row.key[0] in KINDS_FOR_EVER
    }


def _raise_ids(now: LogDelta, highest: Mapping[str, int], gap: int) -> list[EncodedRow]:
    """The counters of a log, raised by a gap and at least to the highest that another log gave under each; and what ids of
    new contexts and subjects begin after.
    """
    spared = encode_row(Row("counter", IDS_SPARED, None)).key
    own = _id_counters(now.rows)
    unknown = max([gap, *(id_ for text, id_ in highest.items() if text not in own)])
    raised = []
    for row in now.rows:
        higher = raise_counter(row, max(gap, highest.get(row.key, 0) - own.get(row.key, 0)))
        if higher is not None and row.key != spared:
            raised.append(higher)
    spared_number = Counter(min(own.get(spared, 0) + unknown, COUNTER))
    return [*raised, encode_row(Row("counter", IDS_SPARED, spared_number))]


def _note_gap(now: LogDelta, seal: LogOrigin, gap: int) -> EncodedRow:
    """The origin of a log whose ids have a gap more."""
    origin = find_origin(now, ORIGIN) or replace(seal, gap=0, successor="")
    return encode_row(Row("log_origin", ORIGIN, replace(origin, gap=origin.gap + gap)))
