"""Statements of commands without a plan, which old versions of ksqlDB write, in the form of a plan's command.

Such a statement has its columns, or takes those of the newest schema of its topic; a query has no columns without its plan.
"""

from collections.abc import Mapping
from typing import Any

from treaty.core.column_types.tokens import SqlToken, print_name, read_quoted, read_text, split_tokens
from treaty.metastore.ksqldb.sent_text import translate_text

_KINDS: Mapping[str, str] = {"STREAM": "createStreamV1", "TABLE": "createTableV1"}
_FORMATS = frozenset({"FORMAT", "KEY_FORMAT", "VALUE_FORMAT"})
"""Properties whose values are written in any case."""


class PlainStatementError(ValueError):
    """A statement that comes to nothing here; `name` is that of its stream or table, empty where it has none."""

    def __init__(self, reason: str, name: str = "") -> None:
        super().__init__(reason)
        self.name = name


def read_plain(statement: str) -> dict[str, Any]:
    """Return what a CREATE, DROP or ALTER without a plan does, as the `ddlCommand` of a plan says it. Raises `PlainStatementError`."""
    reader = _PlainReader(translate_text(statement)[0].strip().rstrip(";").rstrip())
    if reader.take("CREATE"):
        return reader.read_create()
    if reader.take("DROP"):
        return reader.read_drop()
    reader.need("ALTER")
    return reader.read_alter()


class _PlainReader:
    """The tokens of one statement, whose words are in capitals."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at = text, split_tokens(text), 0

    @property
    def token(self) -> SqlToken:
        """The token that comes next."""
        return self.tokens[self.at]

    def take(self, *words: str) -> bool:
        """Pass over words or signs that come next, all of them or none."""
        following = self.tokens[self.at : self.at + len(words)]
        if tuple(token.keyword or token.text for token in following) != words:
            return False
        self.at += len(words)
        return True

    def need(self, word: str) -> None:
        """Pass over a word or sign. Raises `PlainStatementError` where another one stands."""
        if not self.take(word):
            raise PlainStatementError(f"{self.token.label} stands where {word} is expected")

    def read_create(self) -> dict[str, Any]:
        """Read what follows CREATE."""
        self.take("OR", "REPLACE")
        self.take("SOURCE")
        if self.take("TYPE"):
            name = self._read_name()
            self.need("AS")
            return {"@type": "registerTypeV1", "typeName": name, "type": self.text[self.token.start :]}
        kind = self._read_kind()
        if_not_exists = self.take("IF", "NOT", "EXISTS")
        name = self._read_name()
        columns = self._read_columns()
        words = self._read_properties()
        if self.take("AS"):
            raise PlainStatementError(
                "a query without a plan, from which its columns would be known: create it here with a query in Spark's SQL", name
            )  # fmt: skip
        return {
            "@type": _KINDS[kind], "ifNotExists": if_not_exists, "sourceName": name, "schema": columns, "infersKey": True, "topicName": words.get("KAFKA_TOPIC", ""),
            "formats": {
                "keyFormat": {"format": words.get("KEY_FORMAT") or words.get("FORMAT") or "KAFKA", "properties": _read_format_properties(words, "KEY")},
                "valueFormat": {"format": words.get("VALUE_FORMAT") or words.get("FORMAT", ""), "properties": _read_format_properties(words, "VALUE")},
                "valueFeatures": ["UNWRAP_SINGLES"] if words.get("WRAP_SINGLE_VALUE", "").upper() == "FALSE" else [],
            },
            "timestampColumn": {"column": _read_column(words["TIMESTAMP"]), "format": words.get("TIMESTAMP_FORMAT", "")} if words.get("TIMESTAMP") else None,
            "windowInfo": {"type": words["WINDOW_TYPE"]} if words.get("WINDOW_TYPE") else None,
        }  # fmt: skip

    def read_drop(self) -> dict[str, Any]:
        """Read what follows DROP."""
        is_type = self.take("TYPE")
        if not is_type:
            self._read_kind()
        self.take("IF", "EXISTS")
        name = self._read_name()
        return {"@type": "dropTypeV1", "typeName": name} if is_type else {"@type": "dropSourceV1", "sourceName": name}

    def read_alter(self) -> dict[str, Any]:
        """Read what follows ALTER: columns that are added."""
        self._read_kind()
        name, columns, begin = self._read_name(), list[str](), 0
        for number, token in enumerate(self.tokens[self.at :], self.at):
            follows_comma = number > self.at and self.tokens[number - 1].text == ","
            if token.keyword == "ADD" and (number == self.at or follows_comma):
                columns += [self.text[begin : self.tokens[number - 1].start]] if begin else []
                begin = self.tokens[number + (self.tokens[number + 1].keyword == "COLUMN")].end
        if not begin:
            self.need("ADD")
        return {"@type": "alterSourceV1", "sourceName": name, "newColumns": ", ".join([*columns, self.text[begin:]])}

    def _read_kind(self) -> str:
        if self.token.keyword not in _KINDS:
            raise PlainStatementError(f"{self.token.label} stands where STREAM or TABLE is expected")
        self.at += 1
        return self.tokens[self.at - 1].keyword

    def _read_name(self) -> str:
        token = self.token
        if token.kind not in {"word", "quoted"}:
            raise PlainStatementError(f"{token.label} stands where a name is expected")
        self.at += 1
        return read_quoted(token) if token.kind == "quoted" else token.text

    def _read_columns(self) -> str:
        """Return the text between the brackets of a head; empty without them."""
        if not self.take("("):
            return ""
        begin, depth = self.token.start, 1
        while depth and self.token.kind not in {"end", "open"}:
            depth += {"(": 1, ")": -1}.get(self.token.text, 0)
            self.at += 1
        if depth:
            raise PlainStatementError("the brackets of its columns do not end")
        return self.text[begin : self.tokens[self.at - 1].start].strip()

    def _read_properties(self) -> dict[str, str]:
        """Return the properties of WITH by their names in capitals."""
        words: dict[str, str] = {}
        if not self.take("WITH"):
            return words
        self.need("(")
        while not self.take(")"):
            token = self.token
            name = read_text(token) if token.kind == "text" else self._read_name()
            if token.kind == "text":
                self.at += 1
            self.need("=")
            value = self.token
            if value.kind in {"sign", "end", "open"}:
                raise PlainStatementError(f"{value.label} stands where the value of {print_name(name)} is expected")
            words[name.upper()] = read_text(value) if value.kind == "text" else value.text
            self.at += 1
            if not self.take(","):
                self.need(")")
                break
        return {name: value.upper() if name in _FORMATS else value for name, value in words.items()}


def _read_format_properties(words: Mapping[str, str], side: str) -> dict[str, str]:
    """Return the members of a plan's format for the properties of keys or values."""
    properties = {
        "fullSchemaName": words.get(f"{side}_SCHEMA_FULL_NAME") or words.get(f"{side}_AVRO_SCHEMA_FULL_NAME", ""),
        "schemaId": words.get(f"{side}_SCHEMA_ID", ""),
        "nullableRepresentation": words.get(f"{side}_PROTOBUF_NULLABLE_REPRESENTATION", ""),
    }
    return {name: value for name, value in properties.items() if value}


def _read_column(name: str) -> str:
    """Return the name of a column in a property: in capitals without back quotes."""
    return name.strip("`") if name.startswith("`") else name.upper()
