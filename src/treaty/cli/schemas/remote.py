"""A schema file and a registry: may it become a version of a subject, by the policy in force there."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from treaty.assemble import PASSING_ERRORS, UNUSABLE_ERRORS
from treaty.cli.schemas.judged import warn_of_union
from treaty.cli.terminal import findings, screen
from treaty.cli.terminal.findings import LocatedFinding, OutputOptions
from treaty.cli.terminal.registry_url import connect_to
from treaty.cli.terminal.source import UnusableError, display_path, find_format, read_sources
from treaty.client.connection import Connection
from treaty.core.answers import CompatibilityResult, Config, VersionFound
from treaty.core.finding import Diagnostic
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import InvalidSchema, NotFound, Refusal, RegistryError
from treaty.core.requests import Check
from treaty.core.schema import Draft, Reference
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for on the command line."""

    file: str
    subject: str
    registry: str
    format: str | None
    references: tuple[str, ...]
    normalize: bool


@dataclass(frozen=True, slots=True)
class Told:
    """What the registry said: the verdict, or the faults of the text, and what is in force there."""

    subject: str
    draft: Draft
    new_subject: bool
    config: Config
    checked: CompatibilityResult | None = None
    faults: tuple[Diagnostic, ...] = ()
    refused: str = ""
    note: str = ""
    """What a reader of all versions would make of the new one, where that is to leave it out."""

    @property
    def code(self) -> int:
        """The exit code."""
        if self.checked is None:
            return 2
        return 0 if self.checked.compatible else 1


def check(asked: Asked, output: OutputOptions) -> int:
    """Ask, print, and return the exit code."""
    _refuse_empty(asked.registry)
    try:
        with _connected(asked.registry) as registry:
            told = _ask(registry, asked)
    except (*UNUSABLE_ERRORS, *PASSING_ERRORS) as error:
        raise _no_registry(error) from error
    except Refusal as error:
        raise UnusableError(f"the registry refuses: {error}") from error
    except RegistryError as error:
        raise UnusableError(f"the registry can't be asked: {error}; see that it runs, then try again") from error
    if output.is_json:
        screen.say_json(_members(told, asked))
    else:
        _print(told, asked, output)
    return told.code


def _connected(url: str) -> Connection:
    try:
        return connect_to(url)
    except ValueError as error:
        raise _no_registry(error) from error


def _no_registry(error: Exception) -> UnusableError:
    return UnusableError(f"{error}; name a registry with --registry http://host:port")


def _refuse_empty(url: str) -> None:
    """A registry that would be made for the question has no policy worth asking."""
    if url.startswith("memory:"):
        raise UnusableError(f"there is no registry at {url}; name one with --registry http://host:port")


def _ask(registry: Connection, asked: Asked) -> Told:
    formats = find_formats()
    latest = _latest(registry, asked.subject)
    (one,) = read_sources([asked.file], asked.format, formats, None if latest is None else latest.format)
    references = _named(registry, asked.references)
    try:
        needed = {use.name for use in find_format(one.format, formats).references(one.text)}
    except InvalidSchemaError:
        needed = set()  # the registry says what is wrong with the text
    given = {reference.name for reference in references}
    if latest is not None:
        references += tuple(use for use in latest.references if use.name in needed - given)
    draft = Draft(one.text, one.format, references)
    told = Told(asked.subject, draft, latest is None, registry.config(asked.subject))
    try:
        request = Check(subject_of(asked.subject), draft, None, asked.normalize or None)
        checked = registry.ask(request).answer
        note = _warn(registry, asked.subject, draft) if checked.compatible and latest is not None else ""
        return replace(told, checked=checked, note=note)
    except InvalidSchema as invalid:
        return replace(told, faults=screen.locate_diagnostics(one.text, invalid.faults), refused=str(invalid))


def _warn(registry: Connection, subject: str, draft: Draft) -> str:
    """What a reader of all versions would make of the draft; nothing is said where they can't be read."""
    from treaty.client.references import fetch_resolved_schema  # noqa: PLC0415 (needed for this alone)
    from treaty.plan.asking import versions  # noqa: PLC0415

    if draft.format != "AVRO":
        return ""
    place = subject_of(subject)
    try:
        known = [one.meaning for one in versions(registry, place) if one.meaning is not None]
        new = fetch_resolved_schema(registry, draft.format, draft.text, draft.references, Subject(place.context, ""))
        return warn_of_union((*known, new))
    except (RegistryError, InvalidSchemaError):
        return ""


def _latest(registry: Connection, subject: str) -> VersionFound | None:
    try:
        return registry.version(subject)
    except NotFound:
        return None


def _named(registry: Connection, references: Sequence[str]) -> tuple[Reference, ...]:
    """Read ``NAME=SUBJECT:VERSION`` words; the version may be ``latest``."""
    found = []
    for one in references:
        name, _, place = one.partition("=")
        subject, _, version = place.rpartition(":")
        if not (name and subject and (version.isdecimal() or version == "latest")):
            raise click.BadParameter(f"{one!r} is not NAME=SUBJECT:VERSION", param_hint="--reference")
        number = registry.version(subject).number if version == "latest" else int(version)
        found.append(Reference(name, subject, number))
    return tuple(found)


def _in_force(told: Told) -> dict[str, Any]:
    """The members of the config that decide about a schema and are set."""
    config = asdict(told.config)
    wanted = ("level", "policy", "group", "normalize", "validate_fields", "validators")
    return {name: config[name] for name in wanted if config.get(name)}


def _members(told: Told, asked: Asked) -> dict[str, Any]:
    checked = told.checked or CompatibilityResult(compatible=False)
    return {
        "fits": told.code == 0,
        "file": asked.file,
        "subject": told.subject,
        "new_subject": told.new_subject,
        "format": told.draft.format,
        "config": _in_force(told),
        "references": [asdict(one) for one in told.draft.references],
        "faults": [screen.as_json(fault) for fault in told.faults],
        "note": told.note,
        "messages": list(checked.messages) if told.checked else [told.refused],
        "findings": [
            {**asdict(one), "sentence": found.sentence, "line": found.line, "column": found.column}
            for one, found in zip(checked.findings, _locate(told, asked.file), strict=False)
        ],
    }


def _print(told: Told, asked: Asked, output: OutputOptions) -> None:
    name = display_path(asked.file)
    findings.print_findings(_locate(told, name), output)
    if output.verbose:
        facts = {name: _fact(value) for name, value in _in_force(told).items()}
        uses = [f"{one.name} = {one.subject}:{one.version}" for one in told.draft.references]
        screen.say(f"in force at {told.subject}:")
        screen.say_facts({**facts, **({"references": ", ".join(uses)} if uses else {})})
    if told.note:
        screen.say(f"note: {told.note}.", "yellow")
    level = f" under {told.config.level}" if told.config.level else ""
    if told.checked is None:
        screen.say(f"{name} is not a valid schema ({told.draft.format}): {told.refused}.", "red")
    elif told.checked.compatible:
        new = ", a new subject" if told.new_subject else level
        screen.say(f"{name} may become a version of {told.subject}{new}.", "green")
    else:
        number = findings.read_old_version(told.checked.messages)
        old = f", after version {number}" if number else ""
        counted = screen.format_count(len(_locate(told, name)), "finding")
        screen.say(f"{name} may not become a version of {told.subject}{old}{level}: {counted}.", "red")


def _locate(told: Told, name: str) -> list[LocatedFinding]:
    if told.checked is None:
        return findings.locate_diagnostics(name, told.draft.text, told.faults)
    draft, checked = told.draft, told.checked
    messages = (*checked.messages, f"{{validateFields: '', compatibility: '{told.config.level or ''}'}}")
    found = findings.locate_registry_findings(name, draft.format, draft.text, checked.findings, messages)
    if found or checked.compatible:
        return found
    return [LocatedFinding(name, "INCOMPATIBLE", one) for one in checked.messages]


def _fact(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "yes" if value is True else str(value)
