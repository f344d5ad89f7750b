"""`treaty promote SUBJECT...`: copies subjects with their references to another context or registry, all or nothing."""

import sys
from dataclasses import asdict

import click

from treaty.assemble import connect
from treaty.cli.terminal import findings, registry_warnings, screen, subject_completion
from treaty.cli.terminal.findings import LocatedFinding, OutputOptions, output_options
from treaty.cli.transfer.endpoints import open_registry
from treaty.client.transfer.promotion import PromotionResult, promote, promotion
from treaty.core.names import DEFAULT_CONTEXT, Subject, context_of


@click.command(
    "promote",
    epilog="Exit code 0: promoted. 1: refused, nothing written; or warnings with --strict. 2: source or target is unusable.",
)
@click.argument(
    "subjects", nargs=-1, required=True, metavar="SUBJECT...", shell_complete=subject_completion.complete_subjects
)
@click.option(
    "--registry",
    required=True,
    envvar="TREATY_REGISTRY",
    show_envvar=True,
    metavar="URL",
    help="Source: a URL, or a .properties file with client settings.",
)
@click.option("--to", "target", metavar="URL", help="Target: as --registry (default: the same registry).")
@click.option("--from-context", default=DEFAULT_CONTEXT, show_default=True, help="Context of the subjects.")
@click.option("--to-context", default=DEFAULT_CONTEXT, show_default=True, help="Context of the target.")
@click.option("--all-versions", "every", is_flag=True, help="Promote every live version, not only the latest.")
@click.option("--dry-run", is_flag=True, help="Try the promotion in memory. Nothing is written.")
@registry_warnings.strict
@output_options
def command(
    subjects: tuple[str, ...],
    *,
    registry: str,
    target: str | None,
    from_context: str,
    to_context: str,
    every: bool,
    dry_run: bool,
    strict: bool,
    output: OutputOptions,
) -> None:
    """Register the latest version of each SUBJECT, with the versions it refers to, in another registry or context.

    The target's config applies, and the target assigns ids and version numbers. Everything is tried first in memory,
    with the subjects of the target; if anything is refused, nothing is written.

    \b
    Examples:
      treaty promote orders-value --registry http://dev:8081 \\
        --to http://prod:8081 --dry-run
      treaty promote orders-value --registry http://127.0.0.1:8081 \\
        --from-context .dev --to-context .prod
    """  # noqa: D301 - click wants the control character
    source_context, target_context = context_of(from_context), context_of(to_context)
    if target in {None, registry} and source_context == target_context:
        raise click.UsageError(
            "source and target are the same: give another registry with --to, or another --to-context"
        )
    with open_registry(registry) as source:
        plan = promotion(
            source, [Subject(source_context, name) for name in subjects], source_context, target_context, every=every
        )
    with (
        open_registry(target or registry, "empty" if dry_run else "create") as end,
        connect("memory:") as rehearsal,
        screen.show_progress() as progress,
    ):
        warnings = registry_warnings.collect_warnings(rehearsal if dry_run else end)
        result = promote(plan, end, rehearsal, dry_run=dry_run, report=progress)
    if output.is_json:
        screen.say_json({**_promotion_members(result, dry_run=dry_run), **registry_warnings.warning_members(warnings)})
    else:
        _print(result, output, dry_run=dry_run)
    registry_warnings.say_warnings(warnings)
    sys.exit(registry_warnings.exit_code(1 if result.problems else 0, warnings, is_strict=strict))


def _promotion_members(result: PromotionResult, *, dry_run: bool) -> dict[str, object]:
    steps = [
        {
            "from": {"subject": step.source.subject, "version": step.source.number},
            "to": {
                "subject": str(step.target),
                "version": registered.version.number,
                "id": registered.version.schema_id,
            },
            "created": registered.created,
        }
        for step, registered in result.steps
    ]
    return {
        "dry_run": dry_run,
        "steps": steps,
        "problems": [asdict(problem) for problem in result.problems],
        "findings": [finding.to_members() for finding in _locate(result)],
    }


def _locate(result: PromotionResult) -> list[LocatedFinding]:
    """Return the findings of the target about a refused version."""
    if result.refused is None:
        return [LocatedFinding(one.where, "REJECTED", f"{one.what}: {one.why}") for one in result.problems]
    source, refusal = result.refused[0].source, result.refused[1]
    return findings.locate_refusal(f"{source.subject} version {source.number}", source.format, "", refusal)


def _print(result: PromotionResult, output: OutputOptions, *, dry_run: bool) -> None:
    findings.print_findings(_locate(result), output)
    if result.problems:
        for problem in result.problems if result.refused else ():
            screen.say(f"{problem.where}: {problem.what}.", "red")
        screen.say("Nothing is written.", "red")
        return
    for step, registered in result.steps:
        word = ("would become" if dry_run else "is now") if registered.created else "is already"
        screen.say(
            f"{step.source.subject} version {step.source.number} {word} {step.target} version {registered.version.number}"
        )
    created = sum(one.created for _, one in result.steps)
    counted = screen.format_count(created, "new version")
    screen.say(
        f"{'Would be' if dry_run else 'Promoted'}: {counted}, {len(result.steps) - created:,} unchanged.", "green"
    )
