"""JSON values printed as the Jackson library prints them, because ids and guids hash that text."""

import re
from decimal import Decimal
from json.encoder import encode_basestring

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
