"""What stands between the name of a source and AS: columns and properties."""

from collections.abc import Sequence

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import SqlToken
from treaty.core.limits import SOURCE_COLUMNS, SOURCE_PROPERTIES
from treaty.core.schema import Pairs
from treaty.metastore.sql.cursor import StatementCursor
from treaty.metastore.sql.diagnostics import StatementError, nearest_word
from treaty.metastore.sql.foreign_words import COMPUTED
from treaty.metastore.sql.properties import (
    PROPERTIES,
    PROPERTY_SYNONYMS,
    TOPIC_PROPERTIES,
    canonical_names,
    find_refused,
)
from treaty.metastore.sql.values import HeadColumn

GivenProperties = dict[str, tuple[str, SqlToken]]
"""By canonical name the canonical value, and the token of the name as it was written."""

_PROPERTY_WORDS = (*PROPERTIES, *PROPERTY_SYNONYMS, "FORMAT")

# ------------------------------------------------------------------------------------------------------------- columns


def read_columns(cursor: StatementCursor, kind: str) -> tuple[HeadColumn, ...]:
    """Read the columns in parentheses. `kind` is STREAM, TABLE, or empty where keys are those of either."""
    cursor.need_sign("(")
    columns: dict[str, HeadColumn] = {}
    keys: list[str] = []
    while True:
        start, first = cursor.token, cursor.at
        try:
            _refuse_entry(cursor)
            if start.keyword == "PRIMARY" and cursor.following.keyword == "KEY":
                keys += _read_key_list(cursor)
            else:
                _add(cursor, columns, read_column(cursor, kind), start)
            cursor.need_separator()
        except StatementError as error:
            cursor.continue_after(error, first)
        if len(columns) > SOURCE_COLUMNS:
            message = f"the head has more columns than the limit SOURCE_COLUMNS of {SOURCE_COLUMNS}"
            cursor.fail("TOO_MANY_COLUMNS", message, hint="structs hold more")
        if not cursor.next_entry():
            break
    return _with_keys(cursor, columns, keys, start)


def _add(cursor: StatementCursor, columns: dict[str, HeadColumn], column: HeadColumn, token: SqlToken) -> None:
    if columns.setdefault(lower_name(column.name), column) is not column:
        cursor.report("COLUMN_TWICE", f"the column {column.name} is there twice", token, hint="another name")


def _read_key_list(cursor: StatementCursor) -> list[str]:
    cursor.need("PRIMARY", "KEY")
    cursor.need_sign("(")
    names = [cursor.read_name("a column")]
    while cursor.take_sign(","):
        names.append(cursor.read_name("a column"))
    cursor.need_sign(")")
    cursor.take("NOT", "ENFORCED")  # of Flink: keys are never checked here
    return names


def _refuse_entry(cursor: StatementCursor) -> None:
    """Raise an error for an entry of Flink or RisingWave that is no column: a watermark, or a column that is computed."""
    following = cursor.following.keyword
    if following == "FOR" and cursor.token.keyword == "WATERMARK":
        column = cursor.tokens[min(cursor.at + 2, len(cursor.tokens) - 1)].text or "ts"
        hint = f"WITH (WATERMARK = '{column} DELAY OF INTERVAL 5 SECONDS')"
        cursor.fail("SYNTAX", "a watermark is a property here", hint=hint, expected=("a column",))
    if following == "AS" and cursor.is_name(cursor.token):
        hint = f"a column that is computed belongs into a query: {COMPUTED}"
        cursor.fail("SYNTAX", f"the column {cursor.token.label} has no type", hint=hint, expected=("a type",))


def _with_keys(
    cursor: StatementCursor, columns: dict[str, HeadColumn], keys: Sequence[str], token: SqlToken
) -> tuple[HeadColumn, ...]:
    """The columns with the roles that ``PRIMARY KEY (…)`` gives."""
    for name in keys:
        column = columns.get(lower_name(name))
        if column is None:
            cursor.report(
                "NAME_REFUSED", f"there is no column {name} for PRIMARY KEY", token, expected=tuple(columns)[:20]
            )
        else:
            _set_role(cursor, column.role, "key", token)
            columns[lower_name(name)] = HeadColumn(
                column.name, column.type, "key", nullable=column.nullable, comment=column.comment
            )
    return tuple(columns.values())


def read_column(cursor: StatementCursor, kind: str) -> HeadColumn:
    """Read a column: a name, a type, and what follows in any order."""
    name_token, name = cursor.token, cursor.read_name("a column")
    column_type = cursor.read_type()
    role, header, nullable, comment = "value", "", True, ""
    while not cursor.ends_entry:
        token = cursor.token
        if cursor.take("NOT"):
            cursor.need("NULL")
            nullable = False
        elif cursor.take("COMMENT"):
            comment = cursor.read_string()
        elif cursor.take("HEADERS"):
            role = _set_role(cursor, role, "headers", token)
        elif cursor.take("HEADER"):
            cursor.need_sign("(")
            role, header = (
                _set_role(cursor, role, "header", token),
                cursor.read_string("the name of a header in quotes"),
            )
            cursor.need_sign(")")
        elif cursor.take("PRIMARY"):
            cursor.need("KEY")
            role = _set_role(cursor, role, "key", token)
            _check_key_word(cursor, kind, "TABLE", token, name_token)
        elif cursor.take("KEY"):
            role = _set_role(cursor, role, "key", token)
            _check_key_word(cursor, kind, "STREAM", token, name_token)
        elif not cursor.take("NULL"):
            break
    return HeadColumn(name, column_type, role, header, nullable, comment)


def _set_role(cursor: StatementCursor, role: str, later: str, token: SqlToken) -> str:
    """Return the role that a word gives a column; a second one is noted: a column is at one place of a record."""
    if role not in {"value", later}:
        message = f"the column is of the {'headers' if role == 'header' else role} already"
        cursor.report("SYNTAX", message, token, hint="one of KEY, HEADER and HEADERS, and a column for each")
    return later


def _check_key_word(cursor: StatementCursor, kind: str, expected: str, token: SqlToken, name: SqlToken) -> None:
    """Note a word for a key that is that of the other kind of source; the hint is the column as it is written there."""
    if kind and kind != expected:
        word = "KEY" if kind == "STREAM" else "PRIMARY KEY"
        message = f"a key of a {kind} is {word}"
        end = cursor.tokens[cursor.at - 1].end
        written = " ".join(cursor.text[name.start : token.start].split())
        cursor.report("KEY_WORD_MISMATCH", message, token, hint=f"{written[:100]} {word}", expected=(word,), end=end)


# ---------------------------------------------------------------------------------------------------------- properties


def read_properties(cursor: StatementCursor) -> GivenProperties:
    """Read properties in parentheses: ``(name = value, …)``. Names and values that are not allowed are noted as errors."""
    cursor.need_sign("(")
    properties: GivenProperties = {}
    count = 0
    while True:
        count += 1
        if count > SOURCE_PROPERTIES:
            message = f"the statement has more properties than the limit SOURCE_PROPERTIES of {SOURCE_PROPERTIES}"
            cursor.fail("TOO_MANY_PROPERTIES", message, hint="each once")
        first = cursor.at
        try:
            _read_property(cursor, properties)
            cursor.need_separator()
        except StatementError as error:
            cursor.continue_after(error, first)
        if not cursor.next_entry():
            return properties


def _read_property(cursor: StatementCursor, properties: GivenProperties) -> None:
    token, word = cursor.token, read_property_name(cursor)
    names = known_property(cursor, word, token)
    cursor.need_sign("=")
    value_token, value = cursor.token, read_property_value(cursor)
    for name in names:
        if name in properties:
            other = properties[name][1].label
            message = (
                f"the property {word} is there twice"
                if other.upper() == word.upper()
                else f"{word} says the same as {other}"
            )
            cursor.report("PROPERTY_TWICE", message, token, hint="once")
            return
    for name in names:
        canonical = check_value(cursor, name, value, value_token)
        if canonical is None:
            return
        properties[name] = (canonical, token)


def read_property_name(cursor: StatementCursor) -> str:
    """Read the name of a property: a word, words with dots between them, or a text in quotes."""
    if cursor.token.kind in {"text", "raw"}:
        return cursor.read_string("a property")
    words = [cursor.read_name("a property")]
    while cursor.take_sign("."):
        words.append(cursor.read_name("a property"))
    return ".".join(words)


def known_property(cursor: StatementCursor, word: str, token: SqlToken) -> tuple[str, ...]:
    """Return the canonical names of a property; what is not known, or refused, is noted, and has none."""
    names = canonical_names(word)
    if names:
        return names
    refused = find_refused(word)
    if refused:
        cursor.report("PROPERTY_UNKNOWN", f"{word[:100]} has no meaning here", token, hint=refused)
        return ()
    near = nearest_word(word.replace(".", "_"), _PROPERTY_WORDS)
    hint = f"did you mean {near}?" if near else "SHOW PROPERTIES lists them"
    cursor.report(
        "PROPERTY_UNKNOWN", f"there is no property {word[:100]}", token, hint=hint, expected=(near,) if near else ()
    )
    return ()


def read_property_value(cursor: StatementCursor) -> str:
    """Read a value: a text in quotes, a number, TRUE or FALSE."""
    word = cursor.take_any("TRUE", "FALSE")
    if word:
        return word.lower()
    sign = "-" if cursor.take_sign("-") else ""
    token = cursor.token
    if token.kind == "number":
        cursor.at += 1
        return sign + token.text
    if sign:
        cursor.fail(expected=("a number",))
    if token.kind == "word":
        message = f"{token.label} stands where a value is expected"
        cursor.fail(
            "SYNTAX",
            message,
            hint=f"'{token.text}', in quotes",
            expected=("a text in quotes", "a number", "TRUE", "FALSE"),
        )
    return cursor.read_string("a value: a text in quotes, a number, TRUE or FALSE")


def check_value(cursor: StatementCursor, name: str, value: str, token: SqlToken) -> str | None:
    """Return the canonical value; one that is not allowed is noted, and is None."""
    known_property = PROPERTIES[name]
    canonical = known_property.read(value)
    if canonical is None:
        way = (known_property.ways or {}).get(value.upper(), "")
        near = nearest_word(value, tuple(word.upper() for word in known_property.allowed if " " not in word))
        hint = way or (f"did you mean {near}?" if near else "")
        short_value = f"{value[:100]}…" if len(value) > 100 else value
        message = f"{name} takes no '{short_value}'"
        cursor.report(
            "PROPERTY_VALUE",
            message,
            token,
            hint=hint or " or ".join(known_property.allowed),
            expected=known_property.allowed,
        )
    return canonical


def pairs_of(properties: GivenProperties) -> Pairs:
    """Return names and values in their order."""
    return tuple((name, value) for name, (value, _) in properties.items())


def refuse_query_properties(cursor: StatementCursor, properties: GivenProperties) -> None:
    """Note the properties that belong to sources with a query, for one without."""
    for name, (_, token) in properties.items():
        if PROPERTIES[name].query:
            message = f"{name} is a property of a query, and this source has none"
            cursor.report("PROPERTY_MISPLACED", message, token, hint="AS with a query, or leave it out")


def refuse_unalterable(cursor: StatementCursor, properties: GivenProperties) -> None:
    """Note the properties that ALTER … SET does not change."""
    for name, (_, token) in properties.items():
        if not PROPERTIES[name].alterable:
            message = f"ALTER does not change {name}"
            hint = (
                "CREATE OR REPLACE; DROP of the stream of bad rows ends it"
                if name == "BAD_ROWS"
                else "CREATE OR REPLACE"
            )
            allowed = tuple(word for word, known in PROPERTIES.items() if known.alterable)
            cursor.report("PROPERTY_MISPLACED", message, token, hint=hint, expected=allowed)


def keep_topic_properties(cursor: StatementCursor, properties: GivenProperties) -> tuple[int, int]:
    """Return PARTITIONS and REPLICAS, 0 where they are missing; all others are noted."""
    for name, (_, token) in properties.items():
        if name not in TOPIC_PROPERTIES:
            cursor.report(
                "PROPERTY_MISPLACED",
                f"ASSERT TOPIC takes no {name}",
                token,
                hint="leave it out",
                expected=TOPIC_PROPERTIES,
            )
    partitions, replicas = (int(properties[name][0]) if name in properties else 0 for name in TOPIC_PROPERTIES)
    return partitions, replicas
