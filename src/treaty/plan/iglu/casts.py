"""Functions that make JSON values fit the columns of `columns`; what does not fit is refused with its place."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from treaty.plan.iglu.columns import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INT32,
    INT64,
    JSON,
    LONG,
    STRING,
    TIMESTAMP,
    FieldType,
    LeafType,
    ListType,
    ObjectType,
)

Cast = Callable[[Any], Any]
"""From a JSON value to one that Arrow takes for the column; raises `CastError`."""


class CastError(ValueError):
    """A value does not fit its column: `path` says where, such as ``.lines[2].price``."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


def make_cast(kind: FieldType) -> Cast:
    """The function that makes values fit a type; None stays None."""
    match kind:
        case LeafType():
            return _leaf(kind.kind)
        case ListType():
            inner = make_cast(kind.element)
            return lambda value: None if value is None else _cast_items(value, inner)
        case ObjectType():
            return _make_group(kind)


def _make_group(kind: ObjectType) -> Cast:
    fields = [(one.name, one.members[0], one.members[1:], make_cast(one.type), one.nullable) for one in kind.fields]

    def cast(value: Any) -> dict[str, Any] | None:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise CastError(f"{_show(value)} is no object")
        members = {}
        for name, member, other_members, inner, nullable in fields:
            if other_members and member not in value:
                member = next((one for one in other_members if one in value), member)  # noqa: PLW2901 (the member that is there)
            member_value = value.get(member)
            if member_value is None and not nullable:
                raise CastError("the value is missing, and its column takes no null", f".{member}")
            try:
                members[name] = inner(member_value)
            except CastError as error:
                raise CastError(str(error), f".{member}{error.path}") from None
        return members

    return cast


def _cast_items(value: Any, inner: Cast) -> list[Any]:
    if not isinstance(value, list):
        raise CastError(f"{_show(value)} is no array")
    items = []
    for place, item in enumerate(value):
        try:
            items.append(inner(item))
        except CastError as error:
            raise CastError(str(error), f"[{place}]{error.path}") from None
    return items


def _leaf(kind: str) -> Cast:
    if kind.startswith("DECIMAL"):
        precision, scale = map(int, kind.removeprefix("DECIMAL(").removesuffix(")").split(","))
        return lambda value: None if value is None else _cast_decimal(value, precision, scale)
    return _CASTS[kind]


def _cast_string(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise CastError(f"{_show(value)} is no string")


def _cast_boolean(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise CastError(f"{_show(value)} is no boolean")


def _make_integer(highest: int) -> Cast:
    def cast(value: Any) -> int | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise CastError(f"{_show(value)} is no integer")
        if not -highest - 1 <= value <= highest:
            raise CastError(f"{value} is out of range, allowed is {-highest - 1} to {highest}")
        return value

    return cast


def _cast_double(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CastError(f"{_show(value)} is no number")
    try:
        return float(value)
    except OverflowError:
        raise CastError("the number is out of the range of a double") from None


def _cast_decimal(value: Any, precision: int, scale: int) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CastError(f"{_show(value)} is no number")
    exact = Decimal(str(value))
    try:
        cut = exact.quantize(Decimal(1).scaleb(-scale))
    except InvalidOperation:
        cut = Decimal("NaN")
    if cut != exact or len(cut.as_tuple().digits) > precision:
        raise CastError(f"{value} does not fit DECIMAL({precision}, {scale}) exactly")
    return cut


def _cast_date(value: Any) -> date | None:
    text = _cast_string(value)
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise CastError(f"{_show(text)} is no date, such as 2026-01-31") from None


def _cast_timestamp(value: Any) -> datetime | None:
    text = _cast_string(value)
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text.replace("z", "Z"))
    except ValueError:
        raise CastError(f"{_show(text)} is no time, such as 2026-01-31T10:00:00Z") from None
    if time.tzinfo is None:
        raise CastError(f"{_show(text)} has no time zone")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise CastError(f"{_show(text)} is out of the range of times") from None


def _cast_json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"


_CASTS: Mapping[str, Cast] = {
    STRING: _cast_string,
    BOOLEAN: _cast_boolean,
    INT: _make_integer(INT32),
    LONG: _make_integer(INT64),
    DOUBLE: _cast_double,
    DATE: _cast_date,
    TIMESTAMP: _cast_timestamp,
    JSON: _cast_json,
}
