"""`treaty check`: compares a new schema with earlier ones, from files, a git revision or a registry."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from treaty.cli.schemas.check_result import CheckResult, compare_under_others, warn_of_union
from treaty.cli.terminal import options, screen
from treaty.cli.terminal.findings import OutputOptions, output_options
from treaty.cli.terminal.references import References
from treaty.cli.terminal.source import read_sources, refuse_second_stdin
from treaty.cli.terminal.subject_completion import complete_subjects
from treaty.core.policy import DEFAULT_LEVEL, LEVELS
from treaty.formats.engine import FormatEngine
from treaty.formats.history import compare_history
from treaty.formats.registry import find_formats
from treaty.formats.rule import POLICIES


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """Options for the earlier schemas: a registry, a git revision, or files."""

    subject: str | None
    registry: str | None
    normalize: bool
    git_base: str | None
    staged: bool
    history: str | None = None
    table_format: str | None = None
    sample: float | None = None
    column: str | None = None
    message: str | None = None
    conf: tuple[str, ...] = ()

    @property
    def base(self) -> str | None:
        """Return the revision to compare with; HEAD for staged files."""
        return "HEAD" if self.staged and self.git_base is None else self.git_base


@click.command(
    "check",
    epilog="Exit code 0: compatible. 1: incompatible, or rows would be lost. 2: a text is not a schema, or cannot be read.",
)
@click.argument("files", nargs=-1, metavar="[OLD]... NEW")
@click.option(
    "--level",
    type=options.UpperChoice(LEVELS),
    metavar="LEVEL",
    help="BACKWARD (the default): the new schema reads old data. FORWARD: the old one reads new data. FULL: both. "
    "BACKWARD_TRANSITIVE, FORWARD_TRANSITIVE and FULL_TRANSITIVE compare with all OLD files, the others with the last. "
    "NONE: anything fits.",
)
@click.option(
    "--policy",
    type=options.UpperChoice(POLICIES),
    help="STRICT (the default); LENIENT: open JSON Schemas may add properties; LOGICAL: logical types are compared too.",
)
@options.format_
@options.references(
    "A schema that the texts refer to by NAME. Repeatable; those that others need come first. With --subject: NAME=SUBJECT:VERSION."
)
@click.option(
    "--git-base",
    metavar="REF",
    help="Compare each FILE with its text at this git revision; without FILEs all changed schemas.",
)
@click.option(
    "--staged", is_flag=True, help="Compare staged files with HEAD, or with --subject with the versions of subjects."
)
@click.option(
    "--subject",
    metavar="NAME",
    shell_complete=complete_subjects,
    help="Check NEW as the next version of this subject of a registry. With --staged, {name} in it is the name of the file.",
)
@click.option("--registry", envvar="TREATY_REGISTRY", metavar="URL", help="Registry for --subject.")
@click.option("--normalize", is_flag=True, help="With --subject: normalize the schema first.")
@click.option(
    "--history", metavar="PLACE", help="Decode existing records with NEW: path or name of a table, or Parquet files."
)
@click.option(
    "--table-format",
    type=click.Choice(["delta", "iceberg", "parquet", "files"]),
    help="With --history: format of the table (default: from its folder).",
)
@click.option(
    "--sample", type=click.FloatRange(0, 1, min_open=True), help="With --history: fraction of the rows to read."
)
@click.option(
    "--column",
    metavar="NAME",
    help="With --history: column with the frames (default: value, payload, or the only binary column).",
)
@click.option("--message", metavar="NAME", help="With --history: full name of the Protobuf message.")
@click.option("--conf", multiple=True, metavar="NAME=VALUE", help="With --history: setting for Spark. Repeatable.")
@output_options
def command(
    *,
    files: tuple[str, ...],
    level: str | None,
    policy: str | None,
    format_: str | None,
    references: tuple[str, ...],
    folders: tuple[str, ...],
    output: OutputOptions,
    **where: Any,
) -> None:
    """Check whether a NEW schema is compatible with OLD ones, and print the findings. The oldest comes first; - reads
    standard input.

    \b
    Examples:
      treaty check old.avsc new.avsc
      treaty check --level FULL_TRANSITIVE v1.avsc v2.avsc v3.avsc
      treaty check --reference org.acme.Money=money.avsc old.avsc new.avsc
      treaty check new.avsc --subject orders-value \\
        --registry http://127.0.0.1:8081
      treaty check --git-base main
      treaty check --staged
      treaty check --staged --subject '{name}-value' \\
        --registry http://127.0.0.1:8081
      treaty check new.avsc --history /lake/orders-raw --subject orders-value \\
        --sample 0.01
    """  # noqa: D301 - click wants the control character
    place = CheckTarget(**where)
    if place.subject is not None:
        file_options = {"--level": level, "--policy": policy, "--reference-folder": folders or None}
        _refuse_options("--subject", {**file_options, "--git-base": place.git_base})
        file = "" if place.staged else _take_single_file(files)
        if not place.registry:
            raise click.UsageError("--subject needs --registry URL, for instance http://127.0.0.1:8081")
        if place.history is not None and place.staged:
            raise click.UsageError("--history takes the file as it is, not the staged one; leave out --staged")
        if place.history is not None:
            _check_data(file, place, format_, as_json=output.is_json)
        from treaty.cli.schemas import registry_check  # noqa: PLC0415 (a client is needed for this alone)

        registry_options = registry_check.RegistryCheckOptions(
            file, place.subject, place.registry, format_, references, place.normalize
        )
        if place.staged:
            sys.exit(registry_check.check_staged(files, registry_options, output))
        sys.exit(registry_check.check_with_registry(registry_options, output))
    if place.history is not None:
        raise click.UsageError("--history needs --subject NAME: the records were written under its versions")
    if place.normalize:
        raise click.UsageError("--normalize needs --subject: between files normalization makes no difference")
    resolved_references = References.parse(references, folders)
    level, policy = level or DEFAULT_LEVEL, policy or POLICIES[0]
    if place.base is not None:
        from treaty.cli.schemas import git_check  # noqa: PLC0415 (git is needed for this alone)

        since = git_check.RevisionCheckOptions(
            place.base, place.staged, files, format_, resolved_references, level, policy
        )
        sys.exit(git_check.check_revision(since, output))
    if len(files) < 2:
        raise click.UsageError("give OLD and NEW; or one file with --subject and --registry; or --git-base REF")
    result = compare_files(files, format_, resolved_references, level, policy)
    if output.is_json:
        screen.say_json(result.members())
    else:
        result.print(output)
    sys.exit(result.code)


def compare_files(
    files: Sequence[str], format_: str | None, references: References, level: str, policy: str
) -> CheckResult:
    """Compare the last file with the ones before it, the oldest first."""
    formats = find_formats()
    refuse_second_stdin([*files, *(path for _, path in references.named)])
    sources = read_sources(files, format_, formats)
    *olds, new = (references.resolve(one, formats) for one in sources)
    engine = FormatEngine(formats)
    history = compare_history(engine, olds, new, policy)
    note = warn_of_union((*olds, new)) if history.fits(level) else ""
    other_results = compare_under_others(lambda one: compare_history(engine, olds, new, one), history, level, policy)
    return CheckResult(level, policy, sources[-1], tuple(sources[:-1]), history, note, other_results)


def _check_data(file: str, place: CheckTarget, format_: str | None, *, as_json: bool) -> None:
    """Decode existing records with the new schema, print the result, and end the program."""
    from treaty.cli.schemas import data_check  # noqa: PLC0415 (Spark is needed for this alone)

    assert place.history is not None
    assert place.subject is not None
    assert place.registry is not None
    options = data_check.DataCheckOptions(
        file,
        place.subject,
        place.registry,
        place.history,
        format_,
        place.table_format or "",
        place.sample or 1.0,
        place.column or "",
        place.message or "",
        place.conf,
    )
    sys.exit(data_check.check_data(options, as_json=as_json))


def _refuse_options(word: str, options: dict[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"{name} and {word} exclude each other: the registry decides by its config")


def _take_single_file(files: Sequence[str]) -> str:
    if len(files) != 1:
        raise click.UsageError(f"--subject takes one file, not {len(files)}; the registry has the earlier versions")
    return files[0]
