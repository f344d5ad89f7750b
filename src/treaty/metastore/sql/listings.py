"""SHOW, LIST and DESCRIBE are parsed: which words may follow them. What they list is `SHOWN` in `statements.py`."""

from treaty.metastore.sql.cursor import StatementCursor
from treaty.metastore.sql.foreign_words import INSIDE
from treaty.metastore.sql.statements import SHOWN, DescribeStatement, ShowCreateStatement, ShowStatement


def read_show(cursor: StatementCursor) -> ShowStatement | ShowCreateStatement:
    """Read what follows SHOW or LIST."""
    if cursor.take("CREATE"):
        kind = cursor.take_before_name("STREAM", "TABLE", "TYPE")
        name = cursor.read_name()
        cursor.need_end()
        return ShowCreateStatement(kind, name)
    cursor.take("ALL")
    listing = cursor.need_any(*SHOWN)
    of, recursive = "", False
    if listing == "DEPENDENCIES":
        of = cursor.read_name() if cursor.take("OF") else ""
        recursive = cursor.take("RECURSIVE")
    if listing == "HISTORY":
        if not cursor.take("OF"):
            cursor.fail(hint="SHOW HISTORY OF name")
        of = cursor.read_name()
    extended = cursor.take("EXTENDED")
    cursor.need_end()
    return ShowStatement(listing, extended, of, recursive)


def read_describe(cursor: StatementCursor) -> DescribeStatement:
    """Read what follows DESCRIBE."""
    cursor.refuse_foreign(*INSIDE["DESCRIBE"])
    before = bool(cursor.take_before_name("EXTENDED"))
    kind = cursor.take_before_name("STREAM", "TABLE", "TYPE")
    before = before or bool(cursor.take_before_name("EXTENDED"))
    name = cursor.read_name()
    after = cursor.take("EXTENDED")
    cursor.need_end()
    return DescribeStatement(kind, name, before or after)
