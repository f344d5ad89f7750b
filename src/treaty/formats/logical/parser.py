"""A text of logical types read: one STRUCT, with everything that its members are."""

from decimal import Decimal

from treaty.core.limits import LOGICAL_DEPTH, LOGICAL_MEMBERS, NUMBER_DIGITS, SCHEMA_BYTES
from treaty.formats.format import InvalidSchemaError
from treaty.formats.logical.defaults import make_default
from treaty.formats.logical.model import (
    LONGEST,
    SCALARS,
    SHORT,
    DefaultLiteral,
    LogicalArray,
    LogicalEnum,
    LogicalMap,
    LogicalScalar,
    LogicalStruct,
    LogicalType,
    StructMember,
    logical_error,
)
from treaty.formats.logical.tokens import LogicalToken, tokenize

_LONG = {"VARCHAR": "STRING", "VARBINARY": "BYTES"}
"""Types of a greatest length, and what they are where any length will do."""


def parse_struct(text: str) -> LogicalStruct:
    """The struct that a text describes. Keywords are read in any case; what follows ``--`` is a comment.

    A name that was defined further up may be used again in place of a type. Raises `InvalidSchemaError`.
    """
    if len(text) > SCHEMA_BYTES:
        raise logical_error("LOGICAL_SYNTAX", "", "the text is too large", f"at most {SCHEMA_BYTES} characters")
    reader = _LogicalTypeParser(tokenize(text))
    reader.require_keyword("STRUCT")
    struct = reader.struct("", 1)
    reader.take_sign(";")
    reader.require_end()
    return struct


class _LogicalTypeParser:
    """Reads word by word. `_named` keeps what has a name, how many members it has, and its characters, names written out.

    `_more` are characters that names stood for so far.
    """

    __slots__ = ("_at", "_count", "_more", "_named", "_open", "_words")

    def __init__(self, tokens: list[LogicalToken]) -> None:
        self._words = tokens
        self._at = 0
        self._count = 0
        self._more = 0
        self._named: dict[str, tuple[LogicalType, int, int]] = {}
        self._open: set[str] = set()

    @property
    def _next(self) -> LogicalToken:
        return self._words[self._at]

    def _make_error(self, rule: str, path: str, message: str, expected: str = "") -> InvalidSchemaError:
        return logical_error(rule, path, message, expected, line=self._next.line, column=self._next.column)

    def take_sign(self, sign: str) -> bool:
        """Whether the next word is this sign, which is then read."""
        is_next = self._next.kind == "sign" and self._next.text == sign
        self._at += is_next
        return is_next

    def _take_keywords(self, *keywords: str) -> bool:
        """Whether these keywords come next, which are then read."""
        ahead = self._words[self._at : self._at + len(keywords)]
        are_next = [one.text.upper() for one in ahead if one.kind == "name"] == list(keywords)
        self._at += len(keywords) * are_next
        return are_next

    def _require_sign(self, sign: str, path: str) -> None:
        """Read a sign that must be there."""
        if not self.take_sign(sign):
            raise self._make_error(
                "LOGICAL_SYNTAX", path, f"{self._print_next()} stands where {sign!r} is expected", repr(sign)
            )

    def require_keyword(self, word: str) -> None:
        """Read a keyword that must be there."""
        if not self._take_keywords(word):
            raise self._make_error("LOGICAL_SYNTAX", "", f"{self._print_next()} stands where {word} is expected")

    def require_end(self) -> None:
        """Nothing may follow."""
        if self._next.kind != "end":
            raise self._make_error(
                "LOGICAL_SYNTAX", "", f"{self._print_next()} follows the end of the STRUCT", "one STRUCT"
            )

    def _print_next(self) -> str:
        return repr(self._next.text[:50]) if self._next.kind != "end" else "the end of the text"

    def _name(self, path: str, *, dotted: bool = False) -> str:
        parts = []
        while True:
            if self._next.kind not in ("name", "quoted"):
                raise self._make_error(
                    "LOGICAL_SYNTAX", path, f"{self._print_next()} stands where a name is expected", "a name"
                )
            parts.append(self._next.text)
            self._at += 1
            if not dotted or not self.take_sign("."):
                return ".".join(parts)

    def _grow(self, path: str, by: int = 1) -> None:
        self._count += by
        if self._count > LOGICAL_MEMBERS:
            message = f"more members than the limit LOGICAL_MEMBERS of {LOGICAL_MEMBERS}"
            raise self._make_error("LOGICAL_MEMBERS", path, message)

    def _read_new_name(self, path: str, closing: str = "(") -> str:
        """The name, if there is one, of what is defined between parentheses."""
        if self._next.kind == "sign" and self._next.text == closing:
            return ""
        name = self._name(path, dotted=True)
        if name in self._named or name in self._open:
            message = f"the name {name!r} is defined twice"
            raise self._make_error("LOGICAL_NAME_TWICE", path, message, "the name alone where the type is used again")
        return name

    def struct(self, path: str, depth: int) -> LogicalStruct:
        """A struct, of which the keyword was read."""
        if depth > LOGICAL_DEPTH:
            message = f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}"
            raise self._make_error("LOGICAL_DEPTH", path, message)
        start, more, before = self._at, self._more, self._count
        name = self._read_new_name(path)
        self._open.add(name)
        self._require_sign("(", path)
        members: dict[str, StructMember] = {}
        while not self.take_sign(")"):
            if members:
                self._require_sign(",", path)
            token = self._next
            member = self._member(path, depth)
            if member.name in members:
                message = f"the member {member.name!r} is there twice"
                member_path = f"{path}/{member.name}"
                raise logical_error("LOGICAL_NAME_TWICE", member_path, message, line=token.line, column=token.column)
            members[member.name] = member
        self._open.discard(name)
        struct = LogicalStruct(name, tuple(members.values()))
        if name:
            self._named[name] = (struct, self._count - before, self._count_characters(start) + self._more - more)
        return struct

    def _member(self, outer: str, depth: int) -> StructMember:
        name = self._name(outer)
        path = f"{outer}/{name}"
        self._grow(path)
        kind = self._type(path, depth)
        nullable = self._read_nullability()
        default = comment = None
        if self._take_keywords("DEFAULT"):
            place = self._at
            value = self._literal(path)
            default = make_default(kind, nullable=nullable, value=value)
            if default is None:
                self._at = place
                raise self._make_error(
                    "LOGICAL_DEFAULT", path, f"the default {self._print_next()} is none of this type"
                )
        if self._take_keywords("COMMENT"):
            if self._next.kind != "text":
                raise self._make_error("LOGICAL_SYNTAX", path, f"{self._print_next()} is no text in quotes", "'text'")
            comment = self._next.text
            self._at += 1
        return StructMember(name, kind, nullable, default, comment or "")

    def _read_nullability(self) -> bool:
        """Read NULL or NOT NULL, where one is there, and return whether the type may be null: unless NOT NULL says that it may not."""
        if self._take_keywords("NOT", "NULL"):
            return False
        self._take_keywords("NULL")
        return True

    def _literal(self, path: str) -> DefaultLiteral:
        word = self._next
        self._at += 1
        match word.kind, word.text.upper():
            case "name", "NULL":
                return None
            case "name", "TRUE" | "FALSE":
                return word.text.upper() == "TRUE"
            case "text", _:
                return word.text
            case "number", _ if len(word.text) <= NUMBER_DIGITS:
                return int(word.text) if word.text.lstrip("+-").isdigit() else Decimal(word.text)
        self._at -= 1
        expected = "NULL, TRUE, FALSE, a number or a text in single quotes"
        raise self._make_error("LOGICAL_DEFAULT", path, f"{self._print_next()} is no value", expected)

    def _type(self, path: str, depth: int) -> LogicalType:
        word = self._next
        upper = word.text.upper() if word.kind == "name" else ""
        upper = SHORT.get(upper, upper)
        if upper in ("STRUCT", "ROW"):
            self._at += 1
            return self.struct(path, depth + 1)
        if upper == "ENUM":
            self._at += 1
            return self._enum(path)
        if upper in ("ARRAY", "MAP"):
            self._at += 1
            if depth >= LOGICAL_DEPTH:
                message = f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}"
                raise self._make_error("LOGICAL_DEPTH", path, message)
            return self._array(path, depth) if upper == "ARRAY" else self._map(path, depth)
        if upper in SCALARS:
            self._at += 1
            return self._scalar(upper, path)
        return self._read_used_type(path)

    def _read_used_type(self, path: str) -> LogicalType:
        """A type that a name stands for."""
        place = self._at
        name = self._name(path, dotted=True)
        definition = self._named.get(name)
        if definition is None:
            self._at = place
            if name in self._open:
                raise self._make_error("LOGICAL_RECURSIVE", path, f"{name!r} is used inside itself")
            raise self._make_error("LOGICAL_TYPE", path, f"there is no type {name[:100]!r}")
        self._grow(path, definition[1])
        self._more += definition[2]
        if self._more > SCHEMA_BYTES:
            message = f"the names stand for more than the limit SCHEMA_BYTES of {SCHEMA_BYTES} characters"
            raise self._make_error("LOGICAL_MEMBERS", path, message)
        return definition[0]

    def _array(self, path: str, depth: int) -> LogicalArray:
        self._require_sign("<", path)
        element = self._type(path, depth + 1)
        array = LogicalArray(element, self._read_nullability())
        self._require_sign(">", path)
        return array

    def _map(self, path: str, depth: int) -> LogicalMap:
        self._require_sign("<", path)
        key = self._type(path, depth + 1)
        if not isinstance(key, LogicalScalar):
            raise self._make_error("LOGICAL_TYPE", path, "the key of a MAP has parts", "a key such as STRING or INT")
        self._read_nullability()  # it may be said of a key and means nothing: no key is null
        self._require_sign(",", path)
        value = self._type(path, depth + 1)
        map_type = LogicalMap(key, value, self._read_nullability())
        self._require_sign(">", path)
        return map_type

    def _count_characters(self, start: int) -> int:
        """Characters of the words from one on."""
        return sum(len(one.text) + 1 for one in self._words[start : self._at])

    def _enum(self, path: str) -> LogicalEnum:
        start = self._at
        name = self._read_new_name(path)
        self._require_sign("(", path)
        symbols: dict[str, None] = {}
        while not self.take_sign(")"):
            if symbols:
                self._require_sign(",", path)
            if self._next.kind != "text":
                raise self._make_error("LOGICAL_SYNTAX", path, f"{self._print_next()} is no text in quotes", "'SYMBOL'")
            if self._next.text in symbols:
                raise self._make_error("LOGICAL_NAME_TWICE", path, f"the symbol {self._print_next()} is there twice")
            self._grow(path)
            symbols[self._next.text] = None
            self._at += 1
        if not symbols:
            raise self._make_error("LOGICAL_SYNTAX", path, "an ENUM without symbols", "ENUM Name ('A', 'B')")
        enum = LogicalEnum(name, tuple(symbols))
        if name:
            self._named[name] = (enum, len(symbols), self._count_characters(start))
        return enum

    def _scalar(self, name: str, path: str) -> LogicalScalar:
        allowed = SCALARS[name]
        arguments: list[int] = []
        place = self._at
        bare = True
        if allowed and self.take_sign("("):
            bare = False
            while not arguments or self.take_sign(","):
                word = self._next
                if word.kind != "number" or not word.text.isdigit() or len(word.text) > 10:
                    raise self._make_error("LOGICAL_NUMBER", path, f"{self._print_next()} is no whole number")
                arguments.append(int(word.text))
                self._at += 1
            self._require_sign(")", path)
        if bare and name in _LONG:
            return LogicalScalar(_LONG[name])
        numbers = tuple(arguments) + tuple(standard or 0 for _, _, standard in allowed[len(arguments) :])
        fits = len(arguments) <= len(allowed) and all(
            low <= number <= high for number, (low, high, _) in zip(numbers, allowed, strict=True)
        )
        if not fits or (name == "DECIMAL" and numbers[1] > numbers[0]):
            self._at = place
            ranges = ", ".join(f"{low} to {high}" for low, high, _ in allowed)
            raise self._make_error("LOGICAL_NUMBER", path, f"{name} takes no {tuple(arguments)}", f"{name}({ranges})")
        if name in _LONG and numbers == (LONGEST,):
            return LogicalScalar(_LONG[name])
        return LogicalScalar(name, numbers)
