"""Words of statements at their edges, as tables: what a text is read as, and which codes its errors have."""

import pytest

from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement, ExplainStatement, RestartStatement

WITH = "WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO'{})"
BODY = "CREATE STREAM x AS {}"
MARK = "WATERMARK ts DELAY OF INTERVAL 1 SECOND"
CODES = {
    BODY.format("SELECT * FROM s PARTITION BY k"): ["KSQL_PARTITION_BY"],
    BODY.format("SELECT * FROM (SELECT * FROM s PARTITION BY k)"): ["KSQL_PARTITION_BY"],
    BODY.format("SELECT * FROM (FROM s PARTITION BY k)"): ["KSQL_PARTITION_BY"],
    BODY.format("WITH c AS (WITH d AS (SELECT 1) SELECT * FROM d PARTITION BY k) SELECT * FROM c"): ["KSQL_PARTITION_BY"],
    BODY.format("SELECT row_number() OVER (PARTITION BY k ORDER BY t) FROM s"): [],
    BODY.format("SELECT (SELECT max(a) OVER (PARTITION BY k) FROM s) FROM s PARTITION BY k"): ["KSQL_PARTITION_BY"],
    BODY.format(f"SELECT * FROM STREAM s {MARK}"): [],
    BODY.format(f"SELECT * FROM STREAM s {MARK} AS a"): [],
    BODY.format(f"SELECT * FROM s {MARK} JOIN r {MARK} ON true"): [],
    BODY.format(f"SELECT * FROM STREAM s a {MARK}"): ["WATERMARK_AFTER_ALIAS"],
    BODY.format(f"SELECT * FROM STREAM s AS a {MARK}"): ["WATERMARK_AFTER_ALIAS"],
    BODY.format(f"SELECT * FROM STREAM `s` a {MARK}"): ["WATERMARK_AFTER_ALIAS"],
    BODY.format(f"SELECT * FROM (SELECT 1) a {MARK}"): ["WATERMARK_AFTER_ALIAS"],
    BODY.format(f"SELECT * FROM s JOIN r b {MARK} ON true"): ["WATERMARK_AFTER_ALIAS"],
    f"CREATE STREAM s (v INT) {WITH.format(', TRIGGER = 1')}": ["PROPERTY_VALUE"],
    "CREATE STREAM s (v INT) " + WITH.format(", TRIGGER = '1 second'"): ["PROPERTY_MISPLACED"],
    "CREATE STREAM s (a INT, A INT) " + WITH.format(""): ["COLUMN_TWICE"],
    "CREATE STREAM s (v INT) " + WITH.format(", FORMAT = 'AVRO'"): ["PROPERTY_TWICE"],
    "CREATE OR REPLACE STREAM IF NOT EXISTS s (v INT) " + WITH.format(""): ["SYNTAX"],
    "INSERT INTO s VALUES (1, 2), (1)": ["VALUE_REFUSED"],
    "INSERT INTO s (a) VALUES (1, 2)": ["VALUE_REFUSED"],
    "INSERT INTO s (a, b) VALUES (1, 2), (1)": ["VALUE_REFUSED"],
    "SELECT * FROM TABLE s AS OF TIMESTAMP '2026-01-31T10:00:00'": ["SYNTAX"],
    "DEFINE v = '\0'; DROP STREAM ${v}": ["CHARACTER_REFUSED", "VARIABLE_UNKNOWN"],
    "DEFINE v = 'x'; UNDEFINE v; DROP STREAM ${v}": ["VARIABLE_UNKNOWN"],
    "DROP STREAM a RESTRICT CASCADE": ["SYNTAX"],
    "CREATE STREAM s (a STRING HEADER('x') KEY, v INT) " + WITH.format(""): ["SYNTAX"],
    "CREATE STREAM s (a STRING KEY HEADER('x'), v INT) " + WITH.format(""): ["SYNTAX"],
    "CREATE STREAM s (a STRING HEADER('x') HEADERS, v INT) " + WITH.format(""): ["SYNTAX"],
    "CREATE TABLE s (a STRING HEADERS, v INT, PRIMARY KEY (a)) " + WITH.format(""): ["SYNTAX"],
    "CREATE TABLE s (a STRING PRIMARY KEY NULL, v INT, PRIMARY KEY (A) NOT ENFORCED) " + WITH.format(""): [],
    "ALTER STREAM s ADD COLUMN h STRING HEADER('x') KEY": ["SYNTAX"],
    "ALTER STREAMING STREAM s RENAME TO t": ["SYNTAX"],
    "DROP STREAMING STREAM s": ["SYNTAX"],
    "CREATE STREAMING STREAM s AS SELECT 1": ["SYNTAX"],
    "CREATE STREAM s (v INT) " + WITH.format(", value_format = 'AVRO'"): ["PROPERTY_TWICE"],
    "CREATE STREAM s (v INT) " + WITH.format(", 'kafka.topic' = 'u'"): ["PROPERTY_TWICE"],
    "CREATE STREAM s (v INT) " + WITH.format(", scan.startup.mode = 'latest-offset'"): ["PROPERTY_MISPLACED"],
    "ROLLBACK TRANSACTION": ["SYNTAX"],
    "UNDROP STREAM": [],
    "PAUSE QUERY": [],
    "SHOW CREATE TYPE": [],
    "DESCRIBE EXTENDED": [],
}  # fmt: skip


@pytest.mark.parametrize("text", CODES)
def test_a_text_has_the_errors_that_its_words_say(text: str) -> None:
    assert [one.code for one in parse_script(text).diagnostics] == CODES[text]


def test_a_variable_that_a_caller_gives_is_held_against_the_characters_of_a_statement() -> None:
    assert [one.code for one in parse_script("DROP STREAM `${v}`", {"v": "a\0"}).diagnostics] == ["CHARACTER_REFUSED"]


PRINTS = {
    "CREATE OR REFRESH STREAM s AS SELECT 1": "CREATE OR REPLACE STREAM s\nAS\nSELECT 1",
    "CREATE STREAMING TABLE s AS SELECT k FROM r GROUP BY k": "CREATE TABLE s\nAS\nSELECT k FROM r GROUP BY k",
    "CREATE STREAMING TABLE s AS SELECT k FROM (SELECT 1 GROUP BY k)": "CREATE STREAM s\nAS\nSELECT k FROM (SELECT 1 GROUP BY k)",
    "CREATE STREAMING TABLE s (k INT KEY) WITH (KAFKA_TOPIC = 't')": "CREATE TABLE s (\n  k INT PRIMARY KEY\n)\nWITH (KAFKA_TOPIC = 't')",
    "CREATE STREAMING TABLE s (k INT) WITH (KAFKA_TOPIC = 't')": "CREATE STREAM s (\n  k INT\n)\nWITH (KAFKA_TOPIC = 't')",
    "CREATE TABLE s (k INT NOT NULL COMMENT 'c', PRIMARY KEY (K)) WITH (KAFKA_TOPIC = 't')": "CREATE TABLE s (\n  k INT PRIMARY KEY NOT NULL COMMENT 'c'\n)\nWITH (KAFKA_TOPIC = 't')",
    "CREATE TYPE t AS INT COMMENT 'c' WITH (LABEL = 'mine')": "CREATE TYPE t AS INT COMMENT 'c' WITH (LABEL = 'mine')",
    "PRINT s SAMPLE 3 LIMIT 0": "PRINT 's' INTERVAL 3 LIMIT 0",
    "SELECT * FROM TABLE s AS OF VERSION 0": "SELECT * FROM TABLE s AS OF VERSION 0",
    "SELECT * FROM treaty.sources LIMIT 0": "SELECT * FROM treaty.sources LIMIT 0",
    "ASSERT SCHEMA SUBJECT 's' TIMEOUT 0 SECONDS": "ASSERT SCHEMA SUBJECT 's' TIMEOUT 0 MILLISECONDS",
    "EXPLAIN (SELECT 1) EMIT FINAL": "EXPLAIN (SELECT 1) EMIT FINAL",
    "SHOW ALL TOPICS": "SHOW TOPICS",
    "DESCRIBE EXTENDED STREAM s": "DESCRIBE STREAM s EXTENDED",
    "DESCRIBE STREAM EXTENDED s": "DESCRIBE STREAM s EXTENDED",
    "INSERT INTO s VALUES (TIMESTAMP_LTZ '2026-01-31 10:00:00', -1, +2.50)": "INSERT INTO s VALUES (TIMESTAMP '2026-01-31 10:00:00', -1, 2.50BD)",
    "ALTER STREAM s SET (RETENTION_MS = -1)": "ALTER STREAM s SET (RETENTION_MS = '-1')",
    f"DROP STREAM s CASCADE DIGEST '{'AB' * 8}'": f"DROP STREAM s CASCADE DIGEST '{'ab' * 8}'",
    "DROP STREAM s RESTRICT DELETE TOPIC": "DROP STREAM s DELETE TOPIC",
    **{f"{way} STREAMING TABLE s{more}": f"{way} STREAMING TABLE s{more}" for way, more in (("DROP", ""), ("ALTER", " RENAME TO t"), ("ALTER", " ADD COLUMN w INT KEY"))},
    **{f"{way} MATERIALIZED {word} s{more}": f"{way} TABLE s{more}" for word in ("VIEW", "TABLE") for way, more in (("DROP", ""), ("ALTER", " RENAME TO t"))},
    **{f"{words} {name}": f"{words} `{name}`" for words in ("UNDROP", "PAUSE", "RESUME", "DESCRIBE", "SHOW CREATE", "EXPLAIN", "ROLLBACK") for name in ("stream", "table", "type", "query")},
    **{f"{words} {kind} s": f"{words} s" for words in ("PAUSE", "RESUME", "ROLLBACK", "EXPLAIN") for kind in ("QUERY", "STREAM", "TABLE")},
    **{f"REFRESH {kind}s FULL": "REFRESH s FULL" for kind in ("", "STREAM ", "TABLE ")},
    "ALTER STREAM s ADD COLUMNS (a INT, b INT), ADD COLUMN c INT, d INT": "ALTER STREAM s ADD COLUMN a INT, b INT, c INT, d INT",
    "ALTER TABLE s SET TBLPROPERTIES ('retention.ms' = 5)": "ALTER TABLE s SET (RETENTION_MS = '5')",
    "CREATE MATERIALIZED TABLE s AS SELECT 1": "CREATE TABLE s\nAS\nSELECT 1",
    "CREATE OR ALTER STREAM s AS SELECT 1": "CREATE OR REPLACE STREAM s\nAS\nSELECT 1",
    "CREATE STREAM header (header STRING, header2 INT HEADER('x')) WITH (KAFKA_TOPIC = 't')": "CREATE STREAM header (\n  header STRING,\n  header2 INT HEADER('x')\n)\nWITH (KAFKA_TOPIC = 't')",
    "CREATE STREAM s (v INT) WITH (WRAP_SINGLE_VALUE = TRUE)": "CREATE STREAM s (\n  v INT\n)\nWITH (WRAP_SINGLE_VALUE = 'true')",
    "SHOW DEPENDENCIES OF s RECURSIVE EXTENDED": "SHOW DEPENDENCIES OF s RECURSIVE EXTENDED",
    "INSERT INTO once VALUES (1)": "INSERT INTO once VALUES (1)",
    "INSERT INTO ONCE once BY NAME SELECT 1": "INSERT INTO ONCE once\nSELECT 1",
    "INSERT INTO s VALUES (5L, 5S, 5Y, 5.0BD, 1E2, 5D, 2.5F, 1.5)": "INSERT INTO s VALUES (5, 5, 5, 5.0BD, 100.0D, 5.0D, 2.5D, 1.5BD)",
    "INSERT INTO s VALUES (X'', X'0aF0', MAP('a', 1, 'b' := 2), ARRAY[1, 2], NAMED_STRUCT('a', 1))": "INSERT INTO s VALUES (X'', X'0AF0', MAP('a' := 1, 'b' := 2), ARRAY(1, 2), STRUCT(a := 1))",
    "SELECT * FROM Treaty.SOURCES ORDER BY a, b DESC, c ASC": "SELECT * FROM treaty.sources ORDER BY a, b DESC, c",
    "EXPLAIN FROM s SELECT 1": "EXPLAIN FROM s SELECT 1",
    "EXPLAIN replace": "EXPLAIN `replace`",
    "PRINT s LIMIT 5 INTERVAL 1": "PRINT 's' LIMIT 5",
    "PRINT s INTERVAL 2": "PRINT 's' INTERVAL 2",
}  # fmt: skip


@pytest.mark.parametrize("text", PRINTS)
def test_a_text_is_printed_in_its_one_form(text: str) -> None:
    script = parse_script(text)
    assert script.diagnostics == ()
    assert [print_statement(one.value) for one in script.statements] == [PRINTS[text]]
    (again,) = parse_script(PRINTS[text]).statements
    assert again.value == script.statements[0].value


@pytest.mark.parametrize("way", ["ROLLBACK", "RESET", "REFRESH"])
@pytest.mark.parametrize("cascade", [False, True])
def test_what_begins_anew_takes_its_followers_along_where_it_says_so(way: str, *, cascade: bool) -> None:
    statement = RestartStatement(way, "s", cascade)
    (parsed,) = parse_script(print_statement(statement)).statements
    assert parsed.value == statement


def test_settings_hold_in_their_canonical_form_until_they_are_unset_and_where_they_mean_something() -> None:
    create, query = f"CREATE STREAM s (v INT) {WITH.format('')}", "CREATE STREAM q AS SELECT 1"
    script = parse_script(
        f"SET START = 'from_now'; SET BAD_ROWS = 'skip'; {create}; {query}; UNSET BAD_ROWS; {create}; {query}"
    )
    assert script.diagnostics == ()
    assert script.settings == (("START", "latest"),)
    sources = [one.value for one in script.statements if isinstance(one.value, CreateSourceStatement)]
    assert [(one.property("START"), one.property("BAD_ROWS")) for one in sources] == [
        ("", "false"),
        ("latest", "false"),
        ("", ""),
        ("latest", ""),
    ]


@pytest.mark.parametrize("compare", ["", "COMPARE FROM earliest TO '2026-01-31T00:00:00+00:00' "])
def test_a_comparison_has_all_that_its_statement_says(compare: str) -> None:
    create = "STREAM s COMMENT 'c' WITH (SINK = 'delta') AS SELECT 1 EMIT FINAL"
    (parsed,) = parse_script(f"EXPLAIN REPLACE {compare}CREATE {create}").statements
    (plain,) = parse_script(f"CREATE OR REPLACE {create}").statements
    assert isinstance(parsed.value, ExplainStatement)
    assert parsed.value.statement == plain.value
