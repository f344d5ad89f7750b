"""Enums read from their text, with their values, options and what they set aside."""

from treaty.core.limits import SCHEMA_MEMBERS
from treaty.formats.protobuf.model import Enum, EnumValue, IdentifierValue, ProtoOption, ReservedStatement
from treaty.formats.protobuf.syntax import options
from treaty.formats.protobuf.syntax.cursor import TokenCursor
from treaty.formats.protobuf.syntax.ranges import read_reserved


def read_enum(cursor: TokenCursor, begin: int, visibility: str = "") -> Enum:
    """An enum, with the cursor after its first word; `begin` is where the definition begins."""
    name = cursor.name("the name of an enum")
    cursor.expect("{")
    values: list[EnumValue] = []
    option_list: list[ProtoOption] = []
    aside: list[ReservedStatement] = []
    while not cursor.accept("}"):
        if cursor.accept("option"):
            option_list.append(options.read_statement(cursor))
        elif cursor.accept("reserved"):
            aside.append(read_reserved(cursor, cursor.place(cursor.at - 1), signed=True))
        elif not cursor.accept(";"):
            values.append(_value(cursor))
        if len(values) > SCHEMA_MEMBERS:
            limit = f"more values than the limit SCHEMA_MEMBERS of {SCHEMA_MEMBERS}"
            raise cursor.fault("TOO_MANY", limit, f"at most {SCHEMA_MEMBERS} in one enum")
    _aliases(cursor, begin, values, option_list)
    place = cursor.place(begin)
    return Enum(name, tuple(values), tuple(option_list), tuple(aside), visibility, cursor.doc(begin), place)


def _value(cursor: TokenCursor) -> EnumValue:
    begin = cursor.at
    name = cursor.name("the name of a value")
    cursor.expect("=")
    number = cursor.signed_number("a number")
    option_list = options.read_brackets(cursor) if cursor.tokens[cursor.at] == "[" else ()
    cursor.expect(";")
    return EnumValue(name, number, option_list, cursor.doc(begin), cursor.place(begin))


def _aliases(cursor: TokenCursor, begin: int, values: list[EnumValue], option_list: list[ProtoOption]) -> None:
    """An enum says that it has aliases exactly when it has some."""
    for option in option_list:
        if option.name == ("allow_alias",):
            if option.value != IdentifierValue("true"):
                raise cursor.fault("ALIAS_OPTION_VOID", "allow_alias = false says nothing", "no such option", begin)
            if len({value.number for value in values}) == len(values):
                message = "allow_alias in an enum without aliases"
                raise cursor.fault("ALIAS_OPTION_VOID", message, "two names for one number, or no such option", begin)
            return
