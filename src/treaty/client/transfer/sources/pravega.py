"""Pravega's schema registry (PDP-1) as the source of an import, read by its REST interface.

Deleted schemas are in none of its lists and are still found by their id, so ids are asked for up to one that no schema has;
encoding ids too.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from msgspec import Struct

from treaty.client.transfer.registry_image import RegistryImage, TransferProblem
from treaty.client.transfer.registry_reader import ReportProgress, ignore_progress
from treaty.client.transfer.sources.image import GroupSource, hide_older, image_of, version_of
from treaty.client.transfer.sources.rest import THREADS, RestSource, quote_name
from treaty.core.limits import ABSENT_NUMBERS, TRANSFER_ROWS
from treaty.core.messages.encodings import NO_CODEC, CodecType
from treaty.core.messages.settings import Config
from treaty.core.messages.transfers import ExportedVersion
from treaty.core.policy import BY_TYPE, Level, nameless_level, word_of
from treaty.core.refusals import Refusal, RegistryError
from treaty.core.schema import opaque_text
from treaty.core.state.values import PolicyValue
from treaty.formats.registry import find_formats
from treaty.wire.pravega import bodies as b
from treaty.wire.pravega.drafts import draft_of
from treaty.wire.pravega.groups import START, create_of
from treaty.wire.pravega.policies import level_of

PAGE = 100
"""Groups asked for at once."""
NO_NAMESPACES = "this registry does not list its namespaces: only groups without one are read; name others with ?namespace=NAME in the URL"
NO_GROUPS = "{} no groups: is the name right? This registry answers alike for a namespace that does not exist"
NO_HISTORY = "this registry does not say when deleted schemas were added and by which policy"

A = TypeVar("A")


class _GroupsPage(Struct, rename="camel"):
    """A page of groups; one that is being created or removed has no properties."""

    groups: dict[str, b.GroupPropertiesBody | None] = {}
    continuation_token: str = START


def read_pravega(url: str, namespaces: Iterable[str] = (), report: ReportProgress = ignore_progress) -> RegistryImage:
    """Read all groups of some namespaces (none: those without one); what can't be read is a problem. Raises
    `RegistryError`.
    """
    groups: list[GroupSource] = []
    problems: list[TransferProblem] = []
    given_namespaces = tuple(dict.fromkeys(namespaces))
    named = given_namespaces or ("",)
    notes: list[str] = [] if given_namespaces else [NO_NAMESPACES]
    with RestSource(url) as source, ThreadPoolExecutor(THREADS, "treaty-transfer") as pool:
        for namespace in named:
            reader = _NamespaceReader(source, namespace)
            listed = list(reader.list_groups())
            if given_namespaces and not listed:
                notes.append(
                    NO_GROUPS.format(f"namespace {namespace!r} has" if namespace else "without a namespace there are")
                )
            for group in pool.map(reader.read_group, listed):
                if isinstance(group, TransferProblem):
                    problems.append(group)
                else:
                    groups.append(group)
                report("groups", len(groups), 0)
    notes += [NO_HISTORY] if any(each.state != "live" for one in groups for each in one.versions) else []
    return image_of(groups, problems, notes)


@dataclass(frozen=True, slots=True)
class _GroupAnswers:
    """What the registry says of a group."""

    listed: Mapping[int, b.SchemaWithVersionBody]
    history: Mapping[int, b.HistoryRecordBody]
    encodings: Mapping[int, b.EncodingInfoBody]
    deleted: Mapping[int, b.SchemaInfoBody]
    codecs: tuple[CodecType, ...]

    def find(self, id_: int) -> tuple[b.SchemaInfoBody, b.VersionInfoBody | None]:
        """Return a schema, and its version where that is known."""
        if id_ in self.listed:
            return self.listed[id_].schema_info, self.listed[id_].version_info
        info = next((one.version_info for one in self.encodings.values() if one.version_info.id == id_), None)
        return self.deleted[id_], info


@dataclass(frozen=True, slots=True)
class _NamespaceReader:
    """Reads the groups of one namespace."""

    source: RestSource
    namespace: str

    def list_groups(self) -> Iterator[tuple[str, b.GroupPropertiesBody | None]]:
        """Return names and properties, page by page up to an empty one."""
        listed: set[str] = set()
        query = {"limit": str(PAGE)}
        while len(listed) <= TRANSFER_ROWS:
            page = self._read(_GroupsPage, "/v1/groups", query)
            fresh = {name: one for name, one in page.groups.items() if name not in listed}
            if not fresh:
                return
            yield from fresh.items()
            listed |= set(fresh)
            query["continuationToken"] = page.continuation_token
        raise RegistryError(f"more groups than the limit TRANSFER_ROWS of {TRANSFER_ROWS}")

    def read_group(self, named: tuple[str, b.GroupPropertiesBody | None]) -> GroupSource | TransferProblem:
        """Read a group with all that belongs to it."""
        name, properties = named
        if properties is None:
            return TransferProblem(
                name, "a group that is not read", "it has no properties: it is being created or removed"
            )
        try:
            create = create_of(self.namespace, b.CreateGroupBody(name, properties))
            answers = self._ask_of_group(f"/v1/groups/{quote_name(name)}")
        except (Refusal, RegistryError) as no:
            return TransferProblem(name, "a group that is not read", str(no))
        chosen = create.settings.policy
        level = Level() if chosen is None or chosen.exact_level is None else chosen.exact_level
        highest = max((*answers.listed, *answers.deleted), default=-1)
        group = GroupSource(create.subject, create.settings, config_of_level(level), (), answers.codecs, highest)
        return _with_versions(group, answers)

    def _ask_of_group(self, path: str) -> _GroupAnswers:
        codecs = self._read(b.CodecTypesBody, f"{path}/codecTypes").codec_types
        listed = {
            schema.version_info.id: schema
            for schema in self._read(b.SchemaVersionsBody, f"{path}/schemas/versions").schemas
        }
        history = {entry.version_info.id: entry for entry in self._read(b.GroupHistoryBody, f"{path}/history").history}
        encodings = dict(self._probe(b.EncodingInfoBody, f"{path}/encodings"))
        last_known = max((*listed, *(one.version_info.id for one in encodings.values())), default=-1)
        deleted = dict(self._probe(b.SchemaInfoBody, f"{path}/schemas/schema", last_known, listed))
        named = (CodecType(one.name, tuple(sorted((one.properties or {}).items()))) for one in codecs if one.name)
        return _GroupAnswers(listed, history, encodings, deleted, tuple(sorted(named, key=lambda one: one.name)))

    def _probe(
        self, kind: type[A], path: str, last_known: int = -1, listed: Container[int] = ()
    ) -> Iterator[tuple[int, A]]:
        """Ask for each number that is not listed, up to one after which there are no more: `last_known` is one that there is."""
        number = absent = 0
        while absent < ABSENT_NUMBERS or number <= last_known:
            if number > TRANSFER_ROWS:
                raise RegistryError(f"{path}: more than the limit TRANSFER_ROWS of {TRANSFER_ROWS}")
            if number not in listed:
                answer = self.source.read(kind, f"{path}/{number}", query=self._query({}))
                absent = absent + 1 if answer is None else 0
                if answer is not None:
                    yield number, answer
            number += 1

    def _read(self, kind: type[A], path: str, query: Mapping[str, str] | None = None) -> A:
        answer = self.source.read(kind, path, query=self._query(query or {}))
        if answer is None:
            raise RegistryError(f"GET {path}: it does not exist: is this a schema registry of Pravega?")
        return answer

    def _query(self, query: Mapping[str, str]) -> Mapping[str, str]:
        return {**query, "namespace": self.namespace} if self.namespace else query


def _with_versions(group: GroupSource, answers: _GroupAnswers) -> GroupSource:
    """Return a group with its versions, deleted ones too, by id."""
    versions: list[ExportedVersion] = []
    problems: list[TransferProblem] = []
    last: dict[tuple[str, str], int] = {}
    for id_ in sorted({*answers.listed, *answers.deleted}):
        schema, info = answers.find(id_)
        admitted = answers.history.get(id_)
        try:
            draft, properties = draft_of(schema)
            policy = None if admitted is None else _policy_of(level_of(admitted.compatibility))
        except Refusal as no:
            problems.append(TransferProblem(f"{group.subject} id {id_}", "a schema that is not read", str(no)))
            continue
        if find_formats().find(draft.format) is None:
            draft = replace(draft, text=opaque_text(draft.data or b""))
        kind = (draft.format, draft.type_name)
        number = last.get(kind, -1) + 1 if info is None or info.version is None else info.version
        last[kind] = number
        time = 0 if admitted is None else max(0, admitted.timestamp)
        version = version_of(group.subject, id_, draft, type_version=number, properties=properties, time=time)
        used = (
            (encoding_id, encoding.codec_type.name or NO_CODEC)
            for encoding_id, encoding in answers.encodings.items()
            if encoding.version_info.id == id_
        )
        live = id_ in answers.listed
        stored = replace(version, deleted=not live)
        versions.append(ExportedVersion(stored, "live" if live else "soft", policy, (), tuple(sorted(used))))
    return replace(group, versions=hide_older(versions), problems=tuple(problems))


def config_of_level(level: Level) -> Config:
    """Return the config of a group with a level, as a registry answers it."""
    return Config(level=word_of(level), exact_level=nameless_level(level), partition=BY_TYPE)


def _policy_of(level: Level) -> PolicyValue:
    return PolicyValue(level.backward, level.forward, level.deny, partition=BY_TYPE)
