"""Literals of statements as values of columns, by the type of the column. A literal that would lose digits is refused; only
fractions in FLOAT and DOUBLE become the nearest number.
"""

import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Context
from decimal import Decimal as Digits
from typing import Any

from treaty.core.state.columns import ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.metastore.columns.sql_types import print_bare_type
from treaty.metastore.sql.values import ArrayLiteral, MapLiteral, SqlLiteral, StructLiteral, TimeLiteral

SHOWN = 60
"""Characters of a value that a message shows."""
BITS: Mapping[str, int] = {"int32": 32, "int64": 64}
NUMBERS: Mapping[str, float] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Texts that stand for numbers which SQL has no literal for."""
_EXACT = Context(prec=1_000_000)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?) ?(Z|[+-]\d{2}:\d{2})?", re.ASCII)


class UnfitLiteralError(ValueError):
    """A literal does not fit its column: the path of the place, the literal as shown, the type, and why."""

    def __init__(self, path: str, literal: SqlLiteral, kind: ColumnType, why: str) -> None:
        """Keep the parts of the sentence."""
        self.path, self.shown, self.type, self.why = path, show_literal(literal), print_bare_type(kind), why
        super().__init__(f"{path} is {self.type}, and {self.shown} does not fit: {why}")


def show_literal(literal: SqlLiteral) -> str:
    """Return a literal as a message shows it."""
    match literal:
        case None:
            text = "NULL"
        case bool():
            text = str(literal).upper()
        case str():
            text = f"'{literal}'"
        case bytes():
            text = f"X'{literal.hex().upper()}'"
        case TimeLiteral(kind, inner):
            text = f"{kind} '{inner}'"
        case ArrayLiteral() | MapLiteral() | StructLiteral():
            text = {ArrayLiteral: "an ARRAY", MapLiteral: "a MAP", StructLiteral: "a STRUCT"}[type(literal)]
        case _:
            text = str(literal)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def cast_literal(literal: SqlLiteral, kind: ColumnType, path: str) -> Any:
    """Return the value that a literal means in a column of a type.

    Whole numbers are int, decimals `decimal.Decimal`, instants `datetime` in UTC, times on a local clock `datetime` without a
    zone, structs and maps dict, lists list. Members of a struct that the literal leaves out are left out. An instant without a zone is in
    UTC. Raises `UnfitLiteralError`.
    """
    if literal is None:
        return None
    match kind:
        case Scalar(name):
            return _SCALARS[name](literal, kind, path)
        case Decimal():
            return _decimal(literal, kind, path)
        case List(element):
            if not isinstance(literal, ArrayLiteral):
                raise UnfitLiteralError(path, literal, kind, "a list is written ARRAY(1, 2)")
            return [cast_literal(one, element, f"{path}[{at}]") for at, one in enumerate(literal.items)]
        case Map():
            return _map(literal, kind, path)
    return _struct(literal, kind, path)


def _map(literal: SqlLiteral, kind: Map, path: str) -> dict[Any, Any]:
    if not isinstance(literal, MapLiteral):
        raise UnfitLiteralError(path, literal, kind, "a map is written MAP('key', value)")
    cells: dict[Any, Any] = {}
    for key, value in literal.entries:
        name = cast_literal(key, kind.key, f"{path}.key")
        if name is None or name in cells:
            why = "a key is not NULL" if name is None else f"the key {show_literal(key)} is there twice"
            raise UnfitLiteralError(path, literal, kind, why)
        cells[name] = cast_literal(value, kind.value, f"{path}[{show_literal(key)}]")
    return cells


def _struct(literal: SqlLiteral, kind: Struct, path: str) -> dict[str, Any]:
    if not isinstance(literal, StructLiteral):
        raise UnfitLiteralError(path, literal, kind, "a struct is written STRUCT(name := value)")
    columns = {one.name.lower(): one for one in kind.columns}
    members: dict[str, Any] = {}
    for name, value in literal.fields:
        column = columns.get(name.lower())
        if column is None or column.name in members:
            why = f"it has no member {name}" if column is None else f"the member {name} is there twice"
            raise UnfitLiteralError(path, literal, kind, why)
        if value is None and not column.nullable:
            raise UnfitLiteralError(f"{path}.{name}", value, column.type, "it is never NULL")
        members[column.name] = cast_literal(value, column.type, f"{path}.{column.name}")
    return members


# ------------------------------------------------------------------------------------------------------------ scalars


def _boolean(literal: SqlLiteral, kind: ColumnType, path: str) -> bool:
    if isinstance(literal, bool):
        return literal
    raise UnfitLiteralError(path, literal, kind, "TRUE or FALSE is expected")


def _integer(literal: SqlLiteral, kind: Scalar, path: str) -> int:
    bits = BITS[kind.name]
    if type(literal) is not int:
        raise UnfitLiteralError(path, literal, kind, "a whole number is expected, without quotes and without a point")
    if not -(1 << bits - 1) <= literal < 1 << bits - 1:
        raise UnfitLiteralError(path, literal, kind, f"it has more than {bits} bits")
    return literal


def _float(literal: SqlLiteral, kind: Scalar, path: str) -> float:
    """Return the nearest number to a fraction; a whole number that is none of the type is refused."""
    if isinstance(literal, str) and literal in NUMBERS:
        return NUMBERS[literal]
    if isinstance(literal, bool) or not isinstance(literal, int | float | Digits):
        raise UnfitLiteralError(path, literal, kind, "a number is expected, without quotes")
    try:
        number = float(literal)
        if kind.name == "float32":
            struct.pack("<f", number)
    except OverflowError:
        raise UnfitLiteralError(path, literal, kind, "it is too large") from None
    if math.isinf(number):
        raise UnfitLiteralError(path, literal, kind, "it is too large")
    digits = 24 if kind.name == "float32" else 53
    if isinstance(literal, int) and (int(number) != literal or abs(literal) > 1 << digits):
        raise UnfitLiteralError(path, literal, kind, f"whole numbers beyond {digits} bits lose digits")
    return number


def _decimal(literal: SqlLiteral, kind: Decimal, path: str) -> Digits:
    if isinstance(literal, bool) or not isinstance(literal, int | Digits):
        raise UnfitLiteralError(path, literal, kind, "a number is expected, without quotes and without an exponent")
    _, digits, exponent = Digits(literal).normalize(_EXACT).as_tuple()
    assert isinstance(exponent, int), "a literal is finite"
    if -exponent > kind.scale:
        raise UnfitLiteralError(path, literal, kind, f"it has {-exponent} digits after the point")
    if len(digits) + exponent > kind.precision - kind.scale and digits != (0,):
        raise UnfitLiteralError(
            path, literal, kind, f"it has more than {kind.precision - kind.scale} digits before the point"
        )
    return Digits(literal).quantize(Digits(1).scaleb(-kind.scale), context=_EXACT)


def _string(literal: SqlLiteral, kind: ColumnType, path: str) -> str:
    if not isinstance(literal, str):
        raise UnfitLiteralError(path, literal, kind, "a text is expected, between single quotes")
    try:
        literal.encode()
    except UnicodeEncodeError:
        raise UnfitLiteralError(path, literal, kind, "it has no form in UTF-8") from None
    return literal


def _binary(literal: SqlLiteral, kind: ColumnType, path: str) -> bytes:
    if isinstance(literal, bytes):
        return literal
    raise UnfitLiteralError(path, literal, kind, "bytes are written X'00FF'")


def _date(literal: SqlLiteral, kind: ColumnType, path: str) -> date:
    text = _text_of(literal, ("DATE",))
    if text is not None and _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise UnfitLiteralError(path, literal, kind, f"there is no such day ({error})") from None
    raise UnfitLiteralError(path, literal, kind, "a day is written DATE '2026-01-31'")


def _timestamp(literal: SqlLiteral, kind: ColumnType, path: str) -> datetime:
    instant = _instant(literal, kind, path, ("TIMESTAMP",), "TIMESTAMP '2026-01-31 10:00:00.123456Z'")
    try:
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except OverflowError:
        raise UnfitLiteralError(path, literal, kind, "years are 1 to 9999") from None


def _local_timestamp(literal: SqlLiteral, kind: ColumnType, path: str) -> datetime:
    words = ("TIMESTAMP_NTZ", "TIMESTAMP")
    instant = _instant(literal, kind, path, words, "TIMESTAMP_NTZ '2026-01-31 10:00:00.123456'")
    if instant.tzinfo is not None:
        raise UnfitLiteralError(path, literal, kind, "a time on a local clock has no zone")
    return instant


def _instant(literal: SqlLiteral, kind: ColumnType, path: str, words: tuple[str, ...], form: str) -> datetime:
    text = _text_of(literal, words)
    parts = _TIME.fullmatch(text) if text is not None else None
    if parts is None:
        raise UnfitLiteralError(path, literal, kind, f"a time is written {form}")
    try:
        return datetime.fromisoformat(f"{parts[1]}T{parts[2]}{parts[3] or ''}")
    except ValueError as error:
        raise UnfitLiteralError(path, literal, kind, f"there is no such time ({error})") from None


def _text_of(literal: SqlLiteral, words: tuple[str, ...]) -> str | None:
    """Return the text of a time: with one of the words before it, or a plain text."""
    if isinstance(literal, TimeLiteral):
        return literal.text if literal.type in words else None
    return literal if isinstance(literal, str) else None


def _refuse_literal(literal: SqlLiteral, kind: ColumnType, path: str) -> Any:
    raise UnfitLiteralError(path, literal, kind, "it is NULL or of no type that a literal has")


_SCALARS: Mapping[str, Callable[[SqlLiteral, Scalar, str], Any]] = {
    "boolean": _boolean,
    "int32": _integer,
    "int64": _integer,
    "float32": _float,
    "float64": _float,
    "string": _string,
    "binary": _binary,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _local_timestamp,
    "variant": _string,
    "null": _refuse_literal,
}
"""By scalar, what reads a literal that is not NULL."""
