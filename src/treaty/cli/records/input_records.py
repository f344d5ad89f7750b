"""Input of `treaty produce`: JSON values, one per line or file, or complete records as `treaty consume --json` prints
them.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.cli.terminal.source import display_path, read_lines, read_text, refuse_second_stdin
from treaty.client.kafka.producer import ANY
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import Headers
from treaty.core.limits import VALUE_BYTES
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_text import read_json

MEMBERS = frozenset({"key", "value", "headers", "partition", "timestamp"})
PASSED = frozenset({"topic", "offset", "time", "key_schema", "value_schema"})
"""Members of `treaty consume --json` that are ignored for a new record."""
UNSET = object()


@dataclass(frozen=True, slots=True)
class InputRecord:
    """One input record; `name` is its place in the input. `key` is `UNSET` if the input has none."""

    name: str
    value: Any
    key: Any = UNSET
    headers: Headers = ()
    partition: int = ANY
    time: int = 0


@dataclass(frozen=True, slots=True)
class InvalidInput:
    """A part of the input that is not a record, and the reason."""

    name: str
    why: str


def read_records(paths: Sequence[str], *, records: bool) -> Iterator[InputRecord | InvalidInput]:
    """Yield the records of files: one value per line, or a single value in a file that ends in .json."""
    refuse_second_stdin(paths)
    for path in paths:
        if path.endswith(".json"):
            yield _parse_record(display_path(path), read_text(path, "VALUE_BYTES"), records=records)
            continue
        for number, line in enumerate(read_lines(path, "VALUE_BYTES"), 1):
            if line.strip():
                yield _parse_record(f"{display_path(path)}:{number}", line, records=records)


def _parse_record(name: str, text: str, *, records: bool) -> InputRecord | InvalidInput:
    try:
        value: Any = read_json(text, VALUE_BYTES)
        return _read_members(name, value) if records else InputRecord(name, value)
    except InvalidSchemaError as error:
        first = error.faults[0]
        column = f" (column {first.column})" if first.column else ""
        return InvalidInput(name, f"{first.message}{column}")
    except BadValueError as error:
        return InvalidInput(name, str(error))


def _read_members(name: str, value: Any) -> InputRecord:
    if not isinstance(value, dict) or "value" not in value:
        raise BadValueError('at /: not a record; expected {"value": …, "key": …, "headers": […]}')
    if "error" in value:
        raise BadValueError("at /error: this record could not be decoded when it was consumed")
    if unknown := sorted(value.keys() - MEMBERS - PASSED):
        raise BadValueError(f"at /{unknown[0]}: not a member of a record; allowed are {', '.join(sorted(MEMBERS))}")
    partition, time = value.get("partition"), value.get("timestamp")
    for member, number in (("partition", partition), ("timestamp", time)):
        if number is not None and not (type(number) is int and number >= 0):
            raise BadValueError(f"at /{member}: expected an integer of at least 0")
    return InputRecord(
        name,
        value["value"],
        value.get("key", UNSET),
        _parse_headers(value.get("headers") or []),
        ANY if partition is None else partition,
        time or 0,
    )


def _parse_headers(headers: Any) -> Headers:
    pairs = list(headers.items()) if isinstance(headers, dict) else headers
    if not isinstance(pairs, list) or any(not isinstance(one, list | tuple) or len(one) != 2 for one in pairs):
        raise BadValueError("at /headers: expected an object, or an array of [name, value]")
    return tuple((str(name), encode_bytes(content) or b"") for name, content in pairs)


def encode_bytes(value: Any) -> bytes | None:
    """Encode a key or value without a schema: a string as UTF-8, ``{"base64": …}`` as bytes, anything else as JSON."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dict) and value.keys() == {"base64"}:
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (TypeError, binascii.Error, ValueError):
            raise BadValueError("at /base64: not base64") from None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def find_member(value: Any, path: str) -> Any:
    """Return the member of a value at a dotted path. Raises `BadValueError` if there is none."""
    member = value
    for name in path.split("."):
        if not isinstance(member, dict) or name not in member:
            raise BadValueError(f"at /{path.replace('.', '/')}: the value has no such member to be the key")
        member = member[name]
    return member
