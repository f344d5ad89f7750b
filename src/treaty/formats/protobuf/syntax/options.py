"""Options read from their text: names, and constants up to whole messages in text format."""

from treaty.core.limits import SCHEMA_MEMBERS
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    IdentifierValue,
    MinusZero,
    ProtoOption,
    RadixInteger,
    RadixMinusZero,
)
from treaty.formats.protobuf.syntax.cursor import CONSTANT_DEPTH, TokenCursor
from treaty.formats.protobuf.syntax.literals import LETTERS, QUOTES, InvalidLiteralError, parse_integer

UINT64 = 2**64 - 1
INT64 = 2**63
WORDS = frozenset(("inf", "nan"))
"""Numbers that are words."""
INFINITE = WORDS | {"infinity"}
"""The same as text format has them, in lower case."""
_CLOSING = {"{": "}", "<": ">"}


def read_statement(cursor: TokenCursor) -> ProtoOption:
    """``option name = value;``, with the cursor after the first word."""
    assignment = read_assignment(cursor)
    cursor.expect(";")
    return assignment


def read_brackets(cursor: TokenCursor) -> tuple[ProtoOption, ...]:
    """Options in square brackets, or none."""
    if not cursor.accept("["):
        return ()
    assignments = [read_assignment(cursor)]
    while cursor.accept(","):
        assignments.append(read_assignment(cursor))
    cursor.expect("]")
    return tuple(assignments)


def read_assignment(cursor: TokenCursor) -> ProtoOption:
    """``name = value``."""
    place = cursor.place(cursor.at)
    parts = [_part(cursor)]
    while cursor.accept("."):
        parts.append(_part(cursor))
    cursor.expect("=")
    return ProtoOption(tuple(parts), read_value(cursor), place)


def _part(cursor: TokenCursor) -> str:
    if cursor.accept("("):
        name = cursor.dotted_name("the name of an extension")
        cursor.expect(")")
        return f"({name})"
    return cursor.name("the name of an option")


def read_value(cursor: TokenCursor) -> Constant:
    """The value of an option."""
    if cursor.tokens[cursor.at] == "{":
        cursor.at += 1
        return _aggregate(cursor, "}")
    return _scalar(cursor, "a number, a string, a name or a message in braces")


def _scalar(cursor: TokenCursor, expected: str, *, inside: bool = False) -> Constant:
    """A value that is no message; inside one, in text format, ``inf`` and ``nan`` may be written in any case."""
    negative = cursor.accept("-")
    word = cursor.tokens[cursor.at]
    first = word[:1]
    if first in LETTERS:
        if not negative:
            cursor.at += 1
            return IdentifierValue(word)
        if (word.lower() not in INFINITE) if inside else (word not in WORDS):
            raise cursor.unexpected_token("a number after the minus sign")
        cursor.at += 1
        return -float(word)
    if first in QUOTES and not negative:
        return cursor.string(expected)
    if not first or first not in "0123456789." or word == ".":
        raise cursor.unexpected_token("a number after the minus sign" if negative else expected)
    number = _number(cursor, word, INT64 if negative else UINT64)
    if isinstance(number, float):
        return -number if negative else number
    radix = word[0] == "0" and len(word) > 1
    if negative and not number:
        return RadixMinusZero() if radix else MinusZero()
    signed = -number if negative else number
    return RadixInteger(signed) if radix else signed


def _number(cursor: TokenCursor, word: str, top: int) -> int | float:
    cursor.digits()
    try:
        integer = parse_integer(word)
    except InvalidLiteralError as error:
        raise cursor.fault("NUMBER_INVALID", str(error), error.expected) from None
    if integer is not None and integer > top:
        if word[0] == "0":
            raise cursor.fault("NUMBER_OUT_OF_RANGE", f"{word} is too large", f"at most {top}")
        integer = None  # a decimal one is read as a float then, as protoc does
    cursor.at += 1
    return float(word) if integer is None else integer


def _aggregate(cursor: TokenCursor, closing: str) -> AggregateValue:
    """The members of a message up to its closing brace."""
    cursor.descend(CONSTANT_DEPTH)
    members: list[tuple[str, Constant]] = []
    while not cursor.accept(closing):
        name = _member(cursor)
        colon = cursor.accept(":")
        opening = cursor.tokens[cursor.at]
        if opening in _CLOSING:
            cursor.at += 1
            member: Constant = _aggregate(cursor, _CLOSING[opening])
        elif opening == "[":
            member = _read_list(cursor, scalars=colon)
        elif colon:
            member = _scalar(cursor, "a value", inside=True)
        else:
            raise cursor.unexpected_token('":" and a value, or a message in braces')
        members.append((name, member))
        cursor.members += len(member) if isinstance(member, tuple) else 1
        if cursor.members > SCHEMA_MEMBERS:
            limit = f"more values in options than the limit SCHEMA_MEMBERS of {SCHEMA_MEMBERS}"
            raise cursor.fault("TOO_MANY", limit, f"at most {SCHEMA_MEMBERS} in one file")
        if not cursor.accept(","):
            cursor.accept(";")
    cursor.ascend()
    return AggregateValue(tuple(members))


def _read_list(cursor: TokenCursor, *, scalars: bool) -> Constant:
    cursor.expect("[")
    items: list[Constant] = []
    if cursor.accept("]"):
        return ()
    while True:
        opening = cursor.tokens[cursor.at]
        if opening in _CLOSING:
            cursor.at += 1
            items.append(_aggregate(cursor, _CLOSING[opening]))
        elif scalars:
            items.append(_scalar(cursor, "a value", inside=True))
        else:
            raise cursor.unexpected_token("a message in braces")
        if cursor.accept("]"):
            return tuple(items)
        cursor.expect(",")


def _member(cursor: TokenCursor) -> str:
    """The name of a member: a field's, or in square brackets an extension's or a type's address."""
    if not cursor.accept("["):
        return cursor.name("the name of a field")
    parts: list[str] = []
    while not cursor.accept("]"):
        word = cursor.tokens[cursor.at]
        if word not in (".", "/", "-") and word[:1] not in LETTERS:
            raise _unclosed_error(cursor)
        parts.append(word)
        cursor.at += 1
    if not parts or parts[0] == ".":
        raise cursor.unexpected_token("the full name of an extension, without a leading point")
    return f"[{''.join(parts)}]"


def _unclosed_error(cursor: TokenCursor) -> InvalidSchemaError:
    return cursor.unexpected_token('the full name of an extension, and "]"')
