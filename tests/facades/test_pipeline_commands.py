"""`treaty pipeline`: files that describe pipelines, and what is wrong with others; no Spark runs here."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from treaty.cli.main import group
from treaty.cli.metastore.bad.tables import describe_pipeline, may_have_rows
from treaty.cli.pipeline.description import SparkSettings, read_description
from treaty.cli.pipeline.description_table import DescriptionError
from treaty.spark import (
    DebeziumEnvelope,
    FilesSource,
    KafkaSource,
    KeyedTableOptions,
    LakeTable,
    Pipeline,
    StreamTrigger,
)

FULL = """
name = "orders"
registry = "http://ann:${PASSWORD}@127.0.0.1:8081"
checkpoint = "/lake/checkpoints/orders"
subject = "orders-value"
reader = 3
evolution = "none"
framing = "header"
part = "value"
depth = 2
defaults = true
encoding = "compact"
message = "shop.Order"
keep = ["topic", "offset"]

[columns]
id = "schema_id"
version = "schema_version"

[source.kafka]
servers = "127.0.0.1:9092"
topics = ["orders"]
start = "latest"
max_offsets = 100_000
min_partitions = 4
settings_file = "client.properties"
settings = { "security.protocol" = "SASL_SSL", "sasl.jaas.config" = "password is ${KAFKA}" }

[good]
place = "/lake/orders"
format = "iceberg"
partitions = ["day"]

[bad]
place = "/lake/orders_bad"
most = 100
share = 0.25

[trigger]
kind = "every"
every = "30 seconds"

[patience]
tries = 3
unknown_seconds = 1.5

[spark]
master = "local[4]"
memory = "4g"
settings = { "spark.sql.shuffle.partitions" = "8" }
"""
KEYED = """
[keyed]
key = ["id"]
version = "source.lsn"
order = ["timestamp", "offset"]
envelope = "debezium"
after = "now"
"""
SMALL = """
checkpoint = "c"
subject = "s"
[source.files]
path = "in"
schema = "value BINARY"
[good]
place = "good"
[bad]
place = "bad"
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "flights.toml"
        path.write_text(text, "utf-8")
        return path

    return write


def test_a_file_is_a_pipeline(written: Callable[[str], Path]) -> None:
    found = read_description(written(FULL), {"PASSWORD": "s3cret"})
    settings = (("security.protocol", "SASL_SSL"), ("sasl.jaas.config", "password is ${KAFKA}"))
    kafka = KafkaSource(
        "127.0.0.1:9092", ("orders",), "", settings, "client.properties", "latest", 100_000, 4, headers=True
    )
    assert found.pipeline == Pipeline(
        "orders-value",
        LakeTable("/lake/orders", "iceberg", ("day",)),
        LakeTable("/lake/orders_bad"),
        "/lake/checkpoints/orders",
        reader=3,
        keep=("topic", "offset"),
        with_id="schema_id",
        with_version="schema_version",
        message="shop.Order",
        evolution="none",
        most_bad=100,
        worst_share=0.25,
        source=kafka,
        trigger=StreamTrigger("every", "30 seconds"),
        framing="header",
        depth=2,
        defaults=True,
        encoding="compact",
        tries=3,
        patience=1.5,
    )
    assert (found.name, found.registry) == ("orders", "http://ann:s3cret@127.0.0.1:8081")
    assert found.session == SparkSettings("local[4]", "4g", (("spark.sql.shuffle.partitions", "8"),))
    assert "s3cret" not in repr(found)


def test_the_file_of_the_howto_is_one(written: Callable[[str], Path]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "pipelines.md").read_text("utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    found = read_description(written(text), {"REGISTRY_PASSWORD": "x"})
    assert (found.pipeline.most_bad, found.pipeline.patience) == (1000, 2.0)


def test_what_is_left_out_has_its_usual_value(written: Callable[[str], Path]) -> None:
    found = read_description(written(SMALL), {})
    source = FilesSource("in", schema="value BINARY")
    assert found.pipeline == Pipeline("s", LakeTable("./good"), LakeTable("./bad"), "c", source=source)
    assert (found.name, found.registry, found.session) == ("flights", "", SparkSettings())


def test_a_key_makes_a_table_of_one_row_each(written: Callable[[str], Path]) -> None:
    found = read_description(written(SMALL + KEYED), {}).pipeline.keyed
    assert found == KeyedTableOptions(
        ("id",), version="source.lsn", order=("timestamp", "offset"), envelope=DebeziumEnvelope(after="now")
    )


@pytest.mark.parametrize(
    ("place", "exists", "is_known"),
    [("bad", False, True), ("bad", True, True), ("s3a://b/bad", False, False), ("lake.bad", True, False)],
)
def test_bad_rows_are_asked_about_where_they_are_or_may_be(
    written: Callable[[str], Path], tmp_path: Path, place: str, *, exists: bool, is_known: bool
) -> None:
    """A table that is no folder here may have rows, which only Spark can say."""
    named = str(tmp_path / place) if is_known else place
    if exists:
        (tmp_path / place / "_delta_log").mkdir(parents=True)
        (tmp_path / place / "_delta_log" / "00000000000000000000.json").touch()
    file = written(SMALL.replace('"bad"', f'"{named}"'))
    assert may_have_rows(describe_pipeline(str(file))) is (exists or not is_known)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('subject = "s"', 'subject = "s"\nsubjct = "x"', "subjct: unknown key; allowed are .*subject"),
        ('checkpoint = "c"', "", "checkpoint is missing; allowed is a text"),
        ('checkpoint = "c"', "checkpoint = 7", "checkpoint = 7: allowed is a text"),
        (
            'subject = "s"',
            'subject = "s"\nreader = "first"',
            "reader = 'first': allowed are latest, union, types, wide, variant, or a version",
        ),
        ('subject = "s"', 'subject = "s"\nreader = true', "reader = True: allowed are latest"),
        ('subject = "s"', 'subject = "s"\nevolution = "grow"', "evolution = 'grow': allowed are widen, none, fail"),
        ('subject = "s"', 'subject = "s"\npart = "header"', "part = 'header': allowed are value, key"),
        ('subject = "s"', 'subject = "s"\nkeep = "offset"', "keep = 'offset': allowed is a list of texts"),
        ('subject = "s"', 'subject = "s"\ndepth = 0', "depth = 0: allowed is 1 or more"),
        ('subject = "s"', 'registry = "${HOME_OF_IT}"', "registry: the environment variable HOME_OF_IT is not set"),
        ('subject = "s"', "", "a pipeline without a subject reads topics of Kafka"),
        ("[good]", '[good]\nformat = "csv"', "good.format = 'csv': allowed are delta, iceberg, parquet"),
        ("[good]", "[goods]", r"good is missing; did you mean it where goods stands\? allowed is a table, \[good\]"),
        ("[bad]", "[bad]\nshare = 2", "bad.share = 2: allowed is 0 to 1"),
        ("[bad]", "[bad]\nmost = 1.5", "bad.most = 1.5: allowed is a whole number"),
        ("[source.files]", "[source.file]", r"source.file: unknown key; did you mean files\? allowed are kafka, files"),
        ("[source.files]", '[source.kafka]\nservers = "h:1"\n[source.files]', "one of the tables"),
        ('path = "in"', 'path = "in"\nmax_files = "1"', "source.files.max_files = '1': allowed is a whole number"),
        ("[good]", '[trigger]\nkind = "now"\n[good]', "trigger.kind = 'now': allowed are available, once, every"),
        ("[good]", "[keyed]\n[good]", "keyed: there is no key: name its columns, or the subject"),
        ("[good]", '[keyed]\nkey = ["id"]\nenvelope = "maxwell"\n[good]', "keyed.envelope = 'maxwell': allowed are"),
        ('place = "good"', 'place = "good"\nformat = "parquet"\n[keyed]\nkey = ["id"]', "is one of delta, iceberg"),
        ("[good]", "[good", "is not valid TOML"),
    ],
    ids=lambda one: None if isinstance(one, str) else "",
)
def test_what_is_wrong_is_told_by_key_value_and_what_is_allowed(
    old: str, new: str, told: str, written: Callable[[str], Path]
) -> None:
    assert old in SMALL
    with pytest.raises(DescriptionError, match=told):
        read_description(written(SMALL.replace(old, new, 1)), {})


def test_unusable_input_ends_with_two_and_help_has_examples(written: Callable[[str], Path], tmp_path: Path) -> None:
    run = CliRunner().invoke
    missing = run(group, ["pipeline", "run", str(tmp_path / "none.toml")])
    assert (missing.exit_code, "cannot be read: No such file" in missing.stderr) == (2, True)
    nowhere = run(group, ["pipeline", "replay", str(written(SMALL)), "--json"])
    assert (nowhere.exit_code, '"error"' in nowhere.stdout, "registry is missing" in nowhere.stderr) == (2, True, True)
    for name in ("run", "plan", "status", "replay"):
        said = run(group, ["pipeline", name, "--help"])
        assert (said.exit_code, "Example" in said.output, "Exit code 0" in said.output) == (0, True, True)
