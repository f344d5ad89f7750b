"""EXPLAIN as the CREATE that it is about: a query alone is that of a source with a name of its own."""

from dataclasses import replace
from hashlib import blake2b

from treaty.core.refusals import Invalid
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement, ExplainStatement


def explained_create(statement: ExplainStatement) -> CreateSourceStatement:
    """Return the CREATE that an EXPLAIN is about. Raises `Invalid` for an EXPLAIN of a name, and for a query that is none.

    A query alone fills a table where it groups rows, else a stream. The name is made from the text, so that it is the same for
    who asks and for the planner.
    """
    if statement.statement is not None:
        return statement.statement
    name = f"explain_{blake2b(statement.body.encode(), digest_size=6).hexdigest()}"
    parsed = parse_script(f"CREATE STREAMING TABLE {name} AS {statement.body}") if statement.body else None
    created = parsed.statements[0].value if parsed is not None and len(parsed.statements) == 1 else None
    if not isinstance(created, CreateSourceStatement):
        raise Invalid.of("STATEMENT_UNPLANNED", "EXPLAIN has no query to plan", path="/sql", allowed="EXPLAIN SELECT …")
    return replace(created, body=statement.body, final=statement.final)
