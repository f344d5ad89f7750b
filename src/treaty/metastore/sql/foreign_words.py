"""Words that users know from ksqlDB, Spark, Flink, RisingWave and databases, and the form that says the same here.

A word is looked for at the place where a statement can't be read further: it is a hint, and changes nothing that is allowed.
"""

from collections.abc import Mapping

_FILES = (
    "CREATE STREAM name WITH (CONNECTOR = 'files', PATH = 'folder', VALUE_FORMAT = 'JSON') describes a folder of files"
)
_ONE_NAMESPACE = "all sources share one namespace: leave it out"
_CLUSTERS = "addresses and connectors are no statements: `treaty serve --cluster NAME=FILE` names a Kafka cluster"
_CONNECT = (
    "Kafka Connect stays beside Treaty: CREATE STREAM name WITH (KAFKA_TOPIC = 'topic', VALUE_FORMAT = 'AVRO') describes what a source connector "
    "writes, and a query writes itself to a topic, a Delta table or an Iceberg table: CREATE STREAM name WITH (CONNECTOR = 'delta', PATH = 'folder') AS SELECT …"
)
_TEST = "GIVEN name (values), … EXPECT name (values), … in a file NAME.test.sql, which `treaty test` runs"
COMMENT = "-- begins a comment up to the end of its line, /* … */ stands around any other"
_RIGHTS = "the rights file of the server says who may do what"
_FUNCTIONS = "a query calls functions of Spark whose results depend on their arguments alone: the reference of queries lists them"
_ONE_COMMIT = "each statement is one commit: leave it out"
_NOTHING = "leave it out: there is nothing to do"
_VIEW = "CREATE STREAM name AS SELECT …, or CREATE MATERIALIZED VIEW name AS SELECT …, which is a table"
_SINK = "CREATE STREAM name WITH (KAFKA_TOPIC = 'topic') AS SELECT …: a query writes the topic of its source"
_NEW_COLUMN = "CREATE OR REPLACE with the other columns, or another version of the schema and ALTER … REFRESH SCHEMA"
COMPUTED = "CREATE STREAM name AS SELECT *, expression AS column FROM STREAM source"
_LIKE = "SELECT name FROM treaty.sources WHERE name LIKE 'a%'"
_COLUMNS = "DESCRIBE name lists the columns, and with EXTENDED behind the name the properties too"
_SOURCES = "SELECT name, kind FROM treaty.sources, or SHOW STREAMS and SHOW TABLES"
_SHOWN: Mapping[str, str] = {
    "FUNCTIONS": _FUNCTIONS,
    "CONNECTORS": _CONNECT,
    "CONNECTIONS": _CLUSTERS,
    "CLUSTERS": _CLUSTERS,
    "VARIABLES": "DEFINE holds for a script, or for a session of `treaty sql`, alone",
    "DATABASES": f"{_ONE_NAMESPACE}; SHOW STREAMS and SHOW TABLES",
    "SCHEMAS": "SHOW SUBJECTS, and SELECT * FROM treaty.versions",
    "CATALOGS": f"{_ONE_NAMESPACE}; SHOW STREAMS and SHOW TABLES",
    "TBLPROPERTIES": _COLUMNS,
    "COLUMNS": _COLUMNS,
    "PARTITIONS": "DESCRIBE name EXTENDED",
    "SOURCES": _SOURCES,
    "SINKS": "SHOW QUERIES: a query writes the topic of its source",
    "JOBS": "SHOW QUERIES",
    "MATERIALIZED": "SHOW TABLES: a materialized view is a table",
    "VIEWS": "SHOW TABLES: a materialized view is a table",
    "LIKE": _LIKE,
    "IN": _ONE_NAMESPACE,
    "FROM": _ONE_NAMESPACE,
}
FIRST: Mapping[str, str] = {
    "RUN": "`treaty sql -f FILE` carries a file out",
    "SOURCE": "`treaty sql -f FILE` carries a file out",
    "COMMENT": "ALTER STREAM name SET COMMENT = 'text'",
    "USE": _ONE_NAMESPACE,
    "HELP": "in `treaty sql` \\h lists statements, \\h CREATE their forms, \\? short commands",
    "QUIT": "\\q leaves `treaty sql`",
    "EXIT": "\\q leaves `treaty sql`",
    "GRANT": _RIGHTS,
    "REVOKE": _RIGHTS,
    "BEGIN": _ONE_COMMIT,
    "START": _ONE_COMMIT,
    "COMMIT": _ONE_COMMIT,
    "TRUNCATE": "DROP STREAM name DELETE TOPIC, and CREATE it again",
    "MERGE": "INSERT INTO … VALUES, UPDATE and DELETE write records",
    "UPSERT": "INSERT INTO … VALUES: the newest record of a key is its row in a table",
    "REPLACE": "CREATE OR REPLACE STREAM name …",
    "LOAD": _FILES,
    "COPY": _FILES,
    "ANALYZE": _NOTHING,
    "OPTIMIZE": _NOTHING,
    "VACUUM": _NOTHING,
    "CACHE": _NOTHING,
    "RENAME": "ALTER STREAM name RENAME TO name",
    "KILL": "PAUSE name stops a query, DROP ends it with its source",
    "CANCEL": "PAUSE name stops a query, DROP ends it with its source",
    "STOP": "PAUSE name stops a query",
    "EXECUTE": "a statement set is a script: write its statements with semicolons between them",
}
"""By first word."""
INSIDE: Mapping[str, Mapping[str, str]] = {
    "CREATE": {
        "EXTERNAL": "leave EXTERNAL out: a source describes a topic or folder that may be there",
        "TEMPORARY": "leave it out: DROP takes a source away, and its topic stays",
        "TEMP": "leave it out: DROP takes a source away, and its topic stays",
        "GLOBAL": "leave it out",
        "VIEW": _VIEW,
        "SINK": _SINK,
        "CONNECTOR": _CONNECT,
        "CONNECTION": _CLUSTERS,
        "SECRET": _CLUSTERS,
        "DATABASE": _ONE_NAMESPACE,
        "SCHEMA": "`treaty schema register`, or columns in CREATE STREAM; databases there are none of",
        "CATALOG": _ONE_NAMESPACE,
        "FUNCTION": _FUNCTIONS,
        "AGGREGATE": _FUNCTIONS,
        "USER": _RIGHTS,
        "ROLE": _RIGHTS,
        "INDEX": "leave it out: a table is found by its key",
        "TOPIC": "CREATE STREAM name (columns) WITH (KAFKA_TOPIC = 'topic', PARTITIONS = 6, …)",
        "DEFAULT": "a default is part of the schema: register one, and leave the columns out",
        "GENERATED": f"a column that is computed belongs into a query: {COMPUTED}",
        "METADATA": "_timestamp, _partition, _offset and _headers are columns of every stream: leave it out",
        "CHECK": "a rule of values belongs into the schema",
        "UNIQUE": "KEY in a stream, PRIMARY KEY in a table",
        "REFERENCES": "leave it out: records refer to no others",
        "CONSTRAINT": "PRIMARY KEY (column)",
        "FORMAT": "WITH (VALUE_FORMAT = 'AVRO')",
        "LIKE": "SHOW CREATE STREAM prints the statement of another source",
        "TABLE": "STREAMING TABLE, or TABLE alone",
    },
    "DROP": {
        "VIEW": "DROP TABLE name, or DROP STREAM name",
        "SOURCE": "DROP STREAM name, or DROP TABLE name",
        "SINK": "DROP STREAM name: the query ends with its source, and the topic stays",
        "CONNECTOR": _CONNECT,
        "CONNECTION": _CLUSTERS,
        "DATABASE": _ONE_NAMESPACE,
        "SCHEMA": "`treaty schema delete` deletes versions of a subject",
        "FUNCTION": _FUNCTIONS,
        "TOPIC": "DROP STREAM name DELETE TOPIC",
        "QUERY": "DROP STREAM or TABLE: a query ends with its source",
        "PURGE": "leave PURGE out; DELETE TOPIC takes the topic too",
    },
    "ALTER": {
        "DROP": f"a column is given up by {_NEW_COLUMN}",
        "COLUMN": f"a column has the name that records have; another one by {_NEW_COLUMN}",
        "ALTER": f"a column gets another type by {_NEW_COLUMN}",
        "MODIFY": f"a column gets another type by {_NEW_COLUMN}",
        "CHANGE": f"a column gets another type by {_NEW_COLUMN}",
        "UNSET": "ALTER … SET (property = value)",
        "RESET": "ALTER … SET (property = value)",
        "OWNER": _RIGHTS,
        "SOURCE": "ALTER STREAM name …",
        "VIEW": "ALTER TABLE name …",
        "TOPIC": "ALTER STREAM name SET (RETENTION_MS = 86400000)",
        "SYSTEM": "settings are options of `treaty serve`",
    },
    "SHOW": _SHOWN,
    "LIST": _SHOWN,
    "DESCRIBE": {
        "FUNCTION": _FUNCTIONS,
        "CONNECTOR": _CONNECT,
        "DATABASE": _ONE_NAMESPACE,
        "HISTORY": "SHOW HISTORY OF name lists its queries, and DESCRIBE name EXTENDED has the last change",
        "FORMATTED": "DESCRIBE name EXTENDED",
        "DETAIL": "DESCRIBE name EXTENDED",
        "SOURCE": "DESCRIBE name",
        "VIEW": "DESCRIBE name",
    },
    "SELECT": {
        "OR": "conditions are joined by AND alone: a statement for each",
        "GROUP": "system tables are listed, not counted: pandas can, by treaty.connect(url).metastore.run_one(…).to_pandas()",
        "JOIN": "system tables are listed, not joined",
        "EMIT": "SELECT … FROM STREAM name shows records; CREATE STREAM … AS SELECT … makes a query",
        "HAVING": "system tables are listed, not counted",
        "OFFSET": "LIMIT alone; name > is no condition: LIKE narrows a list",
    },
    "DELETE": {"TOPIC": "DROP STREAM name DELETE TOPIC"},
    "INSERT": {
        "OVERWRITE": "INSERT INTO: records are appended",
        "ON": "leave it out: the newest record of a key is its row",
        "RETURNING": "leave it out: the answer has the offsets",
    },
    "ASSERT": {
        "STREAM": _TEST,
        "TABLE": _TEST,
        "VALUES": _TEST,
        "NULL": _TEST,
        "TOMBSTONE": _TEST,
        "TOMBSTONES": _TEST,
    },
    "EXPLAIN": {"ANALYZE": "EXPLAIN name", "PLAN": "EXPLAIN SELECT …"},
}
"""By first word of the statement: a word inside of it."""
_DOT = "a name has no parts before a dot, since all sources share one namespace; one with a dot in it stands between back quotes"


def find_hint(first: str, before: str, word: str, text: str) -> str:
    """Return the form that says the same as a word at which a statement can't be read further; empty where none is known.

    `first` is the first word of the statement, `before` the word before the present one, `word` that one in upper case and
    `text` as it stands there.
    """
    if text == ".":
        return _DOT
    if text == ")" and before == ",":
        return "leave the comma before it out"
    if first == "DESC":
        first = "DESCRIBE"
    return INSIDE.get(first, {}).get(word, "")
