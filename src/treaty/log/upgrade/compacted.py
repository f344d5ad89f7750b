"""Topics of format 1 with one owner: one record for each row, and a mark that ends every transaction. Pure."""

import json
from collections.abc import Iterable
from json import JSONDecodeError

from treaty.log.upgrade.old import EMPTY, FORMAT, OldAppend, OldLogError, OldPlace, OldRow, canonical

MARK = b'{"log":"sequence"}'
STRANGE = "?record"
"""The table under which a record stands that nobody of Treaty's wrote; its key is the record's, in hexadecimal."""

Keyed = tuple[bytes, bytes | None]
"""Key and value."""


def state_of(records: Iterable[Keyed]) -> tuple[OldPlace, tuple[OldRow, ...]]:
    """Return the end of the log that committed records come to, and its live rows. Raises `OldLogError`."""
    whole: dict[bytes, bytes | None] = {}
    waiting: dict[bytes, bytes | None] = {}
    here = EMPTY
    for key, value in records:
        if key == MARK:
            here = _moved(here, value)
            whole.update(waiting)
            waiting = {}
        else:
            waiting.pop(key, None)
            waiting[key] = value
    if here == EMPTY and waiting:
        raise OldLogError("it has records, but none says where a log ends: this is no log of format 1")
    return here, tuple(read_row(key, value) for key, value in whole.items() if value is not None)


def _moved(here: OldPlace, value: bytes | None) -> OldPlace:
    """The place that a mark says. Compaction takes marks away, but two of one log never contradict each other."""
    try:
        members = json.loads(value or b"")
        if members["v"] != FORMAT:
            raise OldLogError(
                f"the record that says where the log ends has format {members['v']}: this is no log of format 1"
            )
        identity, parent, digest = (bytes.fromhex(members[name]) for name in ("identity", "parent", "digest"))
        first, last = int(members["first"]), int(members["last"])
    except (KeyError, TypeError, ValueError) as error:
        raise OldLogError(f"the record that says where the log ends can't be read ({error!r})") from error
    if here != EMPTY and (
        identity != here.identity or first <= here.sequence or (first == here.sequence + 1 and parent != here.digest)
    ):
        raise OldLogError(f"the log holds two histories: sequence {first} does not follow {here.sequence}")
    return OldPlace(identity, last, digest)


def transaction(base: OldPlace, append: OldAppend, row: OldRow) -> list[Keyed]:
    """Return the records of an append of one row."""
    place = append.place
    members = {
        "attempt": append.attempt.hex(), "digest": place.digest.hex(), "first": place.sequence,
        "identity": place.identity.hex(), "last": place.sequence, "parent": base.digest.hex(), "rows": 1, "v": FORMAT,
    }  # fmt: skip
    key = f"[{canonical(row.table)},{row.key}]".encode("utf-8", "surrogatepass")
    value = None if row.value is None else row.value.encode("utf-8", "surrogatepass")
    return [(key, value), (MARK, canonical(members).encode())]


def read_row(key: bytes, value: bytes) -> OldRow:
    """Return the row that a record holds. Never fails: what is none of Treaty's is kept as it is."""
    table, text = _table_and_key(key)
    try:
        return OldRow(table, text, value.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return OldRow(table, text, canonical(value.hex()))


def _table_and_key(key: bytes) -> tuple[str, str]:
    try:
        text = key.decode("utf-8", "surrogatepass")
        table, end = json.JSONDecoder().raw_decode(text, 1)
        inner = text[end + 1 : -1]
        if type(table) is str and table != STRANGE and f"[{canonical(table)},{inner}]" == text:
            return table, inner
    except (ValueError, RecursionError, JSONDecodeError):
        pass
    return STRANGE, canonical([key.hex()])
