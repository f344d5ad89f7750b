"""The text of a column type read: Spark's DDL, the words of ksqlDB for the same types, and names of user types."""

from collections.abc import Sequence

from treaty.core.column_types.limits import DECIMAL_DIGITS, TYPE_CHARACTERS, TYPE_DEPTH, TYPE_PARTS
from treaty.core.column_types.tokens import SqlToken, read_quoted, read_text, split_tokens
from treaty.core.column_types.types import (
    SQL_SCALARS,
    SQL_SYNONYMS,
    TIME_DIGITS,
    ColumnTypeError,
    SqlArray,
    SqlDecimal,
    SqlField,
    SqlMap,
    SqlScalar,
    SqlStruct,
    SqlTime,
    SqlType,
    UserType,
)

_BOUNDED = frozenset({"VARCHAR", "CHAR", "CHARACTER"})
PLAIN_TYPES = {word: SqlScalar(word) for word in SQL_SCALARS}
"""The types that most columns have: rows keep their words as they stand here, so that nothing is split for them."""
_INNER_TYPES = {
    **dict.fromkeys(("ROW", "RECORD", "OBJECT", "TUPLE"), "STRUCT<name: type, …>"),
    **dict.fromkeys(("LIST", "SET", "MULTISET"), "ARRAY<type>"),
}
"""Types of other systems with types inside, and those here."""
_A_TYPE = ("a type such as INT, STRING, ARRAY<…>, MAP<…, …> or STRUCT<name: …>",)


def parse_column_type(text: str) -> SqlType:
    """Return the type that a text describes, such as ``STRUCT<a: INT NOT NULL, b: ARRAY<ADDRESS>>``.

    Keywords are read in any case; a word that is no type of SQL is the name of a user type, and so is any name in back quotes.
    Raises `ColumnTypeError` with the offset and what is expected there.
    """
    plain = PLAIN_TYPES.get(text)
    if plain is not None:
        return plain
    if len(text) > TYPE_CHARACTERS:
        message = f"the type has {len(text)} characters, more than the limit TYPE_CHARACTERS of {TYPE_CHARACTERS}"
        raise ColumnTypeError("TYPE_SIZE", message, 0, len(text), hint="name parts of it by CREATE TYPE")
    reader = TypeReader(split_tokens(text))
    kind = reader.read_type()
    token = reader.token
    if token.kind != "end":
        raise reader.refuse(f"{token.label} follows the end of the type", "the end of the type")
    return kind


class TypeReader:
    """Reads one type from tokens, beginning at `at`, which afterwards is the index of the token behind it."""

    __slots__ = ("_parts", "_tokens", "at")

    def __init__(self, tokens: Sequence[SqlToken], at: int = 0) -> None:
        self._tokens = tokens
        self._parts = 0
        self.at = at

    @property
    def token(self) -> SqlToken:
        """The token that is read next."""
        return self._tokens[self.at]

    def refuse(self, message: str, *expected: str, code: str = "TYPE_SYNTAX", hint: str = "") -> ColumnTypeError:
        """Return an error at the next token."""
        token = self.token
        return ColumnTypeError(code, message, token.start, token.end, expected=expected, hint=hint)

    def _take(self, sign: str) -> bool:
        is_next = self.token.kind == "sign" and self.token.text == sign
        self.at += is_next
        return is_next

    def _need(self, sign: str, *alternatives: str) -> None:
        if not self._take(sign):
            quoted = tuple(f"'{text}'" for text in (sign, *alternatives))
            raise self.refuse(f"{self.token.label} stands where {' or '.join(quoted)} is expected", *quoted)

    def read_type(self, depth: int = 1) -> SqlType:
        """Return the type that begins at the next token. Raises `ColumnTypeError`."""
        self._parts += 1
        if depth > TYPE_DEPTH:
            message = f"the type nests deeper than the limit TYPE_DEPTH of {TYPE_DEPTH}"
            raise self.refuse(message, code="TYPE_DEPTH", hint="a flatter type")
        if self._parts > TYPE_PARTS:
            message = f"the type has more parts than the limit TYPE_PARTS of {TYPE_PARTS}"
            raise self.refuse(message, code="TYPE_SIZE", hint="a smaller type")
        token = self.token
        if token.kind == "quoted" and len(token.text) > 2:
            self.at += 1
            return UserType(read_quoted(token))
        word = token.keyword
        if not word or word[0].isdigit():
            hint = "names with other letters stand between back quotes" if token.kind == "word" else ""
            raise self.refuse(f"{token.label} stands where a type is expected", *_A_TYPE, hint=hint)
        self.at += 1
        return self._read_word(token, SQL_SYNONYMS.get(word, word), depth)

    def _read_word(self, token: SqlToken, word: str, depth: int) -> SqlType:
        match word:
            case "STRUCT":
                return self._struct(depth)
            case "ARRAY":
                self._need("<")
                element = self.read_type(depth + 1)
                self._need(">")
                return SqlArray(element)
            case "MAP":
                self._need("<")
                key = self.read_type(depth + 1)
                self._need(",")
                value = self.read_type(depth + 1)
                self._need(">")
                return SqlMap(key, value)
            case "DECIMAL":
                return self._decimal()
            case "TIME":
                (precision,) = self._numbers((TIME_DIGITS,), ((0, TIME_DIGITS),))
                return SqlTime(precision)
            case "INTERVAL":
                self.at -= 1
                raise self.refuse(
                    "INTERVAL is no type of a column", *_A_TYPE, code="TYPE_UNKNOWN", hint="BIGINT and a unit"
                )
        if token.keyword in _BOUNDED and (
            word not in SQL_SCALARS or (self.token.kind, self.token.text) == ("sign", "(")
        ):
            self.at -= 1
            message = f"{token.text} with a length is no type here: no format checks the length of a text"
            raise self.refuse(message, "STRING", code="TYPE_LENGTH", hint="STRING")
        if word not in SQL_SCALARS:
            self._refuse_inner_types(token, word)
            return UserType(token.text)
        if (self.token.kind, self.token.text) == ("sign", "("):
            self.at -= 1
            what = "a TIMESTAMP has microseconds" if word.startswith("TIMESTAMP") else f"{word} has no length"
            raise self.refuse(
                f"{token.text} takes no number", word, code="TYPE_LENGTH", hint=f"leave the digits out: {what}"
            )
        return SqlScalar(word)

    def _refuse_inner_types(self, token: SqlToken, word: str) -> None:
        """Raise for a type of other systems that has types inside of it, such as ``ROW<a INT>``."""
        way = _INNER_TYPES.get(word, "")
        sign = self.token.text if self.token.kind == "sign" else ""
        if way and sign in {"<", "("}:
            self.at -= 1
            message = f"{token.text} is no type with types inside"
            raise self.refuse(message, *_A_TYPE, code="TYPE_UNKNOWN", hint=way)

    def _decimal(self) -> SqlType:
        start = self.at
        precision, scale = self._numbers((10, 0), ((1, DECIMAL_DIGITS), (0, DECIMAL_DIGITS)))
        if scale > precision:
            self.at = start
            message = f"a DECIMAL of {precision} digits can't have {scale} of them after the point"
            raise self.refuse(message, f"a scale of 0 to {precision}", code="TYPE_NUMBER")
        return SqlDecimal(precision, scale)

    def _numbers(self, defaults: tuple[int, ...], ranges: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
        """The numbers in parentheses; those that are left out, or all of them, are the defaults."""
        numbers: list[int] = []
        if not self._take("("):
            return defaults
        for low, high in ranges:
            token = self.token
            number = int(token.text) if token.kind == "number" and len(token.text) < 5 and token.text.isdigit() else -1
            if not low <= number <= high:
                message = f"{token.label} stands where a whole number of {low} to {high} is expected"
                raise self.refuse(message, f"{low} to {high}", code="TYPE_NUMBER")
            self.at += 1
            numbers.append(number)
            if len(numbers) == len(ranges) or not self._take(","):
                break
        self._need(")", *([","] if len(numbers) < len(ranges) else []))
        return (*numbers, *defaults[len(numbers) :])

    def _struct(self, depth: int) -> SqlStruct:
        self._need("<")
        fields: dict[str, SqlField] = {}
        if self._take(">"):
            return SqlStruct(())
        while True:
            start = self.at
            field = self._field(depth)
            if field.name in fields:
                self.at = start
                raise self.refuse(
                    f"the field {self.token.label} is there twice", code="TYPE_FIELD_TWICE", hint="another name"
                )
            fields[field.name] = field
            if self._take(">"):
                return SqlStruct(tuple(fields.values()))
            self._need(",", ">")

    def _field(self, depth: int) -> SqlField:
        token = self.token
        if token.kind == "quoted":
            name = read_quoted(token)
        elif token.kind == "word" and token.keyword:
            name = token.text
        else:
            hint = "names with other letters stand between back quotes" if token.kind == "word" else ""
            raise self.refuse(f"{token.label} stands where the name of a field is expected", "a name", hint=hint)
        self.at += 1
        self._take(":")
        kind = self.read_type(depth + 1)
        nullable = not self.take_words("NOT", "NULL")
        return SqlField(name, kind, nullable, self.read_comment())

    def take_words(self, *words: str) -> bool:
        """Read these keywords if they come next, and say whether they did."""
        if tuple(token.keyword for token in self._tokens[self.at : self.at + len(words)]) != words:
            return False
        self.at += len(words)
        return True

    def read_comment(self) -> str:
        """Read ``COMMENT 'text'`` if it comes next, and return the text, else the empty string."""
        if not self.take_words("COMMENT"):
            return ""
        token = self.token
        if token.kind not in {"text", "raw"}:
            raise self.refuse(f"{token.label} stands where a text in quotes is expected", "'text'")
        self.at += 1
        return read_text(token)
