"""Dumps of format 1: lines of JSON, a head, the rows, and an end with the SHA-256 of all lines before."""

import hashlib
import json
from collections.abc import Iterable

from treaty.core.limits import DUMP_LINE_BYTES
from treaty.log.upgrade.old import FORMAT, MODULUS, OldLogError, OldPlace, OldRow, OldState

KIND = "treaty log"


def read_dump(lines: Iterable[bytes], name: str) -> OldState:
    """Read a whole dump of format 1. Raises `OldLogError` where it is none, or not whole."""
    told, head, rows, total = hashlib.sha256(), None, [], 0
    for number, line in enumerate(lines, 1):
        value = _json(line, number, name)
        if head is None:
            head = _head(value, name)
        elif isinstance(value, list) and len(value) == 3 and all(isinstance(part, str) for part in value):
            row = OldRow(*value)
            rows.append(row)
            total = (total + row.share) % MODULUS
        elif isinstance(value, dict):
            if (value.get("end"), value.get("sha256")) != (len(rows), told.hexdigest()) or head["rows"] != len(rows):
                raise OldLogError(f"{name} was changed or cut: its last line does not fit; copy the dump again")
            if f"{total:064x}" != head["state"]:
                raise OldLogError(f"{name}: its rows do not come to the state digest that its head names")
            return OldState(name, _place(head, name), tuple(rows))
        else:
            raise OldLogError(f"{name}: line {number} is no row: a list of table, key and value")
        told.update(line)
    raise OldLogError(f"{name} was cut short after {len(rows)} rows; copy the dump again")


def _json(line: bytes, number: int, name: str) -> object:
    if len(line) > DUMP_LINE_BYTES:
        raise OldLogError(
            f"{name}: line {number} has {len(line)} bytes, at most {DUMP_LINE_BYTES} (DUMP_LINE_BYTES) are read"
        )
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise OldLogError(f"{name}: line {number} is no JSON: {error}") from None


def _head(value: object, name: str) -> dict[str, object]:
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise OldLogError(f"{name} is no dump: it was not written by `treaty log dump`")
    if value.get("format") != FORMAT:
        raise OldLogError(
            f"{name} is a dump of format {value.get('format')}: only those of format {FORMAT} are upgraded"
        )
    return value


def _place(head: dict[str, object], name: str) -> OldPlace:
    try:
        return OldPlace(
            bytes.fromhex(str(head["identity"])), int(str(head["sequence"])), bytes.fromhex(str(head["digest"]))
        )
    except (KeyError, ValueError) as error:
        raise OldLogError(f"{name}: its head is damaged: {error!r}") from None
