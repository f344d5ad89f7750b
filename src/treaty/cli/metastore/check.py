"""`treaty metastore check`: what the sources and types of a metastore are bound to, and whether it is there."""

import sys
from dataclasses import asdict

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.core.registry import run_exchange
from treaty.metastore.project.check import NOTE, PROBLEM, check_metastore

WRONG = 1


@click.command(
    "check",
    epilog="Exit code 0: nothing is wrong; notes may be there. 1: there are problems. 2: the registry does not answer.",
)
@connection.registry
@connection.as_json
def command(*, registry: str, as_json: bool) -> None:
    """Compare what sources and types are bound to with what is there, and say the remedy of each difference.

    Checked are the versions that sources pin, the generations and schemas of what queries read, user types, streams of bad
    rows, and the formats of sources over one topic. Nothing is written.

    \b
    Examples:
      treaty metastore check
      treaty metastore check --json
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as target:
        findings = run_exchange(target.registry, check_metastore())
    problems = sum(finding.severity == PROBLEM for finding in findings)
    if as_json:
        screen.say_json({"fine": not problems, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            colour = "yellow" if finding.severity == NOTE else "red"
            note = "note: " if finding.severity == NOTE else ""
            screen.say(f"{note}{finding.kind.lower()} {finding.name}: {finding.rule} {finding.message}", colour)
            screen.say(f"    remedy: {finding.remedy}")
        counts = [screen.format_count(problems, PROBLEM), screen.format_count(len(findings) - problems, NOTE)]
        screen.say(f"{', '.join(counts)}.", "red" if problems else "green")
    sys.exit(WRONG if problems else 0)
