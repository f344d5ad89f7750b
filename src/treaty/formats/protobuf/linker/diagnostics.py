"""The remedy that goes with the fault of each rule, and the list that a check of a file fills; the checks are in `validation`."""

from collections.abc import Mapping

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.model import NOWHERE, SourceLocation

_TEXT = {
    "ENCODING": "Unicode text",
    "SCHEMA_TOO_LARGE": "a shorter text, or several files with imports",
    "SYNTAX": "what the grammar has at this place",
    "SYNTAX_UNKNOWN": 'syntax "proto2" or "proto3", or edition "2023" or "2024"',
    "NUMBER_INVALID": "a decimal, octal (0…) or hexadecimal (0x…) number",
    "NUMBER_OUT_OF_RANGE": "a smaller number",
    "STRING_INVALID": "a string with known escapes",
    "SCHEMA_TOO_DEEP": "fewer levels inside each other",
    "TOO_MANY": "fewer of them, or several files with imports",
    "LABEL_MISSING": "optional, required or repeated",
    "LABEL_OF_OTHER_SYNTAX": "no label, or the feature field_presence",
    "MAP_MISPLACED": "a field of its own, without a label",
    "GROUP_NOT_ALLOWED": "a message",
    "GROUP_NAME": "a name that begins with a capital letter",
    "PACKAGE_TWICE": "one package statement",
    "ALIAS_OPTION_VOID": "two names for one number, or no such option",
    "DESCRIPTOR_INVALID": "a descriptor that a compiler made",
}
_NAMES = {
    "IMPORT_UNRESOLVED": "a reference with this name; files are never fetched",
    "IMPORT_TWICE": "one import statement for each file",
    "IMPORT_ORDER": "import option after all other imports",
    "IMPORT_CYCLE": "files that do not need each other",
    "REFERENCE_CONFLICT": "one text for each import path",
    "REFERENCES_TOO_DEEP": "a shorter chain of references",
    "TOO_MANY_REFERENCES": "fewer references, those of references included",
    "PACKAGE_TOO_LONG": "a package of at most 511 characters and 100 points",
    "NAME_DUPLICATE": "names that differ within a scope; values of an enum are in the scope around it",
    "NAME_TOO_LONG": "a shorter name",
    "NAME_UNDEFINED": "a scalar type, a type of this file, or one of an imported file",
    "NAME_NOT_IMPORTED": "an import of the file that defines it",
    "NAME_NOT_VISIBLE": "a type that is exported",
    "NOT_A_TYPE": "the name of a message or enum",
    "NOT_A_MESSAGE": "the name of a message",
    "NAME_STYLE": "TitleCase for types and methods, lower_snake_case for fields, UPPER_SNAKE_CASE for values",
    "VISIBILITY_NOT_ALLOWED": "export on definitions of the file's own level",
}
_MEMBERS = {
    "NUMBER_ILLEGAL": "a number from 1 to 536870911, not from 19000 to 19999",
    "NUMBER_DUPLICATE": "numbers that differ within a message",
    "NUMBER_RESERVED": "a number that is neither reserved nor left to extensions",
    "NAME_RESERVED": "a name that is not reserved",
    "RESERVED_TWICE": "each name once",
    "RANGE_ILLEGAL": "numbers from 1 to 536870911, the smaller one first",
    "RANGE_OVERLAP": "ranges that have no number in common",
    "JSON_NAME_CONFLICT": "names that differ in JSON too, or an option json_name",
    "JSON_NAME_ILLEGAL": "a name without square brackets around it and without NUL, and none for extensions",
    "REQUIRED_NOT_ALLOWED": "optional or repeated",
    "ONEOF_EMPTY": "at least one field",
    "MAP_KEY": "a whole number, bool or string",
    "MAP_VALUE": "an enum that begins with 0",
    "MAP_BY_HAND": "map<…, …>",
    "ENUM_EMPTY": "at least one value",
    "ENUM_FIRST_VALUE": "0 as the number of the first value",
    "ENUM_NUMBER_DUPLICATE": "numbers that differ, or the option allow_alias",
    "ENUM_NAMES_ALIKE": "names that differ without the enum's name before them",
    "ENUM_CLOSED": "an open enum",
    "DEFAULT_INVALID": "a value of the field's type",
    "DEFAULT_NOT_ALLOWED": "no default",
    "EXTENSION_NOT_ALLOWED": "extensions of options, or proto2 or an edition",
    "EXTENSION_NUMBER": "a number that the message leaves to extensions",
    "EXTENSION_UNDECLARED": "the name, type and label that the message declares for the number",
    "DECLARATION_INVALID": "declarations with a number of their range, and name and type with a leading point",
    "MESSAGE_SET": "a message without fields, extended by optional messages, in proto2",
}
_OPTIONS = {
    "OPTION_UNKNOWN": "an option of this kind of definition, or an extension that is imported",
    "OPTION_TWICE": "each option once",
    "OPTION_VALUE": "a value of the option's type",
    "OPTION_TARGET": "an option that is meant for this kind of definition",
    "OPTION_LIFETIME": "an option that the edition has",
    "OPTION_MISPLACED": "a field of another type",
    "OPTION_REDACTED": "a regular import, or an enum without debug_redact",
    "FEATURE_NOT_ALLOWED": "an edition; proto2 and proto3 have no features",
    "FEATURE_MISPLACED": "a field that can have the feature",
    "LITE_CONFLICT": "files that are all optimised for the same runtime",
}

EXPECTED: Mapping[str, str] = {**_TEXT, **_NAMES, **_MEMBERS, **_OPTIONS}
"""Rules of a valid file, and what the text should have had instead."""


class DiagnosticList:
    """A list of faults that stops a check when it has become long enough."""

    __slots__ = ("_expected", "found")

    def __init__(self, expected: Mapping[str, str]) -> None:
        """Start without faults; `expected` says by rule what would have been right."""
        self._expected = expected
        self.found: list[Diagnostic] = []

    def add(self, rule: str, path: str, message: str, place: SourceLocation = NOWHERE, expected: str = "") -> None:
        """Add a fault of the definition `path` (its full name); raises `InvalidSchemaError` when there are enough."""
        line, column = (place.line, place.column) if place.line else (0, 0)
        self.found.append(Diagnostic(rule, path, message, expected or self._expected[rule], line, column))
        if len(self.found) >= FAULTS:
            self.raise_if_any()

    def raise_if_any(self) -> None:
        """Raise `InvalidSchemaError` if there are faults."""
        if self.found:
            raise InvalidSchemaError(tuple(self.found))
