"""`treaty export`: writes everything in a registry as records that a Confluent registry reads."""

import gzip
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, NoReturn

import click

from treaty.cli.terminal import kafka, screen
from treaty.cli.terminal.source import STDIN, UnusableError
from treaty.cli.transfer.endpoints import is_topic, parse_topic, read_source, say_notes, say_problem, say_problems
from treaty.client.kafka.registry_topic import write_topic
from treaty.client.transfer.dump import write_lines
from treaty.client.transfer.group_plan import note_lost_groups
from treaty.client.transfer.registry_image import RegistryImage, TransferProblem
from treaty.core.names import EVERYWHERE, Subject, subject_of


@click.command(
    "export",
    epilog="Exit code 0: everything was written. 1: something could not be read. 2: source or target is unusable.",
)
@click.option(
    "--registry",
    required=True,
    envvar="TREATY_REGISTRY",
    show_envvar=True,
    metavar="URL",
    help="Source: http://host:port, sqlite:///path.db, or a .properties file.",
)
@click.option(
    "--output",
    default=STDIN,
    metavar="FILE|TOPIC",
    help="Target: a file, compressed if it ends in .gz; or a topic, kafka://host:port/name (default: standard output).",
)
@click.option(
    "--prefix",
    default=f":{EVERYWHERE}:",
    show_default=True,
    help="Only subjects with this prefix, such as :.prod:orders",
)
@click.option(
    "--keys",
    is_flag=True,
    help="Also write the API keys of all vendors that you administer: their digests, never the keys.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written to the topic. Nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="Print counts and problems as JSON; needs --output.")
@kafka.kafka_config
def command(
    *, registry: str, output: str, prefix: str, keys: bool, dry_run: bool, as_json: bool, kafka_config: tuple[str, ...]
) -> None:
    """Write all schemas, settings and modes as a dump of a _schemas topic: one line {"key": ..., "value": ...} per
    record.

    The target can also be the topic itself, for a Confluent registry to start on. A missing topic is created
    (compacted, one partition); existing records are not changed. No registry should use the topic meanwhile.

    \b
    Examples:
      treaty export --registry http://127.0.0.1:8081 --output schemas.jsonl.gz
      treaty export --registry sqlite:///var/lib/treaty/log.db | wc -l
      treaty export --registry http://127.0.0.1:8081 \\
        --output kafka://127.0.0.1:9092/_schemas
    """  # noqa: D301 - click wants the control character
    if dry_run and not is_topic(output):
        raise click.UsageError("--dry-run is for topics only")
    if as_json and output == STDIN:
        raise click.UsageError("--json needs --output: the dump is written to standard output")
    if keys and is_topic(output):
        raise click.UsageError("--keys is for files only: a topic has no place for API keys")
    with screen.show_progress() as progress:
        image = read_source(registry, _parse_prefix(prefix), progress, kafka_config=kafka_config, keys=keys)
    if is_topic(output):
        _write_topic(image, output, kafka_config, dry_run=dry_run, as_json=as_json)
    lines = 0
    with _open_output(output) as file:
        for line in write_lines(image):
            file.write(line)
            lines += 1
    if as_json:
        counts: dict[str, object] = {"output": output, "records": lines, "versions": len(image.versions)}
        counts |= {"api_keys": len(image.api_keys)} if keys else {}
        _print_json(counts, image.problems, image.left_out, image.notes)
    say_problems(image.problems, say_problem, image.more_problems)
    say_notes(image.left_out, image.notes)
    versions = screen.format_count(len(image.versions), "version")
    target = "standard output" if output == STDIN else output
    screen.say(f"{screen.format_count(lines, 'record')} with {versions} written to {target}.", "green", err=True)
    sys.exit(1 if image.problems else 0)


def _write_topic(
    image: RegistryImage, output: str, kafka_config: tuple[str, ...], *, dry_run: bool, as_json: bool
) -> NoReturn:
    with screen.show_progress() as progress, kafka.exit_on_kafka_error():
        cluster, topic = parse_topic(output, kafka_config)
        exported = write_topic(image, cluster, topic, dry_run=dry_run, report=progress)
    problems, left_out = (*image.problems, *exported.problems), (*image.left_out, *note_lost_groups(image))
    if as_json:
        counts = {"output": output, "records": exported.records, "written": exported.written, "dry_run": dry_run}
        _print_json(counts, problems, left_out, image.notes)
    say_problems(problems, say_problem, image.more_problems + exported.more_problems)
    say_notes(left_out, image.notes)
    word = "would be written" if dry_run else "written"
    existing = exported.records - exported.written - len(exported.problems) - exported.more_problems
    colour = "red" if problems else "green"
    screen.say(
        f"{screen.format_count(exported.written, 'record')} {word} to {topic}, {existing:,} there already.",
        colour,
        err=True,
    )
    sys.exit(1 if problems else 0)


def _print_json(
    counts: dict[str, object], problems: Sequence[TransferProblem], left_out: Sequence[str], notes: Sequence[str]
) -> NoReturn:
    listed = [asdict(one) for one in problems]
    screen.say_json({**counts, "left_out": list(left_out), "notes": list(notes), "problems": listed})
    sys.exit(1 if problems else 0)


def _parse_prefix(text: str) -> Subject:
    return Subject(EVERYWHERE, "") if text == f":{EVERYWHERE}:" else subject_of(text)


@contextmanager
def _open_output(path: str) -> Iterator[BinaryIO]:
    """Open a file that is written completely or not at all; standard output for ``-``."""
    if path == STDIN:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target, half = Path(path), Path(f"{path}.part")
    try:
        with half.open("wb") as plain:
            if target.suffix == ".gz":
                with gzip.GzipFile(fileobj=plain, mode="wb", mtime=0) as packed:
                    yield packed  # type: ignore[misc] # writes bytes alike
            else:
                yield plain
        half.replace(target)
    except OSError as error:
        raise UnusableError(f"{path} can't be written: {error.strerror}") from error
    finally:
        half.unlink(missing_ok=True)
