"""Checks a schema file as a new version of a subject, by the config of a registry."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from treaty.assemble import PASSING_ERRORS, UNUSABLE_ERRORS
from treaty.cli.schemas.check_result import warn_of_union
from treaty.cli.terminal import findings, screen
from treaty.cli.terminal.findings import LocatedFinding, OutputOptions
from treaty.cli.terminal.registry_url import connect_to, describe_failure
from treaty.cli.terminal.source import SchemaSource, UnusableError, display_path, find_format, read_sources
from treaty.client.connection import Connection
from treaty.core.finding import Diagnostic
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.policy import in_words
from treaty.core.refusals import InvalidSchema, NotFound, Refusal, RegistryError
from treaty.core.schema import Draft, Reference
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats

NAME = "{name}"
"""What stands for the name of a staged file in a subject."""


@dataclass(frozen=True, slots=True)
class RegistryCheckOptions:
    """Options of the command line."""

    file: str
    subject: str
    registry: str
    format: str | None
    references: tuple[str, ...]
    normalize: bool
    source: SchemaSource | None = None
    """The text, where it is not that of the file: the one in git's index."""


@dataclass(frozen=True, slots=True)
class RegistryCheckResult:
    """The answer of the registry: the result, or the faults of the text, and the config in force."""

    subject: str
    draft: Draft
    new_subject: bool
    config: Config
    checked: CompatibilityResult | None = None
    faults: tuple[Diagnostic, ...] = ()
    refused: str = ""
    note: str = ""
    """Return why a reader of all versions would leave out the new one; "" if it would not."""

    @property
    def code(self) -> int:
        """The exit code."""
        if self.checked is None:
            return 2
        return 0 if self.checked.compatible else 1


def check_with_registry(options: RegistryCheckOptions, output: OutputOptions) -> int:
    """Ask the registry, print the result, and return the exit code."""
    ((checked_options, result),) = _ask_all(options.registry, [options])
    if output.is_json:
        screen.say_json(_result_members(result, checked_options))
    else:
        _print_result(result, checked_options, output)
    return result.code


def check_staged(files: Sequence[str], options: RegistryCheckOptions, output: OutputOptions) -> int:
    """Check staged files, each as the next version of its subject; return the highest exit code.

    ``{name}`` in the subject is the name of the file without its folder and its suffix.
    """
    from treaty.cli.schemas.git_check import read_staged  # noqa: PLC0415 (git is needed for this alone)

    staged = read_staged(files, options.format)
    if len(staged) > 1 and NAME not in options.subject:
        raise click.UsageError(
            f"several files are staged, and all would be {options.subject}; write --subject '{NAME}-value'"
        )
    staged_options = [
        replace(options, file=source.path, source=source, subject=options.subject.replace(NAME, _name_of(source.path)))
        for source in staged
    ]
    results = _ask_all(options.registry, staged_options) if staged_options else []
    code = max((result.code for _, result in results), default=0)
    if output.is_json:
        screen.say_json({"fits": code == 0, "files": [_result_members(result, source) for source, result in results]})
        return code
    for checked_options, result in results:
        _print_result(result, checked_options, output)
    if not results:
        screen.say("No staged schema has changed since HEAD.", "green")
    return code


def _name_of(path: str) -> str:
    """Return the name of a file without its folder and the suffix by which its format is known."""
    name = Path(path).name
    formats = find_formats()
    suffixes = [suffix for each in formats.names for suffix in formats[each].suffixes if name.endswith(suffix)]
    return name.removesuffix(max(suffixes, key=len, default=Path(name).suffix))


def _ask_all(url: str, files: Sequence[RegistryCheckOptions]) -> list[tuple[RegistryCheckOptions, RegistryCheckResult]]:
    """Ask the registry about each file; an unusable answer ends the program."""
    _refuse_empty(url)
    try:
        with _connect(url) as registry:
            return [(one, _ask_registry(registry, one)) for one in files]
    except (*UNUSABLE_ERRORS, *PASSING_ERRORS) as error:
        raise _make_registry_error(error) from error
    except Refusal as error:
        raise UnusableError(f"the registry refuses: {error}") from error
    except RegistryError as error:
        raise UnusableError(describe_failure(error)) from error


def _connect(url: str) -> Connection:
    try:
        return connect_to(url)
    except ValueError as error:
        raise _make_registry_error(error) from error


def _make_registry_error(error: Exception) -> UnusableError:
    return UnusableError(
        f"{str(error).removesuffix('?')}{'? Or ' if str(error).endswith('?') else '; '}give the registry with --registry http://host:port"
    )


def _refuse_empty(url: str) -> None:
    """Refuse the URL of a log that does not exist: an empty registry would accept everything."""
    if url.startswith("memory:"):
        raise UnusableError(f"there is no registry at {url}; give one with --registry http://host:port")


def _ask_registry(registry: Connection, options: RegistryCheckOptions) -> RegistryCheckResult:
    formats = find_formats()
    latest = _find_latest(registry, options.subject)
    named = None if latest is None else latest.format
    (source,) = (
        read_sources([options.file], options.format, formats, named) if options.source is None else (options.source,)
    )
    references = resolve_references(registry, options.references)
    try:
        needed = {use.name for use in find_format(source.format, formats).references(source.text)}
    except InvalidSchemaError:
        needed = set()  # the registry says what is wrong with the text
    named_references = {reference.name for reference in references}
    if latest is not None:
        references += tuple(use for use in latest.references if use.name in needed - named_references)
    draft = Draft(source.text, source.format, references)
    result = RegistryCheckResult(options.subject, draft, latest is None, registry.config(options.subject))
    try:
        request = Check(subject_of(options.subject), draft, None, options.normalize or None)
        checked = registry.ask(request).answer
        note = _warn_of_union(registry, options.subject, draft) if checked.compatible and latest is not None else ""
        return replace(result, checked=checked, note=note)
    except InvalidSchema as invalid:
        return replace(result, faults=screen.locate_diagnostics(source.text, invalid.faults), refused=str(invalid))


def _warn_of_union(registry: Connection, subject: str, draft: Draft) -> str:
    """Return why a reader of all versions would leave out the draft; "" if it would not, or if the versions cannot be
    read.
    """
    from treaty.client.references import fetch_resolved_schema  # noqa: PLC0415 (needed for this alone)
    from treaty.plan.planners import PLANNERS  # noqa: PLC0415
    from treaty.plan.registry_queries import list_versions  # noqa: PLC0415

    planner = PLANNERS.get(draft.format)
    if planner is None or not planner.divides:
        return ""
    place = subject_of(subject)
    try:
        meanings = [one.meaning for one in list_versions(registry, place) if one.meaning is not None]
        new = fetch_resolved_schema(registry, draft.format, draft.text, draft.references, Subject(place.context, ""))
        return warn_of_union((*meanings, new))
    except (RegistryError, InvalidSchemaError):
        return ""


def _find_latest(registry: Connection, subject: str) -> VersionFound | None:
    try:
        return registry.version(subject)
    except NotFound:
        return None


def resolve_references(registry: Connection, references: Sequence[str]) -> tuple[Reference, ...]:
    """Parse ``NAME=SUBJECT:VERSION``; the version may be ``latest``."""
    resolved = []
    for word in references:
        name, _, place = word.partition("=")
        subject, _, version = place.rpartition(":")
        if not (name and subject and (version.isdecimal() or version == "latest")):
            raise click.BadParameter(f"{word!r} is not NAME=SUBJECT:VERSION", param_hint="--reference")
        number = registry.version(subject).number if version == "latest" else int(version)
        resolved.append(Reference(name, subject, number))
    return tuple(resolved)


def _config_members(result: RegistryCheckResult) -> dict[str, Any]:
    """Return the members of the config that are set and concern the check."""
    config = asdict(result.config)
    member_names = ("level", "follows", "policy", "group", "partition", "normalize", "validate_fields", "validators")
    exact = result.config.exact_level
    members = {"exact_level": in_words(exact)} if exact is not None else {}
    return {name: config[name] for name in member_names if config.get(name)} | members


def _result_members(result: RegistryCheckResult, options: RegistryCheckOptions) -> dict[str, Any]:
    checked = result.checked or CompatibilityResult(compatible=False)
    return {
        "fits": result.code == 0,
        "file": options.file,
        "subject": result.subject,
        "new_subject": result.new_subject,
        "format": result.draft.format,
        "config": _config_members(result),
        "references": [asdict(reference) for reference in result.draft.references],
        "faults": [screen.as_json(fault) for fault in result.faults],
        "note": result.note,
        "messages": list(checked.messages) if result.checked else [result.refused],
        "findings": [
            {**asdict(finding), "sentence": position.sentence, "line": position.line, "column": position.column}
            for finding, position in zip(checked.findings, _locate(result, options.file), strict=False)
        ],
    }


def _print_result(result: RegistryCheckResult, options: RegistryCheckOptions, output: OutputOptions) -> None:
    name = display_path(options.file)
    findings.print_findings(_locate(result, name), output)
    if output.verbose:
        facts = {name: _format_fact(value) for name, value in _config_members(result).items()}
        uses = [f"{one.name} = {one.subject}:{one.version}" for one in result.draft.references]
        screen.say(f"in force at {result.subject}:")
        screen.say_facts({**facts, **({"references": ", ".join(uses)} if uses else {})})
    if result.note:
        screen.say(f"note: {result.note}.", "yellow")
    level = f" under {result.config.level}" if result.config.level else ""
    if result.checked is None:
        screen.say(f"{name} is not a valid schema ({result.draft.format}): {result.refused}.", "red")
    elif result.checked.compatible:
        new = ", a new subject" if result.new_subject else level
        screen.say(f"{name} may become a version of {result.subject}{new}.", "green")
    else:
        number = findings.read_old_version(result.checked.messages)
        old = f", after version {number}" if number else ""
        counted = screen.format_count(len(_locate(result, name)), "finding")
        screen.say(f"{name} may not become a version of {result.subject}{old}{level}: {counted}.", "red")


def _locate(result: RegistryCheckResult, name: str) -> list[LocatedFinding]:
    if result.checked is None:
        return findings.locate_diagnostics(name, result.draft.text, result.faults)
    draft, checked = result.draft, result.checked
    messages = (*checked.messages, f"{{validateFields: '', compatibility: '{result.config.level or ''}'}}")
    located = findings.locate_registry_findings(name, draft.format, draft.text, checked.findings, messages)
    if located or checked.compatible:
        return located
    return [LocatedFinding(name, "INCOMPATIBLE", one) for one in checked.messages]


def _format_fact(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "yes" if value is True else str(value)
