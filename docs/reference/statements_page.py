"""Makes the page of statements from the tables of the parser; `make.py` writes it."""

from collections.abc import Iterator

from treaty.core.column_types import SQL_SCALARS
from treaty.core.column_types.types import SQL_SYNONYMS
from treaty.metastore.sql.diagnostics import STATEMENT_CODES
from treaty.metastore.sql.foreign_words import FIRST, INSIDE
from treaty.metastore.sql.keywords import RESERVED_WORDS, STATEMENT_FORMS
from treaty.metastore.sql.properties import (
    FOREIGN_PROPERTIES,
    PROPERTIES,
    PROPERTIES_REFUSED,
    PROPERTY_SYNONYMS,
    SETTINGS,
    SourceProperty,
)

_HEAD = """# Statements

Keywords are read in any case. In brackets stands what may be left out, and `|` is between words of which one is written. A script has semicolons between
its statements, and comments as in Spark: `-- to the end of the line` and `/* nested */`.

- **Names** have the letters A-Z, a-z, 0-9 and _, or stand between back quotes, as do the words {reserved}. Names of sources and types that
  differ in the case of A-Z alone are the same.
- **Texts** stand between single or double quotes. A quote inside is written twice, or after a backslash; `\\n`, `\\t` and `\\u0041` are as in Spark, and `r'…'` has
  no escapes.
- **The query after AS** is Spark SQL, and is kept byte for byte from the first character that is no blank to its last word. A trailing `EMIT CHANGES` is cut off with a
  warning; `EMIT FINAL` is append mode. A watermark stands before the alias: `FROM STREAM orders WATERMARK ts DELAY OF INTERVAL 1 MINUTE AS o`.
- **`COMMENT` and `WITH`** of a CREATE are written in any order. **`ALL`** after SHOW or LIST (`SHOW ALL TOPICS`) may be written, and changes nothing.
- **Variables**, `${{name}}`, are replaced in names, texts and queries, and not in comments, before a statement is parsed; places of errors are those of the text that was
  sent. `$${{` stands for `${{`.
"""


def page() -> str:
    """Statements, types, properties and codes of errors."""
    reserved = ", ".join(f"`{word}`" for word in sorted(RESERVED_WORDS))
    return "\n".join(
        [_HEAD.format(reserved=reserved), *_forms(), *_types(), *_properties(), *_foreign_words(), *_codes()]
    )


def _forms() -> Iterator[str]:
    yield from ("## Forms", "", "| statement | what it does |", "|---|---|")
    yield from (f"| {_code(form)} | {text} |" for forms in STATEMENT_FORMS.values() for form, text in forms)


def _types() -> Iterator[str]:
    yield from ("", "## Types of columns", "", "| type | holds | also called |", "|---|---|---|")
    parts = {
        "DECIMAL(p, s)": "numbers of p digits (1 to 38), s of them after the point; DECIMAL alone is DECIMAL(10, 0)",
        "TIME(p)": "times of day with p digits (0 to 6) after the second; TIME alone is TIME(6)",
        "ARRAY<type>": "a list",
        "MAP<type, type>": "keys, never null, with their values",
        "STRUCT<name: type [NOT NULL] [COMMENT 'text'], …>": "named fields; the colon may be left out",
        "name": "what a CREATE TYPE says",
    }
    for name, text in {**SQL_SCALARS, **parts}.items():
        others = (f"`{word}`" for word, stands in SQL_SYNONYMS.items() if stands == name.partition("(")[0])
        yield f"| {_code(name)} | {text} | {', '.join(others)} |"


def _foreign_words() -> Iterator[str]:
    """Words of other systems by statement, those of LIST aside, which are those of SHOW."""
    yield from ("", "## Words of other systems", "")
    yield from ("A statement with one of these words is refused, and the error has the form that says the same.", "")
    yield from ("| statement | word | here |", "|---|---|---|")
    yield from (f"| | `{word}` | {_cell(hint)} |" for word, hint in FIRST.items())
    for first, words in INSIDE.items():
        if first != "LIST":
            yield from (f"| `{first}` | `{word}` | {_cell(hint)} |" for word, hint in words.items())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _properties() -> Iterator[str]:
    settings = ", ".join(f"`{name}`" for name in SETTINGS)
    yield from (
        "",
        "## Properties",
        "",
        "`FORMAT` stands for `KEY_FORMAT` and `VALUE_FORMAT`. Dots and hyphens in names are underscores.",
    )
    yield f"`SET` gives later statements of a script a default of {settings}. *Query* marks what only a source with AS has, *ALTER* what `ALTER … SET` changes."
    yield from ("", "| property | what it says | values | | also called |", "|---|---|---|---|---|")
    for name, known in PROPERTIES.items():
        others = ", ".join(f"`{word}`" for word, stands in PROPERTY_SYNONYMS.items() if stands == name)
        yield f"| `{name}` | {known.purpose} | {_values(known)} | {_marks(known)} | {others} |"
    yield from (
        "",
        "Properties and formats of ksqlDB, Flink and RisingWave that are refused:",
        "",
        "| property or value | instead |",
        "|---|---|",
    )
    ways = {f"VALUE_FORMAT = '{word}'": way for word, way in (PROPERTIES["VALUE_FORMAT"].ways or {}).items()}
    yield from (f"| `{name}` | {way} |" for name, way in {**PROPERTIES_REFUSED, **FOREIGN_PROPERTIES, **ways}.items())


def _values(known: SourceProperty) -> str:
    return ", ".join(word if " " in word and not word.startswith("ts ") else f"`{word}`" for word in known.allowed)


def _marks(known: SourceProperty) -> str:
    return ", ".join(["query"] * known.query + ["ALTER"] * known.alterable)


def _codes() -> Iterator[str]:
    yield from (
        "",
        "## Codes of errors",
        "",
        "Each error has its code, its place in the text (offsets in code points, line, column), what is expected there and a remedy.",
        "",
    )
    yield from ("| code | what it says |", "|---|---|")
    yield from (f"| `{code}` | {text} |" for code, text in STATEMENT_CODES.items())
    yield ""


def _code(text: str) -> str:
    """Code in a cell of a table, where a bar is written as one."""
    return f"`{text.replace('|', chr(92) + '|')}`"
