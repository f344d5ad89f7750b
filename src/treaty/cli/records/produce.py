"""`treaty produce TOPIC`: encodes JSON values with a schema of the registry and sends them to a topic."""

import sys
from collections.abc import Iterator
from typing import Any

import click

from treaty.cli.records.input_records import InputRecord, InvalidInput, read_records
from treaty.cli.records.produce_run import ProduceOptions, ProduceRun
from treaty.cli.records.schema_selection import HOW, SchemaOption, SelectedSchema, select_schema
from treaty.cli.registry import connection
from treaty.cli.registry.schema import references
from treaty.cli.terminal import kafka, registry_warnings, screen
from treaty.cli.terminal.options import encoding_, format_
from treaty.cli.terminal.registry_warnings import RegistryWarning
from treaty.cli.terminal.source import STDIN
from treaty.cli.terminal.subject_completion import complete_subjects
from treaty.client.connection import Connection
from treaty.client.kafka.library import load_library
from treaty.client.kafka.producer import ANY, RecordProducer
from treaty.core.kafka import KafkaCluster

DONE, WRONG, STOPPED = 0, 1, 130
"""Exit codes: every record is in the topic; some are not; Ctrl-C."""


@click.command(
    "produce",
    epilog="Exit code 0: every record is in the topic. 1: some are not, or the registry warned with --strict. 2: unusable input. 130: Ctrl-C.",
)
@click.argument("topic")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(allow_dash=True))
@connection.registry
@kafka.kafka_brokers
@kafka.kafka_config
@click.option(
    "--schema",
    default="latest",
    show_default=True,
    metavar="latest|ID|FILE",
    help="Schema of the values: latest, an id or a file.",
)
@click.option(
    "--key-schema",
    metavar="latest|ID|FILE",
    help="Schema of the keys: latest, an id or a file; without it keys are text.",
)
@click.option(
    "--subject", default="", shell_complete=complete_subjects, help="Subject of the values (default: by --strategy)."
)
@click.option("--strategy", type=click.Choice(tuple(HOW)), default="topic", show_default=True, help="Names subjects.")
@click.option("--record", default="", metavar="NAME", help="Full name of the Avro record or Protobuf message.")
@encoding_
@format_
@references
@click.option("--must-exist", is_flag=True, help="Fail if a schema from a file is not registered yet.")
@click.option("--normalize", is_flag=True, help="Register the normalized schema.")
@click.option("--key", metavar="TEXT", help="Key of every record.")
@click.option(
    "--key-field", default="", metavar="PATH", help="Member of the value that becomes the key, such as order.id"
)
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="Header of every record. Repeatable.")
@click.option("--records", is_flag=True, help="The input has complete records, as `treaty consume --json` prints them.")
@click.option("--framing", type=click.Choice(("prefix", "header", "pravega")), default="prefix", show_default=True,
              help="Frame: the schema id before the payload, the guid in a header, or the encoding id of a group.")  # fmt: skip
@click.option("--codec", default="none", show_default=True, metavar="NAME",
              help="Packs payloads with --framing pravega: gzip, snappy, or that of an installed package.")  # fmt: skip
@click.option("--partition", type=click.IntRange(min=0), help="Partition of every record (default: by the key).")
@click.option("--no-partition", "drops_partition", is_flag=True,
              help="Ignore the partitions in --records; the key chooses.")  # fmt: skip
@click.option("--compression", type=click.Choice(("none", "gzip", "snappy", "lz4", "zstd")), default="none",
              show_default=True, help="Compression of batches sent to the brokers.")  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Skip values that do not fit the schema (default: stop at the first).")
@click.option("--dry-run", is_flag=True, help="Print the bytes; register and send nothing.")
@registry_warnings.strict
@connection.as_json
def command(topic: str, files: tuple[str, ...], **options: Any) -> None:
    """Send JSON values to TOPIC, one record for each line of the FILEs. ``-`` or no FILE reads standard input.

    A file that ends in .json holds one value. null is a tombstone. Avro values may be in Avro's JSON encoding or plain:
    bare values for unions, dates and times in ISO 8601, decimals as digits.

    \b
    Examples:
      treaty produce orders --kafka 127.0.0.1:9092 \\
        --registry http://127.0.0.1:8081 < orders.jsonl
      treaty produce orders orders.jsonl --schema order.avsc --key-field id
      treaty produce orders --schema order.proto --record shop.Order --dry-run \\
        < order.jsonl
      treaty consume orders --json | treaty produce orders-copy \\
        --schema order.avsc --records
    """  # noqa: D301 - click wants the control character
    settings = _read_options(topic, options)
    cluster = None
    with kafka.exit_on_kafka_error():
        if not options["dry_run"]:
            load_library()  # before the registry is asked
            cluster = kafka.find_cluster(options["kafka"], options["kafka_config"])
    with kafka.exit_on_kafka_error(), connection.open_registry(options["registry"]) as client:
        warnings = registry_warnings.collect_warnings(client)
        job = ProduceRun(settings, *_select_schemas(client, topic, options))
        registry_warnings.say_warnings(warnings)
        code = _run_job(job, read_records(files or (STDIN,), records=options["records"]), cluster, options, warnings)
    sys.exit(registry_warnings.exit_code(code, warnings, is_strict=options["strict"]))


def _run_job(
    job: ProduceRun,
    source: Iterator[InputRecord | InvalidInput],
    cluster: KafkaCluster | None,
    options: dict[str, Any],
    warnings: list[RegistryWarning],
) -> int:
    """Send the records, or show them without a cluster; returns the exit code."""
    dry_run, as_json = cluster is None, options["as_json"]
    framed: list[dict[str, str]] = []
    try:
        if cluster is None:
            for name, facts in job.show(source):
                if as_json:
                    framed.append({"input": name, **facts})
                else:
                    screen.say(name, bold=True)
                    screen.say_facts(facts)
        else:
            job.send(source, RecordProducer(cluster, job.counts.report_lost, options["compression"]))
        code = WRONG if job.counts.wrong or job.counts.lost else DONE
    except KeyboardInterrupt:
        screen.say("stopped", "yellow", err=True)
        code = STOPPED
    if as_json:
        members = {**job.summary(dry_run=dry_run), **registry_warnings.warning_members(warnings)}
        screen.say_json({**members, **({"records": framed} if dry_run else {})})
    else:
        screen.say(job.sentence(dry_run=dry_run), "red" if code else "green", err=True)
    return code


def _read_options(topic: str, options: dict[str, Any]) -> ProduceOptions:
    if options["key"] is not None and options["key_field"]:
        raise click.UsageError("--key and --key-field exclude each other")
    pairs = []
    for word in options["headers"]:
        name, mark, text = word.partition("=")
        if not (name and mark):
            raise click.BadParameter(f"{word!r} is not NAME=VALUE", param_hint="--header")
        pairs.append((name, text.encode()))
    partition = ANY if options["partition"] is None else options["partition"]
    return ProduceOptions(
        topic,
        options["framing"],
        options["key"],
        options["key_field"],
        tuple(pairs),
        partition,
        options["skip_bad"],
        options["drops_partition"],
    )


def _select_schemas(
    client: Connection, topic: str, options: dict[str, Any]
) -> tuple[SelectedSchema, SelectedSchema | None]:
    rest = {name: options[name] for name in ("must_exist", "normalize")}
    if options["codec"] != "none" and options["framing"] != "pravega":
        raise click.UsageError("--codec needs --framing pravega; --compression is that of batches")
    rest["codec"] = options["codec"] if options["framing"] == "pravega" else None
    value = SchemaOption(
        options["schema"], topic, "value", options["subject"], options["strategy"], options["record"],
        options["format_"], options["references"], encoding=options["encoding"], **rest,
    )  # fmt: skip
    dry_run = options["dry_run"]
    key = options["key_schema"]
    chosen = select_schema(client, value, dry_run=dry_run)
    return chosen, select_schema(client, SchemaOption(key, topic, "key", **rest), dry_run=dry_run) if key else None
