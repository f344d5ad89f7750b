"""ALTER, DROP, UNDROP, PAUSE and RESUME, and what a script sets for itself: DEFINE and SET."""

import re

from treaty.metastore.sql.create import read_source_kind
from treaty.metastore.sql.cursor import StatementCursor
from treaty.metastore.sql.heads import (
    check_value,
    known_property,
    pairs_of,
    read_column,
    read_properties,
    read_property_name,
    read_property_value,
    refuse_unalterable,
)
from treaty.metastore.sql.properties import SETTINGS
from treaty.metastore.sql.statements import (
    AddColumnsStatement,
    CommentStatement,
    DefineStatement,
    DropSourceStatement,
    DropTypeStatement,
    PauseStatement,
    ProtectStatement,
    RefreshSchemaStatement,
    RefreshTypeStatement,
    RenameStatement,
    RestartStatement,
    ResumeStatement,
    SetPropertiesStatement,
    SetStatement,
    SqlStatement,
    SwapStatement,
    UndefineStatement,
    UndropStatement,
    UnsetStatement,
)
from treaty.metastore.sql.values import HeadColumn
from treaty.metastore.sql.variables import VARIABLE_NAME

_DIGEST = re.compile(r"[0-9A-Fa-f]{8,128}")


# --------------------------------------------------------------------------------------------------------------- ALTER


def read_alter(cursor: StatementCursor) -> SqlStatement:
    """Read what follows ALTER."""
    if cursor.take("MATERIALIZED"):
        cursor.need_any("VIEW", "TABLE")
        kind = "TABLE"
    else:
        kind = read_source_kind(cursor)
    name = cursor.read_name()
    match cursor.need_any("ADD", "RENAME", "SET", "REFRESH", "SWAP"):
        case "ADD":
            return AddColumnsStatement(kind, name, _read_added(cursor, kind))
        case "RENAME":
            cursor.need("TO")
            statement: SqlStatement = RenameStatement(kind, name, cursor.read_name())
        case "SET":
            statement = _read_set_of(cursor, kind, name)
        case "REFRESH":
            if cursor.need_any("SCHEMA", "TYPE") == "SCHEMA":
                statement = RefreshSchemaStatement(kind, name)
            else:
                statement = RefreshTypeStatement(kind, name, cursor.read_name("a type"))
        case _:
            cursor.need("WITH")
            statement = SwapStatement(kind, name, cursor.read_name())
    cursor.need_end()
    return statement


def _read_added(cursor: StatementCursor, kind: str) -> tuple[HeadColumn, ...]:
    columns: list[HeadColumn] = []
    while True:
        if not cursor.take("COLUMN"):
            cursor.take("COLUMNS")
        in_parentheses = cursor.take_sign("(")
        columns.append(read_column(cursor, kind))
        while in_parentheses and cursor.take_sign(","):
            columns.append(read_column(cursor, kind))
        if in_parentheses:
            cursor.need_sign(")")
        if not cursor.take_sign(","):
            break
        cursor.take("ADD")
    cursor.need_end()
    return tuple(columns)


def _read_set_of(cursor: StatementCursor, kind: str, name: str) -> SqlStatement:
    if cursor.take("PROTECTED"):
        cursor.need_sign("=")
        return ProtectStatement(kind, name, cursor.need_any("TRUE", "FALSE") == "TRUE")
    if cursor.take("COMMENT"):
        cursor.need_sign("=")
        return CommentStatement(kind, name, cursor.read_string())
    cursor.take("TBLPROPERTIES")
    properties = read_properties(cursor)
    refuse_unalterable(cursor, properties)
    return SetPropertiesStatement(kind, name, pairs_of(properties))


# ---------------------------------------------------------------------------------------------------------------- DROP


def _read_exists(cursor: StatementCursor) -> bool:
    if not cursor.take("IF"):
        return False
    cursor.need("EXISTS")
    return True


def read_drop(cursor: StatementCursor) -> DropSourceStatement | DropTypeStatement:
    """Read what follows DROP."""
    if cursor.take("TYPE"):
        if_exists = _read_exists(cursor)
        name = cursor.read_name()
        cursor.need_end()
        return DropTypeStatement(name, if_exists)
    kind = _read_dropped_kind(cursor)
    if_exists = _read_exists(cursor)
    name = cursor.read_name()
    cascade, digest, delete_topic = False, "", False
    if not cursor.take("RESTRICT") and cursor.take("CASCADE"):
        cascade = True
        if cursor.take("DIGEST"):
            digest = _read_digest(cursor)
    if cursor.take("DELETE"):
        cursor.need("TOPIC")
        delete_topic = True
    cursor.need_end()
    return DropSourceStatement(kind, name, if_exists, cascade, digest, delete_topic)


def _read_dropped_kind(cursor: StatementCursor) -> str:
    if cursor.is_name(cursor.token) and cursor.following.kind == "end":
        name = cursor.token.text
        message = f"{cursor.token.label} stands where STREAM, TABLE or TYPE is expected"
        hint = f"DROP STREAM {name}, DROP TABLE {name} or DROP TYPE {name}"
        cursor.fail("SYNTAX", message, hint=hint, expected=("STREAM", "TABLE", "TYPE"))
    return read_source_kind(cursor)


def _read_digest(cursor: StatementCursor) -> str:
    token = cursor.token
    digest = cursor.read_string("the digest of the dry run in quotes")
    if not _DIGEST.fullmatch(digest):
        hint = "DROP … CASCADE without DIGEST answers with it"
        cursor.report("SYNTAX", "the digest has 8 to 128 hexadecimal digits", token, hint=hint)
    return digest.lower()


def read_undrop(cursor: StatementCursor) -> UndropStatement:
    """Read what follows UNDROP."""
    kind = cursor.take_before_name("STREAM", "TABLE")
    name = cursor.read_name()
    cursor.need_end()
    return UndropStatement(kind, name)


def read_pause(cursor: StatementCursor) -> PauseStatement:
    """Read what follows PAUSE."""
    return PauseStatement(_read_query_name(cursor))


def read_resume(cursor: StatementCursor) -> ResumeStatement:
    """Read what follows RESUME."""
    return ResumeStatement(_read_query_name(cursor))


def read_rollback(cursor: StatementCursor) -> RestartStatement:
    """Read what follows ROLLBACK."""
    if cursor.token.kind == "end" or cursor.token.keyword in {"WORK", "TRANSACTION"}:
        message = "each statement is a commit of its own, and none is taken back"
        hint = "ROLLBACK name goes back to the query before the last OR REPLACE; UNDROP brings back what was dropped"
        cursor.fail("SYNTAX", message, hint=hint, expected=("a name",))
    cursor.take_before_name("QUERY", "STREAM", "TABLE")
    return _read_cascade(cursor, "ROLLBACK", cursor.read_name())


def read_reset(cursor: StatementCursor) -> RestartStatement:
    """Read what follows RESET."""
    cursor.need("CHECKPOINT")
    name = cursor.read_name()
    if not cursor.take("KEEP", "DATA"):
        cursor.fail(hint=f"RESET CHECKPOINT {name} KEEP DATA: the rows that are there stay")
    return _read_cascade(cursor, "RESET", name)


def read_refresh(cursor: StatementCursor) -> RestartStatement:
    """Read what follows REFRESH."""
    cursor.take_before_name("STREAM", "TABLE")
    name = cursor.read_name()
    if not cursor.take("FULL"):
        hint = f"REFRESH {name} FULL reads all again; ALTER STREAM {name} REFRESH SCHEMA takes the columns of the newest schema"
        cursor.fail("SYNTAX", "REFRESH of a query ends with FULL", hint=hint, expected=("FULL",))
    return _read_cascade(cursor, "REFRESH", name)


def _read_cascade(cursor: StatementCursor, way: str, name: str) -> RestartStatement:
    """Read the end of a statement that may take along what follows the rows of a source."""
    cascade = bool(cursor.take("CASCADE"))
    cursor.need_end()
    return RestartStatement(way, name, cascade)


def _read_query_name(cursor: StatementCursor) -> str:
    cursor.take_before_name("QUERY", "STREAM", "TABLE")
    if cursor.token.keyword == "ALL":
        message = "a statement is about one query"
        cursor.fail("NAME_REFUSED", message, hint="SHOW QUERIES, and a statement for each", expected=("a name",))
    name = cursor.read_name()
    cursor.need_end()
    return name


# ------------------------------------------------------------------------------------------------------------- scripts


def read_define(cursor: StatementCursor) -> DefineStatement:
    """Read what follows DEFINE."""
    name = _read_variable(cursor)
    cursor.need_sign("=")
    value = cursor.read_string()
    cursor.need_end()
    return DefineStatement(name, value)


def read_undefine(cursor: StatementCursor) -> UndefineStatement:
    """Read what follows UNDEFINE."""
    name = _read_variable(cursor)
    cursor.need_end()
    return UndefineStatement(name)


def _read_variable(cursor: StatementCursor) -> str:
    token, name = cursor.token, cursor.read_name("the name of a variable")
    if not VARIABLE_NAME.fullmatch(name):
        hint = "A-Z, a-z, 0-9 and _, with no digit at the beginning"
        cursor.report("NAME_REFUSED", f"{token.label} is no name of a variable", token, hint=hint)
    return name


def read_set(cursor: StatementCursor) -> SetStatement:
    """Read what follows SET."""
    token, names = cursor.token, _read_setting(cursor)
    cursor.need_sign("=")
    value_token, value = cursor.token, read_property_value(cursor)
    cursor.need_end()
    for name in names:
        if _is_setting(cursor, name, token):
            return SetStatement(name, check_value(cursor, name, value, value_token) or "")
    return SetStatement("", "")


def read_unset(cursor: StatementCursor) -> UnsetStatement:
    """Read what follows UNSET."""
    token, names = cursor.token, _read_setting(cursor)
    cursor.need_end()
    return UnsetStatement(next((name for name in names if _is_setting(cursor, name, token)), ""))


def _read_setting(cursor: StatementCursor) -> tuple[str, ...]:
    token = cursor.token
    return known_property(cursor, read_property_name(cursor), token)


def _is_setting(cursor: StatementCursor, name: str, token: object) -> bool:
    if name in SETTINGS:
        return True
    message = f"SET gives no default of {name}"
    first = cursor.tokens[1]
    cursor.report("SETTING_UNKNOWN", message, first, hint="WITH of the CREATE statement", expected=SETTINGS)
    return False
