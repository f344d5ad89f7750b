"""Strategies of what statements are made of: names, texts and types of columns."""

from hypothesis import strategies as st

from treaty.core.column_types import (
    SQL_SCALARS,
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

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")
NAMES = (
    st.sampled_from(
        ["a", "Orders", "not", "int", "select", "as", "with", "key", "9", "a`b", "a.b", "it's", "ß", "ſ", "--", "${x}"]
    )
    | st.text("abc_`'. \n", min_size=1, max_size=5)
    | st.text(CHARACTERS, min_size=1, max_size=5)
)
TEXTS = st.sampled_from(["it's", "a\\", "\\'", '""', "''", "--", "/*", ";", "\\u0041", "$${", "${x}"]) | st.text(
    CHARACTERS, max_size=8
)

decimals = st.integers(1, 38).flatmap(lambda digits: st.builds(SqlDecimal, st.just(digits), st.integers(0, digits)))
leaves: st.SearchStrategy[SqlType] = (
    st.sampled_from(sorted(SQL_SCALARS)).map(SqlScalar)
    | decimals
    | st.integers(0, 6).map(SqlTime)
    | NAMES.map(UserType)
)


def _inside(parts: st.SearchStrategy[SqlType]) -> st.SearchStrategy[SqlType]:
    fields = st.builds(SqlField, NAMES | st.just(""), parts, st.booleans(), TEXTS)
    structs = st.lists(fields, max_size=4, unique_by=lambda one: one.name).map(lambda found: SqlStruct(tuple(found)))
    return structs | parts.map(SqlArray) | st.builds(SqlMap, parts, parts)


TYPES = st.recursive(leaves, _inside, max_leaves=10)
