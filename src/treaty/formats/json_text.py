"""JSON texts: values printed as the Jackson library prints them, because ids and guids hash that text; and texts read to values,
within named limits and with a place for everything that is wrong.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from json import JSONDecodeError, JSONDecoder
from json.encoder import encode_basestring
from typing import NoReturn, TypeVar

from treaty.core.finding import Diagnostic
from treaty.core.limits import NUMBER_DIGITS, NUMBER_EXPONENT, SCHEMA_BYTES, SCHEMA_DEPTH
from treaty.formats.format import InvalidSchemaError

Json = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
"""A value as the JSON reader makes it; inside a schema it is never changed."""

ExactJson = bool | int | Decimal | str | list["ExactJson"] | dict[str, "ExactJson"] | None
"""A value whose numbers are kept as they were written."""

_CONTROL = re.compile("[\x00-\x07\x0b\x0e-\x1f]")


def print_string(text: str) -> str:
    r"""A string with quotes; control characters without a short form become ``\u00XX`` in upper case."""
    if text.isprintable() or not _CONTROL.search(text):
        return encode_basestring(text)
    # The standard library writes the same escapes with lower-case digits.
    short = _CONTROL.split(text)
    codes = [f"\\u{ord(char):04X}" for char in _CONTROL.findall(text)]
    parts = [encode_basestring(short[0])[1:-1]]
    for code, plain in zip(codes, short[1:], strict=True):
        parts += (code, encode_basestring(plain)[1:-1])
    return f'"{"".join(parts)}"'


def print_double(number: float) -> str:
    """A 64-bit float as Java's ``Double.toString`` prints it since JDK 19: the shortest digits, always with a point.

    Infinities and NaN become quoted words, as Jackson writes them.
    """
    if number != number:  # noqa: PLR0124 - the one value that differs from itself
        return '"NaN"'
    if number in (float("inf"), float("-inf")):
        return '"Infinity"' if number > 0 else '"-Infinity"'
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)  # the same notation in both languages
    sign, digits, exponent = _digits(number)
    point = exponent + len(digits)  # the value is 0.digits * 10^point
    if len(digits) == 1:
        # Java prints two digits at least and takes the nearest two, which differs among the smallest numbers.
        mantissa, _, power = format(abs(number), ".1e").partition("e")
        return f"{sign}{mantissa}E{int(power)}"
    return f"{sign}{digits[0]}.{digits[1:]}E{point - 1}"


def _digits(number: float) -> tuple[str, str, int]:
    """Sign, shortest digits without zeros at either end, and the power of ten that they are multiplied with."""
    text = repr(number)
    sign = "-" if text[0] == "-" else ""
    mantissa, _, power = text.lstrip("-").partition("e")
    integer, _, rest = mantissa.partition(".")
    digits = integer + rest
    exponent = int(power or 0) - len(rest)
    bare = digits.rstrip("0")
    return sign, bare.lstrip("0") or "0", exponent + len(digits) - len(bare)


def print_json(value: Json) -> str:
    """A JSON value without white space, members in their order."""
    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case str():
            return print_string(value)
        case int():
            return int.__repr__(value)
        case float():
            return print_double(value)
        case list():
            parts = []
            for item in value:  # loops, because every frame of a comprehension counts where values nest deep
                parts.append(print_json(item))
            return f"[{','.join(parts)}]"
    parts = []
    for name, member in value.items():
        parts.append(f"{print_string(name)}:{print_json(member)}")
    return f"{{{','.join(parts)}}}"


# -------------------------------------------------------------------------------------------------------------- reading


_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n]*")


Number = TypeVar("Number", int, float, Decimal)


class _TooLongError(ValueError):
    """A number has more digits than the limit allows."""


def _constant(word: str) -> NoReturn:
    message = f"{word} is not a JSON value"
    raise _TooLongError(message)


def _number(read: Callable[[str], Number]) -> Callable[[str], Number]:
    def number(text: str) -> Number:
        if len(text) > NUMBER_DIGITS:
            message = f"a number of {len(text)} characters, more than the limit NUMBER_DIGITS of {NUMBER_DIGITS}"
            raise _TooLongError(message)
        return read(text)

    return number


def _read_decimal(text: str) -> Decimal:
    power = text.lower().partition("e")[2]
    if len(power) > 6 or (power and abs(int(power)) > NUMBER_EXPONENT):
        message = f"the number {text[:40]} has an exponent beyond the limit NUMBER_EXPONENT of {NUMBER_EXPONENT}"
        raise _TooLongError(message)
    return Decimal(text)


_DECODER = JSONDecoder(parse_int=_number(int), parse_float=_number(float), parse_constant=_constant)
_EXACT = JSONDecoder(parse_int=_number(int), parse_float=_number(_read_decimal), parse_constant=_constant)


def text_error(rule: str, message: str, expected: str = "") -> InvalidSchemaError:
    """An error with one fault about the text as a whole."""
    return InvalidSchemaError((Diagnostic(rule, "", message, expected),))


def read_json(text: str, limit: int = SCHEMA_BYTES) -> Json:
    """The JSON value of a schema text of at most `limit` bytes.

    Comments before and inside the value are skipped, as the Java library does; of equal keys the last one counts.
    Raises `InvalidSchemaError` for anything else that is not JSON, and past the limits of size, depth and digits.
    """
    _check_size(text, limit)
    try:
        value: Json = _DECODER.decode(text)
    except JSONDecodeError as error:
        if "/" not in text:
            raise _json_error(error) from None
        value = _read_commented(text)
    except _TooLongError as error:
        raise text_error("NUMBER_NOT_ALLOWED", str(error), f"a number of at most {NUMBER_DIGITS} characters") from None
    if not text.isascii() or "\\u" in text:
        _check_scalars(text, value)
    return value


def read_exact_json(text: str, limit: int = SCHEMA_BYTES) -> ExactJson:
    """The JSON value of a text of at most `limit` bytes, by the letter of RFC 8259, its numbers exact.

    Of equal keys the last one counts. Raises `InvalidSchemaError` for comments, for text after the value, for
    anything else that is not JSON, and past the limits of size, depth, digits and exponents.
    """
    _check_size(text, limit)
    try:
        value: ExactJson = _EXACT.decode(text)
    except JSONDecodeError as error:
        raise _json_error(error) from None
    except _TooLongError as error:
        expected = f"a number of at most {NUMBER_DIGITS} characters, its exponent at most {NUMBER_EXPONENT}"
        raise text_error("NUMBER_NOT_ALLOWED", str(error), expected) from None
    if not text.isascii() or "\\u" in text:
        _check_scalars(text, value)
    return value


def _check_size(text: str, limit: int) -> None:
    if len(text) * 4 > limit and (size := len(text.encode("utf-8", "surrogatepass"))) > limit:
        message = f"the text has {size} bytes, more than the limit SCHEMA_BYTES of {limit}"
        raise text_error("SCHEMA_TOO_LARGE", message, f"at most {limit} bytes")
    if text.count("{") + text.count("[") > SCHEMA_DEPTH:
        _check_depth(text)


def _json_error(error: JSONDecodeError) -> InvalidSchemaError:
    message = f"not JSON: {error.msg[0].lower()}{error.msg[1:]}"
    return InvalidSchemaError((Diagnostic("JSON_MALFORMED", "", message, "a JSON text", error.lineno, error.colno),))


def _check_depth(text: str) -> None:
    depth = 0
    for token in _TOKEN.finditer(text):
        char = text[token.start()]
        if char in "{[":
            depth += 1
            if depth > SCHEMA_DEPTH:
                message = f"the text nests deeper than the limit SCHEMA_DEPTH of {SCHEMA_DEPTH}"
                raise text_error("SCHEMA_TOO_DEEP", message, f"at most {SCHEMA_DEPTH} levels of brackets")
        elif char in "}]":
            depth -= 1


def _read_commented(text: str) -> Json:
    blank = _COMMENT.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)
    try:
        value: Json
        value, end = _DECODER.raw_decode(blank, _SPACE.match(blank).end())  # type: ignore[union-attr]
    except JSONDecodeError as error:
        raise _json_error(error) from None
    except _TooLongError as error:
        raise text_error("NUMBER_NOT_ALLOWED", str(error)) from None
    if rest := text[end:].strip():
        message = f"there is text after the end of the schema: {rest[:40]!r}"
        raise text_error("JSON_MALFORMED", message, "nothing after the schema, not even a comment")
    return value


def _check_scalars(text: str, value: Json | ExactJson) -> None:
    """Refuse halves of surrogate pairs: such a text has no UTF-8 form, so it can't be stored or hashed."""
    if _SURROGATE.search(text) or ("\\u" in text and _has_surrogate(value)):
        message = "the text contains half of a surrogate pair"
        raise text_error("TEXT_NOT_UNICODE", message, "whole Unicode characters")


def _has_surrogate(value: Json | ExactJson) -> bool:
    waiting: list[Json | ExactJson] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if _SURROGATE.search(part):
                return True
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += part
            waiting += part.values()
    return False
