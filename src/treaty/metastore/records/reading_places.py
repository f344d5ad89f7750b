"""Which statement, or which other program, reads the records of a source: it depends on where they are."""

from treaty.core.column_types.tokens import print_name
from treaty.core.refusals import Invalid
from treaty.core.sources import Source
from treaty.metastore.bad_rows import name_folder

_PROGRAMS = {"iceberg": "Spark, or another reader of Iceberg"}


def refuse_place(source: Source, statement: str, where: str) -> Invalid:
    """Return the refusal of a `statement` that reads what is `where`, about a source that is elsewhere, with what reads that."""
    return Invalid.of(
        "SOURCE_CONNECTOR",
        f"{source.name} stands over {_describe_place(source)}, and {statement} reads {where}",
        path="/sql",
        old=source.connector,
        allowed=_describe_readers(source),
    )


def _describe_place(source: Source) -> str:
    place = name_folder(source)
    return {
        "kafka": f"the topic {place}",
        "files": f"the files of the folder {place}",
        "delta": f"the Delta table {place}",
    }.get(source.connector, f"the {source.connector.capitalize()} table {place}")


def _describe_readers(source: Source) -> str:
    name = print_name(source.name)
    if source.connector == "kafka":
        return f"SELECT … FROM STREAM {name} LIMIT 10, or PRINT {name}"  # noqa: S608 (a hint)
    if source.connector == "delta":
        return f"SELECT … FROM TABLE {name} LIMIT 10"  # noqa: S608 (a hint)
    programs = _PROGRAMS.get(source.connector, "Spark, pyarrow or an editor")
    query = f"CREATE STREAM {name}_rows WITH (CONNECTOR = 'delta', PATH = '{source.name}_rows') AS SELECT * FROM STREAM {name}"  # noqa: S608 (a hint)
    if source.kind == "TABLE":
        query = (
            f"CREATE TABLE {name}_rows WITH (CONNECTOR = 'delta', PATH = '{source.name}_rows') AS SELECT * FROM {name}"  # noqa: S608 (a hint)
        )
    runs = f"`treaty runner --once`, and SELECT … FROM TABLE {name}_rows with `treaty sql --files ROOT`"  # noqa: S608 (a hint)
    return f"a query that keeps its rows as Delta: {query}, then {runs}; or {programs}, in the folder {name_folder(source)}"
