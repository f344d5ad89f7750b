"""Reads numbers and strings of Protobuf texts: what a token is worth."""

import re
import string as characters

from treaty.core.limits import NUMBER_DIGITS

LETTERS = frozenset(characters.ascii_letters + "_")
"""With which a name begins."""
QUOTES = frozenset("\"'")
"""With which a string begins."""

_WHOLE = re.compile(r"(0[xX][0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*)")
_FLOAT = re.compile(r"(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\?'\"])|([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U(0010[0-9a-fA-F]{4}|000[0-9a-fA-F]{5})|(.))",
    re.DOTALL,
)
_SIMPLE = {
    "a": b"\a",
    "b": b"\b",
    "f": b"\f",
    "n": b"\n",
    "r": b"\r",
    "t": b"\t",
    "v": b"\v",
    "\\": b"\\",
    "?": b"?",
    "'": b"'",
    '"': b'"',
}


class InvalidLiteralError(ValueError):
    """A token that looks like a number or a string and is none; `expected` says what would be one."""

    def __init__(self, message: str, expected: str) -> None:
        """Keep the message and what was expected."""
        super().__init__(message)
        self.expected = expected


def parse_integer(word: str) -> int | None:
    """The value of a whole number, decimal, octal or hexadecimal; None for a number with a fraction or exponent."""
    if len(word) > NUMBER_DIGITS:
        raise InvalidLiteralError(f"a number of {len(word)} characters", f"at most {NUMBER_DIGITS} characters")
    if word[0] != "0" and word.isdecimal():
        return int(word)
    match = _WHOLE.fullmatch(word)
    if match is None:
        if _FLOAT.fullmatch(word):
            return None
        raise InvalidLiteralError(f"{word[:40]!r} is not a number", "a decimal, octal (0…) or hexadecimal (0x…) number")
    if match[1]:
        return int(word, 16)
    return int(word, 8) if match[2] else int(word)


def parse_string(word: str) -> bytes:
    """The bytes that a string in its quotes stands for."""
    if "\\" not in word:
        return word[1:-1].encode()
    parts: list[bytes] = []
    end = 1
    last = len(word) - 1
    high = 0  # the first half of a surrogate pair, when the escape before was one
    for escape in _ESCAPE.finditer(word, 1, last):
        if escape.start() > end:
            parts.append(word[end : escape.start()].encode())
            high = 0
        end = escape.end()
        simple, octal, byte, short, long, invalid = escape.groups()
        if invalid is not None:
            raise InvalidLiteralError(
                f"{escape[0]!r} is not an escape",
                r"\n, \t, \\, \x and two digits, \u and four, \U and eight up to 10ffff",
            )
        if simple:
            parts.append(_SIMPLE[simple])
        elif octal:
            parts.append(bytes((int(octal, 8) & 255,)))
        elif byte:
            parts.append(bytes((int(byte, 16),)))
        else:
            code = int(short or long, 16)
            if high and short and 0xDC00 <= code < 0xE000:
                parts.pop()
                code = 0x10000 + ((high - 0xD800) << 10) + code - 0xDC00
            parts.append(chr(code).encode("utf-8", "surrogatepass"))
            high = code if 0xD800 <= code < 0xDC00 else 0
            continue
        high = 0
    parts.append(word[end:last].encode())
    return b"".join(parts)
