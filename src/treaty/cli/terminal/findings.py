"""Prints findings of `lint`, `check` and all other commands: a line each, details with -v, JSON, or GitHub annotations."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import click

from treaty.cli.terminal import screen
from treaty.core.finding import Diagnostic, Finding
from treaty.core.refusals import Incompatible, InvalidSchema, Refusal
from treaty.formats.history import ExplainedFinding
from treaty.formats.positions import UNKNOWN, find_position

TEXT, JSON, GITHUB = "text", "json", "github"
SHORT = 40
"""The most characters of an old and new value in the line of a finding."""
SIDES = {"BACKWARD": ("new", "old"), "FORWARD": ("old", "new")}
"""Reader and writer of findings, for levels that compare in one direction."""

_MESSAGE = re.compile(r"""errorType:['"](?P<rule>[^'"]*)['"], description:['"](?P<sentence>.*?)['"]+(?:, \w+:|\}$)""")
_PATH = re.compile(r"path:? '([^']*)'")


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The output of findings: ``text``, ``json`` or ``github``; `verbose` adds details."""

    format: str = TEXT
    verbose: bool = False

    @property
    def is_json(self) -> bool:
        """Whether the output is one JSON value."""
        return self.format == JSON


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding in a file; line and column count from 1, 0 is unknown."""

    file: str
    rule: str
    sentence: str
    line: int = 0
    column: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def _change(self) -> str:
        """The old and the new value, if both are short."""
        old, new = self.facts.get("old", ""), self.facts.get("new", "")
        return f" (old: {old}, new: {new})" if old and new and max(len(old), len(new)) <= SHORT else ""

    def to_line(self) -> str:
        """Return the finding in the form of compilers: ``file:line:column: RULE sentence``."""
        position = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.file}{position}: {self.rule} {screen.one_line(self.sentence)}{self._change}"

    def to_members(self) -> dict[str, Any]:
        """The finding as members of a JSON object."""
        members = {"file": self.file, "line": self.line, "column": self.column, "rule": self.rule}
        return {**members, "sentence": self.sentence, **self.facts}

    def to_annotation(self) -> str:
        """Return the finding as a workflow command of GitHub, which annotates the line in a pull request."""
        position = f",line={self.line},col={self.column}" if self.line else ""
        title = _escape(self.rule, ":,")
        remedy = self.facts.get("remedy", "")
        sentence = f"{self.sentence}{self._change}{f'; remedy: {remedy}' if remedy else ''}"
        return f"::error file={_escape(self.file, ':,')}{position},title={title}::{_escape(sentence)}"


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --output-format, --json and -v to a command, which receives them as `output`."""

    @wraps(command)
    def run(*args: Any, output_format: str | None, as_json: bool, verbose: bool, **rest: Any) -> Any:
        return command(*args, output=OutputOptions(JSON if as_json else output_format or TEXT, verbose), **rest)

    for option in (
        click.option(
            "-v", "--verbose", is_flag=True, help="Also print old and new value, direction and remedy of each finding."
        ),
        click.option("--json", "as_json", is_flag=True, help="Short for --output-format json."),
        click.option(
            "--output-format",
            type=click.Choice([TEXT, JSON, GITHUB]),
            help="text (the default): one line per finding. github: annotations of a pull request.",
        ),
    ):
        run = option(run)
    return run


def print_findings(findings: Iterable[LocatedFinding], output: OutputOptions) -> None:
    """Print findings on stdout; on a terminal a hint mentions -v."""
    listed = list(findings)
    for finding in listed:
        if output.format == GITHUB:
            click.echo(finding.to_annotation())
            continue
        screen.say(finding.to_line(), "red")
        if output.verbose:
            screen.say_facts({name: fact for name, fact in finding.facts.items() if fact})
    if not output.verbose and screen.is_terminal() and any("remedy" in one.facts for one in listed):
        screen.say("-v prints paths, values and remedies.")


def locate_diagnostics(file: str, text: str, faults: Iterable[Diagnostic]) -> list[LocatedFinding]:
    """Return the faults of a text as findings, with their positions."""
    return [
        LocatedFinding(file, fault.rule, _describe(fault), fault.line, fault.column)
        for fault in screen.locate_diagnostics(text, faults)
    ]


def _describe(fault: Diagnostic) -> str:
    path = f" at {fault.path}" if fault.path else ""
    return f"{fault.message}{path}{f'; expected {fault.expected}' if fault.expected else ''}"


def locate_reasons(
    file: str, format_name: str, texts: tuple[str, str], reasons: Sequence[ExplainedFinding], after: str = ""
) -> list[LocatedFinding]:
    """Return the incompatible differences of two texts as findings; `after` names the old text in each."""
    old, new = texts
    return [
        LocatedFinding(
            file,
            reason.rule,
            f"{reason.sentence} (after {after})" if after else reason.sentence,
            *find_position(
                format_name, reason.path, new, old, reader="new" if reason.direction == "backward" else "old"
            ),
            {
                "path": reason.path or "/",
                "old": reason.old,
                "new": reason.new,
                "when": screen.DIRECTIONS[reason.direction],
                "remedy": reason.remedy,
            },
        )
        for reason in reasons
    ]


def locate_registry_findings(
    file: str, format_name: str, text: str, findings: Sequence[Finding], messages: Sequence[str]
) -> list[LocatedFinding]:
    """Return the findings of a registry about a text; if it sends only messages, they are parsed."""
    joined = " ".join(one for one in messages if one.startswith("{validateFields"))
    level = re.search(r"compatibility: '(\w+?)(?:_TRANSITIVE)?'", joined)
    reader, writer = SIDES.get(level[1] if level else "", ("", ""))
    old = next((one[13:-2] for one in messages if one.startswith("{oldSchema: '")), "")
    read_findings = findings or [one for one in map(_read_message, messages) if one is not None]
    return [
        LocatedFinding(
            file,
            finding.rule,
            finding.message(reader=reader or "reading", writer=writer or "writing"),
            *(find_position(format_name, finding.path, text, old, reader=reader) if text else UNKNOWN),
            {
                "path": finding.path or "/",
                "old": finding.writer,
                "new": finding.reader,
                "detail": finding.detail,
                "remedy": finding.remedy,
            }
            if reader != "old"
            else {"path": finding.path or "/", "old": finding.reader, "new": finding.writer, "remedy": finding.remedy},
        )
        for finding in read_findings
    ]


def locate_refusal(file: str, format_name: str, text: str, refusal: Refusal) -> list[LocatedFinding]:
    """Return why a registry refused a schema: every finding, every fault of the text, or its sentence."""
    if isinstance(refusal, InvalidSchema) and refusal.faults:
        return locate_diagnostics(file, text, refusal.faults)
    reason = refusal.reason
    if isinstance(refusal, Incompatible):
        messages = reason.details or tuple(re.findall(r"\{errorType:.*?\}(?=, \{|\])|\{\w+: '.*?'\}", str(refusal)))
        if located := locate_registry_findings(file, format_name, text, refusal.findings, messages):
            return located
    facts = {"old": reason.old, "new": reason.new, "remedy": reason.allowed}
    return [LocatedFinding(file, reason.rule, str(refusal), facts=facts)]


def read_old_version(messages: Sequence[str]) -> int:
    """Return the number of the incompatible version, from the messages of a registry; 0 if unknown."""
    match = re.search(r"\{oldSchemaVersion: (\d+)\}", " ".join(messages))
    return int(match[1]) if match else 0


def _read_message(message: str) -> Finding | None:
    match = _MESSAGE.search(message)
    if match is None:
        return None
    path = _PATH.search(match["sentence"])
    return Finding(match["rule"], path[1] if path else "", match["sentence"].rstrip("'\""))


def _escape(text: str, more: str = "") -> str:
    escaped = screen.escape_controls(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return "".join(f"%{ord(char):02X}" if char in more else char for char in escaped)
