"""`treaty import SOURCE --registry URL`: copies the schemas of a registry into another one, with their ids and version
numbers.
"""

import sys
from dataclasses import asdict

import click

from treaty.cli.log.state_file import offer_fast_start
from treaty.cli.terminal import kafka, registry_warnings, screen
from treaty.cli.terminal.errors import INTERRUPTED
from treaty.cli.terminal.source import STDIN
from treaty.cli.transfer.endpoints import open_registry, read_source, say_notes, say_problem, say_problems
from treaty.client.transfer.image_writer import TransferReport, write

DONE, PROBLEMS = 0, 1
"""Exit codes: everything was imported; something was not."""


@click.command(
    "import",
    epilog="Exit code 0: everything is imported. 1: there are problems, or warnings with --strict. 2: source or target is unusable.",
)
@click.argument("source")
@click.option(
    "--registry",
    required=True,
    envvar="TREATY_REGISTRY",
    show_envvar=True,
    metavar="URL",
    help="Target: http://host:port, sqlite:///path.db, or a .properties file.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written. Nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@registry_warnings.strict
@kafka.kafka_config
def command(
    source: str, *, registry: str, dry_run: bool, as_json: bool, strict: bool, kafka_config: tuple[str, ...]
) -> None:
    """Import the schemas of SOURCE with ids, versions and guids, soft deletions, associations, config and modes.

    SOURCE is one of: the URL of a registry with Confluent's API; a .properties file with the settings of its clients
    (url, basic.auth.user.info, ssl.ca.location, ...); the topic of a registry (kafka://host:port/_schemas); or a dump
    of such a topic, a file or ``-``, plain or gzip, with lines {"key": ..., "value": ...} or key, tab, value; or a
    registry of another kind: pravega:URL (its groups with ids, encodings and history), schema-repo:URL, or
    schema-repo:FOLDER (the folder of its local file repository). Existing schemas are not changed, so an interrupted
    import can be run again.

    \b
    Examples:
      treaty import http://old:8081 --registry http://127.0.0.1:8081 --dry-run
      treaty import kafka://127.0.0.1:9092/_schemas \\
        --registry http://127.0.0.1:8081
      treaty import "pravega:http://old:9092?namespace=shop" \\
        --registry http://127.0.0.1:8081 --dry-run
      treaty import schema-repo:http://old:2876/schema-repo \\
        --registry http://127.0.0.1:8081
      treaty import schema-repo:/var/lib/schema-repo \\
        --registry http://127.0.0.1:8081
      treaty import schemas.jsonl.gz --registry sqlite:///var/lib/treaty/log.db
      kafka-console-consumer ... --property print.key=true | treaty import - \\
        --registry http://127.0.0.1:8081
    """  # noqa: D301 - click wants the control character
    try:
        with screen.show_progress() as progress:
            image = read_source(source, progress=progress, kafka_config=kafka_config)
            with open_registry(registry, "empty" if dry_run else "create") as target:
                warnings = registry_warnings.collect_warnings(target)
                report = write(image, target, dry_run=dry_run, report=progress)
    except KeyboardInterrupt:
        screen.say("Interrupted. What was written is kept; run the same command again to continue.", "yellow", err=True)
        sys.exit(INTERRUPTED)
    problems, uncounted = (*image.problems, *report.problems), image.more_problems + report.more_problems
    left_out, notes = (*image.left_out, *report.plan.left_out), (*image.notes, *report.plan.notes)
    if as_json:
        listed = [asdict(one) for one in problems]
        members = {"dry_run": dry_run, **_count_changes(report), "left_out": left_out, "notes": notes}
        members["problems"] = listed
        members["more_problems"] = uncounted
        screen.say_json({**members, **registry_warnings.warning_members(warnings)})
    else:
        say_problems(problems, say_problem, uncounted)
        say_notes(left_out, notes)
        if not (
            image.versions
            or image.configs
            or image.modes
            or image.contexts
            or image.associations
            or image.groups
            or image.api_keys
            or problems
        ):
            name = "standard input" if source == STDIN else source
            screen.say(f"{name} has nothing to import: no schema, config or mode.", "yellow", err=True)
        _say_report(report, len(problems) + uncounted, dry_run=dry_run)
    registry_warnings.say_warnings(warnings)
    offer_fast_start(registry, report.written)
    sys.exit(registry_warnings.exit_code(PROBLEMS if problems else DONE, warnings, is_strict=strict))


def _count_changes(report: TransferReport) -> dict[str, int]:
    plan = report.plan
    return {
        "there_already": plan.there,
        "contexts": len(plan.made),
        "api_keys": len(plan.api_keys),
        "groups": len(plan.groups.made),
        "versions": sum(map(len, plan.waves)) + len(plan.groups.hidden),
        "codecs": len(plan.groups.codecs),
        "encodings": len(plan.groups.encodings),
        "soft_deletions": len(plan.deletions),
        "associations": len(plan.associations),
        "configs": len(plan.configs),
        "modes": len(plan.modes),
        "written": report.written,
    }


def _say_report(report: TransferReport, problems: int, *, dry_run: bool) -> None:
    screen.say_facts({name.replace("_", " "): f"{value:,}" for name, value in _count_changes(report).items()})
    words = "would be written" if dry_run else "written"
    count = report.plan.size if dry_run else report.written
    counted = screen.format_count(problems, "problem")
    screen.say(f"{screen.format_count(count, 'change')} {words}, {counted}.", "red" if problems else "green")
