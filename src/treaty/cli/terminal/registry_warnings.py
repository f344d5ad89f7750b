"""Warnings in a registry's answers: collected from every answer that a command gets, printed, and counted by --strict."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from treaty.cli.terminal import screen
from treaty.client.connection import Connection
from treaty.core.messages.registration import RegisteredVersion
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import PublishedDeleted, PublishedVersion
from treaty.core.messages.versions import DeletedVersions, VersionFound
from treaty.core.registry import CALL, CallOptions, Registry, Reply

A = TypeVar("A")

SHOWN = 20
"""The most warnings that are printed as lines; JSON has all of them."""
WARNED = 1
"""Exit code of a command with --strict that got a warning."""
NEW, EARLIER = "the new version", "the earlier version"

strict = click.option(
    "--strict",
    is_flag=True,
    help="Exit code 1 if the registry answers with a warning. What is written stays written, and is no warning the next time; `--label-policy refuse` of a group refuses.",
)


@dataclass(frozen=True, slots=True)
class RegistryWarning:
    """A warning about a version that the registry accepted: `schema` names the version, `allowed` is the remedy."""

    schema: str
    rule: str
    message: str
    path: str = ""
    allowed: str = ""

    def to_line(self) -> str:
        """Return the warning as a line for people."""
        path = f" at {self.path}" if self.path else ""
        hint = f"; allowed: {self.allowed}" if self.allowed else ""
        return f"warning: {self.schema}: {self.rule} {self.message}{path}{hint}"

    def to_members(self) -> dict[str, str]:
        """Return the warning as members of a JSON object; `path` is a JSON pointer into the new text."""
        names = ("schema", "rule", "path", "message", "allowed")
        return {name: getattr(self, name) for name in names}


class WarningCollector:
    """A `Registry` that keeps the warnings of all answers of another one. Threads may share it."""

    def __init__(self, registry: Registry) -> None:
        """Answer from `registry`."""
        self.registry = registry
        self.found: list[RegistryWarning] = []

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request, and keep the warnings of the answer."""
        reply = self.registry.ask(request, call)
        self.found.extend(find_warnings(reply.answer))
        return reply

    def close(self) -> None:
        """Close the registry."""
        self.registry.close()


def collect_warnings(connection: Connection) -> list[RegistryWarning]:
    """Return the list that grows with every warning that this connection gets from now on."""
    collector = WarningCollector(connection.registry)
    connection.registry = collector
    return collector.found


def find_warnings(answer: object) -> list[RegistryWarning]:
    """Return the warnings of an answer; none of an answer that can have none."""
    match answer:
        case RegisteredVersion(version, _, warnings):
            name = f"{version.subject} version {version.number}"
        case PublishedVersion(schema, warnings=warnings):
            name = f"{schema.version.subject}/{schema.label}"
        case VersionFound() | DeletedVersions() | PublishedDeleted():
            return [_describe_pin(source) for source in answer.warnings]
        case _:
            return []
    return [
        RegistryWarning(name, warning.rule, warning.message(reader=NEW, writer=EARLIER), warning.path, warning.remedy)
        for warning in warnings
    ]


def _describe_pin(source: str) -> RegistryWarning:
    """A source that reads on a version which was deleted softly."""
    message = f"the source {source} is bound to it, reads it still, and keeps it from going for good"
    return RegistryWarning(
        "a deleted version", "SOURCE_PINNED", message, allowed="drop the source, or bind it to another version"
    )


def read_warnings(schema: str, body: Any) -> list[RegistryWarning]:
    """Return the warnings in the body of an answer over HTTP, its member ``treaty.warnings``; none in any other body."""
    own = body.get("treaty") if isinstance(body, dict) else None
    listed = own.get("warnings") if isinstance(own, dict) else None
    return [
        RegistryWarning(schema, *(str(entry.get(name, "")) for name in ("rule", "message", "path", "allowed")))
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict)
    ]


def say_warnings(warnings: Iterable[RegistryWarning]) -> None:
    """Print warnings on stderr, one a line, the first ones of many."""
    listed = list(warnings)
    for warning in listed[:SHOWN]:
        screen.say(screen.escape_line(warning.to_line()), "yellow", err=True)
    if len(listed) > SHOWN:
        counted = screen.format_count(len(listed) - SHOWN, "warning")
        screen.say(f"... and {counted} more; --json prints them all", "yellow", err=True)


def warning_members(warnings: Iterable[RegistryWarning]) -> dict[str, list[dict[str, str]]]:
    """Return the member ``warnings`` of a command's JSON; it is always there."""
    return {"warnings": [one.to_members() for one in warnings]}


def exit_code(code: int, warnings: Iterable[RegistryWarning], *, is_strict: bool) -> int:
    """Return the exit code of a command: with --strict `WARNED` where all went well but for warnings."""
    return WARNED if code == 0 and is_strict and any(True for _ in warnings) else code
