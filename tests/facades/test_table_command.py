"""`treaty table` where no Spark is needed: statements from subjects of all formats, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.frames import record
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.schema import Draft

Run = Callable[..., Result]

INNER = {"type": "record", "name": "Inner", "fields": [{"name": "b", "type": "int", "doc": "it's \\ deep"}]}
V1 = record({"name": "a", "type": "int", "doc": "the first"}, ("hollow", "null"), ("inner", ["null", INNER], None))
V2 = record({"name": "a", "type": "long", "doc": "the id"}, ("many", {"type": "array", "items": "float"}, []))
DOCUMENT = '{"properties": {"two words": {"type": "string", "description": "said"}, "n": {"type": "integer"}}}'
PROTO = 'syntax = "proto3"; message M { int64 n = 1; map<string, double> by = 2; }'


@pytest.fixture
def run(tmp_path: Path) -> Run:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        texts = (("o", V1, "AVRO"), ("o", V2, "AVRO"), ("j", DOCUMENT, "JSON"), ("p", PROTO, "PROTOBUF"))
        for subject, text, format_ in texts:
            registry.ask(Register(subject_of(subject), Draft(text, format_)))

    def command(*words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(group, ["table", *words, "--registry", url])
        assert done.exit_code == code, done.output
        return done

    return command


def test_the_union_of_all_versions_is_a_table_with_comments(run: Run) -> None:
    assert run("create", "o", "--table", "/lake/o", "--sql", "--partition", "a").output == (
        "CREATE TABLE IF NOT EXISTS delta.`/lake/o` (\n"
        "  `a` BIGINT COMMENT 'the id',\n"
        "  `inner` STRUCT<`b`: INT COMMENT 'it\\'s \\\\ deep'>,\n"
        "  `many` ARRAY<FLOAT>\n"
        ")\n"
        "USING delta\n"
        "PARTITIONED BY (`a`)\n"
        "COMMENT 'o: all versions'\n"
        "TBLPROPERTIES ('delta.enableTypeWidening' = 'true');\n"
    )
    told = json.loads(run("create", "p", "--table", "/lake/p", "--format", "parquet", "--sql", "--json").output)
    assert (told["changed"], told["format"]) == (False, "parquet")
    (statement,) = told["statements"]
    assert statement == (
        "CREATE TABLE IF NOT EXISTS `p` (\n  `n` BIGINT,\n  `by` MAP<STRING, DOUBLE>\n)\nUSING parquet\n"
        "COMMENT 'p: all versions'\nLOCATION '/lake/p/rows'"
    )
    odd = run("create", "j", "--table", "j", "--sql").output
    assert odd.startswith("CREATE TABLE IF NOT EXISTS j (\n  `two words` STRING COMMENT 'said',\n  `n` BIGINT\n)")
    assert "'delta.columnMapping.mode' = 'name'" in odd
    iceberg = run("create", "j", "--table", "/lake/j", "--format", "iceberg", "--sql").output.splitlines()
    assert [line.partition("=")[2] for line in iceberg[:4]] == [
        " hadoop;", " false;", " /lake;", " org.apache.iceberg.spark.SparkCatalog;",
    ]  # fmt: skip
    assert iceberg[4].startswith("CREATE TABLE IF NOT EXISTS treaty_")
    assert "columnMapping" not in iceberg[-1]


def test_what_is_no_table_is_told(run: Run) -> None:
    assert "Subject 'nobody' not found" in run("create", "nobody", "--table", "/x", "--sql", code=1).output
    assert "is no path" in run("create", "o", "--table", "x", "--format", "parquet", "--sql", code=2).output
    assert "the reader has no message 'Q'; it has M" in run(
        "create", "p", "--table", "/x", "--message", "Q", "--sql", code=1
    ).output.replace("\n", " ")
