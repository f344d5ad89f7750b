"""Strategies of statements, and of what they are made of: names, texts and types of columns."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from treaty.core.column_types import (
    SQL_SCALARS,
    SQL_TYPE_WORDS,
    SqlArray,
    SqlDecimal,
    SqlField,
    SqlMap,
    SqlScalar,
    SqlStruct,
    SqlTime,
    SqlType,
    UserType,
    lower_name,
)
from treaty.core.schema import Pairs
from treaty.metastore.sql.properties import PROPERTIES, SETTINGS
from treaty.metastore.sql.statements import (
    SHOWN,
    SYSTEM_TABLES,
    AddColumnsStatement,
    AssertSchemaStatement,
    AssertTopicStatement,
    CommentStatement,
    CreateSourceStatement,
    CreateTypeStatement,
    DefineStatement,
    DeleteStatement,
    DescribeStatement,
    DropSourceStatement,
    DropTypeStatement,
    ExplainStatement,
    InsertStatement,
    OnceStatement,
    PauseStatement,
    PrintStatement,
    ProtectStatement,
    RefreshSchemaStatement,
    RefreshTypeStatement,
    RenameStatement,
    RestartStatement,
    ResumeStatement,
    SelectRecordsStatement,
    SelectRowsStatement,
    SelectStatement,
    SetPropertiesStatement,
    SetStatement,
    ShowCreateStatement,
    ShowStatement,
    SqlStatement,
    SwapStatement,
    UndefineStatement,
    UndropStatement,
    UnsetStatement,
    UpdateStatement,
)
from treaty.metastore.sql.values import (
    EARLIEST,
    LATEST,
    ArrayLiteral,
    ColumnCondition,
    ComparedRange,
    HeadColumn,
    MapLiteral,
    OrderTerm,
    SqlLiteral,
    StructLiteral,
    TimeLiteral,
)

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")
NAMED = [
    *("a", "Orders", "not", "int", "select", "as", "with", "key", "9", "a`b", "a.b", "it's", "ß", "ſ", "--", "${x}"),
    *("stream", "table", "type", "if", "extended", "create", "replace", "column", "primary", "all", "null", "restrict"),
]
HARD = ["it's", "a\\", "\\'", '""', "''", "--", "/*", ";", "\\u0041", "$${", "${x}"]


# What follows is drawn by functions, since Hypothesis prints a strategy with all that is inside of it.


@st.composite
def names(draw: st.DrawFn) -> str:
    """A name of anything."""
    return draw(
        st.sampled_from(NAMED)
        | st.text("abc_`'. \n", min_size=1, max_size=5)
        | st.text(CHARACTERS, min_size=1, max_size=5)
    )


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A text between quotes."""
    return draw(st.sampled_from(HARD) | st.text(CHARACTERS, max_size=8))


NAMES, TEXTS = names(), texts()
decimals = st.integers(1, 38).flatmap(lambda digits: st.builds(SqlDecimal, st.just(digits), st.integers(0, digits)))
leaves: st.SearchStrategy[SqlType] = (
    st.sampled_from(sorted(SQL_SCALARS)).map(SqlScalar)
    | decimals
    | st.integers(0, 6).map(SqlTime)
    | NAMES.map(UserType)
)


def _inside(parts: st.SearchStrategy[SqlType]) -> st.SearchStrategy[SqlType]:
    fields = st.builds(SqlField, NAMES | st.just(""), parts, st.booleans(), TEXTS)
    structs = st.lists(fields, max_size=4, unique_by=lambda field: field.name).map(
        lambda members: SqlStruct(tuple(members))
    )
    return structs | parts.map(SqlArray) | st.builds(SqlMap, parts, parts)


TYPE_TREES = st.recursive(leaves, _inside, max_leaves=10)


@st.composite
def types(draw: st.DrawFn) -> SqlType:
    """A type of a column."""
    return draw(TYPE_TREES)


TYPES = types()

COLUMNS = st.builds(
    HeadColumn, NAMES, TYPES, st.sampled_from(["value", "key", "headers"]), st.just(""), st.booleans(), TEXTS
) | st.builds(HeadColumn, NAMES, TYPES, st.just("header"), TEXTS, st.booleans(), TEXTS)
KINDS = st.sampled_from(["STREAM", "TABLE"])


def several(columns: st.SearchStrategy[HeadColumn], least: int = 0) -> st.SearchStrategy[tuple[HeadColumn, ...]]:
    """Columns of different names."""
    return st.lists(columns, min_size=least, max_size=4, unique_by=lambda column: lower_name(column.name)).map(tuple)


POOL = [
    "a",
    "it's",
    "3",
    "1 second",
    "90 days",
    "true",
    "false",
    "earliest",
    "2026-01-31T00:00:00+00:00",
    "a, b",
    "x DELAY OF INTERVAL 2 hours",
]


def values_of(name: str) -> list[str]:
    """Canonical values of a property."""
    known = PROPERTIES[name]
    return sorted({value for known_value in (*POOL, *known.allowed) if (value := known.read(known_value)) is not None})


def pairs(names: list[str], least: int = 0) -> st.SearchStrategy[Pairs]:
    """Properties of these names, each once."""
    one = st.sampled_from(names).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(values_of(name))))
    return st.lists(one, min_size=least, max_size=5, unique_by=lambda pair: pair[0]).map(tuple)


PLAIN = [name for name, known in PROPERTIES.items() if not known.query]
BODY_WORDS = (
    "a",
    "'it''s;'",
    '"a;"',
    "`x;y`",
    "/* ; */",
    "/*/* ' */*/",
    "-- ;'\n",
    "--\\\n;\n",
    "( ",
    ")",
    "r'\\'",
    "1.5e3",
    "${x}",
    "$${x}",
    "'${x'",
    "WITHIN GROUP (ORDER BY a)",
    "OVER (PARTITION BY a)",
    "/*+ BROADCAST(a) */",
    "WATERMARK",
    "EMIT",
    "WINDOW w",
    "\t",
    ",",
    "ß",
    "😀",
)
BODIES = st.lists(st.sampled_from(BODY_WORDS), max_size=8).map(
    lambda words: " ".join(["SELECT", *words, "FROM STREAM a"])
)

plain_sources = st.builds(
    CreateSourceStatement, KINDS, NAMES, several(COLUMNS), pairs(PLAIN), comment=TEXTS, or_replace=st.booleans()
)
queries = st.builds(
    CreateSourceStatement,
    KINDS,
    NAMES,
    several(COLUMNS),
    pairs(list(PROPERTIES)),
    BODIES,
    TEXTS,
    if_not_exists=st.booleans(),
    final=st.booleans(),
)


@st.composite
def creates(draw: st.DrawFn) -> CreateSourceStatement:
    """A CREATE; its strategy has a short name, since Hypothesis prints it."""
    return draw(plain_sources | queries)


CREATES = creates()
REPLACING = CREATES.map(lambda statement: replace(statement, or_replace=True, if_not_exists=False))
RANGES = st.builds(
    ComparedRange,
    st.sampled_from([EARLIEST, "2026-01-30T10:00:00+00:00"]),
    st.sampled_from([LATEST, "2026-01-31T10:00:00+01:00"]),
)

literals: st.SearchStrategy[SqlLiteral] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(-1000, 1000, places=3)
    | TEXTS
    | st.binary(max_size=4)
    | st.builds(TimeLiteral, st.sampled_from(["DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ"]), TEXTS),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: ArrayLiteral(tuple(items)))
        | st.lists(st.tuples(inner, inner), max_size=2).map(lambda items: MapLiteral(tuple(items)))
        | st.lists(st.tuples(NAMES, inner), max_size=2, unique_by=lambda pair: pair[0]).map(
            lambda items: StructLiteral(tuple(items))
        )
    ),
    max_leaves=6,
)
equalities = st.builds(ColumnCondition, NAMES, st.just("="), literals)
likes = st.builds(ColumnCondition, NAMES, st.just("LIKE"), TEXTS)


def some(part: st.SearchStrategy[Any], least: int = 1) -> st.SearchStrategy[Any]:
    return st.lists(part, min_size=least, max_size=3).map(tuple)


rows = st.integers(1, 3).flatmap(lambda width: some(st.tuples(*[literals] * width)))
named = rows.flatmap(lambda values: st.tuples(st.just(values), st.just(()) | st.tuples(*[NAMES] * len(values[0]))))
words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,4}", fullmatch=True)
settings = st.sampled_from(SETTINGS).flatmap(
    lambda name: st.builds(SetStatement, st.just(name), st.sampled_from(values_of(name)))
)
alterable = [name for name, known in PROPERTIES.items() if known.alterable]
numbers = st.integers(1, 2**31 - 1)
waits = st.sampled_from([0, 1, 999, 1_000, 5_000, 60_000, 7_200_000])

SETTING_STATEMENTS: st.SearchStrategy[SqlStatement] = (
    st.builds(DefineStatement, words, TEXTS)
    | st.builds(UndefineStatement, words)
    | settings
    | st.builds(UnsetStatement, st.sampled_from(SETTINGS))
)
statements_by_class: st.SearchStrategy[SqlStatement] = st.one_of(
    CREATES,
    st.builds(
        DropSourceStatement, KINDS | st.just(""), NAMES, st.booleans(), st.booleans(), delete_topic=st.booleans()
    ),
    st.builds(DropSourceStatement, KINDS, NAMES, cascade=st.just(value=True), digest=st.just("0123abcd")),
    st.builds(UndropStatement, KINDS | st.just(""), NAMES),
    st.builds(
        CreateTypeStatement,
        NAMES.filter(lambda name: name.upper() not in SQL_TYPE_WORDS),
        TYPES,
        st.booleans(),
        TEXTS,
        TEXTS,
    ),
    st.builds(DropTypeStatement, NAMES, st.booleans()),
    st.builds(AddColumnsStatement, KINDS, NAMES, several(COLUMNS, 1)),
    st.builds(RenameStatement, KINDS, NAMES, NAMES),
    st.builds(SetPropertiesStatement, KINDS, NAMES, pairs(alterable, 1)),
    st.builds(ProtectStatement, KINDS, NAMES, st.booleans()),
    st.builds(CommentStatement, KINDS, NAMES, TEXTS),
    st.builds(RefreshSchemaStatement, KINDS, NAMES),
    st.builds(RefreshTypeStatement, KINDS, NAMES, NAMES),
    st.builds(SwapStatement, KINDS, NAMES, NAMES),
    st.builds(PauseStatement, NAMES),
    st.builds(ResumeStatement, NAMES),
    st.builds(OnceStatement, NAMES, BODIES),
    st.builds(RestartStatement, st.sampled_from(["ROLLBACK", "RESET", "REFRESH"]), NAMES, st.booleans()),
    st.builds(ShowStatement, st.sampled_from([subject for subject in SHOWN if subject != "HISTORY"]), st.booleans()),
    st.builds(ShowStatement, st.just("HISTORY"), st.booleans(), NAMES),
    st.builds(ShowStatement, st.just("DEPENDENCIES"), st.booleans(), NAMES, st.booleans()),
    st.builds(ShowCreateStatement, KINDS | st.sampled_from(["TYPE", ""]), NAMES),
    st.builds(DescribeStatement, KINDS | st.sampled_from(["TYPE", ""]), NAMES, st.booleans()),
    st.builds(ExplainStatement, NAMES),
    st.builds(ExplainStatement, statement=CREATES),
    st.builds(ExplainStatement, statement=REPLACING, compare=RANGES),
    st.builds(ExplainStatement, body=BODIES),
    st.builds(
        SelectStatement,
        st.sampled_from(SYSTEM_TABLES),
        some(NAMES, 0),
        some(equalities | likes, 0),
        some(st.builds(OrderTerm, NAMES, st.booleans()), 0),
        st.just(-1) | numbers,
    ),
    st.builds(
        SelectRowsStatement, NAMES, some(NAMES, 0), some(equalities, 0), st.integers(-1, 100), limit=st.integers(1, 100)
    ),
    st.builds(SelectRowsStatement, NAMES, time=st.just("2026-01-31T10:00:00+00:00")),
    st.builds(SelectRecordsStatement, NAMES, some(NAMES, 0), some(equalities, 0), st.integers(1, 100)),
    st.builds(PrintStatement, TEXTS, st.booleans(), numbers, st.just(-1) | numbers),
    st.builds(AssertSchemaStatement, TEXTS, numbers, st.booleans(), waits),
    st.builds(AssertTopicStatement, TEXTS, st.integers(0, 9), st.integers(0, 9), st.booleans(), waits),
    named.flatmap(
        lambda named_rows: st.builds(
            InsertStatement, NAMES, st.just(named_rows[0]), st.just(named_rows[1]), st.booleans()
        )
    ),
    st.builds(
        UpdateStatement,
        NAMES,
        st.lists(st.tuples(NAMES, literals), min_size=1, max_size=3, unique_by=lambda pair: pair[0]).map(tuple),
        some(equalities),
    ),
    st.builds(DeleteStatement, NAMES, some(equalities)),
)


@st.composite
def statements(draw: st.DrawFn) -> SqlStatement:
    """Any statement that leaves nothing for those after it."""
    return draw(statements_by_class)


STATEMENTS = statements()
