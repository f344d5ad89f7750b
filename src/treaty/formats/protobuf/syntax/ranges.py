"""The statements ``extensions`` and ``reserved`` read: which numbers and names a message or enum sets aside, and which can't be."""

from treaty.formats.protobuf.model import ExtensionsStatement, NumberRange, ReservedStatement, SourceLocation
from treaty.formats.protobuf.syntax.cursor import INT32, TokenCursor
from treaty.formats.protobuf.syntax.literals import LETTERS, QUOTES
from treaty.formats.protobuf.syntax.options import read_brackets

MAX_NUMBER = 2**29 - 1
"""The highest field number."""
MAX = -1
"""The end of a range of a message that ends with ``max``, until it is known which number that is."""


def read_extensions(cursor: TokenCursor, place: SourceLocation) -> ExtensionsStatement:
    """``extensions 100 to 199 [...];``, with the cursor after the first word; ``max`` is `MAX` until it is known."""
    ranges = _ranges(cursor, "a field number or a range of them")
    options = read_brackets(cursor)
    cursor.expect(";")
    return ExtensionsStatement(ranges, options, place)


def read_reserved(cursor: TokenCursor, place: SourceLocation, *, signed: bool = False) -> ReservedStatement:
    """``reserved ...;``, with the cursor after the first word: of an enum with `signed`, else of a message."""
    word = cursor.tokens[cursor.at]
    if word[:1] in QUOTES:
        if cursor.editions:
            raise cursor.unexpected_token("names without quotes, as editions have them")
        names = [_text(cursor)]
        while cursor.accept(","):
            names.append(_text(cursor))
    elif word[:1] in LETTERS:
        if not cursor.editions:
            raise cursor.unexpected_token("names in quotes, or numbers")
        names = [cursor.name("a name")]
        while cursor.accept(","):
            names.append(cursor.name("a name"))
    else:
        ranges = _ranges(cursor, "names or numbers", signed=signed)
        cursor.expect(";")
        return ReservedStatement(ranges, (), place)
    cursor.expect(";")
    return ReservedStatement((), tuple(names), place)


def _text(cursor: TokenCursor) -> str:
    at = cursor.at
    value = cursor.string("a name in quotes")
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise cursor.fault("STRING_INVALID", "a name that is no UTF-8", "a name", at) from None


def _ranges(cursor: TokenCursor, what: str, *, signed: bool = False) -> tuple[NumberRange, ...]:
    number = cursor.signed_number if signed else cursor.number
    spans: list[NumberRange] = []
    while True:
        start = number(what)
        end = start
        if cursor.accept("to"):
            top = INT32 if signed else MAX
            end = top if cursor.accept("max") else number('a number or "max"')
        spans.append(NumberRange(start, end))
        if not cursor.accept(","):
            return tuple(spans)
