"""Calls of functions on the types of columns in SQL: texts that are types, and texts that are not."""

from collections.abc import Iterator
from itertools import product

from tests.answers.calls.printing import each, print_call
from treaty.core import column_types as c
from treaty.core.column_types import leaf_paths, printer, tokens

TYPES = (
    "INT", "integer", "BIGINT", "STRING", "VARCHAR", "VARCHAR(3)", "DOUBLE", "FLOAT", "BOOLEAN", "BYTES", "BINARY(4)", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP(3)", "TIMESTAMP(9)", "TIMESTAMP(10)", "TIMESTAMP(-1)", "TIME(6)", "TIME(3)",
    "TIMESTAMP_LTZ", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP WITH", "DECIMAL", "DECIMAL(5)", "DECIMAL(5,2)", "DECIMAL(5, 6)", "DECIMAL(0,0)", "DECIMAL(38,38)", "DECIMAL(39,0)", "DECIMAL(1,1,1)", "DECIMAL(x)", "DECIMAL(5", "DECIMAL()", "NUMERIC(3,1)", "DEC(2)",
    "ARRAY<INT>", "ARRAY<ARRAY<STRING>>", "array < int >", "ARRAY<INT NOT NULL>", "ARRAY", "ARRAY<", "ARRAY<>", "ARRAY(INT)", "MAP<STRING, INT>", "MAP<STRING,ARRAY<INT>>", "MAP<STRING>", "MAP<INT INT>", "MAP", "MAP<STRUCT<a INT>, INT>", "MAP<>",
    "STRUCT<>", "STRUCT<a INT>", "STRUCT<a INT, b STRING>", "STRUCT<a: INT, `b c` STRING NOT NULL COMMENT 'x''y'>", "STRUCT<a INT COMMENT>", "STRUCT<a>", "STRUCT<a INT, A STRING>", "STRUCT<a INT,>", "STRUCT<a INT b INT>", "STRUCT", "STRUCT<'a' INT>", "STRUCT<a INT NOT>",
    "STRUCT<a INT NULL>", "ROW<a INT>", "ROW(a INT)", "Point", "`a b`", "``", "`a``b`", "a.b", "INT INT", "INT;", "", " ", "1", "'x'", "INT -- c", "INT /* c */", "/* INT", "INT NOT NULL", "INTERVAL", "MULTISET<INT>", "TINYINT", "SMALLINT", "REAL", "CHAR(3)", "CHAR", "VARBINARY", "JSON", "UUID",
    "ARRAY<" * 20 + "INT" + ">" * 20, "ARRAY<" * 64 + "INT" + ">" * 64, "ARRAY<" * 300 + "INT" + ">" * 300, "STRUCT<" + ", ".join(f"f{n} INT" for n in range(40)) + ">", "ä", "a-b", "x" * 300, "`" + "y" * 300 + "`", "INT\x00", "ARRAY<INT>>", "DECIMAL(٣)", "DECIMAL(99999)", "DECIMAL(05,02)",
)  # fmt: skip
SCRIPTS = (
    "a b", "a<b>", "'it''s'", "'a\\'b'", '"x""y"', "`q``r`", "1 2.5 1e3 .5 5.", "-- c\na", "/* a */ b", "/* a", "'a", "`a", "a--b", "a/*b*/c", "<= >= <> != => -> :: ..", "a;b", "$x @y #z", "ä é", "\ta\n b", "0x1F 1_000", "a.b.c", "''", "x'ff'", "'\\n\\t\\u0041'", "r'\\n'",
)  # fmt: skip
PATHS = (
    "a",
    "a.b",
    "`a b`.c",
    "a.element.b",
    "m.value",
    "`x``y`",
    "",
    ".",
    "a.",
    ".a",
    "a..b",
    "`a",
    "a`b",
    "a b",
    "`a`b",
    "A.B",
    "``",
)
KNOWN = {
    "point": "STRUCT<x INT NOT NULL, y INT>",
    "list": "ARRAY<Point>",
    "loop": "ARRAY<loop>",
    "a b": "INT",
    "deep": "MAP<STRING, List>",
    "first": "STRUCT<s second>",
    "second": "STRUCT<f FIRST>",
    "many": "STRUCT<" + ", ".join(f"f{n} INT" for n in range(200)) + ">",
}
USERS = (
    "Point",
    "LIST",
    "loop",
    "`A B`",
    "deep",
    "first",
    "missing",
    "STRUCT<p Point, q Point, r ARRAY<List>>",
    "MAP<Point, deep>",
    "INT",
    "ARRAY<" * 30 + "deep" + ">" * 30,
    "STRUCT<" + ", ".join(f"f{n} many" for n in range(150)) + ">",
)


def _parse(text: str) -> c.SqlType | None:
    try:
        return c.parse_column_type(text)
    except c.ColumnTypeError:
        return None


def _describe(text: str) -> str:
    """A type, or where and why a text is none, and how it is printed."""
    try:
        kind = c.parse_column_type(text)
    except c.ColumnTypeError as error:
        return f"{type(error).__name__} {error.args} {vars(error)}"
    return f"{kind} {c.print_column_type(kind)} {c.list_type_names(kind)} {c.drop_not_null(kind) == kind}"


def call_types() -> Iterator[str]:
    yield from each(_describe, TYPES)
    yield from each(tokens.split_tokens, SCRIPTS)
    yield from each(c.lower_name, ["AbC", "ÄB", "İ", ""])
    yield from (
        print_call(printer.print_options, nullable=nullable, comment=comment)
        for nullable in (False, True)
        for comment in ("", "a", "it's")
    )
    yield from each(tokens.print_text, ["", "a", "it's", "a\\b", "\n"])
    yield from each(
        tokens.print_name,
        [
            "a",
            "A1",
            "1a",
            "a b",
            "a`b",
            "",
            "select",
            "_x",
            "ä",
            ("int", frozenset({"INT"})),
            ("INT", frozenset({"INT"})),
        ],
    )
    for script in SCRIPTS:
        try:
            found = tokens.split_tokens(script)
        except c.ColumnTypeError as error:
            yield f"{script!r} {vars(error)}"
            continue
        for token in found:
            yield print_call(_describe_token, token)


def _describe_token(token: tokens.SqlToken) -> str:
    text = tokens.read_text(token) if token.kind in {"text", "string"} else ""
    quoted = tokens.read_quoted(token) if token.text[:1] == "`" else ""
    return f"{token.label} {token.keyword!r} {text!r} {quoted!r}"


def call_user_types() -> Iterator[str]:
    for text in USERS:
        kind = c.parse_column_type(text)
        try:
            expanded = c.expand_type(kind, lambda key: _parse(KNOWN[key]) if key in KNOWN else None)
            yield f"{text[:60]}: {c.list_type_names(kind)} {print_call(c.print_column_type, c.drop_not_null(expanded))}"
        except c.ColumnTypeError as error:
            yield f"{text[:60]}: {error.args} {vars(error)}"


def call_leaf_paths() -> Iterator[str]:
    yield from each(leaf_paths.parse_path, PATHS)
    yield from each(leaf_paths.print_path, [(("a", "b c"),), (("a`b",),), ((),)])
    paths = [("a",), ("A", "b"), ("b",), ("a", "b", "c"), ()]
    yield from each(leaf_paths.is_touched, product(paths, paths))
    texts = (
        "INT",
        "STRUCT<x INT, Y STRING>",
        "ARRAY<STRUCT<x INT>>",
        "MAP<STRING, STRUCT<x INT>>",
        "STRUCT<element STRUCT<x INT>>",
        "STRUCT<>",
        "STRUCT<Y STRING, x INT COMMENT 'c'>",
        "STRUCT<x BIGINT>",
        "Point",
    )
    columns = [(("a", c.parse_column_type(text)), ("b", c.parse_column_type("INT"))) for text in texts]
    yield from each(leaf_paths.list_leaves, [(each_columns,) for each_columns in columns])
    reads = (("a",), ("A.x",), ("a.element.x",), ("a.value.x", "b"), ("b",), (), ("a.",), ("c",))
    for old, new in product(range(len(columns)), repeat=2):
        lost = [
            print_call(leaf_paths.find_lost_leaf, columns[old], columns[new], names).rpartition(" = ")[2]
            for names in reads
        ]
        yield f"{texts[old]} to {texts[new]}: {lost}"


CALLS = {"types": call_types, "user-types": call_user_types, "leaf-paths": call_leaf_paths}
