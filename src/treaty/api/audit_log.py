"""The audit log: a line of JSON for every requested change, accepted or not.

A thread writes queued lines, so that no request waits for a disk. A failed write is tried again; past a full queue
lines are lost, counted and logged. A killed process loses its queued lines.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from treaty.api.auth.authorization import AskRegistry
from treaty.api.request_scope import RequestCaller, caller
from treaty.core.access.rights import Access
from treaty.core.decide import alias_candidate, with_subject
from treaty.core.limits import AUDIT_LINES
from treaty.core.messages import associations
from treaty.core.messages.groups import GetSubject
from treaty.core.messages.metastore import runners, sources
from treaty.core.messages.metastore.deleted_topics import LeaseTopics
from treaty.core.messages.metastore.plans import PlanningJobTaken, PlanOutcome
from treaty.core.messages.metastore.scripts import RunScript, SchemaAssertion
from treaty.core.messages.registration import Register, RegisteredVersion, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, ConfigStored, GetConfig, ModeStored, Scope
from treaty.core.messages.versions import DeletedVersions, VersionFound
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS, operation_name
from treaty.core.outcomes import request_digest
from treaty.core.policy import in_words
from treaty.core.refusals import NotFound, OutcomeUnknown, Refusal, RegistryError
from treaty.core.registry import AsyncRegistry, CallOptions, Reply
from treaty.metastore.records.outcomes import RecordsOutcome

log = logging.getLogger("treaty.audit")

AGAIN_SECONDS = 1.0
"""Seconds before a failed write is tried again."""
CLOSE_SECONDS = 5.0
"""Seconds that the end of the process waits for queued lines."""
Members = dict[str, object]
SOURCE_ANSWERS = (sources.SourceStored, sources.SourcesDropped, PlanOutcome, PlanningJobTaken)
"""Answers of commands that are about a source or the statement that creates it."""


@dataclass(slots=True)
class AuditFile:
    """Writes lines to a file (None: stderr), which may be rotated. `lost` counts dropped lines."""

    path: Path | None = None
    capacity: int = AUDIT_LINES
    lost: int = 0
    written: int = 0
    queue: deque[bytes] = field(default_factory=deque)
    wake: threading.Condition = field(default_factory=threading.Condition)
    closing: bool = False
    thread: threading.Thread | None = None
    descriptor: int = -1
    rest: bytes = b""
    resting: int = 0
    """Number of lines in `rest`, which are taken from the queue and not written."""

    def open(self) -> None:
        """Open the file and start the thread; raises `OSError`."""
        self._reopen()
        self.thread = threading.Thread(target=self._run, name="treaty-audit", daemon=True)
        self.thread.start()

    def put(self, line: bytes) -> None:
        """Queue a line, or count it as lost."""
        with self.wake:
            if len(self.queue) + self.resting >= self.capacity:
                self.lost += 1
                if self.lost == 1 or self.lost % 1000 == 0:
                    log.error("the audit log cannot be written: %d lines are lost", self.lost)
                return
            self.queue.append(line)
            self.wake.notify()

    def close(self) -> None:
        """Write queued lines for a limited time; the rest is lost and counted."""
        with self.wake:
            self.closing = True
            self.wake.notify()
        if self.thread is not None:
            self.thread.join(CLOSE_SECONDS)
        left = len(self.queue) + self.resting
        if left:
            self.lost += left
            log.error("the audit log could not be flushed: %d lines are lost", self.lost)
        if self.path is not None and self.descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self.descriptor)

    def _run(self) -> None:
        trouble = ""
        while self._take():
            try:
                self._write()
            except OSError as reason:
                if str(reason) != trouble:
                    trouble = str(reason)
                    log.error("the audit log cannot be written; the write is tried again: %s", reason)
                with self.wake:
                    if self.closing:
                        return
                    self.wake.wait(AGAIN_SECONDS)
            else:
                trouble = ""

    def _take(self) -> bool:
        """Wait for lines and take all of them; return False at the end."""
        with self.wake:
            while not (self.queue or self.rest or self.closing):
                self.wake.wait()
            self.rest += b"".join(self.queue)
            self.resting += len(self.queue)
            self.queue.clear()
            return bool(self.rest)

    def _write(self) -> None:
        if self.path is not None and self._is_rotated():
            self._reopen()
        while self.rest:
            size = os.write(self.descriptor, self.rest)
            self.rest = self.rest[size:]
        with self.wake:
            self.written += self.resting
            self.resting = 0

    def _is_rotated(self) -> bool:
        assert self.path is not None
        try:
            file_at_path = self.path.stat()
            open_file = os.fstat(self.descriptor)
        except OSError:
            return True
        return (file_at_path.st_dev, file_at_path.st_ino) != (open_file.st_dev, open_file.st_ino)

    def _reopen(self) -> None:
        if self.path is None:
            self.descriptor = 2
            return
        opened = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        old, self.descriptor = self.descriptor, opened
        if old >= 0:
            os.close(old)


@dataclass(frozen=True, slots=True)
class AuditLog:
    """Records each change: caller, request, and the values before and after."""

    registry: AsyncRegistry
    lines: AuditFile

    async def record_command(self, request: Request[Any], call: CallOptions, ask: AskRegistry) -> Reply[Any]:
        """Execute a command, write its line, and return or raise its result."""
        if not call.command_id:
            call = replace(call, command_id=secrets.token_hex(16))
        began, who = time.time(), caller() or RequestCaller()
        about, alias = await self._resolve_alias(request, call.access)
        members: Members = {
            "time": _print_time(began),
            "principal": call.principal,
            "request": who.request_id,
            "command": call.command_id,
            "kind": operation_name(request),
            **_describe_object(about),
            **alias,
        }
        before = await self._read_value_before(about)
        try:
            reply = await ask(request, call)
        except RegistryError as failure:
            self._put(members | _describe_failure(failure) | {"before": before})
            raise
        except BaseException as failure:
            self._put(members | {"outcome": "unknown", "rule": _rule_of(failure), "before": before})
            raise
        changed = not (isinstance(reply.answer, RegisteredVersion) and not reply.answer.created)
        outcome = {"outcome": "done" if changed else "unchanged", "sequence": reply.token.sequence}
        self._put(members | outcome | {"before": before, "after": _describe_answer(reply.answer)})
        return reply

    def _put(self, members: Mapping[str, object]) -> None:
        self.lines.put(msgspec.json.encode(members) + b"\n")

    async def _resolve_alias(self, request: Request[Any], access: Access | None) -> tuple[Any, Members]:
        """Return the request with the target of an alias, as this worker knows it and the caller sees it; and the alias, for
        the line.
        """
        named, own_knowledge = alias_candidate(request), CallOptions("eventual", timeout=1.0)
        if named is None:
            return request, {}
        try:
            alias = (await self.registry.ask(GetConfig(Scope(*named)), own_knowledge)).answer.config.alias
        except RegistryError:
            return request, {}
        if not alias:
            return request, {}
        target = named.sibling(alias)
        if access is not None and not access.may("read", target, private=True):
            with contextlib.suppress(NotFound):
                if (await self.registry.ask(GetSubject(target), own_knowledge)).answer.private:
                    return request, {}
        return with_subject(request, target), {"alias": str(named)}

    async def _read_value_before(self, request: Request[Any]) -> object:
        """Return the current value, as this worker knows it; None without a value, or if it is unknown."""
        query_before = OPERATIONS[type(request)].query_before
        if query_before is None:
            return None
        query = query_before(request)
        try:
            answer = (await self.registry.ask(query, CallOptions("eventual", timeout=1.0))).answer
        except RegistryError as none:
            return None if isinstance(none, NotFound) else "unknown"
        if isinstance(answer, VersionFound) and answer.subject != str(getattr(request, "subject", "")):
            return None  # an unqualified name that another context has
        return _describe_answer(answer)


@dataclass(frozen=True, slots=True)
class RecordsAudit:
    """Records each statement that writes records: caller, source, where it is, how many records, and the outcome."""

    lines: AuditFile

    def __call__(self, outcome: RecordsOutcome) -> None:
        """Write the line of a statement."""
        who, source = caller() or RequestCaller(), outcome.source
        place = {} if source is None else {"topic" if source.connector == "kafka" else "path": source.place}
        members: Members = {
            "time": _print_time(outcome.began),
            "principal": who.principal,
            "request": who.request_id,
            "command": outcome.command,
            "kind": outcome.kind,
            "source": outcome.name if source is None else source.name,
            **place,
            "records": outcome.records,
        }
        if outcome.failure is None:
            members |= {"outcome": "unchanged" if outcome.dry_run else "done", "sequence": outcome.sequence}
        elif isinstance(outcome.failure, RegistryError):
            members |= _describe_failure(outcome.failure)
        else:
            members |= {"outcome": "unknown", "rule": _rule_of(outcome.failure)}
        self.lines.put(msgspec.json.encode(members) + b"\n")


def _print_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _describe_object(request: Request[Any]) -> Members:
    """Return what a command is about: a subject, a context, a resource, a source, a type, a lease, or the members of a script."""
    match request:
        case Register(subject=subject, create_with=SubjectCreation(policy=Config() as config)):
            return {"subject": str(subject), "policy": {"digest": request_digest(config), "level": _level(config)}}
        case associations.Associate(resource=resource, wishes=wishes):
            return {
                "resource": resource.id,
                "subjects": [str(associations.subject_for(resource, wish)) for wish in wishes],
            }
        case associations.Dissociate(resource_id=resource_id, cascade=cascade):
            return {"resource": resource_id, "cascade": cascade}
        case associations.ChangeAssociations(changes=changes):
            return {"resources": [change.resource.id for change in changes]}
        case RunScript(members=members):
            return {"members": [_describe_command(command) for member in members for command in member.commands]}
        case sources.CreateSource(definition=definition):
            return {"source": definition.name}
        case sources.CreateType(name=name) | sources.DropType(name=name):
            return {"type": name}
        case runners.AcquireRunner() | runners.ReleaseRunner() | runners.AssignQueries() | LeaseTopics():
            return _describe_lease(request)
    if issubclass(OPERATIONS[type(request)].answer, SOURCE_ANSWERS):
        return {"source": str(getattr(request, "name", "")), **_new_name(request)}
    scope = getattr(request, "scope", None)
    if isinstance(scope, Scope):
        return (
            {"context": scope.context} if scope.name is None else {"subject": str(Subject(scope.context, scope.name))}
        )
    if hasattr(request, "context"):
        return {"context": request.context}
    return {"subject": str(getattr(request, "subject", ""))}


def _new_name(command: Any) -> Members:
    """Return the other name that a change of a source gives it, or exchanges its name with."""
    return {name: text for name in ("rename", "swap") if (text := getattr(command, name, ""))}


def _describe_lease(request: Any) -> Members:
    """Return whose lease a command is about, and what it changes under it."""
    match request:
        case runners.AssignQueries(runner=runner, take=take, release=release):
            parts = {"take": _name_parts(take), "release": _name_parts(release)}
            return {"runner": runner, "epoch": request.epoch, **parts}
        case LeaseTopics(cluster=cluster, begin=begin, gone=gone):
            return {"cluster": cluster, "holder": request.holder, "begin": [*begin], "gone": [*gone]}
        case _:
            return {"runner": request.name, "epoch": request.epoch}


def _name_parts(parts: Iterable[runners.QueryPart]) -> list[Members]:
    return [{"source": part.source, "generation": part.generation, "part": part.part} for part in parts]


def _describe_command(command: Any) -> Members:
    """Return the name of a command of a script, and what it is about."""
    if isinstance(command, sources.CreateSource):
        return {"kind": "create-source", "name": command.definition.name}
    if isinstance(command, SchemaAssertion):
        return {"kind": "assert-schema", "subject": command.subject, "id": command.schema_id}
    return {"kind": operation_name(command), "name": command.name, **_new_name(command)}


def _level(config: Config) -> str | None:
    """Return the level of a config: its name, or its ranges."""
    return config.level if config.exact_level is None else in_words(config.exact_level)


def _describe_answer(answer: object) -> object:
    """Return a value for the line, with its digest: the guid of a version, a digest of a config; associations in full."""
    match answer:
        case RegisteredVersion(version=version):
            return _describe_answer(version)
        case VersionFound(number=number, schema_id=schema_id, guid=guid, deleted=deleted):
            return {"version": number, "id": schema_id, "guid": guid, "deleted": deleted}
        case DeletedVersions(numbers=numbers):
            return {"deleted": numbers}
        case ConfigStored(config=config):
            return {"digest": request_digest(config), "level": _level(config)}
        case ModeStored(mode=mode):
            return {"mode": mode}
        case associations.Associations(associations=bound) | associations.ResourceBound(bound=bound):
            return [{"kind": one.kind, "subject": one.subject, "lifecycle": one.lifecycle} for one in bound]
        case associations.AssociationResults(results=results):
            return [
                _describe_answer(result.done) if result.refused is None else {"refused": result.refused.reason.rule}
                for result in results
            ]
        case _:
            return None


def _rule_of(failure: BaseException) -> str:
    """Return why a command has no answer: its client disconnected, or an exception, which is in the server's log."""
    return "CANCELLED" if isinstance(failure, asyncio.CancelledError) else "INTERNAL_ERROR"


def _describe_failure(failure: RegistryError) -> Members:
    if isinstance(failure, Refusal):
        return {"outcome": "refused", "rule": failure.reason.rule}
    if isinstance(failure, OutcomeUnknown):
        return {"outcome": "unknown"}
    return {"outcome": "not now"}
