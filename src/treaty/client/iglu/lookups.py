"""What a resolver looks up: one schema, with the version that supersedes it; the list of a model; the family of a schema."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from treaty.client.iglu.algorithms import CURRENT
from treaty.client.iglu.cache import CacheEntry, FoundItem
from treaty.client.iglu.errors import (
    NO_FAILURES,
    Failures,
    LookupHistory,
    RegistryFailure,
    ResolutionError,
    client_failure,
    merge_failures,
    repo_failure,
)
from treaty.client.iglu.flow import AskRegistry, CachedLookup, Flow, ResolvedItem, ResolverState, RunLocked, resolve
from treaty.client.iglu.registries import IgluRegistry, ListKey, RegistryAnswer, SchemaDocument
from treaty.core.iglu_key import IgluKey, IgluKeyError, SchemaVer
from treaty.core.limits import IGLU_FAMILY


@dataclass(frozen=True, slots=True)
class SchemaItem:
    """A document, and the version that supersedes the one that was asked for, if it is of that."""

    document: Any = field(repr=False)
    superseded_by: SchemaVer | None = None


def schema_lookup(key: IgluKey, *, superseding: bool) -> CachedLookup:
    """The look-up of one schema; with `superseding` of the version that its ``$supersededBy`` names, if it has one."""

    def fetch(registry: IgluRegistry) -> Flow[SchemaItem | RegistryFailure]:
        answer: RegistryAnswer = yield AskRegistry(registry, key)
        if isinstance(answer, RegistryFailure):
            return answer
        version = _superseding_version(key, answer) if superseding else None
        if not isinstance(version, SchemaVer):
            return SchemaItem(answer.value) if version is None else version
        newer: RegistryAnswer = yield AskRegistry(registry, IgluKey(key.vendor, key.name, key.format, version))
        return newer if isinstance(newer, RegistryFailure) else SchemaItem(newer.value, version)

    kind = "superseding" if superseding else "schema"
    return CachedLookup(kind, key, str(key), key.vendor, fetch, checks_schemas=True)


def _superseding_version(key: IgluKey, answer: SchemaDocument) -> SchemaVer | RegistryFailure | None:
    value = answer.value
    if not isinstance(value, dict) or "$supersededBy" not in value:
        return None
    try:
        version = SchemaVer.parse(str(value["$supersededBy"]))
    except IgluKeyError as error:
        return client_failure(f"$supersededBy of {key} is no version: {error}")
    if version <= key.version:
        return client_failure(f"Superseding version {version} isn't greater than the version of schema {key.path}")
    return version


def list_lookup(key: ListKey, *, including: IgluKey | None = None) -> CachedLookup:
    """The look-up of the list of a model; with `including` of one that has this schema."""

    def fetch(registry: IgluRegistry) -> Flow[Any]:
        answer: RegistryAnswer = yield AskRegistry(registry, key)
        keys = answer if isinstance(answer, RegistryFailure) else read_schema_list(answer.value)
        if isinstance(keys, tuple) and including is not None and including not in keys:
            return RegistryFailure("NotFound")
        return keys

    accepts = (lambda _: True) if including is None else (lambda keys: including in keys)
    return CachedLookup("list", key, str(key), key.vendor, fetch, accepts)


def read_schema_list(value: Any) -> tuple[IgluKey, ...] | RegistryFailure:
    """The schemas of a list: at least one, the first one ``MODEL-0-0``, all of one vendor and name, none twice. Their order
    is trusted.
    """
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        return repo_failure("the list of schemas is no array of at least one URI")
    if len(value) > IGLU_FAMILY:
        return repo_failure(f"the list has {len(value)} schemas, more than the limit IGLU_FAMILY of {IGLU_FAMILY}")
    try:
        keys = tuple(map(IgluKey.parse, value))
    except IgluKeyError as error:
        return repo_failure(f"the list of schemas has a wrong URI: {error}")
    first = keys[0]
    if (first.version.revision, first.version.addition) != (0, 0):
        return repo_failure(f"the list of schemas begins with {first}, not with MODEL-0-0")
    if len({(one.vendor, one.name) for one in keys}) > 1:
        return repo_failure("the list of schemas has several vendors or names")
    if len({*keys}) < len(keys):
        return repo_failure("the list of schemas has a schema twice")
    return keys


# ------------------------------------------------------------------------------------------------------ families


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """One schema of a family."""

    key: IgluKey
    document: Any = field(repr=False)


def resolve_family(state: ResolverState, last: IgluKey) -> Flow[ResolvedItem]:
    """All schemas of a model from ``MODEL-0-0`` up to this one, found by asking for one after the other.

    The value's item is a tuple of `FamilyMember`. Raises the `ResolutionError` of the first schema that is missing where
    one must be, or that no registry can say anything about.
    """
    if state.cache is None:
        members, _ = yield from _walk(state, last)
        return ResolvedItem(members, "", state.clock(), is_cached=False)
    entry = _cached_family(state, last)
    if entry is not None:
        return entry
    family: ResolvedItem = yield RunLocked(("family", last), lambda: _walk_locked(state, last))
    return family


def _cached_family(state: ResolverState, last: IgluKey) -> ResolvedItem | None:
    assert state.cache is not None
    entry = state.cache.get("family", last)
    if entry is None or not entry.is_fresh(state.clock(), state.ttl):
        return None
    return _family(entry)


def _family(entry: CacheEntry) -> ResolvedItem:
    assert isinstance(entry.value, FoundItem)
    return ResolvedItem(entry.value.item, "", entry.stored, stale=entry.stale)


def _walk_locked(state: ResolverState, last: IgluKey) -> Flow[ResolvedItem]:
    assert state.cache is not None
    family = _cached_family(state, last)
    if family is not None:
        return family
    try:
        members, stale = yield from _walk(state, last)
        value: FoundItem | Failures = FoundItem(members, "")
    except ResolutionError as error:
        old = state.cache.get("family", last)
        if old is None or state.algorithm is not CURRENT:
            raise
        value, stale = old.value, error.failures
    entry = CacheEntry(state.clock(), value, stale)
    state.cache.put("family", last, entry)
    return _family(entry)


def _walk(state: ResolverState, last: IgluKey) -> Flow[tuple[Sequence[FamilyMember], Failures]]:
    """The members, and the failures of those that have expired in the cache and could not be had again."""
    members: list[FamilyMember] = []
    stale = NO_FAILURES
    revision, addition = 0, 0
    while True:
        key = IgluKey(last.vendor, last.name, last.format, SchemaVer(last.version.model, revision, addition))
        try:
            resolved = yield from resolve(state, schema_lookup(key, superseding=False))
        except ResolutionError as error:
            if addition and revision < last.version.revision and ends_revision(state.registries, error):
                revision, addition = revision + 1, 0
                continue
            raise
        members.append(FamilyMember(key, resolved.item.document))
        stale = merge_failures(stale, resolved.stale)
        if len(members) > IGLU_FAMILY:
            failure = repo_failure(f"more versions than the limit IGLU_FAMILY of {IGLU_FAMILY}")
            raise _too_many(state, last, failure)
        if key == last:
            return tuple(members), stale
        addition += 1


def _too_many(state: ResolverState, last: IgluKey, failure: RegistryFailure) -> ResolutionError:
    failures = {one.name: LookupHistory().add(failure, state.clock()) for one in state.registries}
    return ResolutionError(f"the family of {last}", failures)


def ends_revision(registries: Sequence[IgluRegistry], error: ResolutionError) -> bool:
    """Whether a schema is missing so surely that the walk may continue with the next revision.

    All registries say that it is not there or refuse the request; of Iglu Central and its mirrors one is enough.
    """
    central = {one.name for one in registries if one.is_central}
    refusals = ("NotFound", "ClientFailure")
    custom = [one for name, history in error.failures.items() if name not in central for one in history.errors]
    mirrors = [one for name, history in error.failures.items() if name in central for one in history.errors]
    return all(one.kind in refusals for one in custom) and (
        not central & {*error.failures} or any(one.kind in refusals for one in mirrors)
    )
