"""The words of statements as one table: with what each statement begins, its form, and what it does."""

from collections.abc import Mapping

RESERVED_WORDS = frozenset({"AND", "AS", "FROM", "IF", "NOT", "NULL", "SELECT", "WHERE", "WITH"})
"""Words that are no names without back quotes."""

QUOTED_WORDS = RESERVED_WORDS | {
    "ALL",
    "COLUMN",
    "CREATE",
    "EXTENDED",
    "FALSE",
    "INTO",
    "PRIMARY",
    "QUERY",
    "REPLACE",
    "SET",
    "STREAM",
    "TABLE",
    "TRUE",
    "TYPE",
    "VALUES",
}
"""Words that printed statements have between back quotes where they are names."""

STATEMENT_FORMS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "CREATE": (
        (
            (
                "CREATE [OR REPLACE] STREAM | TABLE [IF NOT EXISTS] name [(column type [KEY | PRIMARY KEY | HEADERS | HEADER('name')] "
                "[NOT NULL] [COMMENT 'text'], …)] [COMMENT 'text'] [WITH (property = value, …)] [AS query [EMIT FINAL]]"
            ),
            "creates a source; with AS a query fills it",
        ),
        (
            "CREATE [OR REPLACE] STREAMING TABLE | MATERIALIZED VIEW … [TBLPROPERTIES (…)] AS query",
            "the words of Spark: a streaming table is a table if it has keys or groups, else a stream; a view is a table",
        ),
        ("CREATE OR ALTER …", "the words of Flink for CREATE OR REPLACE"),
        (
            "CREATE TYPE [IF NOT EXISTS] name AS type [COMMENT 'text'] [WITH (LABEL = 'project')]",
            "names a type of columns",
        ),
    ),
    "ALTER": (
        ("ALTER STREAM | TABLE name ADD [COLUMN] column type [NOT NULL] [COMMENT 'text'], …", "adds columns"),
        ("ALTER STREAM | TABLE name RENAME TO name", "renames a source; its readers go along"),
        ("ALTER STREAM | TABLE name SET (property = value, …)", "changes properties"),
        ("ALTER STREAM | TABLE name SET PROTECTED = true | false", "protects a source from DROP"),
        ("ALTER STREAM | TABLE name SET COMMENT = 'text'", "changes the comment"),
        ("ALTER STREAM | TABLE name REFRESH SCHEMA", "takes the columns of the newest version of the subject"),
        ("ALTER STREAM | TABLE name SWAP WITH name", "exchanges the names of two sources; their readers go along"),
    ),
    "DROP": (
        (
            "DROP STREAM | TABLE [IF EXISTS] name [RESTRICT | CASCADE [DIGEST 'hex']] [DELETE TOPIC]",
            "drops a source; CASCADE takes its readers along, with the digest of the dry run",
        ),
        ("DROP TYPE [IF EXISTS] name", "drops a type that nothing uses"),
    ),
    "UNDROP": (("UNDROP [STREAM | TABLE] name", "brings a dropped source back"),),
    "PAUSE": (("PAUSE [STREAM | TABLE | QUERY] name", "stops the query of a source"),),
    "RESUME": (("RESUME [STREAM | TABLE | QUERY] name", "lets the query of a source continue"),),
    "ROLLBACK": (
        (
            "ROLLBACK [STREAM | TABLE | QUERY] name [CASCADE]",
            "goes back to the query that the last OR REPLACE replaced; with CASCADE what follows its rows reads all again",
        ),
    ),
    "RESET": (
        (
            "RESET CHECKPOINT name KEEP DATA [CASCADE]",
            "lets a query read from the beginning again, into the rows that are there; with CASCADE what follows its rows does so too",
        ),
    ),
    "REFRESH": (
        (
            "REFRESH [STREAM | TABLE] name FULL [CASCADE]",
            "reads all again into a new table, which takes the place of the old one; with CASCADE what follows its rows does so too",
        ),
    ),
    "SHOW": (
        (
            "SHOW | LIST STREAMS | TABLES | TYPES | QUERIES | SUBJECTS | TOPICS | DROPPED | PROPERTIES [EXTENDED]",
            "lists what there is",
        ),
        ("SHOW | LIST DEPENDENCIES [OF name] [RECURSIVE]", "lists who needs a source or type"),
        (
            "SHOW HISTORY OF name",
            "lists the queries that have filled a source: checkpoint, state, schemas, author, time, statement",
        ),
        ("SHOW CREATE [STREAM | TABLE | TYPE] name", "prints the statement that creates it"),
    ),
    "LIST": (("LIST …", "the same as SHOW"),),
    "DESCRIBE": (("DESCRIBE | DESC [EXTENDED] [STREAM | TABLE | TYPE] name [EXTENDED]", "describes a source or type"),),
    "DESC": (("DESC …", "the same as DESCRIBE"),),
    "EXPLAIN": (
        ("EXPLAIN [STREAM | TABLE | QUERY] name", "shows what the query of a source reads, its columns, key and state"),
        ("EXPLAIN CREATE … | SELECT …", "plans a statement or a query as a dry run, and shows the same"),
        (
            "EXPLAIN REPLACE CREATE STREAM | TABLE …",
            "says what the change of a running query does: whether it continues, why not, and who loses what",
        ),
        (
            "EXPLAIN REPLACE COMPARE [FROM earliest | 'time'] [TO latest | 'time'] CREATE STREAM | TABLE … AS query",
            "says it too, runs the old and the new query as batches over the same records, and shows the rows that differ",
        ),
    ),
    "SELECT": (
        (
            (
                "SELECT * | column, … FROM treaty.table [WHERE column = value | column LIKE 'pattern' [AND …]] "
                "[ORDER BY column [ASC | DESC], …] [LIMIT number]"
            ),
            "reads a system table",
        ),
        (
            (
                "SELECT * | column, … FROM TABLE name [WHERE column = value [AND …]] "
                "[AS OF VERSION number | TIMESTAMP 'time'] [LIMIT number]"
            ),
            "reads rows of a Delta table as of one version, without Spark",
        ),
    ),
    "PRINT": (("PRINT name | 'topic' [FROM BEGINNING] [INTERVAL number] [LIMIT number]", "prints records"),),
    "ASSERT": (
        ("ASSERT [NOT EXISTS] SCHEMA [SUBJECT 'name'] [ID number] [TIMEOUT number unit]", "waits for a schema"),
        (
            "ASSERT [NOT EXISTS] TOPIC 'name' [WITH (PARTITIONS = number, REPLICAS = number)] [TIMEOUT number unit]",
            "waits for a topic",
        ),
    ),
    "INSERT": (
        ("INSERT INTO name [(column, …)] VALUES (value, …), … [AS DELETE]", "writes records"),
        ("INSERT INTO ONCE name [BY NAME] query", "runs a query once into a stream or table that another query fills"),
    ),
    "UPDATE": (("UPDATE name SET column = value, … WHERE key = value [AND …]", "writes the record of a key"),),
    "DELETE": (("DELETE FROM name WHERE key = value [AND …]", "writes a tombstone"),),
    "DEFINE": (("DEFINE name = 'value'", "lets ${name} stand for the value in what follows"),),
    "UNDEFINE": (("UNDEFINE name", "ends a DEFINE"),),
    "SET": (("SET property = value", "gives later CREATE statements of the script a default"),),
    "UNSET": (("UNSET property", "ends a SET"),),
}
"""By first word: forms of the statement and what each does."""

FIRST_WORDS = tuple(STATEMENT_FORMS)
